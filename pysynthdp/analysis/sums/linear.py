"""Least squares, plain or weighted, from one triangle of all rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pysynthdp.analysis.sums.design import Block, Design
from pysynthdp.analysis.sums.request import Request
from pysynthdp.analysis.sums.sandwich import clusters_of, robust_covariance
from pysynthdp.analysis.sums.summed import Lacking, Summed
from pysynthdp.analysis.sums.triangle import Shift, Solved, by_products, by_rotations, solved
from pysynthdp.base.arrays import FloatArray

__all__ = ["least_squares"]

_NOTHING = 1e-12  # share of the response's squares that is rounding: then statsmodels' own is asked for
_Pair = tuple[FloatArray, FloatArray]


def least_squares(design: Design, asked: Request) -> Summed | Lacking | None:
    """Fit; None where statsmodels has to, and the columns that are zero where there are such.

    Parameters
    ----------
    design : Design
        The copy, read by blocks.
    asked : Request
        OLS, or WLS with a column of weights.

    Notes
    -----
    Privacy: post-processing of synthetic copies. Columns are shifted by the means of the first block where
    there is an intercept, so cross-products lose few digits; where they would, blocks are rotated instead.
    """
    passes = _Passes(design, asked)
    triangle, squares = by_products(passes.pairs())
    lacking = passes.lacking(squares)
    if lacking or not passes.n or not np.isfinite(squares).all():
        return Lacking(lacking) if lacking else None
    triangle = triangle or by_rotations(passes.pairs())
    n, p = passes.n, len(design.names)
    found = None if triangle is None or n <= p else solved(triangle, passes.shift, n)
    if found is None or found.left_over <= _NOTHING * squares[-1]:
        return None
    scale = found.left_over / (n - p)
    cov = scale * found.inverse
    if asked.robust is not None:
        clusters = clusters_of(design, asked.robust)
        if clusters is None:
            return None
        rows = passes.scores(found, asked.robust.groups)
        cov = robust_covariance(asked.robust, rows, found.inverse, clusters, linear=True, n=n)
    shift = passes.shift
    return Summed(shift.back(found.beta, shift.of_response), shift.spread(cov), scale, n)


class _Passes:
    """Reads the rows of a design, shifted and weighted; counts them, and knows the shift after the first."""

    def __init__(self, design: Design, asked: Request) -> None:
        self._design, self._weights = design, asked.beside.get("weights")
        p = len(design.names)
        self.shift, self.n, self._known = Shift(np.zeros(p), 0.0, None), 0, False

    def blocks(self) -> Iterator[tuple[Block, FloatArray, FloatArray]]:
        """Give blocks with their columns and response, ready to be summed."""
        self.n = 0
        for block in self._design.blocks():
            if not block.y.size:
                continue
            if not self._known:
                self.shift, self._known = Shift.by(block.X, block.y, self._design.constant), True
            self.n += block.y.size
            X, y = self.shift.moved(block.X), block.y - self.shift.of_response
            if self._weights is not None:
                root = np.sqrt(np.asarray(block.own[self._weights], dtype=np.float64))
                X, y = X * root, y * root
            yield block, X, y

    def pairs(self) -> Iterator[_Pair]:
        """Give columns and response."""
        return ((X, y) for _, X, y in self.blocks())

    def scores(self, found: Solved, groups: str | None) -> Iterator[tuple[FloatArray, FloatArray, object]]:
        """Give columns, residuals and cells of the clusters' column."""
        for block, X, y in self.blocks():
            yield X, y - found.beta @ X, None if groups is None else block.own[groups]

    def lacking(self, squares: FloatArray) -> tuple[str, ...]:
        """Name the columns that are zero in all rows."""
        if not squares.size or not self.n:
            return ()
        zero = (squares[:-1] == 0) & (self.shift.of_columns == 0)
        return tuple(name for name, gone in zip(self._design.names, zero, strict=True) if gone)
