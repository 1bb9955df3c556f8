"""Columns that another column determines: a group of a number, the name of a code, a coarser code.

What is published is the table from one to the other: only of values that five or more records have; rarer
ones get what most records have.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.base.scratch import stored, stored_pieces
from pysynthdp.curator.infer.column_names import named_as_person
from pysynthdp.curator.reductions import blocks_of
from pysynthdp.curator.table import PartTable
from pysynthdp.design.counting import counted
from pysynthdp.design.expression_cells import cells_of
from pysynthdp.design.expressions import Values, quoted
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn

__all__ = ["Among", "Coded", "code_of", "coded", "cut_of", "listed", "listed_of", "may_cut", "recode_of"]

Among: TypeAlias = Callable[[PartTable], BoolArray]  # which of some rows are asked

_LISTED = 300  # values that a table lists
_GROUPS = 31  # of a number; with more it is a code, whose order says nothing to later columns
_FEWEST_OTHERS = 50  # records that do not have the commonest value
_EXPECTED = 10.0  # exceptions, were the column independent of the other
_CHANCE = 25.0  # agreement by chance is below exp(-25)
_REPEATED = 3  # records a value, on average
_MOSTLY = 0.9
_MOST_CODES = 0.75  # of the records have a code that the table tells of; the others get the nearest one's
_GLANCED = 2_000  # rows of a sample that shows whether a column can be groups of a number
_SURE = 5.0  # standard deviations of a sample, by which that sample may err


@dataclass(frozen=True, slots=True, repr=False)
class Coded:
    """A column as codes of its values.

    Parameters
    ----------
    column : Column
        Which.
    codes : array (rows,) of int
        Places among ``values``; -1 where missing.
    values : sequence
        Numbers, truth values or texts, each once; numbers rise. More than a table lists are an array.
    """

    column: Column
    codes: AnyArray
    values: Sequence[float | str]


def coded(column: Column, table: PartTable) -> Coded:
    """Read a column as codes of its values; these, and many values, lie where the table does."""
    if isinstance(column, CategoricalColumn):
        return _coded_levels(column, table)
    found, n = np.empty(table.n), 0
    for cells in _cells(column, table):
        own = cells.data[~cells.missing & np.isfinite(cells.data)]
        found[n : n + len(own)] = own
        n += len(own)
    values = counted(found[:n])[0]
    del found
    codes = stored_pieces((_places(cells, values) for cells in _cells(column, table)), table.scratch)
    listed = values.tolist() if len(values) <= _LISTED else stored(values, table.scratch)
    return Coded(column, codes, cast("Sequence[float | str]", listed))


def _cells(column: Column, table: PartTable) -> Iterator[Values]:
    """Read a column as values, block by block."""
    parts = {key: part for key, part in table.parts.items() if key[0] == column.name}
    for rows in blocks_of(next(iter(parts.values()))):
        yield cells_of(column, {key: part[rows] for key, part in parts.items()})


def _places(cells: Values, values: AnyArray) -> AnyArray:
    """Find where cells stand among values; what is sorted is found without searching all over them."""
    order = np.argsort(cells.data)
    codes = np.empty(len(order), dtype=np.int32 if len(values) < 2**31 else np.int64)
    codes[order] = np.searchsorted(values, cells.data[order])
    codes[cells.missing] = -1
    return codes


def _coded_levels(column: CategoricalColumn, table: PartTable) -> Coded:
    """Take levels as they are coded already."""
    levels = [level if isinstance(level, int | float) else str(level) for level in column.levels]
    numeric = all(isinstance(level, int | float | np.number) for level in column.levels)
    values: list[float | str] = (
        [float(level) for level in levels] if numeric else [str(each) for each in levels]
    )
    value = table.parts[column.name, "value"]
    lost = (cells.missing for cells in _cells(column, table))
    codes = (
        np.where(own, -1, value[rows].astype(np.int32))
        for rows, own in zip(blocks_of(value), lost, strict=True)
    )
    return Coded(column, stored_pieces((each.astype(np.int32) for each in codes), table.scratch), values)


def recode_of(y: Coded, x: Coded) -> str | None:
    """Write a column as a table of another one's values; None where that does not determine it, or by chance.

    Notes
    -----
    Privacy: reads real rows. Lists only values of ``x`` that five records or more have.
    """
    found = _table(y, x, mostly=_MOSTLY)
    if found is None:
        return None
    return _recoded(y, x, *found)


def code_of(y: Coded, x: Coded) -> str | None:
    """Write a column as what a code tells, such as the number of a school; rarer ones tell as the nearest.

    A code is a whole number; one whose name may be an identifier of persons or households has no table.

    Notes
    -----
    Privacy: reads real rows. Tells of codes that five records or more have.
    """
    whole = all(isinstance(value, float) and value.is_integer() for value in x.values)
    if not whole or named_as_person(x.column.name) or not isinstance(x.column, NumericColumn):
        return None
    if ((x.codes < 0) != (y.codes < 0)).any():
        return None
    found = _table(y, x, mostly=_MOST_CODES)
    if found is None:
        return None
    often, firsts = found
    changes = [(low, high) for low, high in itertools.pairwise(often) if firsts[low] != firsts[high]]
    edges = [_roundest(float(x.values[low]), float(x.values[high])) for low, high in changes]
    labels = [y.values[firsts[at]] for at in (often[0], *(high for _, high in changes))]
    return _cut(x, edges, labels)


def _table(y: Coded, x: Coded, *, mostly: float) -> tuple[list[int], AnyArray] | None:
    """Say which values of a column to list, and the other's code for each; None where it is no function."""
    there = x.codes >= 0
    counts = np.bincount(x.codes[there], minlength=len(x.values))
    often = counts >= FEWEST
    if not 2 <= often.sum() <= _LISTED or counts[often].sum() < mostly * there.sum():
        return None
    if len(x.values) > there.sum() / _REPEATED or not _telling(y, x, there):
        return None
    firsts = np.full(len(x.values), -2, dtype=np.int64)
    firsts[x.codes[there]] = y.codes[there]
    if (firsts[x.codes[there]] != y.codes[there]).any():
        return None
    listed = [int(at) for at in np.flatnonzero(often) if firsts[at] >= 0]
    return (listed, firsts) if len({int(firsts[at]) for at in listed}) > 1 else None


