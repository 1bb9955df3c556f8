"""Least squares from a small triangle: cross-products of shifted columns, or QR where they are too coarse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.linalg import solve_triangular

from pysynthdp.base.arrays import FloatArray

__all__ = ["Shift", "Solved", "Triangle", "by_products", "by_rotations", "solved"]

_COARSE: Final = 1e-5  # smallest over largest eigenvalue of the scaled cross-products that we trust
_SHARP: Final = 1e-4  # least share of the response's variation that is left over, as cross-products tell it
_NEAR: Final = 1e-7  # smallest over largest singular value of the scaled columns, by QR
_RANKS: Final = 100.0  # times what statsmodels takes for a deficient rank


@dataclass(frozen=True, slots=True)
class Shift:
    """What is taken off each column, and off the response, where there is an intercept to give it back.

    Parameters
    ----------
    of_columns : array (p,)
        Zero for the intercept.
    of_response : float
        For the response.
    constant : int or None
        Place of the intercept.
    """

    of_columns: FloatArray
    of_response: float
    constant: int | None

    @classmethod
    def by(cls, X: FloatArray, y: FloatArray, constant: int | None) -> Shift:
        """Take means of some rows (p, n)."""
        if constant is None or not y.size:
            return cls(np.zeros(len(X)), 0.0, None)
        means = X.mean(axis=1)
        means[constant] = 0.0
        return cls(means, float(y.mean()), constant)

    def moved(self, X: FloatArray) -> FloatArray:
        """Take it off the columns (p, n), in place."""
        if self.constant is not None:
            X -= self.of_columns[:, None]
        return X

    def back(self, beta: FloatArray, of_response: float = 0.0) -> FloatArray:
        """Coefficients of the columns as they were."""
        beta = beta.copy()
        if self.constant is not None:
            beta[self.constant] += of_response - self.of_columns @ beta
        return beta

    def forth(self, beta: FloatArray) -> FloatArray:
        """Coefficients of the shifted columns; the response as it was."""
        beta = beta.copy()
        if self.constant is not None:
            beta[self.constant] += self.of_columns @ beta
        return beta

    def spread(self, cov: FloatArray) -> FloatArray:
        """Covariance of the coefficients of the columns as they were."""
        if self.constant is None:
            return cov
        T = np.eye(len(cov))
        T[self.constant] -= self.of_columns
        return np.asarray(T @ cov @ T.T)


@dataclass(frozen=True, slots=True)
class Triangle:
    """R (p + 1, p + 1) with R'R the cross-products of the columns and, last, the response.

    Parameters
    ----------
    R : array (p + 1, p + 1)
        Upper triangle.
    """

    R: FloatArray


@dataclass(frozen=True, slots=True)
class Solved:
    """Least squares of shifted columns.

    Parameters
    ----------
    beta : array (p,)
        Coefficients.
    root : array (p, p)
        Upper triangle A with A A' the inverse of the cross-products.
    left_over : float
        Sum of squared residuals.
    """

    beta: FloatArray
    root: FloatArray
    left_over: float

    @property
    def inverse(self) -> FloatArray:
        """Inverse of the cross-products (p, p)."""
        return np.asarray(self.root @ self.root.T)


def by_products(
    parts: Iterable[tuple[FloatArray, FloatArray]], *, sharp: bool = True
) -> tuple[Triangle | None, FloatArray]:
    """Sum the cross-products of blocks (p, n), (n,); None where columns of this kind want rotations.

    Parameters
    ----------
    parts : iterable
        Columns (p, n) and response (n,) of each block.
    sharp : bool
        Whether what is left over of the response is asked for.

    Returns
    -------
    triangle, squares
        And the sums of squares (p + 1,), in which zero is a column without anything.
    """
    G: Any = 0.0
    for X, y in parts:
        Z = np.vstack([X, y])
        G = G + Z @ Z.T
    squares = np.diagonal(G).copy() if np.ndim(G) else np.zeros(0)
    if not squares.size or not np.isfinite(G).all() or not np.all(squares > 0):
        return None, squares
    scale = np.sqrt(squares)
    ends = np.linalg.eigvalsh(G[:-1, :-1] / np.outer(scale, scale)[:-1, :-1])
    if ends[0] < _COARSE * ends[-1]:
        return None, squares
    try:
        R = np.linalg.cholesky(G / np.outer(scale, scale)).T
    except np.linalg.LinAlgError:
        return None, squares
    blunt = sharp and R[-1, -1] ** 2 < _SHARP
    return (None if blunt else Triangle(R * scale)), squares


def by_rotations(parts: Iterable[tuple[FloatArray, FloatArray]]) -> Triangle | None:
    """Rotate blocks into one triangle (a tall QR, block below block); None where it is not finite."""
    R: Any = None
    for X, y in parts:
        Z = np.vstack([X, y]).T
        R = np.linalg.qr(Z if R is None else np.concatenate([R, Z]), mode="r")
    if R is None or len(R) < R.shape[1] or not np.isfinite(R).all():
        return None
    return Triangle(np.asarray(R))


def solved(triangle: Triangle, shift: Shift, n: float) -> Solved | None:
    """Solve; None where columns depend on each other so nearly that rank is a matter of rules.

    statsmodels takes a singular value below n eps times the largest for zero, of columns that are neither
    scaled nor shifted; well above that we agree with it.
    """
    R = triangle.R[:-1, :-1]
    p = len(R)
    sizes = np.sqrt(np.einsum("ij,ij->j", R, R))
    if not np.all(sizes > 0):
        return None
    ends = np.linalg.svd(R / sizes, compute_uv=False)
    whole = R.copy()  # the columns as they were: X = Z (1 at the intercept's row)
    if shift.constant is not None:
        whole += np.outer(R[:, shift.constant], shift.of_columns)
    plain = np.linalg.svd(whole, compute_uv=False)
    if ends[-1] < _NEAR * ends[0] or plain[-1] < _RANKS * max(n, p) * np.finfo(np.float64).eps * plain[0]:
        return None
    root = solve_triangular(R / sizes, np.eye(p)) / sizes[:, None]
    return Solved(root @ triangle.R[:-1, -1], root, float(triangle.R[-1, -1] ** 2))
