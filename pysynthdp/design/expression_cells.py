"""Between the parts of a column and the values that an expression reads or makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Facts, Words
from pysynthdp.design.expression_values import Values
from pysynthdp.design.parts import kinds_of, parts_of, settle
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.labels import sentinel, tag_of

__all__ = ["cells_of", "check_kind", "parts_from"]

Key = tuple[str, str]


def cells_of(column: Column, parts: Mapping[Key, AnyArray]) -> Values:
    """Read a column's parts as values: a spike is a value, a code is a missing one that says why."""
    kind, value = parts.get((column.name, "kind")), parts.get((column.name, "value"))
    if isinstance(column, NumericColumn):
        return _numbers(column, kind, np.asarray(value, dtype=np.float64))
    return _levels(column, kind, value)


def _numbers(column: NumericColumn, kind: AnyArray | None, value: AnyArray) -> Values:
    """Read a number: codes keep their own value beside being missing."""
    if kind is None:
        return Values(value, np.zeros(len(value), dtype=np.bool_))
    codes = column.specials[: len(column.missing)]
    absent = [np.nan] * int(column.may_be_missing) + [float(code) for code in codes]
    table = np.array([0.0, *absent, *map(float, column.spikes)])
    lost = (kind > 0) & (kind <= len(absent))
    return Values(np.where(kind > 0, table[kind], value), lost)


def _levels(column: CategoricalColumn, kind: AnyArray | None, value: AnyArray | None) -> Values:
    """Read levels as numbers, truth values or texts, by what they are."""
    data = _level_values(column)
    rows = len(kind) if kind is not None else 0 if value is None else len(value)
    codes = np.zeros(rows, dtype=np.int64) if value is None else value.astype(np.int64)
    lost = np.zeros(rows, dtype=np.bool_) if kind is None else kind > 0
    lost = lost | (codes >= len(data))
    if not len(data):
        return Values(np.full(rows, np.nan), np.ones(rows, dtype=np.bool_))
    found = data[np.where(lost, 0, codes)]
    beyond = np.where(codes >= len(data), codes - len(data) + 1, 0 if kind is None else kind)
    for place, code in enumerate(_reasons(column, data), start=1 + int(column.may_be_missing)):
        found[beyond == place] = code
    return Values(found, lost)


def _reasons(column: CategoricalColumn, data: AnyArray) -> list[Any]:
    """Give the codes of missing values as cells of an expression hold them, beside being missing."""
    if data.dtype == object:
        return [str(code) for code in column.specials]
    if data.dtype == np.bool_:
        return []
    numbers = [sentinel(code) if code in column.tags else code for code in column.specials]
    return [float(code) if isinstance(code, int | float | np.number) else np.nan for code in numbers]


def _level_values(column: CategoricalColumn) -> AnyArray:
    """Give the values of levels: truth values, numbers, else texts."""
    levels = column.levels
    if all(isinstance(level, bool | np.bool_) for level in levels):
        return np.array(levels, dtype=np.bool_)
    if all(isinstance(level, int | float | np.number) for level in levels):
        return np.array(levels, dtype=np.float64)
    return np.array([str(level) for level in levels], dtype=object)


def check_kind(values: Values, column: Column, text: str) -> None:
    """Refuse an expression that makes texts where the column holds numbers, or the other way round.

    Raises
    ------
    PlanError
        Names the column and what it holds.
    """
    if isinstance(column, NumericColumn):
        needed, wrong = "numbers", values.kind == "text"
    else:
        own = _level_values(column)
        textual = own.dtype == object
        needed = "texts" if textual else "numbers or truth values"
        wrong = bool(len(own)) and values.kind != "nothing" and (values.kind == "text") != textual
    if wrong:
        made = "texts" if values.kind == "text" else "numbers or truth values"
        raise PlanError(
            Words(
                "{column}: '{text}' makes {made}, and the column holds {needed}",
                column=column.name,
                text=text,
                made=made,
                needed=needed,
            ),
            column=column.name,
            kind="expression",
            remedy="write where(x > 0, 'yes', 'no') for texts, and where(x > 0, 1, 0) for numbers",
        )


