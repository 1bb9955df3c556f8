"""Which rows are fitted apart: those of one level of a coarser column, or of one stratum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pysynthdp.base.arrays import BoolArray, IntArray
from pysynthdp.base.remarks import FEWEST, Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.table import PartTable
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.design.within import Within, combinations_of
from pysynthdp.schema import CategoricalColumn, Column

__all__ = ["Apart", "nested_apart", "rows_of_table", "strata_apart"]

BASE: Final = 10  # records of a stratum, and as many again a drawn column; synthpop's own rule
MOST_COUNTED: Final = 20  # columns that are counted: no model is given more predictors by default


@dataclass(frozen=True, slots=True, repr=False)
class Apart:
    """Groups of rows, and what is said of them.

    Parameters
    ----------
    within : Within
        How a row's group is told.
    rows : tuple of array of int
        The rows of each group.
    names : tuple of str
        Of each group, the levels that tell it; empty for a group that holds what has none of its own.
    remarks : tuple of Remark
        What whoever fits should know.

    Notes
    -----
    Privacy: real rows' numbers; not under a guarantee.
    """

    within: Within
    rows: tuple[IntArray, ...]
    names: tuple[str, ...]
    remarks: tuple[Remark, ...] = ()


def rows_of_table(table: PartTable, rows: IntArray) -> PartTable:
    """Take some rows of a table."""
    parts = {key: values[rows] for key, values in table.parts.items()}
    absent = {name: there[rows] for name, there in table.absent.items()}
    owner = None if table.owner is None else table.owner[rows]
    return PartTable(len(rows), parts, None, absent, owner=owner)


def _combinations(parts: Sequence[Part], table: PartTable) -> tuple[IntArray, tuple[int, ...]]:
    """Give the number of each row's combination of levels."""
    sizes = tuple(len(part.levels) for part in parts)
    return combinations_of([table.parts[part.key] for part in parts], sizes), sizes


def nested_apart(coarser: Column, fine: Part, finer: Column, table: PartTable) -> Apart:
    """Part the rows of a finer column by the coarser one's levels, without pairs that break the nesting.

    Parameters
    ----------
    coarser, finer : Column
        The two columns; rows without a level of the coarser one are a group of their own.
    fine : Part
        The finer column's levels.
    table : PartTable
        All rows.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. A level of the finer column belongs to the level of the
    coarser one that most of its records have, and is drawn there; beside it, only with levels with which five
    or more records have it. So a pair that nobody has is never drawn, and one that few records have is drawn
    only where it is all that is known of the finer level. The last group is of all rows, for levels of the
    coarser column that no record of the finer one has.
    """
    coarse = parts_of(coarser)
    numbers, sizes = _combinations(coarse, table)
    kind = table.kind(fine)
    there = np.arange(table.n) if kind is None else np.flatnonzero(kind == 0)
    codes = table.parts[fine.key][there].astype(np.int64)
    listed, groups = np.unique(numbers[there], return_inverse=True)
    counts = np.bincount(groups * len(fine.levels) + codes, minlength=len(listed) * len(fine.levels))
    counts = counts.reshape(len(listed), len(fine.levels))
    real = np.array([_is_real(coarser, coarse, sizes, int(number)) for number in listed])
    inside = np.outer(real, np.arange(len(fine.levels)) < _levels(finer))
    may = _allowed(counts, inside)
    held = may[groups, codes]
    order = np.argsort(groups[held], kind="stable")
    ends = np.cumsum(np.bincount(groups[held], minlength=len(listed)))[:-1]
    rows = (*np.split(there[held][order], ends), there)
    within = Within(tuple(part.key for part in coarse), sizes, listed, np.arange(len(listed)), len(listed))
    names = (*(_name(coarse, sizes, int(number)) for number in listed), "")
    return Apart(within, rows, names, _broken(fine.column, coarser.name, counts * inside, may))


def _levels(column: Column) -> int:
    """Count the levels of a column that are no kinds of absence."""
    return len(column.levels) if isinstance(column, CategoricalColumn) else 0


def _is_real(column: Column, parts: Sequence[Part], sizes: Sequence[int], number: int) -> bool:
    """Whether a combination is a level, and not a kind of absence."""
    codes = np.unravel_index(number, tuple(sizes))
    if len(parts) > 1:
        return int(codes[0]) == 0
    return parts[0].role == "value" and int(codes[0]) < _levels(column)


