"""All d-way marginals of a table of codes: counts of rows, and the matrix of points against cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy.sparse import csr_array

from pysynthdp.base.arrays import FloatArray, IntArray

__all__ = ["Marginals", "midpoints", "public_points"]


@dataclass(frozen=True, slots=True)
class Marginals:
    """The cells of every set of ``ways`` columns, one set after the other.

    Parameters
    ----------
    levels : tuple of int
        Number of levels of each column.
    ways : int
        Columns a marginal, at most the number of columns.

    Notes
    -----
    Privacy: public facts. A row is in one cell of each table, whatever the number of cells.

    Examples
    --------
    >>> family = Marginals((2, 3), 1)
    >>> family.cells, family.counts(np.array([[0, 2], [1, 2]])).tolist()
    (5, [1, 1, 0, 0, 2])
    """

    levels: tuple[int, ...]
    ways: int

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Sets of columns."""
        return tuple(combinations(range(len(self.levels)), self.ways))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each table."""
        return tuple(math.prod(self.levels[column] for column in table) for table in self.tables)

    @property
    def cells(self) -> int:
        """Cells of all tables."""
        return sum(self.sizes)

    def places(self, codes: IntArray, table: tuple[int, ...]) -> IntArray:
        """Cell of each row in one table; the last column runs fastest."""
        place = np.zeros(len(codes), dtype=np.int64)
        for column in table:
            place = place * self.levels[column] + codes[:, column]
        return place

    def counts(self, codes: IntArray) -> IntArray:
        """Rows in each cell (cells,), int64.

        Parameters
        ----------
        codes : int64 array (rows, columns)
            Level codes.
        """
        pairs = zip(self.tables, self.sizes, strict=True)
        found = [np.bincount(self.places(codes, table), minlength=size) for table, size in pairs]
        return np.concatenate(found).astype(np.int64)

    def matrix(self, codes: IntArray) -> csr_array:
        """Whether a point lies in a cell: sparse (cells, points).

        Parameters
        ----------
        codes : int64 array (points, columns)
            Level codes.
        """
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        rows = [start + self.places(codes, table) for start, table in zip(starts, self.tables, strict=True)]
        columns = np.tile(np.arange(len(codes)), len(rows))
        ones = np.ones(columns.size)
        return csr_array((ones, (np.concatenate(rows), columns)), shape=(self.cells, len(codes)))


def public_points(levels: tuple[int, ...], size: int, rng: np.random.Generator) -> IntArray:
    """Choose the reduced space: every cell of the full table where they are few, else uniform ones.

    Parameters
    ----------
    levels : tuple of int
        Number of levels of each column.
    size : int
        Most points.
    rng : Generator
        Of a public seed.

    Returns
    -------
    int64 array (points, columns)

    Notes
    -----
    Privacy: reads no data.

    Examples
    --------
    >>> public_points((2, 2), 10, np.random.default_rng(0)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if math.prod(levels) <= size:
        return np.array(list(product(*map(range, levels))), dtype=np.int64)
    return np.stack([rng.integers(count, size=size) for count in levels]).T


def midpoints(edges: FloatArray) -> FloatArray:
    """Middle of each bin."""
    return np.asarray((edges[1:] + edges[:-1]) / 2)
