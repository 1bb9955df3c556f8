"""A plan whose answers are noised: what it asks of the schema, its steps, and the order of its features.

Categorical parts (levels, missing kinds) come first, numbers after them, each in visit order, so that the
distribution of the dummies is known exactly when a number is fitted from the noisy cross-products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pysynthdp.design.encode import Layout, Scale, StepDesign, n_features
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.errors import PlanError, PrivacyError
from pysynthdp.models.base import COLUMN_MODELS, ColumnModel
from pysynthdp.plan.declared import lack_of_bounds, lack_of_distinct_levels
from pysynthdp.plan.step import Method, Step, Terms, target_of
from pysynthdp.privacy.moment_budget import moment_budget
from pysynthdp.privacy.noise_in_answers import NoiseInAnswers
from pysynthdp.schema import Column, NumericColumn, Schema

if TYPE_CHECKING:
    from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = [
    "BEYOND_BOUNDS",
    "MomentShape",
    "Span",
    "bends",
    "beyond_bounds",
    "check_noised",
    "moment_designs",
    "moment_layout",
    "moment_shape",
    "noised_steps",
    "spans_of",
]

BEYOND_BOUNDS = (
    "under noise in the answers, numbers drawn by norm may lie outside their declared bounds: clamping them "
    "again would bias means and regressions"
)
_INSTEAD = {"polr": "polyreg", "sample": "norm, normrank or polyreg"}
MOST_FEATURES = 1_000
FARTHEST = 1e100  # spreads between a hint and the bounds, so that squares of rows stay in float64


@dataclass(frozen=True, slots=True)
class Span:
    """A number whose shape is asked for: its place among the numbers, and its declared bounds.

    Parameters
    ----------
    number : int
        Place among the numeric parts.
    low, high : float
        Bounds in units of the hint.
    """

    number: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MomentShape:
    """The features of one row, as public facts.

    Parameters
    ----------
    blocks : tuple of int
        Number of levels of each categorical part that has several, in moment order.
    numbers : int
        Numeric parts, after them.
    spans : tuple of Span
        Numbers whose shape is asked for too.
    """

    blocks: tuple[int, ...]
    numbers: int
    spans: tuple[Span, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether there is no categorical part at all."""
        return not self.blocks


def noised_steps(
    schema: Schema,
    order: Sequence[str],
    wishes: Mapping[str, Method],
    everywhere: Method | None,
    terms: Mapping[str, Terms],
) -> list[Step]:
    """List the steps: categorical parts first, then numbers.

    Raises
    ------
    PrivacyError
        For a method that is not fitted from moments, or a predictor that is a product; the message names the
        column and the mend.
    """
    steps = []
    for name in order:
        column = schema[name]
        for part in parts_of(column):
            model = _model(part, column, wishes.get(name, everywhere))
            steps.append(Step((part,), model, _main_effects(name, terms[name])))
    return sorted(steps, key=lambda step: step.targets[0].numeric)


def _model(part: Part, column: Column, wish: Method | None) -> ColumnModel:
    """Pick the wished model where it is fitted from moments, else the default of the part's kind."""
    default = "norm"
    if part.levels:
        default = "constant" if len(part.levels) == 1 else "logreg" if len(part.levels) == 2 else "polyreg"
    fixed = part.role == "kind" or wish is None or default == "constant"
    model = COLUMN_MODELS[default]() if fixed or wish is None else _wished(wish)
    if not hasattr(model, "fit_from_moments"):
        instead = _INSTEAD.get(model.name, default)
        raise PrivacyError(
            f"{column.name}: method {model.name!r} is not fitted from noisy cross-products; use {instead!r}"
        )
    if getattr(model, "real_values", False):
        raise PrivacyError(
            f"{column.name}: method {model.name!r} is set to give out records' own values, which can have no "
            "guarantee; leave emit_original out"
        )
    if not model.accepts(target_of(part, column)):
        kind = "a categorical" if part.levels else "a numeric"
        raise PlanError(f"{column.name}: method {model.name!r} cannot draw {kind} column; leave it out")
    return model


def _wished(wish: Method) -> ColumnModel:
    """Make a model from its name."""
    return COLUMN_MODELS[wish]() if isinstance(wish, str) else wish


def _main_effects(name: str, terms: Terms) -> Terms:
    """Refuse products: the cross-products of features hold main effects only."""
    for term in terms:
        if len(term) > 1:
            raise PrivacyError(
                f"{name}: the noisy cross-products hold no interaction or power such as {':'.join(term)}; "
                "leave it out of the formula"
            )
    return terms


def check_noised(schema: Schema, order: Sequence[str], noise: NoiseInAnswers, kept: Sequence[str]) -> None:
    """Refuse a plan of which something would have to be learned from the data.

    Raises
    ------
    PrivacyError
        Names the column and what to declare.
    """
    if kept:
        raise PrivacyError(
            f"{kept[0]} is kept real, so the table can have no guarantee; take it out of keep="
        )
    for name in order:
        lack = _lack(schema[name])
        if lack:
            raise PrivacyError(f"{name}: {lack}")
    for name, centre, spread in noise.hints:
        _check_hint(name, centre, spread, schema)
    shape = moment_shape([part for name in order for part in parts_of(schema[name])])
    moment_budget(len(shape.blocks), shape.numbers, rho=noise.row_rho, relation=noise.unit.relation, n=1)
    if sum(shape.blocks) + shape.numbers > MOST_FEATURES:
        raise PrivacyError(
            f"the table has more than {MOST_FEATURES} features (levels and numbers together), too many for "
            "one noisy matrix; drop columns or merge levels"
        )


