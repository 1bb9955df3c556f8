"""The plan of whole units under a formal guarantee: from declared facts alone, no row is looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpError, SchemaError, together
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.words import Facts, Setting, Words, meant
from pysynthdp.design.expressions import quoted
from pysynthdp.design.level_keys import level_key
from pysynthdp.design.rows import Rows
from pysynthdp.design.unit_expressions import parsed_over_units
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.unit_plan import (
    PLACE,
    SINCE,
    SIZE,
    Numbering,
    PlacePlan,
    UnitDerived,
    UnitPlan,
    of_before,
    of_first,
    there_at,
)
from pysynthdp.schema import CategoricalColumn, Column, Schema
from pysynthdp.schema.units import Units, written
from pysynthdp.synthesizer.opening import undeclared
from pysynthdp.synthesizer.planning import plan_of, unnamed
from pysynthdp.synthesizer.settings import Settings
from pysynthdp.synthesizer.unit_settings import check_named, derived_over_units, for_columns, rules_among

__all__ = ["check_tabled", "declared_units"]

_MOST_PLACES: Final = 100
_EXAMPLE: Final = {
    "id": "hid",
    "max_size": 6,
    "larger": "truncate",
    "order": "age desc",
    "shared": ["region"],
}


def declared_units(settings: Settings) -> UnitPlan:
    """Plan for whole units from declared facts.

    Parameters
    ----------
    settings : Settings
        With units, a schema and a guarantee.

    Raises
    ------
    PrivacyError
        If a column, the largest size, the order, the shared columns or the rule for larger units are not
        declared.
    PlanError
        If a setting names what is no column, or cannot be met.

    Notes
    -----
    Privacy: settings only.
    """
    units, schema = settings.units, settings.schema
    assert units is not None  # noqa: S101 -- asked for before
    if schema is None:
        raise undeclared()
    check_named(settings, _names(units, schema))
    over = derived_over_units(settings, _names(units, schema))
    faults = [*_wrong(units, schema, {*settings.drop, *(each.column for each in over)})]
    if faults:
        raise together(faults)
    return _Declared.of(settings, units, schema).plan()


def check_tabled(settings: Settings, plan: UnitPlan, rows: Rows | None) -> None:
    """Refuse a table that lacks declared columns, or has others, by their names alone.

    Raises
    ------
    SchemaError
        Names each column.

    Notes
    -----
    Privacy: names of columns only. What is computed, and the size, may be absent.
    """
    if rows is None:
        return
    units = plan.units
    made = {units.member, units.size, *(each.column for each in plan.over_units)}
    needed = [units.id, *plan.shared, *plan.own]
    needed += [units.by] if units.by is not None and units.by not in needed else []
    known = {*plan.schema.names, *made, *settings.drop}
    faults: list[PysynthdpError] = [unnamed(name) for name in rows.columns if name not in known]
    faults += [_absent(name) for name in needed if name not in rows.columns]
    if faults:
        raise together(faults)


def _absent(name: str) -> SchemaError:
    """Say that the table lacks a declared column."""
    text = Words("the table has no column {name}", name=name)
    return SchemaError(text, column=name, kind="columns", remedy="add it, or leave it out of the schema")


def _names(units: Units, schema: Schema) -> list[str]:
    """Name the columns of a copy: ids first, where the schema leaves them out, then as it has them."""
    beside = [units.id, units.member, units.size]
    return [*(name for name in beside if name is not None and name not in schema), *schema.names]


def _wrong(units: Units, schema: Schema, made: Collection[str]) -> Iterator[PysynthdpError]:
    """Find what is not declared of units, and what is no column."""
    lacking: list[object] = [] if units.panel or units.max_size is not None else ["max_size"]
    lacking += [name for name in ("order", "shared") if getattr(units, name) is None]
    lacking += [] if units.panel or units.larger == "truncate" else [Setting("larger", "truncate")]
    if lacking:
        needed = {f"what{at}": own for at, own in enumerate(lacking)}
        text = Words(
            f"units under a guarantee need {', '.join(f'{{{at}}}' for at in needed)}, which would else be "
            "learned from the rows",
            **needed,
        )
        mend = Words(
            "declare them, as in {units}; with {none} where none is shared",
            units=written(**_EXAMPLE),
            none=Setting("shared", []),
        )
        yield PrivacyError(text, kind="units", remedy=mend)
    if units.max_size == 1:
        one = "leave units out; key and rows_per_unit=1 of the PrivacyUnit take one row of each"
        yield PlanError("units: max_size is 1, so no unit has a further row", kind="units", remedy=one)
    named = [("shared", name) for name in units.shared or ()]
    named += [] if units.by in (None, units.member) else [("order", str(units.by))]
    named += [] if units.head is None else [("head", units.head[0])]
    for what, name in named:
        if name not in schema:
            text = Words("units: {what} names '{name}', which the schema does not", what=what, name=name)
            remedy = meant(name, schema.names, "declare it")
            yield PlanError(text, column=name, kind="units", remedy=remedy)
    if units.panel and (units.max_size is not None or units.larger != "refuse"):
        what = "units: a panel has as many rows as places at most, so max_size and larger do not apply"
        yield PlanError(what, kind="units", remedy="leave them out")
    yield from _wrong_places(units, schema)
    yield from _wrong_order(units, schema)
    yield from _wrong_head(units, schema, made)


def _wrong_places(units: Units, schema: Schema) -> Iterator[PlanError]:
    """Find a panel whose places are not declared levels."""
    if not units.panel or units.by is None or units.by not in schema:
        return
    column = schema[units.by]
    levels = column.levels if isinstance(column, CategoricalColumn) else ()
    if not 2 <= len(levels) <= _MOST_PLACES or column.may_be_missing or column.missing:
        text = Words(
            "{name}: the places of a panel must be declared levels, from 2 to {most}, none of them missing",
            name=units.by,
            most=_MOST_PLACES,
        )
        mend = Words("declare {levels}", levels=Facts(levels=[1, 2, 3], other=1))
        yield PlanError(text, column=units.by, kind="units", remedy=mend)


def _wrong_order(units: Units, schema: Schema) -> Iterator[PrivacyError]:
    """Find levels by which rows are ordered, and that do not say where what is none of them goes."""
    column = schema[units.by] if units.by is not None and units.by in schema else None
    if isinstance(column, CategoricalColumn) and column.other is None:
        text = Words("{name} orders rows, and unlisted values need a level to go to", name=column.name)
        mend = Words("declare {other}", other=Facts(other=...))
        yield PrivacyError(text, column=column.name, kind="undeclared", remedy=mend)


def _wrong_head(units: Units, schema: Schema, made: Collection[str]) -> Iterator[PlanError]:
    """Find a head that is no declared level, or named by a column that no row of the table is drawn with."""
    if units.head is None or units.head[0] not in schema:
        return
    name, value = units.head
    if name in made:
        text = Words("{name} names the head of a unit, and is dropped or computed in whole units", name=name)
        yield PlanError(text, column=name, kind="units", remedy="name another column, or leave head out")
        return
    column = schema[name]
    known = [level_key(each) for each in (column.levels if isinstance(column, CategoricalColumn) else ())]
    if level_key(value) not in known:
        text = Words("{name} names the head of a unit by a value that is no declared level of it", name=name)
        yield PlanError(text, column=name, kind="units", remedy="declare it as a level, or leave head out")


@dataclass(frozen=True, slots=True)
class _Declared:
    """What is declared of units.

    Parameters
    ----------
    settings, units, schema : Settings, Units, Schema
        As given.
    over : tuple of UnitDerived
        Columns that are computed in whole units.
    structure : tuple of Column
        What says which rows a unit has.
    shared, own : tuple of str
        Columns of units, and of rows.
    """

    settings: Settings
    units: Units
    schema: Schema
    over: tuple[UnitDerived, ...]
    structure: tuple[Column, ...]
    shared: tuple[str, ...]
    own: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings, units: Units, schema: Schema) -> _Declared:
        """Sort the columns."""
        over = derived_over_units(settings, _names(units, schema))
        made = {units.id, units.member, units.size, *(each.column for each in over), *settings.drop}
        made |= {units.by} if units.panel else set()
        drawn = [name for name in schema.names if name not in made]
        shared = tuple(name for name in drawn if name in (units.shared or ()))
        own = tuple(name for name in drawn if name not in shared)
        found = cls(settings, units, schema, over, _structure(units, schema), shared, own)
        found.check()
        return found

    def check(self) -> None:
        """Refuse names of columns beside other rows of their unit, and a table with nothing of rows."""
        methods = self.settings.method if isinstance(self.settings.method, Mapping) else {}
        for name in (name for name in (*self.shared, *self.own) if methods.get(name) == SERIAL):
            text = Words("{name} is a further id, and units under a guarantee number two at most", name=name)
            mend = Words(
                "name it as {member}, or leave it out with {drop}",
                member=Setting("member", name),
                drop=Setting("drop", [name]),
            )
            raise PlanError(text, column=name, kind="units", remedy=mend)
        beside = {PLACE, SINCE, SIZE, *map(of_first, self.own), *map(of_before, self.own)}
        for name in self.schema.names:
            if name in beside:
                text = Words("{name} is a name that units need for columns of their own", name=name)
                raise PlanError(text, column=name, kind="units", remedy="rename it")
        if not self.own:
            what = "all columns are said to be shared: rows of one unit do not differ"
            one = "take one row a unit, and leave units out"
            raise PlanError(what, column=self.units.id, kind="units", remedy=one)

    @property
    def waves(self) -> tuple[Any, ...] | None:
        """Places of a panel."""
        if not self.units.panel or self.units.by is None:
            return None
        column = self.schema[self.units.by]
        return tuple(column.levels) if isinstance(column, CategoricalColumn) else ()

    @property
    def places(self) -> tuple[int, ...]:
        """Places of further rows."""
        most = self.units.max_size if self.waves is None else len(self.waves)
        return tuple(range(1, most or 2))

    def plan(self) -> UnitPlan:
        """Plan for units with their first rows, and for further rows together."""
        first = self._first()
        return UnitPlan.of(
            first,
            self._released(first),
            units=self.units,
            places=(self._further(),),
            size="" if self.waves is not None else self.structure[0].name,
            shared=self.shared,
            own=self.own,
            waves=self.waves,
            numbering=Numbering(),
            over_units=self.over,
            unit_columns=self._unit_columns(),
        )

    def _planned(self, schema: Schema, drawn: Sequence[str], **changes: Any) -> SynthesisPlan:
        """Plan for some columns, protected as the whole is."""
        rules = [*rules_among(self.settings.rules, schema.names, {*drawn}), *changes.pop("rules", ())]
        protection = self.settings.protection
        own = for_columns(self.settings, drawn, rules=rules, guarantee=protection, schema=schema, **changes)
        return plan_of(own, schema)

    def _first(self) -> SynthesisPlan:
        """Plan for what rows there are, then what is shared, then the first row."""
        drawn = (*self.shared, *self.own)
        schema = Schema((*self.structure, *(self.schema[name] for name in drawn)))
        wished = self.settings.visit_sequence or drawn
        sort = {name: int(name in self.own) for name in drawn}
        order = sorted((name for name in wished if name in sort), key=lambda name: sort[name])
        order = [*(column.name for column in self.structure), *order]
        order += [name for name in drawn if name not in order]
        rules = [] if self.waves is None else [_somewhere(self.structure)]
        return self._planned(schema, drawn, visit_sequence=order, rules=rules)

    def _further(self) -> PlacePlan:
        """Plan for a further row, given its place, its unit and one row: the first, of a panel that before.

        Each column beside it makes the noise of all larger, so no more are there than tell most.
        """
        several = len(self.places) > 1
        beside: list[Column] = [_levels(PLACE, [place + 1 for place in self.places])] if several else []
        if several and self.waves is not None:
            beside.append(_levels(SINCE, list(self.places)))
        beside += [*self.structure, *(self.schema[name] for name in self.shared)]
        called = of_first if self.waves is None else of_before
        beside += [replace(self.schema[name], name=called(name), universe=None) for name in self.own]
        given = tuple(column.name for column in beside)
        schema = Schema((*beside, *(self.schema[name] for name in self.own)))
        wished = [name for name in self.settings.visit_sequence or self.own if name in self.own]
        order = [*given, *wished, *(name for name in self.own if name not in wished)]
        plan = self._planned(schema, self.own, visit_sequence=order)
        return PlacePlan(self.places, plan, beside=given)

    def _released(self, first: SynthesisPlan) -> Schema:
        """Give the columns of a copy."""
        ids = [name for name in (self.units.id, self.units.member) if name is not None]
        columns: dict[str, Column] = {name: _id(name, self.schema) for name in ids}
        for name in _names(self.units, self.schema):
            if name in first.schema:
                columns.setdefault(name, first.schema[name])
            elif name in self.schema and name not in self.settings.drop:
                columns.setdefault(name, self.schema[name])
        order = _names(self.units, self.schema)
        return Schema(tuple(columns[name] for name in order if name in columns))

    def _unit_columns(self) -> tuple[str, ...]:
        """Name the columns of a copy that are the same in all rows of a unit."""
        shared = {self.units.id, *self.shared, *(column.name for column in self.structure)}
        for each in self.over:
            outer = parsed_over_units(each.expression, each.given, column=each.column)
            if {*outer.outer.columns} - {*outer.inner} <= shared:
                shared.add(each.column)
        return tuple(name for name in _names(self.units, self.schema) if name in shared)


def _structure(units: Units, schema: Schema) -> tuple[Column, ...]:
    """Make the columns that say which rows a unit has: its size, or where a panel has it."""
    if units.panel and units.by is not None:
        column = schema[units.by]
        levels = column.levels if isinstance(column, CategoricalColumn) else ()
        return tuple(_levels(there_at(place), [0, 1]) for place in range(len(levels)))
    name = units.size or SIZE
    own = _levels(name, list(range(1, (units.max_size or 2) + 1)))
    return (replace(own, dtype=schema[name].dtype or own.dtype) if name in schema else own,)


def _levels(name: str, levels: list[int]) -> CategoricalColumn:
    """Declare a column of whole numbers, none of which is missing."""
    return CategoricalColumn(
        name, tuple(levels), other=levels[0], may_be_missing=False, dtype=np.dtype(np.int64)
    )


def _id(name: str, schema: Schema) -> CategoricalColumn:
    """Declare a column of new ids: whole numbers, or of the declared type."""
    dtype = schema[name].dtype if name in schema else None
    return CategoricalColumn(name, (), may_be_missing=False, dtype=dtype or np.dtype(np.int64))


def _somewhere(structure: Sequence[Column]) -> str:
    """Say that a unit of a panel is there at least once."""
    return " or ".join(f"{quoted(column.name)} == 1" for column in structure)
