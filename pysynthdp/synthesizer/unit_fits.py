"""Fits of a table of units: of units and first rows, and of further places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import FitError, PlanError
from pysynthdp.base.remarks import Remark, in_order, without_overlap
from pysynthdp.curator.look import remarks_of
from pysynthdp.curator.rows import OwnedRows, rows_of
from pysynthdp.draw.stand_ins import stand_ins
from pysynthdp.draw.unit_machine import UnitMachine, unit_stand_ins
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.checked import Finding, FitCheck
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.plan.unit_plan import PLACE, SINCE, SIZE, UnitDerived, UnitPlan, of_before, of_first, there_at
from pysynthdp.schema import NumericColumn, Schema
from pysynthdp.synthesizer.planning import told
from pysynthdp.synthesizer.settings import Settings
from pysynthdp.synthesizer.unit_plans import plans_of
from pysynthdp.synthesizer.unit_table import OpenedUnits, opened_units
from pysynthdp.synthesizer.weighing import weights_of
from pysynthdp.units import WHOLE, far_as_wholes, far_remarks, margin_of, place_owners, unit_frame

__all__ = ["fit_units", "planned_units"]

_MOST_UNITS: Final = 20_000  # that are drawn to be looked at
_ROUGH: Final = "formulas speak of all rows of a unit alike; copies of this column are rough"


def planned_units(settings: Settings, table: Any) -> UnitPlan:
    """Plan for a table of units.

    Raises
    ------
    SchemaError, PlanError, FitError
        As :func:`fit_units`.

    Notes
    -----
    Privacy: reads real rows.
    """
    return plans_of(opened_units(settings, table))[0]


def fit_units(
    settings: Settings, table: Any, *, workers: int, block_rows: int | None = None
) -> tuple[UnitMachine, tuple[Remark, ...]]:
    """Fit the plan of a table of units; beside the fits, what is odd about the table.

    Parameters
    ----------
    settings : Settings
        With units, and without a guarantee.
    table : DataFrame or Rows
        The confidential table.
    workers : int
        Threads.
    block_rows : int, optional
        Rows read at a time.

    Raises
    ------
    SchemaError, PlanError, FitError
        If units are not as they are said to be, the settings do not fit the table, or a model has no fit.

    Notes
    -----
    Privacy: reads real rows. What is given to the models of further places is kept in no fit.
    """
    opened = opened_units(settings, table)
    plan, frames = plans_of(opened)
    account = plan.protection.account(plan.first, n=opened.placed.n)
    plans: list[SynthesisPlan] = []
    fits: list[Fit] = []
    whose = [None, *(place_owners(opened.placed, own.places) for own in plan.places)]
    all_plans = (plan.first, *(own.plan for own in plan.places))
    for one, frame, owner in zip(all_plans, frames, whose, strict=True):
        rows = rows_of(frame, block_rows)
        rows = rows if owner is None else OwnedRows(rows, owner)
        weights, unweighted = weights_of(one, rows)
        request = FitRequest(rows, workers, settings.progress, stand_ins=stand_ins, counts=weights)
        fit = one.protection.fit(one, request)
        fit = replace(fit, remarks=(*unweighted, *fit.remarks))
        plans.append(one.completed(fit))
        given: dict[str, Any] = {} if one is plan.first else {"kept": {}, "kept_columns": {}}  # not kept real
        fits.append(replace(fit, learned=(), **given))
    if plan.protection.learns and not plan.first.keep and not plan.first.strata:  # else their number is fixed
        plan = replace(plan, over_units=tuple(_with_margin(own, opened) for own in plan.over_units))
    plan = plan.completed_by(plans)
    far = _far(opened, plan, fits, workers)
    found = (*opened.remarks, *opened.relations.offered, *_seen(opened, plan), *_of_fits(plan, fits))
    found = (*found, *far_remarks(far or ()))
    remarks = in_order(without_overlap(found), plan.schema.names)
    tables = tuple(replace(fit, remarks=(), check=None) for fit in fits)
    return UnitMachine(plan, _of_all(plan, fits, opened, remarks, far), account, tables), remarks


def _with_margin(own: UnitDerived, opened: OpenedUnits) -> UnitDerived:
    """Keep the distribution of a number that is computed in whole units, and there in all of them."""
    if not isinstance(opened.beside[own.column], NumericColumn):
        return own
    values = pd.to_numeric(opened.frame[own.column], errors="coerce").to_numpy(np.float64)
    heads = values[opened.placed.first]
    edges, counts = ((), ()) if np.isnan(heads).any() else margin_of(heads)
    return replace(own, edges=edges, counts=counts)


def _of_fits(plan: UnitPlan, fits: Sequence[Fit]) -> Iterable[Remark]:
    """Give what fits remarked of columns of a copy; of a further place only what no table before it had."""
    told: set[tuple[str, str]] = set()
    for fit in fits:
        new = [each for each in fit.remarks if (each.column, each.kind) not in told]
        new = [
            each for each in new if fit is fits[0] or each.kind != "broken rule"
        ]  # of all rows, by the first
        told |= {(each.column, each.kind) for each in new}
        yield from (_typed(each, plan) for each in new if not each.column or each.column in plan.schema)


def _typed(remark: Remark, plan: UnitPlan) -> Remark:
    """Leave out a remedy that names columns of other rows, which nobody can type."""
    return replace(remark, remedy=_ROUGH) if _names_others(remark.remedy, plan) else remark


def _names_others(remedy: object, plan: UnitPlan) -> bool:
    """Whether a remedy names columns that stand beside further rows alone, or say where a unit has rows."""
    beside = [called(name) for name in plan.own for called in (of_first, of_before)]
    beside += [PLACE, SINCE, SIZE, *(there_at(place) for place in range(len(plan.waves or ())))]
    return any(name in str(remedy) for name in beside)


def _seen(opened: OpenedUnits, plan: UnitPlan) -> Iterable[Remark]:
    """Say what is odd about columns, each looked at once a unit or once a row."""
    if opened.settings.schema is not None:
        return
    heads = unit_frame(opened.frame, opened.placed, opened.shared)
    for frame in (heads, opened.frame[list(opened.own)]):
        schema = Schema(tuple(plan.schema[name] for name in frame.columns))
        made = [own.column for own in plan.first.derived if not own.corrects]
        found = remarks_of(
            rows_of(frame),
            schema,
            exempt=[*made, *plan.first.keep],
            methods=plan.methods,
            told=told(opened.settings),
            massed={
                part.column
                for step in plan.first.steps
                for part in step.targets
                if part.numeric and getattr(step.model, "keeps_masses", False)
            },
        )
        design = opened.settings.design  # a weight cannot be declared as levels
        weight = None if design is None else design.weight
        yield from (each for each in found if (each.kind, each.column) != ("few values", weight))


def _far(
    opened: OpenedUnits, plan: UnitPlan, fits: Sequence[Fit], workers: int
) -> tuple[Finding, ...] | None:
    """Draw whole units and see whether their rows are as the table's; None where they cannot be drawn."""
    units = opened.placed.n if plan.keep else min(opened.placed.n, _MOST_UNITS)
    try:
        copies = unit_stand_ins(plan, fits, units=units, copies=2, workers=workers)
    except (FitError, PlanError):
        return None  # drawing says it by itself
    return far_as_wholes(opened.frame, opened.placed.unit, copies, opened.own)


