"""From a plan and rows to a machine that draws; the rows are dropped at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from pysynthdp._blas import one_blas_thread
from pysynthdp.curator import Curator, StepFit
from pysynthdp.curator.answers import StepRows
from pysynthdp.curator.contributions import bounded_rows
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.table import PartTable, scales_of, split_rows
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.drawing import DrawnStep, Machine
from pysynthdp.errors import FitError
from pysynthdp.plan import Step, SynthesisPlan, step_design, task_of
from pysynthdp.rows.frame import FrameRows
from pysynthdp.schema import Schema

__all__ = ["checked_rows", "fit_machine"]


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
    guaranteed = plan.guarantee is not None
    asked, schema = plan.guarantee, _modelled(plan)
    table = split_rows(rows, schema) if asked is None else bounded_rows(rows, schema, asked.unit)
    layout = Layout(plan.parts, scales_of(table, plan.parts, plan.schema, public=guaranteed))
    fits = [_step_fit(step, plan, layout, table) for step in plan.steps]
    active = [fit for fit in fits if fit.task.n > 0 or guaranteed]
    relation = "replace_one" if plan.guarantee is None else plan.guarantee.unit.relation
    with one_blas_thread():
        Curator(EncodedRows(table, layout, workers), relation).fit_all(active, progress)
    steps = tuple(
        DrawnStep(fit.rows.targets, fit.model, fit.rows.design, fit.rows.scale, fit.params) for fit in fits
    )
    kept = {key: values.copy() for key, values in table.parts.items() if key[0] in plan.keep}
    kept_columns = {name: rows.frame[name].reset_index(drop=True).copy() for name in plan.keep}
    return Machine(plan, layout, steps, kept, kept_columns)


def checked_rows(table: pd.DataFrame | None, block_rows: int | None, *, may_be_empty: bool) -> FrameRows:
    """Take a table as rows; one without rows only where their number is confidential.

    Raises
    ------
    FitError
        If it is no DataFrame, or there is nothing to fit.
    """
    if not isinstance(table, pd.DataFrame):
        raise FitError(f"fit needs a pandas DataFrame, not {type(table).__name__}; convert it first")
    rows = FrameRows(table, block_rows)
    if not rows.columns or not (rows.n_rows or may_be_empty):
        raise FitError("the table has no rows or no columns; there is nothing to fit")
    return rows


def _modelled(plan: SynthesisPlan) -> Schema:
    """Columns that have a part in the model."""
    names = {part.column for part in plan.parts}
    return Schema(tuple(column for column in plan.schema if column.name in names))


def _step_fit(step: Step, plan: SynthesisPlan, layout: Layout, table: PartTable) -> StepFit:
    """Set one fit up."""
    target = step.targets[0]
    kind = table.kind(target)
    n = table.n if kind is None else int(np.count_nonzero(kind == 0))
    scaled = target.numeric and len(step.targets) == 1 and getattr(step.model, "affine", False)
    scale = layout.scales[target.key] if scaled else Scale()
    column = layout.starts[target.key] if scaled else None
    rows = StepRows(step.targets, step_design(step, plan, layout), scale, column)
    return StepFit(step.model, task_of(step, plan, layout, n=n), rows)
