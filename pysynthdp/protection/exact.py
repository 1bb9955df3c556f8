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
from pysynthdp.curator import Curator, StepFit
from pysynthdp.curator.check.findings import remarks_of_check
from pysynthdp.curator.check.looking import check_fit
from pysynthdp.curator.contributions import bounded_rows
from pysynthdp.curator.curves import curves_of
from pysynthdp.curator.encoded import EncodedRows
from pysynthdp.curator.extremes import drawn_in
from pysynthdp.curator.gates import gates_of
from pysynthdp.curator.learn.steps import Learned, learned_steps
from pysynthdp.curator.population import sampled, weighed_groups
from pysynthdp.curator.relations import broken_remarks
from pysynthdp.curator.spread.encoded import encoded_rows
from pysynthdp.curator.spread.pieces import SpreadRows, refused
from pysynthdp.curator.spread.table import parts_of_rows
from pysynthdp.curator.table import DISTANCE, PartTable, groups_of, scales_of
from pysynthdp.curator.universes import kept_remarks
from pysynthdp.curator.whole_table import check_rows, rare_words, size_remarks, unused_remarks
from pysynthdp.design.encode import Layout
from pysynthdp.design.gates import Gates
from pysynthdp.design.groups import LevelGroups
from pysynthdp.design.parts import Part
from pysynthdp.design.rows import Rows
from pysynthdp.design.universes import limited
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan import Factor, Step, SynthesisPlan, lost_terms
from pysynthdp.plan.counted import as_distances, counted_schema
from pysynthdp.plan.curves import public_curves
from pysynthdp.plan.designed import design_terms
from pysynthdp.plan.factors import term_text
from pysynthdp.plan.fit import CopyParameters, CopySource, DrawnStep, Fit, Key
from pysynthdp.plan.protection import FitRequest
from pysynthdp.plan.within import unread_parts
from pysynthdp.privacy.ledger import Ledger
from pysynthdp.protection.apart import fit_apart
from pysynthdp.protection.stepfits import drawn_step, fewest, is_settled, step_fits
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
    seen = _seen(request.rows, plan, schema) if learns else bounded_rows(request.rows, schema, unit)
    seen, weights = sampled(seen, request.counts)
    table, remarks = fewest(seen, plan, schema) if learns else (seen, ())
    table = _counted(table, seen, plan)
    groups = weighed_groups(groups_of(table, plan.parts), table, weights) if learns else {}
    scales = scales_of(table, plan.parts, plan.schema, public=not learns)
    found = Learned(plan.steps)
    if learns:
        found = learned_steps(plan, table, groups, scales, request.workers, note)
        plan = replace(plan, steps=found.steps)
    curves = curves_of(plan.steps, table) if learns else public_curves(plan)
    codes = {key: own.codes for key, own in groups.items()}
    layout = Layout(plan.parts, scales, codes, curves, unread_parts(plan))
    encoded = encoded_rows(table, layout, request.workers, weights)
    keep = plan.proper or not learns
    apart = fit_apart(plan, encoded, seen, groups, schema=schema, posterior=keep)
    whole = replace(plan, steps=tuple(step for step in plan.steps if not step.within))
    with one_blas_thread():
        fits, known = step_fits(whole, encoded, groups)
    active = [fit for fit in fits if not learns or not is_settled(fit)]
    curator = Curator(encoded, unit.relation, guarded=not learns, known=known)
    with one_blas_thread():
        curator.fit_all(active, note)
    kept = {key: values.copy() for key, values in seen.parts.items() if key[0] in plan.keep}
    kept_columns = {name: _kept(request.rows, plan.schema[name]) for name in plan.keep}
    if learns:
        remarks = (*found.remarks, *remarks, *apart.remarks, *_of_steps(whole, layout, fits, groups))
        remarks = (*_of_table(plan, request.rows, fits), *_broken(plan, request.rows), *remarks)
    n = request.rows.n_rows
    first = [part for part in plan.parts if part.column in plan.keep]
    gates = gates_of(whole.steps, first, table) if learns else {}
    made = _drawn(whole, fits, gates, posterior=keep) | dict(apart.steps)
    steps = tuple(made[step.targets] for step in plan.steps)
    learned = _learned(plan, layout, steps) if learns else ()
    fit = Fit(layout, steps, source, n, kept, kept_columns, remarks, learned=learned, strata=apart.strata)
    return _checked(plan, fit, encoded, request) if learns else fit


