"""The plan of a table of units: one plan for units and their first rows, one for each group of places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, Self, TypeAlias

import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.marks import DERIVED, SERIAL
from pysynthdp.plan.synthesis_plan import SynthesisPlan
from pysynthdp.schema import Schema
from pysynthdp.schema.units import Units

__all__ = [
    "PLACE",
    "SINCE",
    "SIZE",
    "Members",
    "Numbering",
    "PlacePlan",
    "UnitDerived",
    "UnitPlan",
    "of_before",
    "of_first",
    "there_at",
]

PLACE: Final = "place in the unit"
SINCE: Final = "places since the one before"
SIZE: Final = "rows of the unit"  # where the table has no column of it
Members: TypeAlias = Literal["running", "place", "unit"]


def of_first(name: str) -> str:
    """Name a column of the unit's first row, beside another row."""
    return f"{name} (first)"


def of_before(name: str) -> str:
    """Name a column of the row before, beside another row."""
    return f"{name} (before)"


def there_at(place: int) -> str:
    """Name the column that says whether a unit of a panel is there at a place, counted from 0."""
    return f"there at place {place + 1}"


@dataclass(frozen=True, slots=True)
class Numbering:
    """How units and rows of a copy are numbered.

    Parameters
    ----------
    before, after : str
        What stands before and after the number.
    width : int
        Digits that all ids have; 0 where they differ.
    member : {"running", "place", "unit"}
        Rows are numbered through the copy, by their place in the unit, or by the unit's id and the place.
    digits : int
        Of the place behind a unit's id.
    member_form : tuple of (before, width, after)
        Of rows that are numbered through.
    """

    before: str = ""
    width: int = 0
    after: str = ""
    member: Members = "running"
    digits: int = 0
    member_form: tuple[str, int, str] = ("", 0, "")


@dataclass(frozen=True, slots=True)
class UnitDerived:
    """A column that is computed in whole units, at the end.

    Parameters
    ----------
    column : str
        Which.
    expression : str
        Of columns, and of functions over the rows of a unit.
    given : tuple of str
        Columns that it names.
    edges : tuple of float
        Where groups of units meet, from low to high: copies keep their shares. Empty for none.
    counts : tuple of int
        Units in each group of the table, one more.
    """

    column: str
    expression: str
    given: tuple[str, ...]
    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


def _numbered(places: Sequence[int]) -> str:
    """Count places from 1, as people do."""
    first, last = places[0] + 1, places[-1] + 1
    return f"place {first}" if first == last else f"places {first} to {last}"


@dataclass(frozen=True, slots=True, repr=False)
class PlacePlan(Printable):
    """The plan of the rows at some places.

    Parameters
    ----------
    places : tuple of int
        Which, counted from 0.
    plan : SynthesisPlan
        Who is drawn from whom, as it is fitted; what is given is among its kept columns, or in ``beside``.
    beside : tuple of str
        Columns that are given, where a guarantee has them fitted as all others.
    """

    places: tuple[int, ...]
    plan: SynthesisPlan
    beside: tuple[str, ...] = ()

    @property
    def drawn(self) -> SynthesisPlan:
        """The plan as rows are drawn by it: what is given is there, and no step draws it."""
        if not self.beside:
            return self.plan
        steps = tuple(step for step in self.plan.steps if step.targets[0].column not in self.beside)
        visited = tuple(name for name in self.plan.visit_sequence if name not in self.beside)
        return replace(self.plan, keep=self.beside, steps=steps, visit_sequence=visited)

    @property
    def numbered(self) -> str:
        """Places as people count them, from 1."""
        return _numbered(self.places)

    def to_table(self) -> Table:
        """One row a step; what is given is drawn before, so that nothing of it is real."""
        table = self.plan.to_table()
        facts = tuple(fact for fact in table.facts if fact[0] not in ("columns", "order", "released REAL"))
        rows = tuple(row for row in table.rows if row[1] not in self.beside)
        given = (("given, as its unit has it", ", ".join(self.beside)),) if self.beside else ()
        title = f"Synthesis plan of rows at {_numbered(self.places)}"
        return replace(table, title=title, rows=rows, facts=(*facts, *given))


