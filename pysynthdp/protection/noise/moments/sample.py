"""Rows that stand for the distribution of the features, for fits that need more than cross-products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.protection.noise.moments.cells import Cells

__all__ = ["ROWS", "StandIns"]

ROWS = 10_000
_SEED = 20_240_301  # the same rows for every copy, so that copies differ by their moments only


@dataclass(slots=True, repr=False)
class StandIns:
    """Rows of the fitted distribution, number by number.

    Parameters
    ----------
    X : array (rows, features so far)
        Intercept, dummies, numbers.
    cells : array (rows,)
        The cell of each row.
    rng : Generator
        Of the residuals.
    """

    X: FloatArray
    cells: IntArray
    rng: np.random.Generator

    @classmethod
    def of(cls, cells: Cells) -> Self:
        """Take rows from the cells by systematic sampling."""
        rng = np.random.default_rng(_SEED)
        ends = np.cumsum(cells.weights)
        points = (np.arange(ROWS) + 0.5) / ROWS * ends[-1]
        at = np.minimum(np.searchsorted(ends, points), len(ends) - 1).astype(np.int64)
        return cls(cells.X[at], at, rng)

    def add(self, values: FloatArray) -> None:
        """Add a number to every row."""
        self.X = np.column_stack([self.X, values])
