"""Symmetric systems with a penalty, solved through eigenvalues so that no table makes them fail."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray

__all__ = ["penalised_root", "solve_penalised"]


def solve_penalised(matrix: FloatArray, right: FloatArray, penalty: float) -> FloatArray:
    """Solve (matrix + penalty I) x = right.

    Parameters
    ----------
    matrix : array (p, p)
        Symmetric, positive semidefinite up to rounding.
    right : array (p,)
        Right-hand side.
    penalty : float
        Above zero.

    Returns
    -------
    array (p,)

    Notes
    -----
    Privacy: arithmetic on sums. Eigenvalues below zero are rounding and count as zero, so that a penalty
    smaller than rounding errs on no table (a Cholesky root would fail on some).

    Examples
    --------
    >>> solve_penalised(np.diag([1.0, 3.0]), np.array([2.0, 4.0]), 1.0).tolist()
    [1.0, 1.0]
    """
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors @ ((vectors.T @ right) / (np.maximum(values, 0.0) + penalty)))


def penalised_root(matrix: FloatArray, penalty: float) -> FloatArray:
    """Find R with R R' = matrix + penalty I.

    Parameters
    ----------
    matrix : array (p, p)
        Symmetric, positive semidefinite up to rounding.
    penalty : float
        Above zero.

    Returns
    -------
    array (p, p)

    Notes
    -----
    Privacy: arithmetic on sums; fails on no table, as :func:`solve_penalised`.

    Examples
    --------
    >>> root = penalised_root(np.array([[2.0, 1.0], [1.0, 2.0]]), 0.5)
    >>> (root @ root.T).round(12).tolist()
    [[2.5, 1.0], [1.0, 2.5]]
    """
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0) + penalty))