def _lack(column: Column) -> str:
    """Say what a column must still declare; empty when nothing."""
    if not column.declared:
        return "a formal guarantee takes nothing from the data; declare the column in schema=Schema([...])"
    if column.may_be_missing and isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        return (
            f"it may be missing, which {column.dtype} cannot hold; declare a dtype such as 'Int64' or "
            "'float64', or may_be_missing=False"
        )
    if isinstance(column, NumericColumn):
        return _numeric_lack(column)
    if column.other is None:
        return "unlisted values need a level to go to; declare other=<one of the levels>"
    return lack_of_distinct_levels(column)


def _numeric_lack(column: NumericColumn) -> str:
    """Say what a numeric column must still declare."""
    lack = lack_of_bounds(column)
    if lack:
        return lack
    if not column.may_be_missing and column.fallback is None:
        return (
            "say what a cell without a readable value becomes: declare fallback=..., or may_be_missing=True"
        )
    return ""


def _check_hint(name: str, centre: float, spread: float, schema: Schema) -> None:
    """Refuse a hint that fits no numeric column."""
    column = next((each for each in schema if each.name == name), None)
    if not isinstance(column, NumericColumn):
        raise PrivacyError(f"hints names {name!r}, which is no numeric column; leave it out")
    if not (math.isfinite(centre) and math.isfinite(spread) and spread > 0):
        raise PrivacyError(f"{name}: a hint is (centre, spread) with a finite centre and a spread above zero")
    bounds = [bound for bound in (column.lower, column.upper) if bound is not None]
    if not all(abs(bound - centre) <= FARTHEST * spread for bound in bounds):
        raise PrivacyError(
            f"{name}: the hint's spread is too small beside the bounds to compute with; give both in one unit"
        )


def moment_shape(parts: Sequence[Part], spans: tuple[Span, ...] = ()) -> MomentShape:
    """Count the features of some parts."""
    blocks = tuple(len(part.levels) for part in parts if len(part.levels) > 1)
    return MomentShape(blocks, sum(part.numeric for part in parts), spans)


def spans_of(plan: SynthesisPlan, layout: Layout) -> tuple[Span, ...]:
    """Name the numbers that are bent to a histogram, with their declared bounds in units of the hint."""
    numbers = [step for step in plan.steps if step.targets[0].numeric]
    found = []
    for place, step in enumerate(numbers):
        if bends(step.model):
            part = step.targets[0]
            column, scale = plan.schema[part.column], layout.scales[part.key]
            bounds = (column.lower, column.upper) if isinstance(column, NumericColumn) else (None, None)
            low, high = (0.0 if bound is None else (bound - scale.centre) / scale.width for bound in bounds)
            found.append(Span(place, low, high))
    return tuple(found)


def bends(model: ColumnModel) -> bool:
    """Whether a model asks for a histogram beside the cross-products."""
    return hasattr(model, "bent")


def beyond_bounds(plan: SynthesisPlan) -> tuple[str, ...]:
    """Columns whose drawn numbers may lie outside their declared bounds, see :data:`BEYOND_BOUNDS`."""
    numeric = (step for step in plan.steps if step.targets[0].numeric)
    return tuple(step.targets[0].column for step in numeric if not bends(step.model))


def moment_layout(plan: SynthesisPlan, noise: NoiseInAnswers) -> Layout:
    """Place the features in moment order, numbers in units of their hints.

    Notes
    -----
    Privacy: declared facts only. Without a hint the centre is the middle of the bounds and the spread a sixth
    of their width.
    """
    hints = {name: Scale(centre, spread) for name, centre, spread in noise.hints}
    parts = tuple(part for step in plan.steps for part in step.targets)
    scales = {
        part.key: hints.get(part.column) or _sixth(plan.schema[part.column]) for part in parts if part.numeric
    }
    return Layout(parts, scales)


def _sixth(column: Column) -> Scale:
    """Middle of the declared bounds, and a sixth of their width."""
    if not isinstance(column, NumericColumn) or column.lower is None or column.upper is None:
        raise PrivacyError(f"{column.name} has no declared bounds; give lower= and upper=")
    return Scale((column.lower + column.upper) / 2, (column.upper - column.lower) / 6)


def moment_designs(plan: SynthesisPlan, layout: Layout) -> tuple[StepDesign, ...]:
    """Features of each step: all earlier parts, or those of the columns that the user chose.

    A user who left the predictors alone gets every part before it in moment order, which is all that the
    cross-products can tell.
    """
    starts, designs = layout.starts, []
    place = {name: index for index, name in enumerate(plan.visit_sequence)}
    for number, step in enumerate(plan.steps):
        own = step.targets[0].column
        everything = {*step.predictors} == {*plan.visit_sequence[: place[own]]}
        chosen = {own, *step.predictors}
        before = [s.targets[0] for s in plan.steps[:number]]
        parts = [part for part in before if everything or part.column in chosen]
        width = ((start, start + n_features(part)) for part in parts for start in [starts[part.key]])
        designs.append(StepDesign(((0,), *((i,) for low, high in width for i in range(low, high)))))
    return tuple(designs)