def _broken(plan: SynthesisPlan, rows: Rows) -> tuple[Remark, ...]:
    """Say which expressions, universes and rules do not hold in the table."""
    kept = kept_remarks(plan, rows) if plan.rules or limited(plan.schema) else ()
    return (*broken_remarks(plan, rows), *kept)


def _counted(table: PartTable, seen: PartTable, plan: SynthesisPlan) -> PartTable:
    """Put the distances that steps are fitted to beside the columns that are drawn so, without extremes."""
    if not plan.counted:
        return table
    far = table.with_parts(as_distances(seen.parts, plan.counted).items())
    names = {own.column for own in plan.counted}
    parts = [part for part in plan.parts if part.column in names and part.numeric]
    without, _ = drawn_in(far, parts, counted_schema(plan.schema, plan.counted))
    return table.with_parts(((part.column, DISTANCE), without.parts[part.key]) for part in parts)


def _drawn(
    plan: SynthesisPlan,
    fits: Sequence[StepFit],
    gates: Mapping[tuple[Part, ...], Gates],
    *,
    posterior: bool,
) -> dict[tuple[Part, ...], DrawnStep]:
    """Keep what drawing needs of the finished fits."""
    pairs = zip(plan.steps, fits, strict=True)
    drawn = (drawn_step(fit, step.model, posterior=posterior) for step, fit in pairs)
    return {step.targets: replace(step, gates=gates.get(step.targets)) for step in drawn}


def _checked(plan: SynthesisPlan, fit: Fit, rows: EncodedRows, request: FitRequest) -> Fit:
    """Look at rows drawn from the fit, and say which columns are not as they are in the table."""
    if request.stand_ins is None:
        return fit
    check = check_fit(plan, fit, rows, request.stand_ins, workers=request.workers)
    if check is None:
        return fit
    return replace(fit, check=check, remarks=(*fit.remarks, *remarks_of_check(check)))


def _of_steps(
    plan: SynthesisPlan, layout: Layout, fits: Sequence[StepFit], groups: Mapping[Key, LevelGroups]
) -> tuple[Remark, ...]:
    """Say which levels are rare, which products are left out, and what models remarked."""
    rare = _rare_remarks({key: own for key, own in groups.items() if key[0] not in plan.keep})
    steps = zip(plan.steps, fits, strict=True)
    lost = (remark for step, fit in steps for remark in _lost_products(step, plan, layout, fit))
    return (*rare, *lost, *(remark for fit in fits for remark in fit.notes))


def _learned(plan: SynthesisPlan, layout: Layout, drawn: Sequence[DrawnStep]) -> tuple[Step, ...]:
    """Give the steps as they were completed; of screened terms those of which enough records are left."""
    steps = []
    for step, own in zip(plan.steps, drawn, strict=True):
        lost = _lost(step, plan, layout, own) if step.label in plan.to_screen else frozenset()
        kept = (term for term in step.terms if term not in lost or _plain(term))
        steps.append(replace(step, model=own.model, terms=tuple(kept)))
    return tuple(steps)


def _lost(
    step: Step, plan: SynthesisPlan, layout: Layout, drawn: DrawnStep
) -> frozenset[tuple[str | Factor, ...]]:
    """Name the terms of which no model of a step has a feature."""
    return frozenset.intersection(
        *(frozenset(lost_terms(step, plan, layout, own.design)) for own in drawn.each)
    )


def _plain(term: Sequence[str | Factor]) -> bool:
    """Whether a term is a whole column."""
    return len(term) == 1 and isinstance(term[0], str)


def _lost_products(step: Step, plan: SynthesisPlan, layout: Layout, fit: StepFit) -> tuple[Remark, ...]:
    """Say which terms of a formula are not modelled."""
    if step.label in plan.to_screen:
        return ()
    unsaid = design_terms(plan.design, plan.schema)  # by no formula that anybody wrote
    gone = (term for term in lost_terms(step, plan, layout, fit.rows.design) if term not in unsaid)
    lost = [term_text(term) for term in gone if not _plain(term)]
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


def _seen(rows: Rows, plan: SynthesisPlan, schema: Schema) -> PartTable:
    """Split rows to learn from; refuse few of them, and to take real values from where others keep them."""
    check_rows(rows.n_rows)
    if isinstance(rows, SpreadRows) and plan.keep:
        refused(plan.keep[0])
    return parts_of_rows(rows, schema)


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


def _modelled(plan: SynthesisPlan) -> Schema:
    """Columns that have a part in the model."""
    names = {part.column for part in plan.parts}
    return Schema(tuple(column for column in plan.schema if column.name in names))


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
