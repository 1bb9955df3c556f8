"""Make a plan from a schema and a user's wishes, before a record is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from pysynthdp.errors import PlanError
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.choose import column_steps, joint_step, model_of
from pysynthdp.plan.declared import check_key
from pysynthdp.plan.guaranteed import check_declared, check_models, public_schema
from pysynthdp.plan.noised import check_noised, noised_steps
from pysynthdp.plan.order import gathered, visit_order
from pysynthdp.plan.step import SERIAL, Method, Step
from pysynthdp.plan.synthesis_plan import SynthesisPlan, predicting
from pysynthdp.plan.terms import all_terms, check_known
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.noise_in_answers import NoiseInAnswers
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = ["make_plan"]


def _without_levels(schema: Schema, serials: Iterable[str]) -> Schema:
    """Forget the levels of columns that are numbered anew: nothing of an identifier goes into a plan."""
    for name in serials:
        column = schema[name]
        if isinstance(column, CategoricalColumn):
            dtype = "category" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
            schema = schema.amend(name, levels=(), other=None, missing=(), categories=None, dtype=dtype)
        if column.dtype is not None and column.dtype.kind in "bmMc":
            raise PlanError(
                f"{name}: running numbers cannot be written as {column.dtype}; drop it or keep it"
            )
    return schema


def _check_noised(
    schema: Schema,
    order: Sequence[str],
    noise: NoiseInAnswers,
    kept: Sequence[str],
    groups: Mapping[tuple[str, ...], ColumnModel],
) -> None:
    """Refuse what noise in the answers cannot guarantee, before a record is read."""
    check_noised(schema, order, noise, kept)
    if groups:
        raise PlanError("joint= draws columns together, which noisy cross-products do anyway; leave it out")


def make_plan(
    schema: Schema,
    *,
    method: Method | Mapping[str, Method] | None = None,
    visit_sequence: Sequence[str] | None = None,
    predictor_matrix: pd.DataFrame | Mapping[str, Iterable[str]] | None = None,
    formulas: Iterable[str] = (),
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    proper: bool = False,
    emit_original: bool = False,
    joint: Iterable[tuple[Sequence[str], Method]] = (),
    guarantee: BySampling | None = None,
    noise: NoiseInAnswers | None = None,
) -> SynthesisPlan:
    """Make a plan from a schema and a user's wishes; reads no record.

    Raises
    ------
    PlanError
        If a wish names an unknown column, a predictor that is not yet there, or a method that cannot draw the
        column; the message says which and what to do.
    """
    if guarantee is not None or noise is not None:
        schema = public_schema(schema)
    check_key(schema, guarantee, noise)
    names = set(schema.names)
    if not names:
        raise PlanError("no column is left to draw; drop fewer")
    kept, dropped = tuple(keep), tuple(drop)
    wishes: dict[str, Method] = dict(method) if isinstance(method, Mapping) else {}
    for what, given in (("keep", kept), ("method", wishes), ("visit_sequence", visit_sequence or ())):
        check_known(given, names, what)
    serials = tuple(name for name in schema.names if wishes.get(name) == SERIAL)
    schema = _without_levels(schema, serials)
    groups = {tuple(columns): model_of(model) for columns, model in joint}
    for columns in groups:
        check_known(columns, names, "joint")
    order = gathered(visit_order(schema, visit_sequence, {*kept, *serials}), tuple(groups))
    everywhere = None if isinstance(method, Mapping) else method
    terms = all_terms(order, predicting(schema, kept), predictor_matrix, formulas, names)
    if noise is not None:
        _check_noised(schema, order, noise, kept, groups)
        own = {name: wish for name, wish in wishes.items() if name in order}
        noised = noised_steps(schema, order, own, everywhere, terms)
        return SynthesisPlan(schema, order, tuple(noised), kept, serials, dropped, proper, noise=noise)
    together = {columns[0]: joint_step(columns, model, schema) for columns, model in groups.items()}
    inside = {name for columns in groups for name in columns}
    steps: list[Step] = []
    for name in order:
        if name in together:
            steps.append(together[name])
        elif name not in inside:
            steps += column_steps(schema[name], wishes.get(name, everywhere), terms[name], emit_original)
    plan = SynthesisPlan(schema, order, tuple(steps), kept, serials, dropped, proper, guarantee)
    if guarantee is not None:
        check_declared(schema, order)
        check_models(plan)
    return plan
