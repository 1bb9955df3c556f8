"""Normal variates conditioned to an interval that holds their centre."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from pysynthdp.base.arrays import FloatArray

__all__ = ["truncated_normal"]


def truncated_normal(
    u: FloatArray, *, centre: float, spread: float, lower: float, upper: float
) -> FloatArray:
    """Turn uniforms into N(centre, spread^2) conditioned to [lower, upper], by inversion.

    Parameters
    ----------
    u : array (k,)
        Uniforms.
    centre, spread : float
        Of the normal law before conditioning; the centre lies in the interval.
    lower, upper : float
        The interval.

    Returns
    -------
    array (k,)

    Notes
    -----
    Privacy: arithmetic on variates.

    Examples
    --------
    >>> float(truncated_normal(np.array([0.5]), centre=0.0, spread=1.0, lower=-2.0, upper=2.0)[0])
    0.0
    """
    low, high = ndtr((lower - centre) / spread), ndtr((upper - centre) / spread)
    values = centre + spread * ndtri(low + u * (high - low))
    return np.asarray(np.clip(values, lower, upper), dtype=np.float64)
