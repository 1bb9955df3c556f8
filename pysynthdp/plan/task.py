"""What a step's model is told, from the plan and the number of rows alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pysynthdp.design.encode import Layout, StepDesign
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.base import FitTask, Target
from pysynthdp.plan.step import Step, Terms, target_of
from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = ["lost_terms", "row_norm", "step_design", "task_of"]


def task_of(
    step: Step, plan: SynthesisPlan, layout: Layout, *, n: int, design: StepDesign | None = None
) -> FitTask:
    """Tell a step's model what it may know before a record is read, and what a fit without a guarantee found.

    That is ``design``, without features that rest on too few records, and the layout's groups of levels.
    """
    design = step_design(step, plan, layout) if design is None else design
    features = [design.features[place] for place in design.used]
    names, dummies = layout.features, layout.dummies
    targets = tuple(_target(part, plan, layout) for part in step.targets)
    return FitTask(
        target=targets[0],
        targets=targets,
        features=tuple(_product(names, positions) for positions in features),
        dummies=tuple(_all(dummies, positions) for positions in features),
        n=n,
        proper=plan.proper,
        exclusive=_exclusive(features, layout),
        **plan.protection.task_facts(step, plan),
    )


def _target(part: Part, plan: SynthesisPlan, layout: Layout) -> Target:
    """Tell the public facts about a part; as many levels as it has groups."""
    target = target_of(part, plan.schema[part.column])
    groups = layout.groups.get(part.key)
    if groups is None:
        return target
    return replace(target, n_levels=int(groups.max()) + 1, groups=tuple(groups.tolist()))


def _exclusive(features: Sequence[tuple[int, ...]], layout: Layout) -> tuple[tuple[int, ...], ...]:
    """Find the places of each column's dummies, its kinds and levels together."""
    starts = layout.starts
    owner = {
        position: part.column
        for part in layout.parts
        if not part.numeric
        for position in range(starts[part.key], starts[part.key] + layout.width(part))
    }
    found: dict[str, list[int]] = {}
    for place, positions in enumerate(features):
        if len(positions) == 1 and positions[0] in owner:
            found.setdefault(owner[positions[0]], []).append(place)
    return tuple(map(tuple, found.values()))


def row_norm(step: Step, plan: SynthesisPlan) -> float:
    """Bound a row of features in [-1, 1]: each part adds at most 1, its dummies being exclusive.

    The squared norm of a product of vectors is the product of theirs.
    """
    parts = {name: len(parts_of(plan.schema[name])) for name in step.predictors}
    return math.sqrt(1 + sum(math.prod(parts[name] for name in term) for term in step.terms))


def _product(names: Sequence[str], positions: tuple[int, ...]) -> str:
    """Name a feature that is a product."""
    return ":".join(names[position] for position in positions)


def _all(flags: Sequence[bool], positions: tuple[int, ...]) -> bool:
    """Whether all factors of a feature are dummies."""
    return all(flags[position] for position in positions)


def step_design(step: Step, plan: SynthesisPlan, layout: Layout) -> StepDesign:
    """Find a step's features: the intercept, then each term's columns and their products."""
    found = _features(step, plan, layout)
    return StepDesign(tuple(dict.fromkeys([(0,), *(each for own in found for each in own)])))


def _features(step: Step, plan: SynthesisPlan, layout: Layout) -> list[list[tuple[int, ...]]]:
    """Find the features of each term."""
    starts = layout.starts
    own = {
        name: tuple(
            position
            for part in parts_of(plan.schema[name])
            for position in range(starts[part.key], starts[part.key] + layout.width(part))
        )
        for name in step.predictors
    }
    features = []
    for term in step.terms:
        crossed: list[tuple[int, ...]] = [()]
        for name in term:
            crossed = [(*before, position) for before in crossed for position in own[name]]
        features.append([tuple(sorted(positions)) for positions in crossed])
    return features


def lost_terms(step: Step, plan: SynthesisPlan, layout: Layout, design: StepDesign) -> Terms:
    """Find products of a step of which fewer than five records left nothing, and columns in one group.

    Parameters
    ----------
    step : Step
        With the terms that the plan gives it.
    plan : SynthesisPlan
        Whose schema has the columns.
    layout : Layout
        Of the fit: levels that are put together have no dummy.
    design : StepDesign
        Of the fit: features that rest on few records are left out.

    Notes
    -----
    Privacy: read off a fit without a guarantee; tells that a product is rare, and nothing of its records.
    """
    alone = {
        column
        for column in {column for column, _ in layout.groups}
        if not any(layout.width(part) for part in parts_of(plan.schema[column]))
    }
    products = tuple(term for term in step.terms if len(term) > 1)
    if not products and not alone:
        return ()
    used = {design.features[place] for place in design.used}
    pairs = zip(products, _features(replace(step, terms=products), plan, layout), strict=True)
    lost = {term for term, features in pairs if used.isdisjoint(features)} | {(column,) for column in alone}
    return tuple(term for term in step.terms if term in lost)