def parts_from(values: Values, column: Column, rows: int) -> dict[Key, AnyArray]:
    """Write made values as a column's parts, on its own grid and within its bounds.

    Raises
    ------
    PlanError
        Where a value is missing, or is no level, and the column has no place for that.
    """
    full = values.over(rows)
    if isinstance(column, NumericColumn):
        return _number_parts(full, column)
    return _level_parts(full, column)


def _number_parts(values: Values, column: NumericColumn) -> dict[Key, AnyArray]:
    """Write numbers: codes and spikes at their kinds."""
    data, lost = np.array(values.data, dtype=np.float64), np.array(values.missing)
    kind = np.zeros(len(data), dtype=np.int16)
    first = 1 + int(column.may_be_missing)
    value = settle(np.where(lost, 0.0, data), column)
    for at, special in enumerate(column.specials):
        kind[(value == special) & ~lost] = first + at
        kind[(data == special)] = first + at
    bare = lost & (kind == 0)
    _check_reasons(data[bare], column)
    if bare.any():
        if column.may_be_missing:
            kind[bare] = 1
        elif column.fallback is not None:
            value[bare] = column.fallback
        else:
            raise _no_place(column, "is missing in some rows", Facts(may_be_missing=True))
    parts: dict[Key, AnyArray] = {(column.name, "value"): np.where(kind > 0, 0.0, value)}
    if len(kinds_of(column)) > 1:
        parts[column.name, "kind"] = kind
    return parts


def _level_parts(values: Values, column: CategoricalColumn) -> dict[Key, AnyArray]:
    """Write levels; what is none becomes ``other``, where there is one."""
    codes = _codes(values, column)
    unlisted = (codes < 0) & ~values.missing
    if unlisted.any():
        if column.other is None:
            raise _no_place(column, "is in some rows none of its levels", Facts(levels=[...]))
        codes[unlisted] = column.levels.index(column.other)
    kind = _kinds_of_lost(values, column, codes < 0)
    bare = (codes < 0) & (kind == 0)
    if values.data.dtype == np.float64:
        _check_reasons(values.data[bare], column)
    if bare.any() and column.may_be_missing:
        kind[bare] = 1
    elif bare.any() and column.other is None:
        raise _no_place(column, "is missing in some rows", Facts(may_be_missing=True))
    elif bare.any():
        codes[bare] = column.levels.index(column.other)
    if column.absence == "level":
        places = np.where(kind > 0, len(column.levels) + kind - 1, codes)
        return {(column.name, "value"): places.astype(np.int16)}
    parts: dict[Key, AnyArray] = {}
    for part in parts_of(column):
        own = kind if part.role == "kind" else np.where(kind > 0, 0, codes)
        parts[part.key] = np.asarray(own).astype(np.int16)
    return parts


def _check_reasons(data: AnyArray, column: Column) -> None:
    """Refuse a kind of missing value that a column does not declare."""
    if any(tag_of(code) for code in np.unique(data)):
        raise _no_place(column, "is missing for a reason that it does not declare", Facts(missing=...))


def _kinds_of_lost(values: Values, column: CategoricalColumn, lost: BoolArray) -> IntArray:
    """Say for which declared reason each value is missing; 0 for none."""
    kind = np.zeros(len(lost), dtype=np.int64)
    reasons = _reasons(column, _level_values(column))
    for place, code in enumerate(reasons, start=1 + int(column.may_be_missing)):
        kind[lost & np.asarray(values.missing) & (values.data == code)] = place
    return kind


def _codes(values: Values, column: CategoricalColumn) -> IntArray:
    """Give the code of each value; -1 where it is missing or no level."""
    codes = np.full(len(values.data), -1, dtype=np.int64)
    there: BoolArray = ~values.missing
    levels: Any = _level_values(column)
    data = values.data if levels.dtype == object else values.data.astype(np.float64)
    for code, level in enumerate(levels):
        codes[there & (data == level)] = code
    return codes


def _no_place(column: Column, what: str, facts: Facts) -> PlanError:
    """Say that an expression makes what the column does not have."""
    return PlanError(
        Words("{column}: what it is derived from {what}", column=column.name, what=what),
        column=column.name,
        kind="expression",
        remedy=Words("declare {facts}, or say with where() what it is there", facts=facts),
    )