def _recoded(y: Coded, x: Coded, listed: Sequence[int], firsts: AnyArray) -> str:
    """Write the table; for rarer values what most records have."""
    old = json.dumps([x.values[at] for at in listed], ensure_ascii=False)
    new = json.dumps([y.values[firsts[at]] for at in listed], ensure_ascii=False)
    rare = any(firsts[at] >= 0 for at in range(len(firsts)) if at not in set(listed))
    usual = y.values[int(np.bincount(y.codes[y.codes >= 0]).argmax())]
    rest = f", {json.dumps(usual, ensure_ascii=False)}" if rare else ""
    return f"recode({quoted(x.column.name)}, {old}, {new}{rest})"


def _telling(y: Coded, x: Coded, there: BoolArray) -> bool:
    """Whether so many agreements cannot be chance, and enough records have each of several values."""
    both = there & (y.codes >= 0)
    counts = np.bincount(y.codes[both], minlength=1)
    n, groups = int(both.sum()), int(np.count_nonzero(np.bincount(x.codes[both])))
    if n < 2 * _FEWEST_OTHERS or n - counts.max() < _FEWEST_OTHERS:
        return False
    share = float(((counts / n) ** 2).sum())
    return n * (1 - share) >= _EXPECTED and -(n - groups) * math.log(share) > _CHANCE


def listed(y: Coded, x: Coded, *, code: bool = False) -> BoolArray:
    """Find the rows that a table of one column by another speaks of: not those of rare values or groups."""
    if isinstance(x.column, NumericColumn) and not code:
        starts, counts = _groups(y, x)
        often = np.repeat(counts >= FEWEST, np.diff([*starts, len(x.values)]))
    else:
        often = np.bincount(x.codes[x.codes >= 0], minlength=len(x.values)) >= FEWEST
    return np.asarray(np.append(often, True)[x.codes])


def listed_of(y: Coded, x: Coded, *, code: bool = False) -> Among:
    """Say the same of other rows than those that were coded, by the values that they have."""
    if isinstance(x.column, NumericColumn) and not code:
        starts, counts = _groups(y, x)
        first = np.asarray(x.values, dtype=np.float64)[starts]
        return partial(_in_range, column=x.column, first=first, often=counts >= FEWEST)
    often = np.bincount(x.codes[x.codes >= 0], minlength=len(x.values)) >= FEWEST
    return partial(_among, column=x.column, values=np.asarray(x.values)[often])


