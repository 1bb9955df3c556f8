"""Weights on given points whose statistics come closest to given ones in the largest difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy.sparse import csr_array, hstack, vstack

from pysynthdp.base.arrays import FloatArray

__all__ = ["Weighted", "closest_weights"]


@dataclass(frozen=True, slots=True)
class Weighted:
    """Weights (points,), at least zero with sum one, and the largest difference that they leave."""

    weights: FloatArray
    distance: float


def closest_weights(matrix: csr_array, wanted: FloatArray) -> Weighted:
    """Minimise max |matrix w - wanted| over probability weights w.

    Parameters
    ----------
    matrix : sparse array (statistics, points)
        Value of each statistic at each point.
    wanted : array (statistics,)
        Values to come close to.

    Returns
    -------
    Weighted

    Notes
    -----
    Privacy: post-processing when ``wanted`` is. Step 4 of Algorithm 1 of Boedihardjo, Strohmer and Vershynin
    as a linear program, min t with -t <= matrix w - wanted <= t, solved by HiGHS; equal weights where the
    solver gives up, so that nothing fails.

    Examples
    --------
    >>> closest_weights(csr_array(np.eye(2)), np.array([0.7, 0.5])).distance.__round__(9)
    0.1
    """
    statistics, points = matrix.shape
    slack = csr_array(np.ones((statistics, 1)))
    above: Any = vstack([hstack([matrix, -slack]), hstack([-matrix, -slack])], format="csr")
    total: Any = csr_array(np.concatenate([np.ones(points), [0.0]])[None, :])
    found = scipy.optimize.linprog(
        np.concatenate([np.zeros(points), [1.0]]),
        A_ub=above,
        b_ub=np.concatenate([wanted, -wanted]),
        A_eq=total,
        b_eq=np.ones(1),
        bounds=(0, None),
        method="highs-ipm",
    )
    raw = np.ones(points) if found.x is None else np.maximum(found.x[:points], 0.0)
    weights = raw / raw.sum() if raw.sum() > 0 else np.full(points, 1 / points)
    return Weighted(weights, float(np.max(np.abs(matrix @ weights - wanted))))
