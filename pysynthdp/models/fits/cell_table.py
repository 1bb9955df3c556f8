"""Cells of a number: intervals between means of records and values that many share, with the law inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST

__all__ = ["CellTable", "cell_table", "joined", "leaning", "placed_values", "tilted"]

ROWS_A_CELL = 60  # so that a slope of each cell has rows behind it
CELLS = (4, 20)  # fewest and most cells
ROWS_OF_ANY = 10  # fewest records of a heap, and of a cell when cut
TINY = 1e-300
PIECES = 8  # of a declared cell's straight density
NEARLY_ALL = 0.95  # of the records: shared values that are so many, and few, are all cells of their own


@dataclass(frozen=True, slots=True)
class CellTable:
    """How a number is coded, and what is drawn inside each code.

    Parameters
    ----------
    knots : array (4, groups)
        Shares of groups of neighbouring records, and the quantile function at the start, in the middle and
        at the end of each, from low to high (:class:`~pysynthdp.models.ask.Quantiles`).
    cell : array of int (groups,)
        The cell that each group lies in, 0, 1, ...
    heaps : array (heaps,)
        Values that are cells of their own, from low to high.
    heap_cells : array of int (heaps,)
        Their cells.
    edges : array (edges,)
        Where the cells of all other values meet, from low to high; each between two means of records.
    edge_cells : array of int (edges + 1,)
        Those cells.
    """

    knots: FloatArray
    cell: IntArray
    heaps: FloatArray
    heap_cells: IntArray
    edges: FloatArray
    edge_cells: IntArray

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(max(self.cell.max(initial=0), self.heap_cells.max(initial=0), self.edge_cells.max())) + 1

    @property
    def codes(self) -> Callable[[FloatArray], IntArray]:
        """The function that tells the cell of each value."""

        def of(y: FloatArray) -> IntArray:
            found = self.edge_cells[np.searchsorted(self.edges, y, side="left")]
            if not self.heaps.size:
                return np.asarray(found)
            at = np.minimum(np.searchsorted(self.heaps, y), self.heaps.size - 1)
            return np.asarray(np.where(self.heaps[at] == y, self.heap_cells[at], found))

        return of


def cell_table(knots: FloatArray, n: int, most: int | None = None) -> CellTable:
    """Cut a distribution into cells: values that many share, and intervals of equal count.

    Parameters
    ----------
    knots : array (4, groups)
        Answer to :class:`~pysynthdp.models.ask.Quantiles`.
    n : int
        Records.
    most : int, optional
        Intervals of equal count, in the place of K.

    Returns
    -------
    CellTable

    Notes
    -----
    Privacy: post-processing of means of five or more records. Each edge lies between the means of two
    neighbouring groups; a value of a cell of its own is shared by ten records or more.
    With K = n / 60, at least 4 and at most 20: a value that n / 2K records share is a cell of its own, and
    all shared values are where they are at most 2 K and hold nearly all records; the rest is cut into K
    intervals of equal count, of ten records or more.

    Examples
    --------
    >>> knots = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 2.0], [0.0, 1.5, 2.5], [0.0, 2.0, 3.0]])
    >>> table = cell_table(knots, 80)
    >>> table.heaps.tolist(), table.edges.tolist(), table.codes(np.array([0.0, 1.2, 9.0])).tolist()
    ([0.0], [2.0], [0, 1, 2])
    """
    knots = knots.copy()
    knots[1:] = np.maximum.accumulate(knots[1:].T.ravel()).reshape(-1, 3).T
    most = int(np.clip(n // ROWS_A_CELL, *CELLS)) if most is None else most
    heaped = _heaped(knots, n, most)
    heaps, of_heap = np.unique(knots[1, heaped], return_inverse=True)
    cell = np.zeros(knots.shape[1], dtype=np.int64)
    cell[heaped] = of_heap
    rest = np.flatnonzero(~heaped)
    share = knots[0, rest]
    parts = max(min(most, int(share.sum() * n / ROWS_OF_ANY + 1e-9)), 1)
    middle = (np.cumsum(share) - share / 2) / max(share.sum(), TINY)
    cut = np.minimum((middle * parts).astype(np.int64), parts - 1)
    _, cut = np.unique(cut, return_inverse=True)
    cell[rest] = heaps.size + cut
    last = np.flatnonzero(np.diff(cut))
    edges = (knots[3, rest[last]] + knots[1, rest[last + 1]]) / 2
    between = heaps.size + np.arange(last.size + 1) if rest.size else np.zeros(1, dtype=np.int64)
    return CellTable(knots, cell, heaps, np.arange(heaps.size), edges, between)


def _heaped(knots: FloatArray, n: int, most: int) -> BoolArray:
    """Which groups are values with a cell of their own."""
    flat = (knots[1] == knots[3]) & (knots[0] * n >= ROWS_OF_ANY - 0.5)
    if knots[0, flat].sum() >= NEARLY_ALL and np.unique(knots[1, flat]).size <= 2 * most:
        return np.asarray(flat)
    return np.asarray(flat & (knots[0] >= 1 / (2 * most)))


def joined(table: CellTable, counts: FloatArray) -> tuple[CellTable, IntArray]:
    """Join cells of fewer than five records with a neighbour, and number the cells anew.

    Parameters
    ----------
    table : CellTable
        As cut.
    counts : array (cells,)
        Records whose code is each cell; they may differ a little from what the groups hold.

    Returns
    -------
    CellTable, array of int (cells,)
        And the new number of each old cell.

    Notes
    -----
    Privacy: a cell of fewer than five records would have sums of theirs alone.
    """
    value = _middles(table)
    new, counts = np.arange(table.size), counts.astype(np.float64).copy()
    while np.count_nonzero(counts > 0) > 1 and (alone := (counts > 0) & (counts < FEWEST)).any():
        small = int(np.flatnonzero(alone)[0])
        new, counts = _into(new, counts, small, value)
    for empty in np.flatnonzero(np.bincount(new, counts, len(counts)) == 0):
        new, counts = _into(new, counts, int(empty), value)
    _, new = np.unique(new, return_inverse=True)
    moved = replace(
        table, cell=new[table.cell], heap_cells=new[table.heap_cells], edge_cells=new[table.edge_cells]
    )
    return moved, np.asarray(new)


def _into(new: IntArray, counts: FloatArray, small: int, value: FloatArray) -> tuple[IntArray, FloatArray]:
    """Put a cell into the nearest one that has records."""
    others = np.flatnonzero((counts > 0) & (np.arange(len(counts)) != small))
    if not others.size:
        return new, counts
    nearest = int(others[np.argmin(np.abs(value[others] - value[small]))])
    counts = counts.copy()
    counts[nearest] += counts[small]
    counts[small] = 0.0
    return np.where(new == small, nearest, new), counts


def _middles(table: CellTable) -> FloatArray:
    """Mean of each cell, by its groups."""
    means = table.knots[[1, 2, 2, 3]].mean(axis=0)
    weight = np.bincount(table.cell, table.knots[0], table.size)
    total = np.bincount(table.cell, table.knots[0] * means, table.size)
    return np.asarray(total / np.maximum(weight, TINY))


def placed_values(table: CellTable, cells: IntArray, places: FloatArray) -> FloatArray:
    """Values at places inside cells: the quantile function of the cell's groups.

    Parameters
    ----------
    table : CellTable
        With the groups of each cell.
    cells : array of int (rows,)
        Cells.
    places : array (rows,)
        On [0, 1): how far up in the cell.

    Returns
    -------
    array (rows,)

    Examples
    --------
    >>> knots = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 2.0], [0.0, 1.5, 2.5], [0.0, 2.0, 3.0]])
    >>> placed_values(cell_table(knots, 80), np.array([0, 1, 2, 2]), np.array([0.7, 0.5, 0.0, 0.75])).tolist()
    [0.0, 1.5, 2.0, 2.75]
    """
    order = np.argsort(table.cell, kind="stable")
    shares, low, middle, high = table.knots[:, order]
    ends = np.cumsum(shares)
    total = np.bincount(table.cell, table.knots[0], table.size)
    starts = np.cumsum(total) - total
    last = np.searchsorted(table.cell[order], np.arange(table.size), side="right") - 1
    at = starts[cells] + places * total[cells]
    group = np.minimum(np.searchsorted(ends, at, side="right"), last[cells])
    inside = np.clip(1 - (ends[group] - at) / shares[group], 0.0, 1.0)
    upper = inside > 0.5
    begin, end = np.where(upper, middle[group], low[group]), np.where(upper, high[group], middle[group])
    return np.asarray(begin + (end - begin) * (2 * inside - upper))


def tilted(table: CellTable, cells: IntArray, places: FloatArray, shares: FloatArray) -> FloatArray:
    """Move places inside cells towards the neighbour that a row's features make likelier.

    Parameters
    ----------
    table : CellTable
        With the groups of each cell.
    cells : array of int (rows,)
        Cells.
    places : array (rows,)
        On [0, 1), uniform.
    shares : array (rows, cells)
        Probabilities of the cells for each row.

    Returns
    -------
    array (rows,)

    Notes
    -----
    Privacy: post-processing.
    With r_k the probability of cell k over its share of all rows, the density of a place w is 1 + t (2 w - 1)
    with t = (r_(k+1) - r_(k-1)) / (4 r_k), within [-1, 1]; in an outermost cell the difference to the only
    neighbour over 2 r_k. Over all rows of a cell t adds up to nought, so what is inside it is kept.
    """
    rest, place = _intervals(table)
    inside = np.flatnonzero(place[cells] >= 0)
    if rest.size < 2 or not inside.size:
        return places
    at, cells, u = place[cells[inside]], cells[inside], places[inside]
    below, above = rest[np.maximum(at - 1, 0)], rest[np.minimum(at + 1, rest.size - 1)]
    share = np.maximum(np.bincount(table.cell, table.knots[0], table.size), TINY)
    own = shares[inside, cells] / share[cells]
    slope = shares[inside, above] / share[above] - shares[inside, below] / share[below]
    middle = (at > 0) & (at < rest.size - 1)
    t = np.clip(slope / (np.where(middle, 4, 2) * np.maximum(own, TINY)), -1, 1)
    moved = places.copy()
    # the root of w (1 - t) + t w^2 = u, without a difference of near numbers
    moved[inside] = np.clip(2 * u / (1 - t + np.sqrt((1 - t) ** 2 + 4 * t * u) + TINY), 0, 1)
    return moved


def leaning(shares: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, IntArray]:
    """Give each declared cell a density on a straight line, whose slope is that of its neighbours' heights.

    Parameters
    ----------
    shares : array (cells,)
        Probabilities.
    low, high : array (cells,)
        Ends; equal for a cell of one value, which is nobody's neighbour.

    Returns
    -------
    array (4, groups), array of int (groups,)
        Eight pieces a cell as a table holds them, and the cell of each.

    Notes
    -----
    Privacy: post-processing of shares.
    A cell that is wide beside what the density changes over would, evenly filled, move means up a falling
    tail. With heights h of cells and m their middles, the density of place w is 1 + t (2 w - 1), t = width
    (h_next - h_before) / (m_next - m_before) / 2 h, within [-1, 1]; an outermost cell takes its own height in
    the place of the neighbour that it lacks. So an even or a straight density is kept as it is.

    Examples
    --------
    >>> knots, cell = leaning(np.array([0.75, 0.25]), np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    >>> [round(float(knots[0, cell == each].sum()), 3) for each in (0, 1)], knots[0, :2].round(3).tolist()
    ([0.75, 0.25], [0.121, 0.113])
    """
    wide = np.flatnonzero(high > low)
    width, middle = (high - low)[wide], ((high + low) / 2)[wide]
    height = shares[wide] / np.maximum(width, TINY)
    before = np.maximum(np.arange(wide.size) - 1, 0)
    after = np.minimum(np.arange(wide.size) + 1, wide.size - 1)
    slope = (height[after] - height[before]) / np.maximum(middle[after] - middle[before], TINY)
    t = np.zeros(len(shares))
    t[wide] = np.clip(width * slope / np.maximum(2 * height, TINY), -1, 1)
    ends = np.arange(PIECES + 1) / PIECES
    below = (1 - t)[:, None] * ends + t[:, None] * ends**2
    at = low[:, None] + (high - low)[:, None] * ends
    parts = np.maximum(np.diff(below) * np.maximum(shares, TINY)[:, None], TINY)
    knots = np.stack([parts / parts.sum(), at[:, :-1], (at[:, :-1] + at[:, 1:]) / 2, at[:, 1:]])
    return knots.reshape(4, -1), np.repeat(np.arange(len(shares)), PIECES)


def _intervals(table: CellTable) -> tuple[IntArray, IntArray]:
    """Cells in which values differ, from low to high, and the place of each cell among them, else -1."""
    wide = np.bincount(table.cell, table.knots[3] > table.knots[1], table.size) > 0
    rest = np.flatnonzero(wide)
    rest = rest[np.argsort(_middles(table)[rest])]
    place = np.full(table.size, -1)
    place[rest] = np.arange(rest.size)
    return rest, place
