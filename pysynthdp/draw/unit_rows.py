"""Rows of units under way, and put together: what stands where, ids, and what is computed in whole units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.design.expression_cells import cells_of, parts_from
from pysynthdp.design.parts import join, parts_of
from pysynthdp.design.unit_expressions import parsed_over_units
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import Key
from pysynthdp.plan.unit_plan import PLACE, SINCE, UnitPlan, of_before, of_first, there_at
from pysynthdp.schema import CategoricalColumn, Column, Schema

__all__ = ["Block", "UnitRows", "computed_over_units", "frame_of"]


@dataclass(frozen=True, slots=True, repr=False)
class Block:
    """The rows of consecutive units.

    Parameters
    ----------
    parts : dict key -> array (rows,)
        Of all columns but ids and places.
    unit, place : array of int (rows,)
        Unit, from 0 in the block, and place of each row.
    start : int
        Number of the first unit in the copy, from 0.
    """

    parts: dict[Key, AnyArray]
    unit: IntArray
    place: IntArray
    start: int


@dataclass(slots=True, repr=False)
class UnitRows:
    """Units under way.

    Parameters
    ----------
    plan : UnitPlan
        Who is drawn from whom.
    first : dict key -> array (units,)
        Units and their first rows.
    there : array of bool (units, places)
        Where each unit has rows.
    start : int
        Number of the first unit in the copy.
    before : dict key -> array (units,)
        The last row of each unit so far.
    at : array of int (units,)
        Its place.
    drawn : dict place -> (units, parts)
        Rows so far.
    """

    plan: UnitPlan
    first: dict[Key, AnyArray]
    there: BoolArray
    start: int
    before: dict[Key, AnyArray]
    at: IntArray
    drawn: dict[int, tuple[IntArray, dict[Key, AnyArray]]] = field(default_factory=dict)

    @classmethod
    def begun(cls, plan: UnitPlan, first: dict[Key, AnyArray], n: int, *, start: int) -> Self:
        """Begin with units and their first rows."""
        there = _there(plan, first, n)
        own = {key: values.copy() for key, values in first.items() if key[0] in plan.own}
        return cls(plan, first, there, start, own, there.argmax(axis=1))

    def further(self, place: int) -> IntArray:
        """Units that have a row at a place which is not their first."""
        return np.flatnonzero(self.there[:, place] & (self.at < place))

    def given(self, plan: SynthesisPlan, place: int, among: IntArray) -> dict[Key, AnyArray]:
        """Give what the rows of some units at a place are drawn from."""
        found: dict[Key, AnyArray] = {}
        sources = {of_first(name): (self.first, name) for name in self.plan.own}
        sources |= {of_before(name): (self.before, name) for name in self.plan.own}
        for name in plan.keep:
            if name in (PLACE, SINCE):
                number = np.full(len(among), place + 1) if name == PLACE else place - self.at[among]
                found[name, "value"] = _coded(number, plan.schema[name])
                continue
            source, plain = sources.get(name, (self.first, name))
            for part in parts_of(plan.schema[name]):
                found[name, part.role] = source[plain, part.role][among]
        return found

    def put(self, place: int, among: IntArray, parts: Mapping[Key, AnyArray]) -> None:
        """Take the rows of some units at a place."""
        own = {key: values for key, values in parts.items() if key[0] in self.plan.own}
        self.drawn[place] = among, own
        for key, values in own.items():
            self.before[key][among] = values
        self.at[among] = place

    def finished(self) -> Block:
        """Put all rows together, unit after unit, and compute what is computed in whole units."""
        unit, place = np.nonzero(self.there)
        where = np.cumsum(self.there.ravel()).reshape(self.there.shape) - 1
        head = where[np.arange(len(self.there)), self.there.argmax(axis=1)]
        parts: dict[Key, AnyArray] = {}
        for key, values in self.first.items():
            if key[0] not in self.plan.own:
                parts[key] = values[unit]
                continue
            parts[key] = np.empty(len(unit), dtype=values.dtype)
            parts[key][head] = values
        for at, (among, own) in self.drawn.items():
            for key, values in own.items():
                parts[key][where[among, at]] = values
        parts = computed_over_units(self.plan, parts, unit)
        return Block(parts, unit, place, self.start)


def _coded(number: IntArray, column: Column) -> AnyArray:
    """Give a number as its column has it: itself, or its place among levels that follow one another."""
    if isinstance(column, CategoricalColumn):
        return np.asarray(number - column.levels[0]).astype(np.int16)
    return number.astype(np.float64)


def _there(plan: UnitPlan, first: Mapping[Key, AnyArray], n: int) -> BoolArray:
    """Say where units have rows: as many as their size says, or where a panel's columns say."""
    if plan.waves is not None:
        columns = [first[there_at(place), "value"] == 1 for place in range(len(plan.waves))]
        return np.column_stack(columns)
    column = plan.first.schema[plan.size]
    sizes = np.asarray(column.levels, dtype=np.int64) if isinstance(column, CategoricalColumn) else np.ones(1)
    own = sizes[first[plan.size, "value"]] if len(sizes) > 1 else np.full(n, sizes[0])
    return np.asarray(np.arange(int(sizes.max())) < own[:, None])


