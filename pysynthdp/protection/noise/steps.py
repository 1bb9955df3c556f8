"""The steps of a plan whose answers are noised, and what it asks of the schema, before a record is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.base.words import Facts, Setting, Words
from pysynthdp.design.cells import cell_names, whole_edges
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.base import COLUMN_MODELS, ColumnModel, CutsNumbers, FitsFromMoments, SplitsLevels
from pysynthdp.plan import Method, Step, Terms, target_of
from pysynthdp.plan.choose import model_of
from pysynthdp.plan.declared import UNDECLARED, lack_of_bounds, lack_of_distinct_levels
from pysynthdp.plan.factors import Factor, term_text
from pysynthdp.plan.protection import Wishes
from pysynthdp.privacy.noise.moment_budget import moment_budget
from pysynthdp.privacy.unit import Relation
from pysynthdp.protection.noise.moments.design import moment_part, moment_shape
from pysynthdp.protection.refusals import refuse_real_values
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = ["MOST_FEATURES", "check_noised", "noised_steps"]

_INSTEAD = {"polr": "polyreg", "sample": "norm, normrank or polyreg"}
MOST_FEATURES = 1_000
FARTHEST = 1e100  # spreads between a hint and the bounds, so that squares of rows stay in float64


def noised_steps(schema: Schema, wishes: Wishes) -> list[Step]:
    """List the steps: categorical parts first, numbers in declared cells among them, then other numbers.

    Raises
    ------
    PrivacyError
        For a method that is not fitted from moments, or a predictor that is a product; the message names the
        column and the mend.
    """
    steps = [_together(columns, model, schema, wishes) for columns, model in wishes.groups.items()]
    inside = {name for columns in wishes.groups for name in columns}
    for name in (each for each in wishes.order if each not in inside):
        column = schema[name]
        for part in parts_of(column):
            wish = wishes.methods.get(name, wishes.everywhere)
            cut = _in_cells(part, column, wish)
            model = _model(part, column, wish) if cut is None else cut[1]
            own = part if cut is None else cut[0]
            steps.append(Step((own,), model, _main_effects(name, wishes.terms_of(part))))
    place = {name: number for number, name in enumerate(wishes.order)}
    return sorted(steps, key=lambda step: (step.targets[0].numeric, place[step.targets[0].column]))


def _together(columns: tuple[str, ...], model: ColumnModel, schema: Schema, wishes: Wishes) -> Step:
    """Draw several columns of levels by the noisy counts of the cells of their table.

    Raises
    ------
    PrivacyError
        For a model that has no use for such counts, a column without levels, or more cells than one matrix
        holds.
    """
    if not (getattr(model, "takes_absent", False) and isinstance(model, FitsFromMoments)):
        what = "a joint step of {method} draws columns together, which noisy cross-products do anyway"
        mend = "leave it out, or count the cells of a table of levels with 'catall'"
        raise PlanError(Words(what, method=repr(model.name)), column=columns[0], kind="joint", remedy=mend)
    parts = tuple(part for name in columns for part in parts_of(schema[name]))
    for part in parts:
        if part.role == "kind" or part.partial or not part.levels:
            what = "{name}: noisy counts of cells take columns of levels, and it holds numbers or a universe"
            mend = "leave it out of the joint step, or declare it as levels: {levels}"
            remedy = Words(mend, levels=Facts(levels=[...]))
            raise PrivacyError(Words(what, name=part.column), column=part.column, kind="joint", remedy=remedy)
    cells = prod(len(part.levels) for part in parts)
    if cells > MOST_FEATURES:
        what = "the table of {names} has {cells} cells, and one noisy matrix holds {most} features at most"
        says = Words(what, names=", ".join(columns), cells=f"{cells:,}", most=f"{MOST_FEATURES:,}")
        mend = "draw fewer columns together, or merge levels"
        raise PrivacyError(says, column=columns[0], kind="joint", remedy=mend)
    return Step(parts, model, _main_effects(columns[0], wishes.terms[columns[0]]))


def _in_cells(part: Part, column: Column, wish: Method | None) -> tuple[Part, ColumnModel] | None:
    """Make a number whose model draws cells a categorical part of these; None for any other part.

    Raises
    ------
    PrivacyError
        Where no edges are declared, or where a value may be absent.
    """
    model = None if wish is None or not part.numeric else model_of(wish)
    if model is None or not isinstance(model, CutsNumbers) or not isinstance(column, NumericColumn):
        return None
    name = column.name
    if model.edges is None:
        what = "{name}: method {method} would take the edges of its cells from the rows"
        mend = "declare edges, as in {edges}, or use 'normrank', which pays for a noisy histogram"
        asked = Setting("method", {name: {"name": model.name, "edges": (..., ...)}})
        raise PrivacyError(
            Words(what, name=name, method=repr(model.name)),
            column=name,
            kind="guarantee",
            remedy=Words(mend, edges=asked),
        )
    if part.partial:
        what = (
            "{name}: declared cells take numbers that are always there, and it may be missing, or has codes "
            "or spikes"
        )
        mend = "use 'normrank' or 'norm'; a spike can be a cell instead: give its value twice among the edges"
        raise PrivacyError(Words(what, name=name), column=name, kind="guarantee", remedy=mend)
    edges = whole_edges(model.edges, column)
    return replace(part, levels=cell_names(edges), ordered=True, edges=edges), model


def _model(part: Part, column: Column, wish: Method | None) -> ColumnModel:
    """Pick the wished model where it is fitted from moments, else the default of the part's kind."""
    default = "norm"
    if part.levels:
        default = "constant" if len(part.levels) == 1 else "logreg" if len(part.levels) == 2 else "polyreg"
    fixed = part.role == "kind" or wish is None or default == "constant"
    model = COLUMN_MODELS[default]() if fixed or wish is None else model_of(wish)
    if not isinstance(model, FitsFromMoments):
        instead = _INSTEAD.get(model.name, default)
        raise PrivacyError(
            f"{column.name}: method {model.name!r} is not fitted from noisy cross-products",
            column=column.name,
            kind="guarantee",
            remedy=f"use {instead!r}",
        )
    refuse_real_values(model, column.name)
    if not model.accepts(target_of(part, column)):
        kind = "a categorical" if part.levels else "a numeric"
        raise PlanError(
            f"{column.name}: method {model.name!r} cannot draw {kind} column",
            column=column.name,
            kind="guarantee",
            remedy="leave it out",
        )
    if part.levels and not isinstance(model, SplitsLevels):
        raise PrivacyError(
            (
                f"{column.name}: method {model.name!r} does not say how likely each level is "
                "(level_shares), which later columns need"
            ),
            column=column.name,
            kind="guarantee",
            remedy=f"use {default!r}",
        )
    return model


