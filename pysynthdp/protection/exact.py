"""Fits to exact answers: from a plan and rows to steps that draw; the rows are dropped at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from pysynthdp._blas import one_blas_thread
from pysynthdp._progress import progress_bar
from pysynthdp._random import NumpySampler, stream
from pysynthdp.curator import Curator, StepFit
from pysynthdp.curator.answers import StepRows
from pysynthdp.curator.contributions import bounded_rows
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.extremes import drawn_in
from pysynthdp.curator.table import PartTable, scales_of, split_rows
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.parts import Part
from pysynthdp.errors import FitError, PlanError
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import Step, SynthesisPlan, step_design, task_of
from pysynthdp.plan.fit import CopyParameters, CopySource, DrawnStep, Fit
from pysynthdp.plan.protection import FitRequest
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.remarks import Remark
from pysynthdp.rows.frame import FrameRows
from pysynthdp.schema import Schema

__all__ = ["PlainCopies", "checked_rows", "fit_exactly"]


@dataclass(frozen=True, slots=True)
class PlainCopies:
    """Every copy from the fitted parameters, or from a posterior draw of them.

    Parameters
    ----------
    proper : bool
        Draw each step's parameters from their own posterior, once a copy.
    """

    proper: bool = False

    def parameters(
        self, steps: Sequence[DrawnStep], root: np.random.SeedSequence | None, copy: int
    ) -> Sequence[Any]:
        """Parameters of one copy."""
        if not self.proper:
            return [step.params for step in steps]
        return [step.redrawn(stream(root, 1, copy, index)) for index, step in enumerate(steps)]

    def sampler(self, source: np.random.Generator) -> NumpySampler:
        """Draw in float arithmetic."""
        return NumpySampler(source)

    def keeps_bounds(self, model: ColumnModel) -> bool:
        """Numbers stay within their bounds."""
        del model
        return True

    def sharing(self, parameters: CopyParameters | None) -> Self:
        """Whether parameters are drawn was settled at the fit."""
        if parameters is None:
            return self
        raise PlanError("parameters= belongs to noise in the answers; use proper=True at the fit")

    @property
    def ledger(self) -> Ledger:
        """No noisy answer was asked."""
        return Ledger()


def fit_exactly(plan: SynthesisPlan, request: FitRequest, *, source: CopySource) -> Fit:
    """Fit every step of a plan to exact sums over the rows.

    Parameters
    ----------
    plan : SynthesisPlan
        What to fit.
    request : FitRequest
        With the confidential table.
    source : CopySource
        Of each copy's parameters.

    Returns
    -------
    Fit

    Notes
    -----
    Privacy: reads real rows through the curator. Under a guarantee every cell is made to fit its declaration,
    scales come from declared bounds, whole rows are refused, and no progress is shown: which step is ready
    when depends on the records.
    """
    if request.rows is None:
        raise FitError("fit needs a pandas DataFrame; give the table")
    learns = plan.protection.learns
    schema, unit = _modelled(plan), plan.protection.unit
    table = split_rows(request.rows, schema) if learns else bounded_rows(request.rows, schema, unit)
    remarks: tuple[Remark, ...] = ()
    if learns:
        table, remarks = drawn_in(table, _summed(plan), plan.schema)
    layout = Layout(plan.parts, scales_of(table, plan.parts, plan.schema, public=not learns))
    fits = [_step_fit(step, plan, layout, table) for step in plan.steps]
    active = [fit for fit in fits if fit.task.n > 0 or not learns]
    curator = Curator(EncodedRows(table, layout, request.workers), unit.relation, guarded=not learns)
    show = request.progress if learns else False
    with one_blas_thread(), progress_bar(len(plan.steps), "fit", show=show) as note:
        curator.fit_all(active, note)
    kept = {key: values.copy() for key, values in table.parts.items() if key[0] in plan.keep}
    frame = request.rows.frame
    kept_columns = {name: frame[name].reset_index(drop=True).copy() for name in plan.keep}
    return Fit(layout, tuple(map(_drawn, fits)), source, request.rows.n_rows, kept, kept_columns, remarks)


def _drawn(fit: StepFit) -> DrawnStep:
    """Keep what drawing needs of a finished fit."""
    rows = fit.rows
    return DrawnStep(rows.targets, fit.model, rows.design, rows.scale, fit.params, holds_rows=fit.held_rows)


def checked_rows(
    table: pd.DataFrame | None, block_rows: int | None, *, may_be_empty: bool = False
) -> FrameRows:
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


def _summed(plan: SynthesisPlan) -> Iterator[Part]:
    """Parts that sums are over, but for columns whose real values are released."""
    real = {*plan.keep, *plan.real_values}
    return (part for part in plan.parts if part.column not in real)


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
