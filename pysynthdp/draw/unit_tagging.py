"""What a combining rule must know of copies of units: sizes in units, and what every place's rows hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pysynthdp.base.marks import DERIVED, KEPT_REAL
from pysynthdp.draw.tagging import release_tags, tagged_steps
from pysynthdp.draw.unit_machine import UnitDrawing
from pysynthdp.plan.unit_plan import UnitPlan
from pysynthdp.schema import NumericColumn
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.steps import TaggedFactor, TaggedStep

__all__ = ["unit_tags"]


def unit_tags(plan: UnitPlan, drawing: UnitDrawing) -> ReleaseTags:
    """Say how copies of units are made.

    Notes
    -----
    Privacy: settings and public numbers. Rows count in units: of the table, and of a copy. A step of rows is
    told with the terms that its models hold at every place.
    """
    tables = drawing.tables
    tags = release_tags(plan.first, tables[:1], m=drawing.m, n_syn=drawing.n_syn)
    first = tagged_steps(plan.first, tables[:1])
    further = [tagged_steps(own.drawn, (fit,)) for own, fit in zip(plan.places, tables[1:], strict=True)]
    names = frozenset(plan.schema.names)
    steps = [_everywhere(step, first, further, names) for step in first if step.columns[0] in names]
    details = {**tags.details, "unit": plan.units.id, "unit_columns": [*plan.unit_columns]}
    return replace(
        tags, synthesised=names, steps=(*steps, *_over_units(plan)), details=details, n_org=drawing.fit.n
    )


def _over_units(plan: UnitPlan) -> list[TaggedStep]:
    """Tell of columns that are computed in whole units."""
    found = []
    for own in plan.over_units:
        number = isinstance(plan.schema[own.column], NumericColumn)
        terms = tuple((name,) for name in own.given)
        step = TaggedStep(
            columns=(own.column,), draws="number" if number else "levels", model=DERIVED, terms=terms
        )
        found.append(step)
    return found


def _everywhere(
    step: TaggedStep,
    first: Sequence[TaggedStep],
    further: Sequence[Sequence[TaggedStep]],
    names: frozenset[str],
) -> TaggedStep:
    """Leave of a step what holds at every place: terms, scale, shape."""
    same = [(steps, _like(step, steps)) for steps in further]
    alike = [(steps, each) for steps, each in same if each is not None]
    lists = [_terms(each, steps) for steps, each in alike]
    terms = [
        term
        for term in _terms(step, first)
        if all(term in other for other in lists) and all(_column(factor) in names for factor in term)
    ]
    scales = {step.linear_on, *(each.linear_on for _, each in alike)}
    return replace(
        step,
        terms=tuple(terms),
        linear_on=step.linear_on if len(scales) == 1 else None,
        keeps_shape=step.keeps_shape and all(each.keeps_shape for _, each in alike),
        together=min([step.together, *(each.together for _, each in alike)]),
        tested=tuple(
            name for name in step.tested if name in names and all(name in each.tested for _, each in alike)
        ),
    )


def _like(step: TaggedStep, steps: Sequence[TaggedStep]) -> TaggedStep | None:
    """Find the step that draws the same of a further row; None for columns of units."""
    same = (own for own in steps if own.columns == step.columns and own.draws == step.draws)
    return next((own for own in same if own.model != KEPT_REAL), None)


def _terms(step: TaggedStep, steps: Sequence[TaggedStep]) -> list[tuple[TaggedFactor, ...]]:
    """Write out the terms of a step."""
    if step.terms is not None:
        return list(step.terms)
    earlier: dict[str, None] = {}
    for own in steps:
        if own.columns == step.columns:
            break
        earlier |= dict.fromkeys(own.columns)
    return [(name,) for name in earlier]


def _column(factor: Any) -> str:
    """Name the column of a factor."""
    return factor if isinstance(factor, str) else str(factor["column"])
