"""All tables of one to three columns, and every subgroup against all other columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.evaluate.sides.cells import Cells
from pysynthdp.evaluate.utility.counts import count_pairs, count_single, count_triples, starts_of
from pysynthdp.evaluate.utility.scores import Scores, scores

__all__ = ["MOST_TRIPLES", "TableScores", "one_way", "residuals", "subgroups", "three_way", "two_way"]

MOST_TRIPLES: Final = 20_000
"""Tables of three columns that are counted; of more columns those around the worst pairs."""
LEAST: Final = 30  # records of a subgroup that is judged

Tallies = Sequence[AnyArray]


@dataclass(frozen=True, slots=True)
class TableScores:
    """Tables of one to three columns, in no order.

    Parameters
    ----------
    columns : array of int (tables, ways)
        Places of their columns.
    scored : array (tables, 4)
        Ratio, moved, chance and df, means over the copies.
    asked : int
        Tables of that many columns that there are.
    """

    columns: IntArray
    scored: FloatArray
    asked: int

    def to_frame(self, names: Sequence[str]) -> pd.DataFrame:
        """One row a table, worst first."""
        heads = [f"column {place}" for place in range(1, self.columns.shape[1] + 1)]
        found = pd.DataFrame(np.asarray(names, dtype=object)[self.columns], columns=heads)
        for place, item in enumerate(fields(Scores)):
            found[item.name] = self.scored[:, place]
        order = np.argsort(-np.nan_to_num(found["ratio"].to_numpy(), nan=-1.0), kind="stable")
        return found.iloc[order].reset_index(drop=True)


def _mean(found: Sequence[Scores]) -> FloatArray:
    """Average the scores over the copies: (tables, 4)."""
    stacked = [np.stack([each.ratio, each.moved, each.chance, each.df], axis=1) for each in found]
    return np.asarray(np.mean(stacked, axis=0))


def one_way(sides: Tallies, sizes: IntArray) -> TableScores:
    """Score every column by itself.

    Parameters
    ----------
    sides : sequence of array of int (columns, rows)
        Cells of the confidential table, then of each copy.
    sizes : array of int (columns,)
        Cells of each column.

    Returns
    -------
    TableScores
    """
    real, *copies = (count_single(cells, sizes) for cells in sides)
    found = [scores(real, copy, starts_of(sizes)) for copy in copies]
    return TableScores(np.arange(sizes.size)[:, None], _mean(found), sizes.size)


@dataclass(frozen=True, slots=True)
class PairScores:
    """Tables of two columns, and what each cell of one column fares in them."""

    tables: TableScores
    groups: FloatArray  # (groups, 5): weighted ratio, moved, chance, df, tables
    worst: IntArray  # (groups,): the column that fares worst in it


def two_way(sides: Tallies, sizes: IntArray) -> PairScores:
    """Score every table of two columns, and in it every row of the table as a subgroup.

    Parameters
    ----------
    sides, sizes
        As of :func:`one_way`.

    Returns
    -------
    PairScores
    """
    columns, values, groups, worst = [], [], [], []
    for first in range(sizes.size):
        others = np.delete(np.arange(sizes.size), first)
        if not others.size:
            continue
        real, *copies = (count_pairs(cells, sizes, first, others) for cells in sides)
        rows = np.repeat(sizes[others], sizes[first])
        split = _mean([scores(real, copy, starts_of(rows)) for copy in copies])
        summed = _of_groups(split.reshape(others.size, sizes[first], 4))
        groups.append(summed[0])
        worst.append(others[summed[1]])
        later = others > first
        if later.any():
            lengths = sizes[first] * sizes[others]
            begins = int(lengths[~later].sum())
            found = [scores(real[begins:], copy[begins:], starts_of(lengths[later])) for copy in copies]
            columns.append(np.stack([np.full(later.sum(), first), others[later]], axis=1))
            values.append(_mean(found))
    empty = [np.zeros((0, 2), np.int64)], [np.zeros((0, 4))]
    tables = TableScores(
        np.concatenate(columns or empty[0]),
        np.concatenate(values or empty[1]),
        len(columns) and sum(map(len, columns)),
    )
    return PairScores(
        tables, np.concatenate(groups or [np.zeros((0, 5))]), np.concatenate(worst or [np.zeros(0, np.int64)])
    )


def _of_groups(split: FloatArray) -> tuple[FloatArray, IntArray]:
    """Sum what each cell of a column fares over the columns beside it: (cells, 5), and the worst of them."""
    ratio, moved, chance, df = np.moveaxis(split, 2, 0)
    known = np.isfinite(ratio)
    weight = np.where(known, df, 0.0)
    total = weight.sum(axis=0)
    whole = np.maximum(known.sum(axis=0), 1)
    found = [
        np.where(total > 0, np.where(known, ratio * df, 0.0).sum(axis=0) / np.maximum(total, 1), np.nan),
        np.where(known, moved, 0.0).sum(axis=0) / whole,
        np.where(known, chance, 0.0).sum(axis=0) / whole,
        total,
        known.sum(axis=0).astype(np.float64),
    ]
    return np.stack(found, axis=1), np.where(known, ratio, -1.0).argmax(axis=0)


def three_way(sides: Tallies, sizes: IntArray, pairs: TableScores, most: int = MOST_TRIPLES) -> TableScores:
    """Score tables of three columns: all, or where they are too many those around the worst pairs.

    Parameters
    ----------
    sides, sizes
        As of :func:`one_way`.
    pairs : TableScores
        Of two columns.
    most : int
        Tables that are counted.

    Returns
    -------
    TableScores
    """
    p = sizes.size
    asked = p * (p - 1) * (p - 2) // 6
    columns, values = [], []
    for first, second, others in _triples(p, pairs, min(asked, most)):
        lengths = sizes[first] * sizes[second] * sizes[others]
        real, *copies = (count_triples(cells, sizes, (first, second), others) for cells in sides)
        found = [scores(real, copy, starts_of(lengths)) for copy in copies]
        heads = np.tile([first, second], (others.size, 1))
        columns.append(np.column_stack([heads, others]))
        values.append(_mean(found))
    whole = np.concatenate(columns) if columns else np.zeros((0, 3), np.int64)
    return TableScores(np.sort(whole, axis=1), np.concatenate(values) if values else np.zeros((0, 4)), asked)


def _triples(p: int, pairs: TableScores, most: int) -> Iterator[tuple[int, int, IntArray]]:
    """Go through pairs of columns with the third columns of each: every triple once."""
    if most >= p * (p - 1) * (p - 2) // 6:
        for first, second in combinations(range(p), 2):
            if second + 1 < p:
                yield first, second, np.arange(second + 1, p)
        return
    done: set[tuple[int, ...]] = set()
    for pair in pairs.columns[np.argsort(-np.nan_to_num(pairs.scored[:, 0], nan=-1.0), kind="stable")]:
        first, second = int(pair[0]), int(pair[1])
        new = [k for k in range(p) if k not in pair and tuple(sorted((first, second, k))) not in done]
        new = new[: most - len(done)]
        done.update(tuple(sorted((first, second, k))) for k in new)
        if new:
            yield first, second, np.array(new)
        if len(done) >= most:
            return


def subgroups(
    cells: Sequence[Cells], pairs: PairScores, single: AnyArray, n_copies: FloatArray
) -> pd.DataFrame:
    """Judge every cell of every column as a subgroup, by the other columns in it; worst first.

    Parameters
    ----------
    cells : sequence of Cells
        Of the columns.
    pairs : PairScores
        Of all tables of two columns.
    single : array of int
        Records of the confidential table in each cell, one column after the other.
    n_copies : array
        Rows of a copy in each, on average.

    Returns
    -------
    DataFrame
        Subgroups of thirty records or more: their sizes, and ratio, moved and chance over the other columns,
        given the size of the subgroup.

    Notes
    -----
    Privacy: of real rows.
    """
    owner = np.repeat(np.arange(len(cells)), [each.size for each in cells])
    names: list[Any] = [(each.facts.name, label) for each in cells for label in each.labels]
    found = pd.DataFrame(names, columns=["column", "subgroup"])
    found["records"], found["rows of a copy"] = single, n_copies
    for place, head in enumerate(("ratio", "moved", "chance", "df")):
        found[head] = pairs.groups[:, place] if len(pairs.groups) else np.nan
    worst = pairs.worst if len(pairs.worst) else np.zeros(len(owner), np.int64)
    found["worst beside"] = [cells[place].facts.name for place in worst]
    judged = found[found["records"] >= LEAST]
    return judged.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)


def residuals(
    sides: Tallies, cells: Sequence[Cells], pairs: TableScores, most: int = 12
) -> tuple[pd.DataFrame, ...]:
    """Give the worst tables of two columns cell by cell: differences in standard errors of a fresh sample.

    Parameters
    ----------
    sides : sequence of array of int (columns, rows)
        Cells of the confidential table, then of each copy.
    cells : sequence of Cells
        Of the columns.
    pairs : TableScores
        Of all tables of two columns.
    most : int
        Tables.

    Returns
    -------
    tuple of DataFrame
        Cells that neither side has are NaN, and left out where a whole row or column is.

    Notes
    -----
    Privacy: of real rows. (s - r o)/sqrt(c (o + s) (1 + r)), a mean over the copies.
    """
    sizes = np.array([each.size for each in cells])
    order = np.argsort(-np.nan_to_num(pairs.scored[:, 0], nan=-1.0), kind="stable")[:most]
    return tuple(_residual(sides, cells, sizes, pairs.columns[place]) for place in order)


def _residual(sides: Tallies, cells: Sequence[Cells], sizes: IntArray, pair: IntArray) -> pd.DataFrame:
    """Give one table of residuals."""
    first, second = (int(place) for place in pair)
    real, *copies = (count_pairs(side, sizes, first, np.array([second])).astype(np.float64) for side in sides)
    found = []
    for copy in copies:
        r, total = copy.sum() / real.sum(), real + copy
        scale = np.sqrt(r / (1 + r) * total * (1 + r))
        found.append(np.divide(copy - r * real, scale, out=np.full(total.shape, np.nan), where=total > 0))
    z = np.array(found)
    known = np.isfinite(z)
    mean = np.where(
        known.any(axis=0), np.where(known, z, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), np.nan
    )
    one, other = cells[first], cells[second]
    frame = pd.DataFrame(
        mean.reshape(sizes[first], sizes[second]), index=list(one.labels), columns=list(other.labels)
    )
    return (
        frame.rename_axis(index=one.facts.name, columns=other.facts.name)
        .dropna(how="all")
        .dropna(axis=1, how="all")
    )