def _in_range(table: PartTable, *, column: Column, first: AnyArray, often: BoolArray) -> BoolArray:
    """Find the rows that lie in a range that is listed, or are missing."""
    given = cells_of(column, table.parts)
    place = np.searchsorted(first, given.data, side="right") - 1
    return np.asarray(given.missing | often[np.maximum(place, 0)])


def _among(table: PartTable, *, column: Column, values: AnyArray) -> BoolArray:
    """Find the rows that have a value that is listed, or are missing."""
    given = cells_of(column, table.parts)
    return np.asarray(given.missing | np.isin(given.data.astype(values.dtype), values))


def _groups(y: Coded, x: Coded) -> tuple[AnyArray, AnyArray]:
    """Find where groups of a number's values begin, and how many records each has."""
    there = (x.codes >= 0) & (y.codes >= 0)
    starts = np.flatnonzero(np.diff(_group_of(y, x, there), prepend=-2))
    return starts, np.add.reduceat(np.bincount(x.codes[there], minlength=len(x.values)), starts)


def _group_of(y: Coded, x: Coded, there: BoolArray) -> AnyArray:
    """Find each value's group; of values that only records without a group have, that of the value before."""
    groups = np.full(len(x.values), -1, dtype=np.int64)
    groups[x.codes[there]] = y.codes[there]
    known = np.maximum.accumulate(np.where(groups >= 0, np.arange(len(groups)), 0))
    return np.asarray(groups[known])


def may_cut(y: Coded, x: Coded) -> bool:
    """Whether a systematic sample leaves it open that a column is groups of a number.

    Sorted by the number, a column of few groups changes seldom: once between two groups, and at most twice
    for each row of a group too small to be listed, of which there are a tenth.

    Notes
    -----
    Privacy: reads real rows; all rows decide later.
    """
    every = max(1, len(x.codes) // _GLANCED)
    order = np.argsort(x.codes[::every], kind="stable")
    found = y.codes[::every][order]
    loose = (1 - _MOSTLY) * len(found)
    changes = int(np.count_nonzero(np.diff(found)))
    return changes <= _GROUPS + 2 * (loose + _SURE * math.sqrt(loose))


def cut_of(y: Coded, x: Coded) -> str | None:
    """Write a column as groups of a number; None where it is no step function of it.

    Notes
    -----
    Privacy: reads real rows. An edge is the roundest number between two groups of five records or more. That
    fewer than five records lack one of the two and not the other is not learned.
    """
    if not isinstance(x.column, NumericColumn) or not _telling(y, x, x.codes >= 0):
        return None
    if np.count_nonzero((x.codes < 0) != (y.codes < 0)) >= FEWEST or not len(y.values) >= 2:
        return None
    there = (x.codes >= 0) & (y.codes >= 0)
    groups = _group_of(y, x, there)
    if (groups[x.codes[there]] != y.codes[there]).any():
        return None
    starts, counts = _groups(y, x)
    if counts[counts >= FEWEST].sum() < _MOSTLY * there.sum():
        return None
    starts = starts[counts >= FEWEST]
    if not 2 <= len(starts) <= _GROUPS:
        return None
    values = np.asarray(x.values, dtype=np.float64)
    edges = [_roundest(values[start - 1], values[start]) for start in starts[1:]]
    return _cut(x, edges, [y.values[groups[start]] for start in starts])


def _cut(x: Coded, edges: Sequence[str], labels: Sequence[float | str]) -> str:
    """Write groups of a number."""
    texts = ", ".join(json.dumps(label, ensure_ascii=False) for label in labels)
    return f"cut({quoted(x.column.name)}, [{', '.join(edges)}], [{texts}])"


def _roundest(below: float, above: float) -> str:
    """Write the number of fewest digits above one value and at most another, near their middle."""
    for digits in range(-12, 16):
        step = 10.0**-digits
        for wide in (5 * step, step):
            last = math.floor(above / wide) * wide
            if below < last <= above:
                middle = round((below + above) / 2 / wide) * wide
                found = middle if below < middle <= above else last
                return f"{round(found, max(digits, 0)):.15g}"
    return f"{above!r}"
