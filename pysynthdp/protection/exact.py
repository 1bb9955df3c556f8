"""Fits to exact answers: from a plan and rows to steps that draw; the rows are dropped at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from pysynthdp.base.blas import one_blas_thread
from pysynthdp.base.errors import FitError, PlanError
from pysynthdp.base.even import EvenSampler
from pysynthdp.base.progress import progress_bar
from pysynthdp.base.remarks import Remark
from pysynthdp.base.streams import NumpySampler, stream
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator import Curator, StepFit, few_features, few_records
from pysynthdp.curator.answers import Grams, StepRows
from pysynthdp.curator.check.findings import remarks_of_check
from pysynthdp.curator.check.looking import check_fit
from pysynthdp.curator.contributions import bounded_rows
from pysynthdp.curator.curves import curves_of
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.extremes import drawn_in
from pysynthdp.curator.gates import gates_of
from pysynthdp.curator.learn.steps import Learned, learned_steps
from pysynthdp.curator.relations import broken_remarks
from pysynthdp.curator.spread.encoded import encoded_rows
from pysynthdp.curator.table import DISTANCE, PartTable, groups_of, present_rows, scales_of, split_rows
from pysynthdp.curator.thin_directions import without_thin_directions
from pysynthdp.curator.universes import kept_remarks
from pysynthdp.curator.whole_table import check_rows, rare_words, size_remarks, unused_remarks
from pysynthdp.design.encode import Layout, Scale
from pysynthdp.design.groups import LevelGroups
from pysynthdp.design.rows import Rows
from pysynthdp.design.universes import limited
from pysynthdp.models.base import ColumnModel, HasPosterior
from pysynthdp.plan import Factor, Step, SynthesisPlan, lost_terms, step_design, task_of
from pysynthdp.plan.counted import as_distances, counted_schema
from pysynthdp.plan.curves import public_curves
from pysynthdp.plan.factors import term_text
from pysynthdp.plan.fit import CopyParameters, CopySource, DrawnStep, Fit, Key
from pysynthdp.plan.protection import FitRequest
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.schema import Column, Schema

__all__ = ["PlainCopies", "fit_exactly"]


@dataclass(frozen=True, slots=True)
class PlainCopies:
    """Every copy from the fitted parameters, or from a posterior draw of them.

    Parameters
    ----------
    proper : bool
        Draw each step's parameters from their own posterior, once a copy.
    even : bool
        Draw rows evenly, not independently of each other.
    """

    proper: bool = False
    even: bool = False

    def parameters(
        self, steps: Sequence[DrawnStep], root: np.random.SeedSequence | None, copy: int
    ) -> Sequence[Any]:
        """Parameters of one copy."""
        if not self.proper:
            return [step.params for step in steps]
        return [step.redrawn(stream(root, 1, copy, index)) for index, step in enumerate(steps)]

    def sampler(self, source: np.random.Generator) -> NumpySampler:
        """Draw in float arithmetic."""
        return EvenSampler(source) if self.even else NumpySampler(source)

    def keeps_bounds(self, model: ColumnModel) -> bool:
        """Numbers stay within their bounds."""
        del model
        return True

    def sharing(self, parameters: CopyParameters | None) -> Self:
        """Whether parameters are drawn was settled at the fit."""
        if parameters is None:
            return self
        raise PlanError(
            "the setting parameters belongs to noise in the answers",
            kind="setting",
            remedy=Words("use {proper} at the fit", proper=Setting("proper", True)),
        )

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
    show = request.progress if plan.protection.learns else False
    total = len(plan.steps) * (2 if plan.to_screen else 1)  # screened, and fitted
    with progress_bar(total, "fit", show=show) as note:
        return _fitted(plan, request, source, note)


def _fitted(plan: SynthesisPlan, request: FitRequest, source: CopySource, note: Callable[[str], None]) -> Fit:
    """Fit, and tell which columns are ready: screened, then fitted."""
    if request.rows is None:
        raise FitError("there is no table to fit; give the table", kind="table")
    learns = plan.protection.learns
    schema, unit = _modelled(plan), plan.protection.unit
    seen = split_rows(_enough(request.rows), schema) if learns else bounded_rows(request.rows, schema, unit)
    table, remarks = _fewest(seen, plan, schema) if learns else (seen, ())
    table = _counted(table, seen, plan)
    groups = groups_of(table, plan.parts) if learns else {}
    scales = scales_of(table, plan.parts, plan.schema, public=not learns)
    found = Learned(plan.steps)
    if learns:
        found = learned_steps(plan, table, groups, scales, request.workers, note)
        plan = replace(plan, steps=found.steps)
    curves = curves_of(plan.steps, table) if learns else public_curves(plan)
    layout = Layout(plan.parts, scales, {key: own.codes for key, own in groups.items()}, curves)
    encoded = encoded_rows(table, layout, request.workers)
    with one_blas_thread():
        fits, known = _step_fits(plan, encoded, groups)
    active = [fit for fit in fits if not learns or (fit.task.n > 0 and not _single(fit))]
    curator = Curator(encoded, unit.relation, guarded=not learns, known=known)
    with one_blas_thread():
        curator.fit_all(active, note)
    kept = {key: values.copy() for key, values in seen.parts.items() if key[0] in plan.keep}
    kept_columns = {name: _kept(request.rows, plan.schema[name]) for name in plan.keep}
    if learns:
        remarks = (*found.remarks, *remarks, *_of_steps(plan, layout, fits, groups))
        broken = broken_remarks(plan, request.rows)
        broken += kept_remarks(plan, request.rows) if plan.rules or limited(plan.schema) else ()
        remarks = (*_of_table(plan, request.rows, fits), *broken, *remarks)
    n = request.rows.n_rows
    keep = plan.proper or not learns
    pairs = list(zip(plan.steps, fits, strict=True))
    first = [part for part in plan.parts if part.column in plan.keep]
    gates = gates_of(plan.steps, first, table) if learns else {}
    drawn = (_drawn(fit, step.model, posterior=keep) for step, fit in pairs)
    steps = tuple(replace(step, gates=gates.get(step.targets)) for step in drawn)
    learned = _learned(plan, layout, fits) if learns else ()
    fit = Fit(layout, steps, source, n, kept, kept_columns, remarks, learned=learned)
    return _checked(plan, fit, encoded, request) if learns else fit


def _counted(table: PartTable, seen: PartTable, plan: SynthesisPlan) -> PartTable:
    """Put the distances that steps are fitted to beside the columns that are drawn so, without extremes."""
    if not plan.counted:
        return table
    far = table.with_parts(as_distances(seen.parts, plan.counted).items())
    names = {own.column for own in plan.counted}
    parts = [part for part in plan.parts if part.column in names and part.numeric]
    without, _ = drawn_in(far, parts, counted_schema(plan.schema, plan.counted))
    return table.with_parts(((part.column, DISTANCE), without.parts[part.key]) for part in parts)


def _checked(plan: SynthesisPlan, fit: Fit, rows: EncodedRows, request: FitRequest) -> Fit:
    """Look at rows drawn from the fit, and say which columns are not as they are in the table."""
    if request.stand_ins is None:
        return fit
    check = check_fit(plan, fit, rows, request.stand_ins, workers=request.workers)
    if check is None:
        return fit
    return replace(fit, check=check, remarks=(*fit.remarks, *remarks_of_check(check)))


def _fewest(seen: PartTable, plan: SynthesisPlan, schema: Schema) -> tuple[PartTable, tuple[Remark, ...]]:
    """Take out of the table to fit what fewer than five records have, and extremes that sums would tell."""
    table, few = few_records.without_few(seen, schema, quiet=plan.keep)
    real = {*plan.keep, *plan.real_values}
    summed = [part for part in plan.parts if part.column not in real]
    table, extreme = drawn_in(table, summed, plan.schema)
    return table, (*few, *extreme)


def _of_steps(
    plan: SynthesisPlan, layout: Layout, fits: Sequence[StepFit], groups: Mapping[Key, LevelGroups]
) -> tuple[Remark, ...]:
    """Say which levels are rare, which products are left out, and what models remarked."""
    rare = _rare_remarks({key: own for key, own in groups.items() if key[0] not in plan.keep})
    steps = zip(plan.steps, fits, strict=True)
    lost = (remark for step, fit in steps for remark in _lost_products(step, plan, layout, fit))
    return (*rare, *lost, *(remark for fit in fits for remark in fit.notes))


def _learned(plan: SynthesisPlan, layout: Layout, fits: Sequence[StepFit]) -> tuple[Step, ...]:
    """Give the steps as they were completed; of screened terms those of which enough records are left."""
    steps = []
    for step, fit in zip(plan.steps, fits, strict=True):
        lost = lost_terms(step, plan, layout, fit.rows.design) if step.label in plan.to_screen else ()
        kept = (term for term in step.terms if term not in lost or _plain(term))
        steps.append(replace(step, model=fit.model, terms=tuple(kept)))
    return tuple(steps)


def _plain(term: Sequence[str | Factor]) -> bool:
    """Whether a term is a whole column."""
    return len(term) == 1 and isinstance(term[0], str)


def _lost_products(step: Step, plan: SynthesisPlan, layout: Layout, fit: StepFit) -> tuple[Remark, ...]:
    """Say which terms of a formula are not modelled."""
    if step.label in plan.to_screen:
        return ()
    lost = [term_text(term) for term in lost_terms(step, plan, layout, fit.rows.design) if not _plain(term)]
    if not lost:
        return ()
    return (
        Remark(
            step.targets[0].column,
            "terms left out",
            f"{', '.join(lost)} of its formula rests on fewer than five records and is left out",
            "merge levels so that more records share it, or take it out of the formula",
        ),
    )


def _enough(rows: Rows) -> Rows:
    """Refuse a table of fewer than five rows."""
    check_rows(rows.n_rows)
    return rows


def _of_table(plan: SynthesisPlan, rows: Rows, fits: Sequence[StepFit]) -> tuple[Remark, ...]:
    """Say what there is to say of the table's size, and of categories that it lists and does not use."""
    widest = max((len(fit.rows.design.features) for fit in fits), default=0)
    unused = unused_remarks(rows.dtypes, plan.schema, [*plan.keep, *plan.visit_sequence])
    return (*size_remarks(rows.n_rows, widest), *unused)