def _of_all(
    plan: UnitPlan,
    fits: Sequence[Fit],
    opened: OpenedUnits,
    remarks: Sequence[Remark],
    far: Sequence[Finding] | None,
) -> Fit:
    """Make what is said of all fits together, of columns that a copy has."""
    first = fits[0]
    steps = (step for fit in fits for step in fit.steps if step.targets[0].column in plan.schema)
    return replace(
        first,
        steps=tuple(steps),
        n=opened.placed.n,
        remarks=tuple(remarks),
        merged=opened.merged,
        check=_looked_at(plan, [fit.check for fit in fits], far),
    )


def _looked_at(
    plan: UnitPlan, checks: Sequence[FitCheck | None], far: Sequence[Finding] | None
) -> FitCheck | None:
    """Put together what the fits saw of units and first rows, and of the rows at each place."""
    where = ["units and first rows", *(f"rows at {own.numbered}" for own in plan.places)]
    seen = {name: each for name, each in zip(where, checks, strict=True) if each is not None}
    if not seen:
        return None
    found = (_of_rows(finding, name, plan) for name, each in seen.items() for finding in each.findings)
    unseen = [f"{name}: there are fewer than 50" for name in where if name not in seen]
    unseen += [f"{name}: {what}" for name, each in seen.items() for what in each.not_looked_at]
    return FitCheck(
        tuple(sorted((*found, *(far or ())), key=lambda each: -each.strength)),
        sum(each.rows for each in seen.values()),
        sum(each.drawn for each in seen.values()),
        sum(each.comparisons for each in seen.values()),
        tuple(unseen),
        (*seen, *(() if far is None else (WHOLE,))),
    )


def _of_rows(finding: Finding, rows: str, plan: UnitPlan) -> Finding:
    """Say which rows a finding is about, and nothing that nobody can type."""
    remedy = _ROUGH if _names_others(finding.remedy, plan) else finding.remedy
    return replace(finding, rows=rows, remedy=remedy)
