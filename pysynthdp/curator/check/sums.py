"""Sums over real rows and over stand-ins, by which the two are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np

from pysynthdp.base.arrays import FloatArray

__all__ = ["CheckSums", "Compared", "PiecedSums", "block_sums", "covariances"]

Pairs: TypeAlias = Literal["products", "squares", "cubes"]


class Compared(Protocol):
    """One side of a comparison; sums of pairs of features are taken out of it part by part."""

    @property
    def n(self) -> float:
        """Rows."""
        ...

    @property
    def first(self) -> FloatArray:
        """Sums of the features, (q,)."""
        ...

    @property
    def crossed(self) -> FloatArray:
        """Sums of triple products, (p, p, p)."""
        ...

    @property
    def crossed_squares(self) -> FloatArray:
        """Sums of their squares, (p, p, p)."""
        ...

    @property
    def variances(self) -> FloatArray:
        """Of the features, (q,)."""
        ...

    def taken(self, what: Pairs, at: Any) -> FloatArray:
        """Give some of the sums of pairs."""
        ...


def covariances(of: Compared, rows: Any, columns: Any) -> FloatArray:
    """Covariances of some features (rows) with others (columns), about their own means."""
    mean = of.first / of.n
    at = (rows, columns) if isinstance(columns, slice) else np.ix_(rows, columns)
    return of.taken("products", at) / of.n - np.outer(mean[rows], mean[columns])


def _variances(of: Compared) -> FloatArray:
    """Covariances of features with themselves."""
    mean, at = of.first / of.n, np.arange(len(of.first))
    return of.taken("products", (at, at)) / of.n - mean * mean


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

    def taken(self, what: Pairs, at: Any) -> FloatArray:
        """Give some of the sums of pairs."""
        held: FloatArray = getattr(self, what)[at]
        return held

    @property
    def variances(self) -> FloatArray:
        """Of the features, about their own means: (q,)."""
        return _variances(self)

    @property
    def covariance(self) -> FloatArray:
        """Of the features, about their own means."""
        mean = self.first / self.n
        return self.products / self.n - np.outer(mean, mean)


@dataclass(frozen=True, slots=True, repr=False)
class PiecedSums:
    """Sums over several pieces, less those over one of them; pairs are added when they are asked for.

    Of a wide table each piece's sums of pairs take hundreds of megabytes, so that no sum of them is held.

    Parameters
    ----------
    pieces : sequence of CheckSums
        Added in order.
    less : CheckSums, optional
        Subtracted at last.
    """

    pieces: Sequence[CheckSums]
    less: CheckSums | None = None

    def _of(self, parts: Sequence[Any], less: Any) -> Any:
        """Add up, and subtract."""
        whole = reduce(add, parts)
        return whole if self.less is None else whole - less

    def _named(self, name: str) -> Any:
        """Add up what is small."""
        return self._of([getattr(piece, name) for piece in self.pieces], getattr(self.less, name, None))

    @property
    def n(self) -> float:
        """Rows."""
        return float(self._named("n"))

    @property
    def first(self) -> FloatArray:
        """Sums of the features."""
        return np.asarray(self._named("first"))

    @property
    def crossed(self) -> FloatArray:
        """Sums of triple products."""
        return np.asarray(self._named("crossed"))

    @property
    def crossed_squares(self) -> FloatArray:
        """Sums of their squares."""
        return np.asarray(self._named("crossed_squares"))

    @property
    def variances(self) -> FloatArray:
        """Of the features, about their own means."""
        return _variances(self)

    def taken(self, what: Pairs, at: Any) -> FloatArray:
        """Give some of the sums of pairs."""
        less = None if self.less is None else self.less.taken(what, at)
        return np.asarray(self._of([piece.taken(what, at) for piece in self.pieces], less))


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
