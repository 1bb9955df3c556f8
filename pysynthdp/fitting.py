"""From a plan and rows to a machine that draws; the rows are dropped at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pysynthdp.curator import Curator, StepFit
from pysynthdp.curator.answers import StepRows
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.table import PartTable, scales_of, split_rows
from pysynthdp.design.encode import Layout, Scale, StepDesign, n_features
from pysynthdp.design.parts import parts_of
from pysynthdp.drawing import DrawnStep, Machine
from pysynthdp.models.base import FitTask
from pysynthdp.plan import Step, SynthesisPlan, target_of
from pysynthdp.rows.frame import FrameRows
from pysynthdp.schema import Schema

__all__ = ["fit_machine"]


def fit_machine(
    plan: SynthesisPlan, rows: FrameRows, *, workers: int, progress: Callable[[str], None] | None = None
) -> Machine:
    """Fit every step of a plan.

    Parameters
    ----------
    plan : SynthesisPlan
        What to fit.
    rows : FrameRows
        The confidential table.
    workers : int
        Threads.
    progress : callable, optional
        Told the name of each finished step.
    """
    table = split_rows(rows, _modelled(plan))
    layout = Layout(plan.parts, scales_of(table, plan.parts, plan.schema))
    fits = [_step_fit(step, plan, layout, table) for step in plan.steps]
    active = [fit for fit in fits if fit.task.n > 0]
    Curator(EncodedRows(table, layout, workers)).fit_all(active, progress)
    steps = tuple(
        DrawnStep(fit.rows.targets, fit.model, fit.rows.design, fit.rows.scale, fit.params) for fit in fits
    )
    kept = {key: values.copy() for key, values in table.parts.items() if key[0] in plan.keep}
    kept_columns = {name: rows.frame[name].reset_index(drop=True).copy() for name in plan.keep}
    return Machine(plan, layout, steps, kept, kept_columns)


def _modelled(plan: SynthesisPlan) -> Schema:
    """Columns that have a part in the model."""
    names = {part.column for part in plan.parts}
    return Schema(tuple(column for column in plan.schema if column.name in names))


def _step_fit(step: Step, plan: SynthesisPlan, layout: Layout, table: PartTable) -> StepFit:
    """Set one fit up."""
    target = step.targets[0]
    design = StepDesign(_features(step, plan, layout))
    kind = table.kind(target)
    n = table.n if kind is None else int(np.count_nonzero(kind == 0))
    scaled = target.numeric and len(step.targets) == 1 and getattr(step.model, "affine", False)
    scale = layout.scales[target.key] if scaled else Scale()
    task = FitTask(
        target=target_of(target, plan.schema[target.column]),
        targets=tuple(target_of(part, plan.schema[part.column]) for part in step.targets),
        features=tuple(_product(layout.features, positions) for positions in design.features),
        dummies=tuple(
            all(layout.dummies[position] for position in positions) for positions in design.features
        ),
        n=n,
        proper=plan.proper,
    )
    column = layout.starts[target.key] if scaled else None
    return StepFit(step.model, task, StepRows(step.targets, design, scale, column))


def _product(names: tuple[str, ...], positions: tuple[int, ...]) -> str:
    """Name a feature that is a product."""
    return ":".join(names[position] for position in positions)


def _features(step: Step, plan: SynthesisPlan, layout: Layout) -> tuple[tuple[int, ...], ...]:
    """Positions of a step's features: the intercept, then each term's columns and their products."""
    starts = layout.starts
    own = {
        name: tuple(
            position
            for part in parts_of(plan.schema[name])
            for position in range(starts[part.key], starts[part.key] + n_features(part))
        )
        for name in step.predictors
    }
    features: list[tuple[int, ...]] = [(0,)]
    for term in step.terms:
        crossed: list[tuple[int, ...]] = [()]
        for name in term:
            crossed = [(*before, position) for before in crossed for position in own[name]]
        features += [tuple(sorted(positions)) for positions in crossed]
    return tuple(dict.fromkeys(features))
