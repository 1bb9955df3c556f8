"""The confidential rows of a plan, opened only for a question that is not answered yet."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.contributions import bounded_rows, check_key_column
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.table import PartTable, split_rows
from pysynthdp.design.rows import Rows
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.unit_plan import UnitPlan
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.noise.tables import NoisedTable
from pysynthdp.schema import Schema
from pysynthdp.units import count_units, declared_frames

__all__ = ["Held", "held_rows"]


class Held(Protocol):
    """The confidential rows."""

    @property
    def n(self) -> int:
        """Number of protected records: rows, or units; public where neighbours share it."""
        ...

    def opened(self, table: NoisedTable) -> PartTable:
        """Give the rows of one table of the plan, every cell made to fit, each unit within its limit."""
        ...


def held_rows(rows: Rows, plan: SynthesisPlan, unit: PrivacyUnit) -> Held:
    """Hold the rows of a plan's table.

    Raises
    ------
    SchemaError
        If there is no such column as says whose a row is.
    PlanError
        If whole units lie in pieces elsewhere.

    Notes
    -----
    Privacy: real rows.
    """
    if not isinstance(plan, UnitPlan):
        return _Plain(rows, unit)
    check_key_column(rows, unit)
    if not hasattr(rows, "frame"):
        what = "units are sorted in one frame, and this table lies in pieces elsewhere or is encrypted"
        mend = Words(
            "give it as one data frame, leave {disk} out, or leave {units} out",
            disk=Setting("scratch_encrypt", True),
            units=Setting("units", ...),
        )
        raise PlanError(what, kind="units", remedy=mend)
    return _Whole(rows, plan)


@dataclass(frozen=True, slots=True, repr=False)
class _Plain:
    """Rows of which each is a record."""

    rows: Rows
    unit: PrivacyUnit

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    def opened(self, table: NoisedTable) -> PartTable:
        """Give the rows, with at most so many of each unit."""
        return bounded_rows(self.rows, _modelled(table.plan), self.unit)


@dataclass(repr=False)
class _Whole:
    """Rows that are parts of whole units."""

    rows: Rows
    plan: UnitPlan
    made: list[PartTable] = field(default_factory=list)

    @cached_property
    def n(self) -> int:
        """Number of units."""
        name = self.plan.units.id
        return count_units(self.rows.take([name])[name])

    def opened(self, table: NoisedTable) -> PartTable:
        """Give the table of units, or that of their further rows; both are made at once."""
        if not self.made:
            self.made = self._split()
        at = next(at for at, plan in enumerate(self.plan.tables) if plan is table.plan)
        return self.made[at]

    def _split(self) -> list[PartTable]:
        """Sort rows into units, every cell made to fit; units with rows that take no part are changed."""
        plan, units = self.plan, self.plan.units
        sorting = [name for name in (units.id, units.by) if name is not None]
        names = list(dict.fromkeys((*sorting, *plan.shared, *plan.own)))
        *frames, cut = declared_frames(self.rows.take(names), plan)
        first, rest = (
            split_rows(rows_of(frame), _modelled(own), tolerant=True)
            for frame, own in zip(frames, plan.tables, strict=True)
        )
        changed = cut if first.changed is None else first.changed | cut
        return [replace(first, changed=changed), rest]


def _modelled(plan: SynthesisPlan) -> Schema:
    """Give the columns that questions are asked about."""
    names = {part.column for step in plan.steps for part in step.targets}
    return Schema(tuple(column for column in plan.schema if column.name in names))
