"""The fits of a plan's steps to one encoded table, and what drawing needs of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pysynthdp.base.remarks import Remark
from pysynthdp.curator import StepFit, few_features, few_records
from pysynthdp.curator.answers import Grams, StepRows
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.extremes import drawn_in
from pysynthdp.curator.table import PartTable, present_rows
from pysynthdp.curator.thin_directions import without_thin_directions
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.groups import LevelGroups
from pysynthdp.models.base import ColumnModel, HasPosterior
from pysynthdp.plan import Step, SynthesisPlan, step_design, task_of
from pysynthdp.plan.counted import counted_schema
from pysynthdp.plan.fit import DrawnStep, Key
from pysynthdp.schema import Schema

__all__ = ["drawn_step", "fewest", "is_settled", "step_fits"]


def fewest(seen: PartTable, plan: SynthesisPlan, schema: Schema) -> tuple[PartTable, tuple[Remark, ...]]:
    """Take out of the table to fit what fewer than five records have, and extremes that sums would tell."""
    table, few = few_records.without_few(seen, schema, quiet=plan.keep)
    real = {*plan.keep, *plan.real_values}
    summed = [part for part in plan.parts if part.column not in real]
    table, extreme = drawn_in(table, summed, plan.schema)
    return table, (*few, *extreme)


def _step_rows(
    step: Step, plan: SynthesisPlan, layout: Layout, groups: Mapping[Key, LevelGroups]
) -> StepRows:
    """Say how a step sees a block."""
    target = step.targets[0]
    far = any(own.column == target.column for own in plan.counted)
    scaled = target.numeric and len(step.targets) == 1 and getattr(step.model, "affine", False)
    width = Scale(0.0, layout.scales[target.key].width) if far and scaled else None
    scale = width or (layout.scales[target.key] if scaled else Scale())
    column = layout.starts[target.key] if scaled and not far else None
    own = groups.get(target.key) if len(step.targets) == 1 else None  # a joint model sees all levels
    return StepRows(step.targets, step_design(step, plan, layout), scale, column, own)


def step_fits(
    plan: SynthesisPlan, encoded: EncodedRows, groups: Mapping[Key, LevelGroups]
) -> tuple[list[StepFit], Grams | None]:
    """Set all fits up; without a guarantee, without features that rest on few records."""
    seen = [_step_rows(step, plan, encoded.layout, groups) for step in plan.steps]
    known = None
    if plan.protection.learns:
        seen, known = few_features.without_few_features(seen, encoded)
        seen = without_thin_directions(seen, encoded, known)
    pairs = zip(plan.steps, seen, strict=True)
    return [_step_fit(step, plan, encoded.layout, encoded.table, rows) for step, rows in pairs], known


def _step_fit(step: Step, plan: SynthesisPlan, layout: Layout, table: PartTable, rows: StepRows) -> StepFit:
    """Set one fit up."""
    n = present_rows(table, rows.target)
    plan = replace(plan, schema=counted_schema(plan.schema, plan.counted))
    groups = None if rows.groups is None else rows.groups.codes
    return StepFit(
        step.model,
        task_of(step, plan, layout, n=n, design=rows.design, groups=groups, fewest=table.fewest),
        rows,
    )


def drawn_step(fit: StepFit, planned: ColumnModel, *, posterior: bool) -> DrawnStep:
    """Keep what drawing needs of a finished fit; of a posterior, only for copies that redraw from it."""
    rows, params = fit.rows, fit.params
    if not posterior and isinstance(params, HasPosterior):
        params = params.without_posterior()
    return DrawnStep(
        rows.targets,
        fit.model,
        rows.design,
        rows.scale,
        params,
        holds_rows=fit.held_rows,
        groups=rows.groups,
        chosen=getattr(planned, "by_evidence", False),
    )


def is_settled(fit: StepFit) -> bool:
    """Whether there is nothing to fit: no row has the target, or all its levels are in one group."""
    groups = fit.rows.groups
    return fit.task.n == 0 or (groups is not None and groups.size == 1)
