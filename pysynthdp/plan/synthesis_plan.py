"""The whole synthesis as data, made from a schema before a record is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from pysynthdp.design.parts import Part, parts_of
from pysynthdp.display import Printable, Table
from pysynthdp.errors import PlanError, PrivacyError
from pysynthdp.models.base import ColumnModel
from pysynthdp.plan.choose import column_steps, joint_step, model_of
from pysynthdp.plan.guaranteed import check_declared, check_models, public_schema
from pysynthdp.plan.noised import check_noised, noised_steps, predictor_matrix
from pysynthdp.plan.noised_price import ExpectedPrecision, NoisePrice, expected_precision, price_noised
from pysynthdp.plan.order import gathered, visit_order
from pysynthdp.plan.price import PlanPrice, price_plan
from pysynthdp.plan.step import SERIAL, Method, Step
from pysynthdp.plan.terms import all_terms, check_known
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.noise_in_answers import NoiseInAnswers
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = ["SynthesisPlan", "make_plan"]


@dataclass(frozen=True, repr=False)
class SynthesisPlan(Printable):
    """The whole synthesis as data.

    Parameters
    ----------
    schema : Schema
        All columns of the table that are not dropped, in its order.
    visit_sequence : tuple of str
        Columns in the order in which they are drawn.
    steps : tuple of Step
        In the order in which they run.
    keep : tuple of str
        Columns released as they really are.
    serials : tuple of str
        Columns replaced by running numbers.
    drop : tuple of str
        Columns of the table that are not released.
    proper : bool
        Whether each copy draws its own parameters.
    guarantee : BySampling, optional
        What the draw itself must guarantee.
    noise : NoiseInAnswers, optional
        What noise in the answers must guarantee.
    """

    schema: Schema
    visit_sequence: tuple[str, ...]
    steps: tuple[Step, ...]
    keep: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    proper: bool = False
    guarantee: BySampling | None = None
    noise: NoiseInAnswers | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every modelled part: kept columns that can predict first, then in visit order."""
        names = (*_predicting(self.schema, self.keep), *self.visit_sequence)
        return tuple(part for name in names for part in parts_of(self.schema[name]))

    @property
    def methods(self) -> dict[str, str]:
        """Method of each column, as a user names it."""
        drawn = {part.column: step.model.name for step in self.steps for part in step.targets}
        return {**dict.fromkeys(self.keep, "kept real"), **drawn, **dict.fromkeys(self.serials, SERIAL)}

    @property
    def predictor_matrix(self) -> pd.DataFrame:
        """1 where the row's column is drawn from the column's."""
        if self.noise is not None:
            return predictor_matrix(self)
        names = list(self.schema.names)
        matrix = pd.DataFrame(0, index=names, columns=names)
        for step in self.steps:
            for part in step.targets:
                matrix.loc[part.column, list(step.predictors)] = 1
        return matrix

    def price(self, *, n: int, n_syn: int | None = None, m: int = 5) -> PlanPrice | NoisePrice:
        """Price m copies of n_syn records (n by default) before a record is read.

        Raises
        ------
        PrivacyError
            If the plan asks for no guarantee, or a number lies outside a formula's domain.
        """
        if self.noise is not None:
            return price_noised(self, self.noise, n=n)
        return price_plan(self, n=n, n_syn=n_syn, m=m)

    def expected_precision(self, *, n: int, m: int = 20, n_syn: int | None = None) -> ExpectedPrecision:
        """Say how much longer intervals get by noise in the answers, before a record is read.

        Raises
        ------
        PrivacyError
            If the plan asks for no such guarantee.
        """
        if self.noise is None:
            raise PrivacyError("the plan asks for no noise in the answers; give guarantee=ZCDP(rho=...)")
        return expected_precision(self, self.noise, n=n, m=m, n_syn=n_syn)

    def to_table(self) -> Table:
        """One row a step."""
        rows = tuple(_row(number, step) for number, step in enumerate(self.steps, start=1))
        facts: list[tuple[str, str | int]] = [("columns", len(self.schema))]
        facts.append(("parameters", "drawn for each copy (proper)" if self.proper else "fitted, one set"))
        named = (("released REAL", self.keep), ("running numbers", self.serials), ("dropped", self.drop))
        facts += [(label, ", ".join(names)) for label, names in named if names]
        return Table("Synthesis plan", ("step", "draws", "method", "given"), rows, tuple(facts))


def _predicting(schema: Schema, names: Iterable[str]) -> tuple[str, ...]:
    """Columns that have values to model: not identifiers, not columns that are missing throughout."""
    return tuple(name for name in names if any(part.role == "value" for part in parts_of(schema[name])))


def _row(number: int, step: Step) -> tuple[int, str, str, str]:
    """Write one step."""
    terms = [":".join(term) for term in step.terms]
    shown = ", ".join(terms[:6]) + (f" and {len(terms) - 6} more" if len(terms) > 6 else "")
    return number, step.label, step.model.name, shown or "-"


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
    terms = all_terms(order, _predicting(schema, kept), predictor_matrix, formulas, names)
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
