"""Counts that say whether a transform or a count model fits a column."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Sums
from pysynthdp.models.fits.weighting import counted

__all__ = ["count_signs"]


def count_signs(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001  # the shape of RowSum.of
    """Count negative, zero and non-integer values of a block, for a RowSum.

    Parameters
    ----------
    X : array (rows, features)
        Not used.
    y : array (rows,)
        The target.
    w : array (rows,), optional
        Weights of the rows.

    Returns
    -------
    tuple of three arrays ()

    Notes
    -----
    Privacy: a sum over rows, answered by the curator.

    Examples
    --------
    >>> [int(count) for count in count_signs(np.ones((3, 1)), np.array([-1.0, 0.0, 0.5]))]
    [1, 1, 1]
    """
    return (
        counted(y < 0, w),
        counted(y == 0, w),
        counted(y != np.floor(y), w),
    )
