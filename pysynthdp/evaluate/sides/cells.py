"""Columns as few cells each, so that tables of two and three of them can be counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.evaluate.sides.columns import Facts, levels_of, numbers_of

__all__ = ["Cells", "cells_of", "coded", "cut"]

MOST: Final = 15  # levels of a column that are told apart in tables of several columns
FEW: Final = 12  # distinct numbers that are levels of their own
GROUPS: Final = 5  # of other numbers, about as many rows in each


@dataclass(frozen=True, slots=True)
class Cells:
    """How a column is cut into cells, by the confidential table alone.

    Parameters
    ----------
    facts : Facts
        Of the column.
    labels : tuple of str
        Of the cells: values first, then what is no value; a last one holds what the table does not have.
    edges : array
        Of numbers: between groups, a value on an edge below it; or the values themselves.
    each : bool
        Whether every value is a cell of its own.
    place : array of int (levels,)
        Of levels: the cell of each; rare ones share one.
    """

    facts: Facts
    labels: tuple[str, ...]
    edges: FloatArray
    each: bool
    place: AnyArray

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.labels)


def cut(numbers: FloatArray, groups: int) -> FloatArray:
    """Give the inner quantiles that part numbers into groups; fewer where they are heaped."""
    known = numbers[np.isfinite(numbers)]
    if not known.size:
        return np.zeros(0)
    return np.unique(np.quantile(known, np.arange(1, groups) / groups))


def cells_of(series: pd.Series[Any], facts: Facts, groups: int = GROUPS) -> Cells:
    """Cut a column into cells.

    Parameters
    ----------
    series : Series
        Of the confidential table.
    facts : Facts
        Of the column.
    groups : int
        Of numbers with more than twelve distinct values.

    Returns
    -------
    Cells

    Notes
    -----
    Privacy: its edges are quantiles of real rows.
    """
    return _of_numbers(series, facts, groups) if facts.numeric else _of_levels(series, facts)


def _of_numbers(series: pd.Series[Any], facts: Facts, groups: int) -> Cells:
    """Cut at quantiles, or take each of few values by itself."""
    values, _ = numbers_of(series, facts)
    found = np.unique(values[np.isfinite(values)])
    each = found.size <= FEW
    edges = found if each else cut(values, groups)
    if each:
        names = [facts.shown(edge) for edge in edges]
    else:
        names = [*(f"up to {facts.shown(edge)}" for edge in edges), f"above {facts.shown(edges[-1])}"]
    return Cells(facts, (*names, *facts.kinds, "(not in the table)"), edges, each, np.zeros(0, np.int64))


def _of_levels(series: pd.Series[Any], facts: Facts) -> Cells:
    """Keep the most frequent levels apart, the rest together."""
    codes = levels_of(series, facts)
    counts = np.bincount(codes[codes >= 0], minlength=len(facts.levels))
    kept = np.arange(counts.size)
    if counts.size > MOST + 1:
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST])
    place = np.full(counts.size, kept.size, dtype=np.int64)
    place[kept] = np.arange(kept.size)
    rest = ("(other levels)",) if kept.size < counts.size else ()
    labels = (*(facts.levels[level] for level in kept), *rest, *facts.kinds[:1], "(not in the table)")
    return Cells(facts, labels, np.zeros(0), True, place)


def coded(frame: pd.DataFrame, cells: Sequence[Cells]) -> AnyArray:
    """Read the columns of one side as cells.

    Parameters
    ----------
    frame : DataFrame
        With these columns.
    cells : sequence of Cells
        Of each column.

    Returns
    -------
    array of int8 or int16 (columns, rows)

    Notes
    -----
    Privacy: reads rows as they are.
    """
    largest = max((each.size for each in cells), default=1)
    found = np.empty((len(cells), len(frame)), dtype=np.int8 if largest < 128 else np.int16)
    for row, each in zip(found, cells, strict=True):
        row[:] = _coded(frame[each.facts.name], each)
    return found


def _coded(series: pd.Series[Any], cells: Cells) -> AnyArray:
    """Read one column as cells."""
    last = cells.size - 1
    if not cells.facts.numeric:
        codes = levels_of(series, cells.facts)
        new = last - 2 if cells.place.size > last - 1 else last  # new ones join the rare ones
        return np.append(cells.place, [new, last - 1])[codes]
    values, kinds = numbers_of(series, cells.facts)
    found = np.searchsorted(cells.edges, values)
    if cells.each:
        near = np.minimum(found, max(cells.edges.size - 1, 0))
        same = cells.edges[near] == values if cells.edges.size else np.zeros(len(values), bool)
        found = np.where(same, near, last)
    first = last - len(cells.facts.kinds)
    return np.where(kinds > 0, first + kinds - 1, found)