def _kept(rows: Rows, column: Column) -> pd.Series[Any]:
    """Take a column that is released real, without categories that no record has and nobody declared."""
    real = rows.take([column.name])[column.name].reset_index(drop=True)
    if isinstance(real.dtype, pd.CategoricalDtype) and isinstance(column.dtype, pd.CategoricalDtype):
        return real.astype(column.dtype)
    return real.copy()


def _drawn(fit: StepFit, planned: ColumnModel, *, posterior: bool) -> DrawnStep:
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


def _single(fit: StepFit) -> bool:
    """Whether all levels are in one group, so that there is nothing to fit."""
    return fit.rows.groups is not None and fit.rows.groups.size == 1


def _modelled(plan: SynthesisPlan) -> Schema:
    """Columns that have a part in the model."""
    names = {part.column for part in plan.parts}
    return Schema(tuple(column for column in plan.schema if column.name in names))


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
    return StepRows(step.targets, step_design(step, plan, layout), scale, column, groups.get(target.key))


def _step_fits(
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
    return StepFit(step.model, task_of(step, plan, layout, n=n, design=rows.design), rows)


def _rare_remarks(groups: Mapping[Key, LevelGroups]) -> tuple[Remark, ...]:
    """Make one remark a column.

    Parameters
    ----------
    groups : mapping (column, role) -> LevelGroups
        Of the parts that have such levels; kinds are not spoken of here.

    Notes
    -----
    Privacy: says how many levels are rare in which columns; names none.

    Examples
    --------
    >>> import numpy as np
    >>> town = LevelGroups(np.array([0, 0, 0]), np.array([40.0, 1.0, 2.0]))
    >>> _rare_remarks({("town", "value"): town})[0].what[:48]
    '2 levels have fewer than 5 records: copies show '
    """
    counts = {column: own.n_rare for (column, role), own in groups.items() if role == "value"}
    return tuple(Remark(column, *rare_words(count)) for column, count in counts.items())
