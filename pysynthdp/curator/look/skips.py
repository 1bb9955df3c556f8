"""Columns that are absent wherever another one has certain levels or numbers: questions that were skipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.table import PartTable
from pysynthdp.design.expressions import quoted
from pysynthdp.design.parts import parts_of
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["skip_remarks"]

_SAMPLE: Final = 4_000  # rows by which skips are looked for; all rows then say whether they hold
_SIDE: Final = 50  # records on both sides
_LEVELS: Final = 20
_LISTED: Final = 5  # levels that a condition lists
_MOST_INSIDE: Final = 0.5  # share that may be absent where the column is asked


@dataclass(frozen=True, slots=True, repr=False)
class _Absent:
    """One way in which a column is absent, and where."""

    column: Column
    code: Any
    rows: BoolArray


def skip_remarks(table: PartTable, schema: Schema) -> tuple[Remark, ...]:
    """Offer a universe for each column that is absent wherever another one has certain values.

    Parameters
    ----------
    table : PartTable
        All rows.
    schema : Schema
        Of the table, as it is understood.

    Notes
    -----
    Privacy: reads real rows and names their levels and numbers: for whoever holds them, and no part of a fit.
    """
    absent = [own for column in schema for own in _absences(column, table)]
    asking = [column for column in schema if _asks(column)]
    if not absent or not asking:
        return ()
    every = max(1, table.n // _SAMPLE)
    may = _by_sample(absent, asking, table, every)
    found: dict[str, Remark] = {}
    for at, own in enumerate(absent):
        for column in (asking[place] for place in np.flatnonzero(may[at])):
            condition = None if own.column.name in found else _condition(own, column, table)
            if condition is not None:
                found[own.column.name] = _remark(own, condition)
    return tuple(found.values())


def _remark(own: _Absent, condition: str) -> Remark:
    """Offer one universe."""
    name = own.column.name
    asked: Any = condition if own.code is None else (condition, own.code)
    what = "missing" if own.code is None else "its code"
    return Remark(
        name,
        "skip",
        Words("{what} wherever {condition} is not so", what=what, condition=condition),
        Words("{universe} keeps that in every row of a copy", universe=Setting("universe", {name: asked})),
    )


def _absences(column: Column, table: PartTable) -> Iterator[_Absent]:
    """List the ways in which a column is absent in enough rows, and not in too many."""
    kind = table.parts.get((column.name, "kind"))
    if kind is None or column.universe is not None or parts_of(column)[-1].role != "value":
        return
    spikes = column.spikes if isinstance(column, NumericColumn) else ()
    codes = [*[None] * int(column.may_be_missing), *(code for code, _ in column.missing), *spikes]
    for place, code in enumerate(codes, start=1):
        rows = kind == place
        if _SIDE <= int(np.count_nonzero(rows)) <= table.n - _SIDE:
            yield _Absent(column, code, rows)


def _asks(column: Column) -> bool:
    """Whether a condition can be written of a column: few levels of texts or numbers, or a number."""
    if isinstance(column, NumericColumn):
        return column.unit == "number"
    plain = all(
        isinstance(level, str | int | float) and not isinstance(level, bool) for level in column.levels
    )
    return plain and 2 <= len(column.levels) <= _LEVELS


def _by_sample(
    absent: Sequence[_Absent], asking: Sequence[Column], table: PartTable, every: int
) -> BoolArray:
    """Say which columns may tell which are absent, by every s-th row."""
    gone = np.stack([own.rows[::every] for own in absent]).astype(np.float32)
    may = np.zeros((len(absent), len(asking)), dtype=np.bool_)
    for place, column in enumerate(asking):
        groups = _groups(column, table, every)
        if groups is None:
            may[:, place] = [_apart(own, column, table, every) is not None for own in absent]
            continue
        size = int(groups.max(initial=-1)) + 1
        ones = (groups[:, None] == np.arange(size)).astype(np.float32)
        counts, totals = gone @ ones, np.maximum(ones.sum(axis=0), 1.0)
        full = (counts == totals) & (ones.sum(axis=0) >= 1)
        may[:, place] = full.any(axis=1) & ~full.all(axis=1)
    same = np.array([[own.column.name == column.name for column in asking] for own in absent])
    return np.asarray(may & ~same)


def _groups(column: Column, table: PartTable, every: int = 1) -> IntArray | None:
    """Give the level of each row, the place behind them where there is none; None of a number."""
    if not isinstance(column, CategoricalColumn):
        return None
    codes = table.parts[column.name, "value"][::every].astype(np.int64)
    kind = table.parts.get((column.name, "kind"))
    return codes if kind is None else np.where(kind[::every] == 0, codes, len(column.levels))


def _condition(own: _Absent, column: Column, table: PartTable) -> str | None:
    """Write where a column is asked, if another one says so in all rows."""
    groups = _groups(column, table)
    if groups is None:
        return _apart(own, column, table, 1)
    if not isinstance(column, CategoricalColumn):
        return None
    totals = np.bincount(groups, minlength=len(column.levels) + 1)
    gone = np.bincount(groups, own.rows, minlength=len(column.levels) + 1)
    full = (totals > 0) & (gone == totals)
    inside = ~full & (totals > 0)
    if full[:-1].sum() == 0 or inside[-1] or not inside.any() or totals[full].sum() < _SIDE:
        return None
    if totals[inside].sum() < _SIDE or gone[inside].sum() > _MOST_INSIDE * totals[inside].sum():
        return None
    return _written(column, np.flatnonzero(inside), np.flatnonzero(full[:-1]))


def _written(column: CategoricalColumn, inside: IntArray, outside: IntArray) -> str | None:
    """Write a condition on levels: the shorter side is listed."""
    name = quoted(column.name)
    listed, negative = (inside, False) if len(inside) <= len(outside) else (outside, True)
    if len(listed) > _LISTED:
        return None
    levels = [repr(column.levels[place]) for place in listed]
    if len(levels) == 1:
        return f"{name} {'!=' if negative else '=='} {levels[0]}"
    return f"{name} {'not in' if negative else 'in'} ({', '.join(levels)})"


def _apart(own: _Absent, column: Column, table: PartTable, every: int) -> str | None:
    """Write a condition on a number that lies on one side wherever a column is absent."""
    numbers: FloatArray = table.parts[column.name, "value"][::every]
    kind: AnyArray | None = table.parts.get((column.name, "kind"))
    there = np.ones(len(numbers), dtype=np.bool_) if kind is None else kind[::every] == 0
    gone = own.rows[::every]
    outside, inside = numbers[there & gone], numbers[~gone]
    if not len(outside) or not len(inside) or (~there & ~gone).any():
        return None
    name = quoted(column.name)
    if inside.min() > outside.max():
        return f"{name} >= {inside.min():.12g}"
    return f"{name} <= {inside.max():.12g}" if inside.max() < outside.min() else None
