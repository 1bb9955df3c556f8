"""What a formal guarantee asks of a plan, checked from the schema before a record is read, and its price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pysynthdp.design.encode import Layout
from pysynthdp.errors import PrivacyError
from pysynthdp.plan.declared import lack_of_bounds, lack_of_distinct_levels
from pysynthdp.plan.step import Step
from pysynthdp.plan.task import task_of
from pysynthdp.privacy.by_sampling import BySampling
from pysynthdp.privacy.mechanism import PricedColumn, mechanism_from_dict
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

if TYPE_CHECKING:
    from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = ["check_declared", "check_models", "priced_columns", "public_schema"]


def public_schema(schema: Schema) -> Schema:
    """Draw the missing values of a categorical column as levels: their number is then no fact of its own."""
    columns = (
        replace(column, absence="level") if isinstance(column, CategoricalColumn) else column
        for column in schema
    )
    return Schema(tuple(columns))


def check_declared(schema: Schema, names: Sequence[str]) -> None:
    """Refuse a column of which something would have to be learned from the data.

    Raises
    ------
    PrivacyError
        Names the column and what to declare.
    """
    for name in names:
        column = schema[name]
        lack = _lack(column)
        if lack:
            raise PrivacyError(f"{name}: {lack}")


def _lack(column: Column) -> str:
    """Say what a column must still declare; empty when nothing."""
    if not column.declared:
        return "a formal guarantee takes nothing from the data; declare the column in schema=Schema([...])"
    if isinstance(column, CategoricalColumn):
        return _categorical_lack(column)
    return _numeric_lack(column)


def _categorical_lack(column: CategoricalColumn) -> str:
    """Say what a categorical column must still declare."""
    if column.other is None:
        return "unlisted values need a level to go to; declare other=<one of the levels>"
    if len(column.levels) + len(column.specials) + int(column.may_be_missing) == 1:
        return "it has one declared level, so there is nothing to draw; drop it and add it to the copies"
    return lack_of_distinct_levels(column)


def _numeric_lack(column: NumericColumn) -> str:
    """Say what a numeric column must still declare."""
    lack = lack_of_bounds(column)
    if lack:
        return lack
    if column.may_be_missing or column.specials:
        return (
            "a numeric column that may be missing or has codes or spikes has no guarantee by sampling; "
            "declare may_be_missing=False with fallback=..., or make it categorical by public intervals"
        )
    if column.fallback is None:
        return "say what a cell without a readable value becomes: declare fallback=..."
    return ""


def check_models(plan: SynthesisPlan) -> None:
    """Refuse a plan with a column that has no guarantee.

    Raises
    ------
    PrivacyError
        Names the column and the remedy.
    """
    if plan.keep:
        raise PrivacyError(
            f"{plan.keep[0]} is kept real, so the table can have no guarantee; take it out of keep="
        )
    for step in plan.steps:
        if not hasattr(step.model, "mechanism"):
            raise PrivacyError(
                f"{step.label}: method {step.model.name!r} has no guarantee by sampling "
                f"({step.model.reason}); choose one that has, such as 'gaussian', 'dirichlet' or 'logridge'"
            )


def priced_columns(plan: SynthesisPlan, guarantee: BySampling, *, n: int) -> tuple[PricedColumn, ...]:
    """Give the mechanism of each step with its public constants."""
    layout = Layout(plan.parts, {})
    return tuple(_priced(step, plan, layout, guarantee, n) for step in plan.steps)


def _priced(step: Step, plan: SynthesisPlan, layout: Layout, guarantee: BySampling, n: int) -> PricedColumn:
    """Price one step."""
    model: Any = step.model
    name, constants = model.mechanism(task_of(step, plan, layout, n=n))
    mechanism = mechanism_from_dict(name, constants)
    if guarantee.exact and not mechanism.exact:
        raise PrivacyError(
            f"{step.label}: method {model.name!r} has no exact sampler with a proof; leave exact=True out "
            "(the claim is then idealised), or use a guarantee by noise in the statistics"
        )
    return PricedColumn(step.label, model.name, mechanism)