def _main_effects(name: str, terms: Terms) -> Terms:
    """Refuse products and curves: the cross-products of features hold main effects only."""
    for term in terms:
        if len(term) > 1 or isinstance(term[0], Factor):
            what = "curve or single level" if len(term) == 1 else "interaction or power"
            raise PrivacyError(
                f"{name}: the noisy cross-products hold no {what} such as {term_text(term)}",
                column=name,
                kind="guarantee",
                remedy="leave it out of the formula",
            )
    return terms


def check_noised(
    schema: Schema,
    wishes: Wishes,
    *,
    hints: Mapping[str, tuple[float, float]],
    rho: float,
    relation: Relation,
) -> None:
    """Refuse a plan of which something would have to be learned from the data.

    Raises
    ------
    PrivacyError
        Names the column and what to declare.
    """
    for name in wishes.order:
        lack = _lack(schema[name])
        if lack:
            what = Words("{name}: {lack}", name=name, lack=lack)
            raise PrivacyError(what, column=name, kind="undeclared")
    for name, (centre, spread) in hints.items():
        _check_hint(name, centre, spread, schema)
    shape = moment_shape([moment_part(step) for step in noised_steps(schema, wishes)])
    moment_budget(len(shape.blocks), shape.numbers, rho=rho, relation=relation, n=1)
    if sum(shape.blocks) + shape.numbers > MOST_FEATURES:
        text = (
            "the table has more than {most} features (levels and numbers together), too many for one matrix"
        )
        mend = "drop columns or merge levels"
        raise PrivacyError(Words(text, most=MOST_FEATURES), kind="features", remedy=mend)


def _lack(column: Column) -> str:
    """Say what a column must still declare; empty when nothing."""
    if not column.declared:
        return UNDECLARED
    if column.may_be_missing and isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        return Words(
            "it may be missing, which {type} cannot hold; declare {nullable}, or {never}",
            type=column.dtype,
            nullable=Facts(dtype="Int64"),
            never=Facts(may_be_missing=False),
        )
    if isinstance(column, NumericColumn):
        return _numeric_lack(column)
    if column.other is None:
        return Words("unlisted values need a level to go to; declare {other}", other=Facts(other=...))
    return lack_of_distinct_levels(column)


def _numeric_lack(column: NumericColumn) -> str:
    """Say what a numeric column must still declare."""
    lack = lack_of_bounds(column)
    if lack:
        return lack
    if not column.may_be_missing and column.fallback is None:
        return Words(
            "say what a cell without a readable value becomes: declare {fallback}, or {missing}",
            fallback=Facts(fallback=...),
            missing=Facts(may_be_missing=True),
        )
    return ""


def _check_hint(name: str, centre: float, spread: float, schema: Schema) -> None:
    """Refuse a hint that fits no numeric column."""
    column = next((each for each in schema if each.name == name), None)
    if not isinstance(column, NumericColumn):
        raise PrivacyError(
            f"hints names {name!r}, which is no numeric column", kind="guarantee", remedy="leave it out"
        )
    if not (math.isfinite(centre) and math.isfinite(spread) and spread > 0):
        raise PrivacyError(
            f"{name}: a hint is (centre, spread) with a finite centre and a spread above zero",
            column=name,
            kind="guarantee",
        )
    bounds = [bound for bound in (column.lower, column.upper) if bound is not None]
    if not all(abs(bound - centre) <= FARTHEST * spread for bound in bounds):
        raise PrivacyError(
            f"{name}: the hint's spread is too small beside the bounds to compute with",
            column=name,
            kind="guarantee",
            remedy="give both in one unit",
        )