def computed_over_units(plan: UnitPlan, parts: Mapping[Key, AnyArray], unit: IntArray) -> dict[Key, AnyArray]:
    """Compute the columns that are computed in whole units, from rows of whole units.

    Raises
    ------
    PlanError
        Where an expression makes what its column has no place for.

    Notes
    -----
    Privacy: arithmetic on the rows that it is given.
    """
    found, schema = dict(parts), _all_columns(plan)
    for own in plan.over_units:
        expression = parsed_over_units(own.expression, own.given, column=own.column)
        cells = {name: cells_of(schema[name], found) for name in own.given}
        found.update(parts_from(expression.of(cells, unit), schema[own.column], len(unit)))
    return found


def _all_columns(plan: UnitPlan) -> Schema:
    """Columns that are drawn, and those that are released beside them."""
    more = (column for column in plan.schema if column.name not in plan.first.schema)
    return Schema((*plan.first.schema, *more))


def frame_of(block: Block, plan: UnitPlan, *, first_row: int) -> pd.DataFrame:
    """Put a block together as rows in the order of the table's columns.

    Parameters
    ----------
    block : Block
        Rows of whole units.
    plan : UnitPlan
        Of them.
    first_row : int
        Number of the block's first row in the copy.
    """
    made: dict[str, Callable[[], pd.Series[Any]]] = {plan.units.id: lambda: _ids(block, plan)}
    if plan.units.member is not None:
        made[plan.units.member] = lambda: _member_ids(block, plan, first_row)
    if plan.waves is not None and plan.units.by is not None:
        made[plan.units.by] = lambda: _waves(block, plan)
    columns: dict[str, pd.Series[Any]] = {}
    for column in plan.schema:
        if column.name in made:
            columns[column.name] = made[column.name]()
        else:
            own = {part.key: block.parts[part.key] for part in parts_of(column)}
            columns[column.name] = join(own, column)
    return pd.DataFrame(columns, copy=False)


def _waves(block: Block, plan: UnitPlan) -> pd.Series[Any]:
    """Write what the column of places holds."""
    assert plan.waves is not None and plan.units.by is not None  # noqa: S101, PT018 -- of a panel
    column = plan.schema[plan.units.by]
    values = pd.Series(list(plan.waves)).take(block.place).reset_index(drop=True)
    return values if column.dtype is None else values.astype(column.dtype)


def _ids(block: Block, plan: UnitPlan) -> pd.Series[Any]:
    """Give units new ids, in the form of the table's."""
    own, dtype = plan.numbering, plan.schema[plan.units.id].dtype
    numbers = _written(block.start + block.unit + 1, own.before, own.width, own.after, dtype)
    return _as_type(numbers, dtype, plan.units.id)


def _member_ids(block: Block, plan: UnitPlan, first_row: int) -> pd.Series[Any]:
    """Give rows new ids, as the table does: by place, by unit and place, or running."""
    own, name = plan.numbering, plan.units.member or ""
    dtype = plan.schema[name].dtype
    starts = np.searchsorted(block.unit, block.unit)
    inside = np.arange(len(block.unit)) - starts + 1
    if own.member == "place":
        return _as_type(pd.Series(inside), dtype, name)
    if own.member == "unit":
        ids = plan.schema[plan.units.id].dtype
        units = _written(block.start + block.unit + 1, own.before, own.width, own.after, ids)
        return _as_type(units + pd.Series(inside).astype(str).str.zfill(own.digits), dtype, name)
    rows = first_row + np.arange(len(block.unit)) + 1
    return _as_type(_written(rows, *own.member_form, dtype), dtype, name)


def _written(numbers: IntArray, before: str, width: int, after: str, dtype: Any) -> pd.Series[str]:
    """Write numbers in a form; of numeric ids of one width the first digit is no zero."""
    if pd.api.types.is_numeric_dtype(dtype) and width > 1:
        numbers = numbers + 10 ** (width - 1)
    return before + pd.Series(numbers).astype(str).str.zfill(width) + after


def _as_type(values: pd.Series[Any], dtype: Any, name: str) -> pd.Series[Any]:
    """Give ids their type."""
    try:
        if isinstance(dtype, pd.CategoricalDtype):
            return values.astype(str).astype("category")
        if pd.api.types.is_numeric_dtype(dtype):
            return values.astype("int64").astype(dtype)
        return values.astype(str).astype(dtype)
    except (OverflowError, ValueError, TypeError):
        raise PlanError(
            f"{name}: {dtype} cannot hold so many ids",
            column=name,
            kind="drawing",
            remedy="make it int64",
        ) from None
