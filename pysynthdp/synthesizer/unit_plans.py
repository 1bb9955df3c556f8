"""Plans of a table of units: of units and first rows, and of further places, each with its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.remarks import FEWEST
from pysynthdp.curator.owners import lowest_and_highest
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.universes import settled_distances
from pysynthdp.design.expressions import quoted
from pysynthdp.design.parts import digits_of, split
from pysynthdp.design.unit_expressions import parsed_over_units
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.rules import Rule
from pysynthdp.plan.terms import MOST
from pysynthdp.plan.unit_plan import PLACE, SINCE, PlacePlan, UnitPlan, of_before, of_first
from pysynthdp.schema import Column, NumericColumn, Schema
from pysynthdp.synthesizer.grouped import strata_named
from pysynthdp.synthesizer.planning import plan_of
from pysynthdp.synthesizer.unit_settings import for_columns, rules_among
from pysynthdp.synthesizer.unit_table import OpenedUnits
from pysynthdp.units import place_frame, place_groups, unit_frame

__all__ = ["plans_of"]

_UNITS_EACH: Final = 10  # units for each predictor
_LEAST_PREDICTORS: Final = 3


def plans_of(opened: OpenedUnits) -> tuple[UnitPlan, list[pd.DataFrame]]:
    """Plan for units and first rows and for further places.

    Returns
    -------
    UnitPlan, list of DataFrame
        The plan, and the confidential table of each of its plans, that of units first.

    Raises
    ------
    PlanError
        If a setting cannot be met.

    Notes
    -----
    Privacy: reads real rows.
    """
    first, heads = _first_plan(opened)
    silent = _silent(opened, first)
    apart = {*silent, *_drawn_last(opened)}
    given = [name for name in (*opened.structure, *opened.shared) if name not in apart]
    places, frames = [], [heads]
    for group in place_groups(opened.placed, opened.units.own_models):
        frame = place_frame(opened.frame, opened.placed, group, shared=given, own=opened.own)
        frame = frame[[name for name in frame.columns if name not in silent]]
        places.append(PlacePlan(group, _place_plan(opened, frame, group)))
        frames.append(frame)
    waves = opened.placed.waves
    plan = UnitPlan.of(
        first,
        _released(opened, first.schema),
        units=opened.units,
        places=tuple(places),
        size="" if waves is not None else opened.structure[0],
        shared=opened.shared,
        own=opened.own,
        waves=None if waves is None else tuple(np.asarray(waves).tolist()),
        numbering=opened.numbering,
        over_units=opened.over,
        unit_columns=_unit_columns(opened),
    )
    return plan, frames


def _released(opened: OpenedUnits, drawn: Schema) -> Schema:
    """Give the columns of a copy, in the order of the table."""
    columns = {column.name: column for column in (*opened.beside, *drawn)}
    return Schema(tuple(columns[name] for name in opened.names))


def _unit_columns(opened: OpenedUnits) -> tuple[str, ...]:
    """Name the columns of a copy that are the same in all rows of a unit."""
    shared = {opened.units.id, *opened.shared, *opened.structure, *opened.numbered}
    shared |= set() if opened.units.size is None else {opened.units.size}
    for each in opened.over:
        outer = parsed_over_units(each.expression, each.given, column=each.column)
        if {*outer.outer.columns} - {*outer.inner} <= shared:
            shared.add(each.column)
    return tuple(name for name in opened.names if name in shared)


def _first_plan(opened: OpenedUnits) -> tuple[SynthesisPlan, pd.DataFrame]:
    """Plan for units and their first rows: what rows there are, then what is shared, then the first row."""
    frame = unit_frame(opened.frame, opened.placed, opened.schema.names)
    drawn = {*opened.shared, *opened.own}
    rules = [*_rules(opened, drawn), *_somewhere(opened)]
    real, parting = opened.settings.keep, strata_named(opened.settings.strata)
    whole = {"keep": real, "strata": parting, "design": opened.settings.design}
    settings = for_columns(opened.settings, drawn, visit_sequence=None, rules=rules, **whole)
    plan = _planned(opened, settings, opened.schema)
    sort = {**dict.fromkeys(opened.shared, 1), **dict.fromkeys(opened.own, 2)}
    sort |= {**dict.fromkeys(parting, -1), **dict.fromkeys(_drawn_last(opened), 3)}
    wished = list(opened.settings.visit_sequence or plan.visit_sequence)
    order = [*opened.structure, *(name for name in wished if name not in opened.structure)]
    order = sorted(order, key=lambda name: sort.get(name, 0))
    beside = {*real, *(each.column for each in opened.over)}
    order = [name for name in order if name in opened.schema and name not in beside]
    plan = _planned(opened, replace_order(settings, order), opened.schema)
    return _with_distances(plan, frame), frame


def _drawn_last(opened: OpenedUnits) -> tuple[str, ...]:
    """Name a weight that is drawn after all others, and that no other column is drawn from."""
    return () if opened.settings.design is None else opened.settings.design.drawn


def replace_order(settings: Any, order: Sequence[str]) -> Any:
    """Give settings another order of drawing."""
    found = replace(settings, visit_sequence=order)
    object.__setattr__(found, "labels", settings.labels)
    return found


def _rules(opened: OpenedUnits, drawn: set[str]) -> list[str]:
    """Take the rules that name a column that is drawn."""
    return rules_among(opened.settings.rules, opened.schema.names, drawn)


def _somewhere(opened: OpenedUnits) -> list[str]:
    """Say that a unit of a panel is there at least once."""
    if opened.placed.waves is None or len(opened.structure) < opened.placed.places:
        return []  # of a panel all are there at some place
    return [" or ".join(f"{quoted(name)} == 1" for name in opened.structure)]


def _planned(opened: OpenedUnits, settings: Any, schema: Schema) -> SynthesisPlan:
    """Plan for some columns, with the functions that were found of them."""
    found = opened.relations
    drawn = {*schema.names} - {*settings.keep}
    exact = {name: text for name, text in found.exact.items() if name in drawn}
    codes = {name: code for name, code in found.codes.items() if name in drawn}
    nearly = {name: texts for name, texts in found.nearly.items() if name in drawn}
    return plan_of(settings, schema, exact, codes, nearly)


def _with_distances(plan: SynthesisPlan, frame: pd.DataFrame) -> SynthesisPlan:
    """Settle which columns are drawn as distances from others."""
    return settled_distances(plan, (rows_of(frame),)) if plan.counted else plan


def _silent(opened: OpenedUnits, first: SynthesisPlan) -> frozenset[str]:
    """Name derived columns that tell a further row nothing that others do not, beside it."""
    silent = {own.column for own in first.derived if not own.tells}
    needed = {name for own in first.derived for name in own.given}
    needed |= {name for rule in first.rules for name in rule.columns}
    shared = {name for name in silent & {*opened.shared} if name not in needed}
    beside = (called(name) for name in silent & {*opened.own} for called in (of_first, of_before))
    return frozenset((*shared, *beside))


def _place_plan(opened: OpenedUnits, frame: pd.DataFrame, places: Sequence[int]) -> SynthesisPlan:
    """Plan for further rows: given their unit, its first row and the row before."""
    schema = Schema(tuple(_column(opened, name) for name in frame.columns))
    given = [name for name in frame.columns if name not in opened.own]
    rules = [*_rules(opened, {*opened.own}), *_in_order(opened, frame, after_second=min(places) > 1)]
    asked = opened.settings
    design = None if asked.design is None or asked.design.how != "keep" else asked.design
    parting = strata_named(asked.strata)
    whole = {"keep": given, "strata": parting, "design": design, **_as_few(opened, places)}
    settings = for_columns(asked, opened.own, rules=rules, **whole)
    plan = _with_distances(_planned(opened, settings, schema), frame)
    return replace(plan, rules=tuple(_held(rule, opened, given) for rule in plan.rules))


def _as_few(opened: OpenedUnits, places: Sequence[int]) -> dict[str, Any]:
    """Hold models of places that share them to what their units can tell, where nobody says otherwise.

    A unit has several rows in such a table, which are alike, and what is drawn at one place is what the next
    is drawn from: with a predictor for every ten rows, or products of such, an error grows from wave to wave.
    So there is one for every ten *units*, and products and curves are not looked for.
    """
    placed, asked = opened.placed, opened.settings
    there = np.isin(placed.place, list(places)) & ~placed.first
    units = len(np.unique(placed.unit[there]))
    if units >= opened.units.own_models:
        return {}
    found: dict[str, Any] = {"terms": "main"} if asked.terms is None else {}
    if asked.max_predictors is None:
        found["max_predictors"] = int(np.clip(units // _UNITS_EACH, _LEAST_PREDICTORS, MOST))
    return found


def _held(rule: Rule, opened: OpenedUnits, known: Sequence[str]) -> Rule:
    """Let a row take over what orders rows from the row before, where nothing else keeps the order."""
    by = opened.units.by or ""
    beside = of_before(by) if of_before(by) in known else of_first(by)
    ours = rule.text not in opened.settings.rules and by in rule.columns
    return replace(rule, held=(by, beside)) if ours else rule


def _column(opened: OpenedUnits, name: str) -> Column:
    """Say what a column beside a further row is."""
    if name in (PLACE, SINCE):
        whole = np.dtype(np.int64)
        return NumericColumn(name, decimals=0, may_be_missing=False, dtype=whole, declared=False)
    if name in opened.own:
        return opened.schema[name]
    plain = {called(own): own for own in opened.own for called in (of_first, of_before)}.get(name, name)
    return replace(opened.schema[plain], name=name, universe=None)


def _in_order(opened: OpenedUnits, frame: pd.DataFrame, *, after_second: bool) -> list[str]:
    """Say that a number by which rows are ordered is not before that of the row before, nor off its range."""
    by, direction = opened.units.by, opened.units.direction
    if by is None or direction is None or by not in opened.own:
        return []
    if opened.units.head is not None and not after_second:  # the head stands first whatever the order
        return []
    column = opened.schema[by]
    last = of_before(by) if of_before(by) in frame.columns else of_first(by)
    if not isinstance(column, NumericColumn) or last not in frame.columns:
        return []
    falls = direction == "desc"
    end = _end(opened, column, falls=falls)
    kept = [f"{quoted(by)} {'<=' if falls else '>='} {quoted(last)}"]
    return kept if end is None else [*kept, f"{quoted(by)} {'>=' if falls else '<='} {end!r}"]


def _end(opened: OpenedUnits, column: NumericColumn, *, falls: bool) -> float | None:
    """Give the end of the range towards which rows go: the mean of the five outermost, on the grid."""
    values = split(opened.frame[column.name], column)
    kind = values.get((column.name, "kind"))
    numbers = values[column.name, "value"] if kind is None else values[column.name, "value"][kind == 0]
    whose = opened.placed.unit if kind is None else opened.placed.unit[kind == 0]
    _, low, high = lowest_and_highest(numbers, whose)  # of each unit, so that five are of five
    spikes = [float(spike) for spike in column.spikes]
    outermost = np.sort(np.r_[low, spikes])[:FEWEST] if falls else np.sort(np.r_[high, spikes])[-FEWEST:]
    if len(outermost) < FEWEST:
        return None
    grain = 10.0 ** (digits_of(column) or 0)
    mean = float(outermost.mean()) * grain
    return (math.floor(mean) if falls else math.ceil(mean)) / grain