@dataclass(frozen=True, repr=False, kw_only=True)
class UnitPlan(SynthesisPlan):
    """The whole synthesis of units as data: of units and first rows, as any plan, and of further places.

    As a plan it is that of units and first rows, of the columns that a copy has.

    Parameters
    ----------
    units : Units
        What was said of them.
    first : SynthesisPlan
        Of units and first rows, as it is fitted: with the size, or where a unit of a panel is there.
    places : tuple of PlacePlan
        In the order in which they are drawn.
    size : str
        Column of the unit's size among those that are drawn; empty for a panel.
    shared, own : tuple of str
        Columns of units, and of rows, that are drawn or derived row by row.
    waves : tuple or None
        Of a panel: what the column of places holds at each.
    numbering : Numbering
        How ids are written.
    over_units : tuple of UnitDerived
        Columns that are computed in whole units, each after those that it needs.
    unit_columns : tuple of str
        Columns of a copy that are the same in all rows of a unit.
    """

    units: Units
    first: SynthesisPlan
    places: tuple[PlacePlan, ...]
    size: str
    shared: tuple[str, ...]
    own: tuple[str, ...]
    waves: tuple[Any, ...] | None
    numbering: Numbering
    over_units: tuple[UnitDerived, ...]
    unit_columns: tuple[str, ...]

    @classmethod
    def of(cls, first: SynthesisPlan, released: Schema, **parts: Any) -> Self:
        """Make it of the plan of units and first rows and the schema of a copy."""
        units: Units = parts["units"]
        own = {item.name: getattr(first, item.name) for item in fields(SynthesisPlan)}
        own["schema"] = released
        own["visit_sequence"] = tuple(name for name in first.visit_sequence if name in released)
        own["steps"] = tuple(step for step in first.steps if step.targets[0].column in released)
        own["rules"] = tuple(rule for rule in first.rules if {*rule.columns} <= {*released.names})
        made = {each.column for each in parts["over_units"]}
        made |= {name for name in (units.by, units.size) if name is not None}
        drawn = {*first.schema.names, *made}
        own["serials"] = tuple(name for name in released.names if name not in drawn)
        own["order"] = f"units first, then their rows by {units.order or 'their place in the table'}"
        return cls(**own, first=first, **parts)

    def completed_by(self, plans: Sequence[SynthesisPlan]) -> UnitPlan:
        """Take over plans as their fits completed them: of units and first rows, then of further places."""
        first, *others = plans
        own = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {item.name for item in fields(SynthesisPlan)} | {"first", "places"}
        more = {name: value for name, value in own.items() if name not in plain}
        places = tuple(replace(old, plan=plan) for old, plan in zip(self.places, others, strict=True))
        return UnitPlan.of(first, self.schema, places=places, **more)

    @property
    def told_units(self) -> dict[str, Any]:
        """What was declared of units, as plain values: what answers about them depend on."""
        waves = None if self.waves is None else [*map(str, self.waves)]
        over = [(each.column, each.expression) for each in self.over_units]
        return {**self.units.to_plain(), "waves": waves, "over": over, "columns": [*self.schema.names]}

    @property
    def tables(self) -> tuple[SynthesisPlan, ...]:
        """Of units and first rows, and of further places."""
        return (self.first, *(own.plan for own in self.places))

    @property
    def methods(self) -> dict[str, str]:
        """Method of each column of a copy, as a user names it."""
        made = [each.column for each in self.over_units]
        if self.waves is not None:
            made += [name for name in (self.units.by, self.units.size) if name is not None]
        own = {name: how for name, how in self.first.methods.items() if name in self.schema}
        return {**own, **dict.fromkeys(made, DERIVED), **dict.fromkeys(self.serials, SERIAL)}

    @property
    def held_margins(self) -> tuple[str, ...]:
        """Columns that are computed in whole units and keep their distribution."""
        return tuple(own.column for own in self.over_units if own.edges)

    @property
    def predictor_matrix(self) -> pd.DataFrame:
        """1 where the row's column is drawn from the column's; of units and first rows."""
        return self.first.predictor_matrix

    @property
    def formulas(self) -> tuple[str, ...]:
        """One formula a step, of units and first rows."""
        return self.first.formulas

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step of units and first rows as a DataFrame."""
        return self.first.to_frame()

    def to_table(self) -> Table:
        """One row a step of units and first rows; further places stand below."""
        table = self.first.to_table()
        facts = [fact for fact in table.facts if fact[0] != "order"]
        return replace(table, facts=(*facts, ("order", self.order), *self._unit_facts()))

    def _unit_facts(self) -> list[tuple[str, Cell]]:
        """Say what a unit is, and how its further rows are drawn."""
        facts: list[tuple[str, Cell]] = [("units", f"rows of one {self.units.id}")]
        facts += [("shared in a unit", ", ".join(self.shared))] if self.shared else []
        alone = [str(own.places[0] + 1) for own in self.places if len(own.places) == 1]
        facts += [("places with models of their own", ", ".join(alone))] if alone else []
        for own in self.places:
            if len(own.places) > 1:
                text = f"{own.places[0] + 1} to {own.places[-1] + 1}"
                facts.append(("places drawn by the same models", text))
        facts += [(f"{each.column} is computed in whole units", each.expression) for each in self.over_units]
        text = "of three units drawn two stay, by shares of {} groups of units"
        facts += [
            (f"{each.column} keeps its distribution", text.format(len(each.counts)))
            for each in self.over_units
            if each.edges
        ]
        return facts
