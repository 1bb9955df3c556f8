"""Fits of a table of units: of units and first rows, and of further places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.remarks import Remark, in_order, without_overlap
from pysynthdp.curator.look import remarks_of
from pysynthdp.curator.rows import rows_of
from pysynthdp.draw.stand_ins import stand_ins
from pysynthdp.draw.unit_machine import UnitMachine
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.fit import Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.plan.unit_plan import PLACE, SINCE, SIZE, UnitDerived, UnitPlan, of_before, of_first, there_at
from pysynthdp.schema import NumericColumn, Schema
from pysynthdp.synthesizer.planning import told
from pysynthdp.synthesizer.settings import Settings
from pysynthdp.synthesizer.unit_plans import plans_of
from pysynthdp.synthesizer.unit_table import OpenedUnits, opened_units
from pysynthdp.units import margin_of, unit_frame

__all__ = ["fit_units", "planned_units"]


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
    for one, frame in zip((plan.first, *(own.plan for own in plan.places)), frames, strict=True):
        request = FitRequest(rows_of(frame, block_rows), workers, settings.progress, stand_ins=stand_ins)
        fit = one.protection.fit(one, request)
        plans.append(one.completed(fit))
        fits.append(replace(fit, learned=(), kept={}, kept_columns={}))
    if plan.protection.learns and not plan.first.keep:  # which units there are is not to be chosen then
        plan = replace(plan, over_units=tuple(_with_margin(own, opened) for own in plan.over_units))
    plan = plan.completed_by(plans)
    found = (*opened.remarks, *opened.relations.offered, *_seen(opened, plan), *_of_fits(plan, fits))
    remarks = in_order(without_overlap(found), plan.schema.names)
    tables = tuple(replace(fit, remarks=(), check=None) for fit in fits)
    return UnitMachine(plan, _of_all(plan, fits, opened, remarks), account, tables), remarks


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
    beside = [called(name) for name in plan.own for called in (of_first, of_before)]
    beside += [PLACE, SINCE, SIZE, *(there_at(place) for place in range(len(plan.waves or ())))]
    if not any(name in str(remark.remedy) for name in beside):
        return remark
    return replace(
        remark, remedy="formulas speak of all rows of a unit alike; copies of this column are rough"
    )


def _seen(opened: OpenedUnits, plan: UnitPlan) -> Iterable[Remark]:
    """Say what is odd about columns, each looked at once a unit or once a row."""
    if opened.settings.schema is not None:
        return
    heads = unit_frame(opened.frame, opened.placed, opened.shared)
    for frame in (heads, opened.frame[list(opened.own)]):
        schema = Schema(tuple(plan.schema[name] for name in frame.columns))
        made = [own.column for own in plan.first.derived if not own.corrects]
        yield from remarks_of(
            rows_of(frame),
            schema,
            exempt=made,
            methods=plan.methods,
            told=told(opened.settings),
            massed={
                part.column
                for step in plan.first.steps
                for part in step.targets
                if part.numeric and getattr(step.model, "keeps_masses", False)
            },
        )


def _of_all(plan: UnitPlan, fits: Sequence[Fit], opened: OpenedUnits, remarks: Sequence[Remark]) -> Fit:
    """Make what is said of all fits together, of columns that a copy has."""
    first = fits[0]
    steps = (step for fit in fits for step in fit.steps if step.targets[0].column in plan.schema)
    return replace(
        first,
        steps=tuple(steps),
        n=opened.placed.n,
        remarks=tuple(remarks),
        merged=opened.merged,
        strata=(),
    )
