"""Sums over real rows and over stand-ins, by which the two are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pysynthdp.base.arrays import FloatArray

__all__ = ["CheckSums", "block_sums"]


@dataclass(frozen=True, slots=True, repr=False)
class CheckSums:
    """Sums over some rows, all about one centre that real rows and stand-ins share.

    Parameters
    ----------
    n : float
        Rows.
    first : array (q,)
        Of the features.
    products, squares, cubes : array (q, q)
        Of a b, of a^2 b^2 and of a^3 b.
    crossed, crossed_squares : array (p, p, p)
        Of r b c and its square, with r what a plain feature is beyond a linear function of the other plain
        ones; empty where there are too many.
    """

    n: float
    first: FloatArray
    products: FloatArray
    squares: FloatArray
    cubes: FloatArray
    crossed: FloatArray
    crossed_squares: FloatArray

    @classmethod
    def of(cls, sums: tuple[FloatArray, ...]) -> Self:
        """Name what :func:`block_sums` added."""
        return cls(float(sums[0]), *sums[1:])

    def __add__(self, other: CheckSums) -> CheckSums:
        return CheckSums(
            self.n + other.n,
            self.first + other.first,
            self.products + other.products,
            self.squares + other.squares,
            self.cubes + other.cubes,
            self.crossed + other.crossed,
            self.crossed_squares + other.crossed_squares,
        )

    def __sub__(self, other: CheckSums) -> CheckSums:
        return CheckSums(
            self.n - other.n,
            self.first - other.first,
            self.products - other.products,
            self.squares - other.squares,
            self.cubes - other.cubes,
            self.crossed - other.crossed,
            self.crossed_squares - other.crossed_squares,
        )

    @property
    def covariance(self) -> FloatArray:
        """Of the features, about their own means."""
        mean = self.first / self.n
        return self.products / self.n - np.outer(mean, mean)


def block_sums(Z: FloatArray, centre: FloatArray, residual: FloatArray | None) -> tuple[FloatArray, ...]:
    """Add up a block.

    Parameters
    ----------
    Z : array (rows, q)
        Features.
    centre : array (q,)
        Their means in the real table.
    residual : array (p, p), optional
        Columns that turn the first p centred features into their residuals; None for no triple products.
    """
    C = (Z - centre).T
    S = C * C
    plain = (np.asarray(float(len(Z))), C.sum(axis=1), C @ C.T, S @ S.T, (S * C) @ C.T)
    if residual is None:
        return (*plain, np.zeros((0, 0, 0)), np.zeros((0, 0, 0)))
    p = len(residual)
    B, R = C[:p], residual.T @ C[:p]
    crossed = np.stack([(B * r) @ B.T for r in R])
    squares = np.stack([(S[:p] * (r * r)) @ S[:p].T for r in R])
    return (*plain, crossed, squares)
