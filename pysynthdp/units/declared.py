"""Rows sorted into units by declared facts alone: no row raises, and none changes where another stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.design.coerce import coerce, coerced_numbers
from pysynthdp.design.level_keys import level_key
from pysynthdp.design.parts import split
from pysynthdp.design.unit_keys import unit_codes, unit_keys
from pysynthdp.plan.unit_plan import UnitPlan, there_at
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.units.places import Placed
from pysynthdp.units.tables import place_frame, unit_frame

__all__ = ["count_units", "declared_frames", "declared_rows"]


def count_units(ids: pd.Series[Any]) -> int:
    """Count the units of a table: the readable ids that differ.

    Notes
    -----
    Privacy: public where units are replaced; elsewhere it must not leave without noise.

    Examples
    --------
    >>> count_units(pd.Series(["7", 7.0, None, "b"], dtype=object))
    2
    """
    codes = unit_codes(unit_keys(ids))
    return int(codes.max(initial=-1)) + 1


def declared_frames(frame: pd.DataFrame, plan: UnitPlan) -> tuple[pd.DataFrame, pd.DataFrame, BoolArray]:
    """Make the table of units with their first rows, and that of their further rows.

    Parameters
    ----------
    frame : DataFrame
        The confidential table.
    plan : UnitPlan
        Of declared units.

    Returns
    -------
    DataFrame, DataFrame, array of bool (units,)
        The two tables, and which units had rows that take no part.

    Notes
    -----
    Privacy: passes real rows through. A unit has one row in the first table and at most ``max_size - 1`` in
    the second, and these depend on its own rows alone.
    """
    placed, cut = declared_rows(frame, plan)
    columns = {name: frame[name] for name in (*plan.shared, *plan.own)}
    structure = _structure(placed, plan, len(frame))
    both = pd.DataFrame({**structure, **columns}, copy=False)
    given = [*structure, *plan.shared]
    (places,) = plan.places
    units = unit_frame(both, placed, [*given, *plan.own])
    further = place_frame(both, placed, places.places, shared=given, own=plan.own, always=True)
    return units, further, cut


def declared_rows(frame: pd.DataFrame, plan: UnitPlan) -> tuple[Placed, BoolArray]:
    """Sort rows into units and places.

    Returns
    -------
    Placed, array of bool (units,)
        Rows that take part; and which units had more.

    Notes
    -----
    Privacy: passes real rows through. Whether and where a row stands is decided by the rows with its own id:
    by their cells, each read alone, and by their order in the table. Rows without a readable id take no part,
    those beyond the largest size take none, and of several at one place of a panel the first does.
    """
    codes = unit_codes(unit_keys(frame[plan.units.id]))
    keys = _keys(frame, plan)
    order = np.lexsort((*keys, codes))
    order = order[codes[order] >= 0]
    unit = codes[order]
    if plan.waves is None:
        place = _inside(unit)
        kept = place <= plan.places[0].places[-1]
    else:
        place = keys[0][order].astype(np.int64)
        kept = np.r_[True, (np.diff(unit) != 0) | (np.diff(place) != 0)][: len(unit)]
    cut = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.bool_)
    cut[unit[~kept]] = True
    waves = None if plan.waves is None else np.asarray(plan.waves, dtype=object)
    return Placed(order[kept], unit[kept], place[kept], waves), cut


def _keys(frame: pd.DataFrame, plan: UnitPlan) -> list[FloatArray]:
    """Give the numbers by which rows of a unit are ordered, the last of them first."""
    units, found = plan.units, []
    if units.by is not None:
        rank = _rank(frame[units.by], _ordering(units.by, plan))
        found.append(-rank if units.direction == "desc" else rank)
    if units.head is not None:
        name, value = units.head
        column = plan.first.schema[name]
        place = [level_key(level) for level in _levels(column)].index(level_key(value))
        found.append(np.where(_rank(frame[name], column) == place, 0.0, 1.0))
    return found


def _ordering(name: str, plan: UnitPlan) -> Column:
    """Say what orders the rows of a unit: a declared column, or numbers of rows."""
    if name == plan.units.member:
        return NumericColumn(name, may_be_missing=True)
    return plan.first.schema[name] if name in plan.first.schema else plan.schema[name]


def _levels(column: Column) -> tuple[Any, ...]:
    """Give the levels of a column."""
    return tuple(column.levels) if isinstance(column, CategoricalColumn) else ()


def _rank(series: pd.Series[Any], column: Column) -> FloatArray:
    """Give a number or the place of a level for each cell, read alone; none for what is missing."""
    if isinstance(column, NumericColumn):
        return np.asarray(coerced_numbers(series, column)[0], dtype=np.float64)
    cells, _ = coerce(series, column)
    codes = split(cells, column)[column.name, "value"].astype(np.float64)
    return np.where(codes >= len(column.levels), np.nan, codes)


def _inside(unit: IntArray) -> IntArray:
    """Count rows inside each unit from 0."""
    starts = np.flatnonzero(np.r_[True, np.diff(unit) > 0][: len(unit)])
    return np.asarray(np.arange(len(unit)) - np.repeat(starts, np.diff(np.r_[starts, len(unit)])))


def _structure(placed: Placed, plan: UnitPlan, rows: int) -> dict[str, IntArray]:
    """Say in each row of the table which rows its unit has: how many, or at which places of a panel."""
    values = {plan.size: placed.sizes} if plan.waves is None else {}
    if plan.waves is not None:
        there = placed.there.astype(np.int64)
        values = {there_at(place): there[:, place] for place in range(placed.places)}
    found = {}
    for name, own in values.items():
        found[name] = np.zeros(rows, dtype=np.int64)
        found[name][placed.rows] = own[placed.unit]
    return found