def _allowed(counts: IntArray, inside: BoolArray) -> BoolArray:
    """Say which pairs of a coarse and a fine level may be drawn, absence being no level: (coarse, fine)."""
    home = ~inside
    home[(counts * inside).argmax(axis=0), np.arange(counts.shape[1])] = True
    may = (counts > 0) & (home | (counts >= FEWEST))
    lonely = ~may.any(axis=1)
    may[lonely] = counts[lonely] > 0
    return np.asarray(may)


def _broken(fine: str, coarse: str, counts: IntArray, may: BoolArray) -> tuple[Remark, ...]:
    """Say that levels of the finer column stand in several of the coarser one."""
    several = int(np.count_nonzero((counts > 0).sum(axis=0) > 1))
    if not several:
        return ()
    left = int(counts[~may].sum())  # pairs of levels alone
    levels = "one of its levels stands" if several == 1 else f"{several:,} of its levels stand"
    gone = (
        Words("; the pairs of {few} records, which fewer than five have each, are not drawn", few=few(left))
        if left
        else ""
    )
    what = Words(
        "{levels} in more than one level of {coarse}, so it is not nested there: pairs that five records or "
        "more have are drawn as often as they occur{gone}",
        levels=levels,
        coarse=coarse,
        gone=gone,
    )
    remedy = Words(
        "correct these records, or leave it out of {nested}", nested=Setting("nested", {fine: coarse})
    )
    return (Remark(fine, "nesting", what, remedy),)


def _name(parts: Sequence[Part], sizes: Sequence[int], number: int) -> str:
    """Name a combination of levels, kinds left out where there is a value."""
    codes = [int(code) for code in np.unravel_index(number, tuple(sizes))]
    kinds = {part.column: code for part, code in zip(parts, codes, strict=True) if part.role == "kind"}
    told = []
    for part, code in zip(parts, codes, strict=True):
        absent = kinds.get(part.column, 0) > 0
        if absent == (part.role == "kind"):
            told.append(part.levels[code])
    return ", ".join(told)


def strata_apart(parts: Sequence[Part], table: PartTable, *, columns: int) -> Apart:
    """Part all rows by strata; those of too few records stand together.

    Parameters
    ----------
    parts : sequence of Part
        Of the columns that tell the stratum.
    table : PartTable
        All rows.
    columns : int
        Columns that are drawn within strata.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. A stratum is fitted by itself if it has 10 records, and
    10 more for each column that is drawn in it (20 are counted at most); all others are fitted together, and
    where these are too few still, with the smallest of those that have enough.
    """
    least = BASE + BASE * min(columns, MOST_COUNTED)
    numbers, sizes = _combinations(parts, table)
    found, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    alone = _alone(counts, least)
    groups = np.where(alone, np.cumsum(alone) - 1, int(alone.sum()))
    own = groups[place]
    size = int(groups.max()) + 1
    rows = tuple(np.flatnonzero(own == group) for group in range(size))
    other = size - 1 if not alone.all() else int(np.argmax(np.bincount(own)))
    told = alone if alone.any() else np.ones(len(found), dtype=np.bool_)
    within = Within(tuple(part.key for part in parts), sizes, found[told], groups[told], other)
    names = tuple(_name(parts, sizes, int(number)) for number in found[alone])
    said = _merged(parts[0].column, least, int(np.count_nonzero(~alone)), size)
    return Apart(within, rows, (*names, *(("",) if size > len(names) else ())), said)


def _alone(counts: IntArray, least: int) -> BoolArray:
    """Say which strata are fitted by themselves.

    Examples
    --------
    >>> _alone(np.array([500, 200, 30, 40]), 100).tolist()
    [True, False, False, False]
    """
    alone = counts >= least
    for smallest in np.argsort(counts, kind="stable"):
        rest = int(counts[~alone].sum())
        if rest == 0 or rest >= least:
            break
        alone[smallest] = False
    return np.asarray(alone)


def _merged(column: str, least: int, together: int, size: int) -> tuple[Remark, ...]:
    """Say how many strata are fitted together."""
    if not together:
        return ()
    if size == 1:
        what = Words("its strata have too few records to be fitted apart ({least} each)", least=least)
    else:
        what = Words(
            "{together} strata are fitted together, as {least} records are needed to fit one apart, or to "
            "bring those up to as many",
            together=together,
            least=least,
        )
    mend = "take coarser strata, or fewer columns; within them the strata's columns are ordinary predictors"
    return (Remark(column, "strata", what, mend),)
