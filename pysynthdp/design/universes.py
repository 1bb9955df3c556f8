"""Columns that are asked in some rows only: in which, and what their parts are in all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray
from pysynthdp.design.expression_cells import cells_of
from pysynthdp.design.expressions import Expression, parsed
from pysynthdp.design.parts import kinds_of, parts_of
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema
from pysynthdp.schema.universe import Universe

__all__ = [
    "APART",
    "OUTSIDE",
    "asked_rows",
    "condition_of",
    "holds_outside",
    "limited",
    "outside_code",
    "set_outside",
    "with_universes",
]

Key = tuple[str, str]
OUTSIDE: Final = "outside"
"""Role of the marks of a column's rows: 0 where it is asked, 1 where not, 2 where it holds its code there."""
APART: Final = "apart"
"""Role of the same marks for levels, where one of them stands outside: not 0 without a level too."""


def limited(schema: Iterable[Column]) -> tuple[Column, ...]:
    """Columns that are not asked in every row."""
    return tuple(column for column in schema if column.universe is not None)


def condition_of(column: Column, schema: Schema) -> Expression:
    """Read in which rows a column is asked.

    Raises
    ------
    PlanError
        Where the condition cannot be read; names the column.
    """
    found = _parsed(_universe(column).where, schema.names, column.name)
    empty = [name for name in found.columns if parts_of(schema[name])[-1].role != "value"]
    if empty:
        usable = tuple(each.name for each in schema if parts_of(each)[-1].role == "value")
        parsed(found.text, usable, column=column.name)  # says so
    return found


@lru_cache(maxsize=4096)
def _parsed(where: str, names: tuple[str, ...], column: str) -> Expression:
    """Read a condition once: it is asked for block by block."""
    return parsed(where, names, column=column)


def _universe(column: Column) -> Universe:
    """Give a column's universe."""
    return Universe.of(column.name, column.universe or "")


def asked_rows(column: Column, parts: Mapping[Key, AnyArray], schema: Schema, rows: int) -> BoolArray | None:
    """Rows in which a column is asked; None where what the condition is made of is not there.

    Notes
    -----
    Privacy: a function of each row alone. A condition that is missing is not met.
    """
    condition = condition_of(column, schema)
    needed = {part.key for name in condition.columns for part in parts_of(schema[name])}
    if not parts.keys() >= needed:
        return None
    cells = {name: cells_of(schema[name], parts) for name in condition.columns}
    return condition.of(cells).over(rows).truths()


def outside_code(column: Column) -> tuple[str, int]:
    """Name the part of a column that says what stands outside its universe, and its code there."""
    outside, names = _universe(column).outside, kinds_of(column)
    if outside is None:
        return "kind", names.index("NA")
    if isinstance(column, CategoricalColumn) and outside in column.levels:
        return "value", list(column.levels).index(outside)
    codes = [code for code, _ in column.missing]
    specials = [*codes, *(column.spikes if isinstance(column, NumericColumn) else ())]
    return "kind", len(names) - len(specials) + specials.index(outside)


def holds_outside(column: Column, parts: Mapping[Key, AnyArray]) -> BoolArray:
    """Rows in which a column holds what stands outside its universe."""
    role, code = outside_code(column)
    found = np.asarray(parts[column.name, role] == code)
    kind = parts.get((column.name, "kind"))
    return found if role == "kind" or kind is None else found & (kind == 0)


def set_outside(column: Column, parts: Mapping[Key, AnyArray], asked: BoolArray) -> dict[Key, AnyArray]:
    """Write what a column holds in the rows in which it is not asked."""
    role, code = outside_code(column)
    found: dict[Key, AnyArray] = {}
    for part in parts_of(column):
        own = parts[part.key]
        fill = code if part.role == role else 0
        found[part.key] = np.where(asked, own, fill).astype(own.dtype)
    return found


def with_universes(parts: Mapping[Key, AnyArray], schema: Schema, rows: int) -> dict[Key, AnyArray]:
    """Set the columns of real rows outside their universes, and mark these rows.

    A column whose condition names one that is not among the parts stays as it is.

    Notes
    -----
    Privacy: changes each row by itself, so that neighbouring tables stay neighbours.
    """
    found = dict(parts)
    left = list(limited(schema))
    while left:
        names = {column.name for column in left}
        ready = [each for each in left if not names & {*condition_of(each, schema).columns}] or left
        for column in ready:
            asked = asked_rows(column, found, schema, rows)
            if asked is not None and found.keys() >= {part.key for part in parts_of(column)}:
                found.update(set_outside(column, found, asked))
                found.update(_marks(column, found, asked))
        left = [column for column in left if column not in ready]
    return found


def _marks(column: Column, parts: Mapping[Key, AnyArray], asked: BoolArray) -> dict[Key, AnyArray]:
    """Mark the rows: not asked, asked but with the code that stands nowhere else, and without a level."""
    marks = np.where(asked, 0, 1).astype(np.int8)
    if _universe(column).alone:
        marks[asked & holds_outside(column, parts)] = 2
    kind = parts.get((column.name, "kind"))
    if outside_code(column)[0] == "kind" or kind is None:
        return {(column.name, OUTSIDE): marks}
    apart = np.where(kind != 0, 1, marks).astype(np.int8)
    return {(column.name, OUTSIDE): marks, (column.name, APART): apart}
