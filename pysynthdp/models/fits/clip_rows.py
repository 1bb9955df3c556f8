"""Rows of predictors clipped to a public norm."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray

__all__ = ["clip_rows"]


def clip_rows(X: FloatArray, norm: float | None) -> FloatArray:
    """Shorten every row of X that is longer than ``norm``.

    Parameters
    ----------
    X : array (rows, features)
        Predictors.
    norm : float or None
        Largest Euclidean norm; None leaves X as it is.

    Returns
    -------
    array (rows, features)

    Notes
    -----
    Privacy: row by row, so one record changes one row. x min(1, norm/|x|).

    Examples
    --------
    >>> clip_rows(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0).round(9).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    if norm is None:
        return X
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    return np.asarray(X * np.minimum(1.0, norm / np.maximum(lengths, norm))[:, None])
