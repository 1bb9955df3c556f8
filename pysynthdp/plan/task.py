"""What a step's model is told, from the plan and the number of rows alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.design.curves import CURVES
from pysynthdp.design.encode import Layout, StepDesign
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.models.base import FitTask, Target
from pysynthdp.plan.factors import LEVEL, Factor, Terms, column_of
from pysynthdp.plan.step import Step, target_of
from pysynthdp.plan.synthesis_plan import SynthesisPlan

__all__ = ["lost_terms", "row_norm", "step_design", "task_of", "whole_terms"]


def task_of(
    step: Step,
    plan: SynthesisPlan,
    layout: Layout,
    *,
    n: int,
    design: StepDesign | None = None,
    groups: IntArray | None = None,
    fewest: int = FEWEST,
) -> FitTask:
    """Tell a step's model what it may know before a record is read, and what a fit without a guarantee found.

    That is ``design``, without features that rest on too few records, ``groups`` of the target's levels, and
    how many rows rest on five records (``fewest``).
    """
    design = step_design(step, plan, layout) if design is None else design
    features = [design.features[place] for place in design.used]
    names, dummies = layout.features, layout.dummies
    targets = tuple(
        _target(part, plan, groups)
        if len(step.targets) == 1
        else replace(_target(part, plan, None), partial=part.partial)
        for part in step.targets
    )
    return FitTask(
        target=targets[0],
        targets=targets,
        features=tuple(_product(names, positions) for positions in features),
        dummies=tuple(_all(dummies, positions) for positions in features),
        n=n,
        fewest=fewest,
        proper=plan.proper,
        exclusive=_exclusive(features, layout),
        **plan.protection.task_facts(step, plan),
    )


def _target(part: Part, plan: SynthesisPlan, groups: IntArray | None) -> Target:
    """Tell the public facts about a part; as many levels as it has groups."""
    target = target_of(part, plan.schema[part.column])
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

    The squared norm of a product of vectors is the product of theirs. A curve between declared bounds adds at
    most 1: B-splines are not negative and sum to one; one of several columns without that is refused.
    """
    return math.sqrt(1 + sum(math.prod(_parts_read(f, plan) for f in term) for term in step.terms))


def _parts_read(factor: str | Factor, plan: SynthesisPlan) -> int:
    """Count the parts that a factor reads: of a curve its number and its kind, of a level one."""
    if isinstance(factor, Factor) and (factor.form == LEVEL or CURVES[factor.form].alone):
        return 1
    return len(parts_of(plan.schema[column_of(factor)]))


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
    starts, curves = layout.starts, layout.curve_starts
    factors = dict.fromkeys(factor for term in step.terms for factor in term)
    own = {factor: _positions(factor, plan, layout, starts, curves) for factor in factors}
    features = []
    for term in step.terms:
        crossed: list[tuple[int, ...]] = [()]
        for factor in term:
            crossed = [(*before, position) for before in crossed for position in own[factor]]
        features.append([tuple(sorted(positions)) for positions in crossed])
    return features


def _positions(
    factor: str | Factor,
    plan: SynthesisPlan,
    layout: Layout,
    starts: Mapping[tuple[str, str], int],
    curves: Mapping[tuple[str, str, tuple[int, ...]], range],
) -> tuple[int, ...]:
    """Find the columns of the wide X that a factor stands for."""
    parts = parts_of(plan.schema[column_of(factor)])
    if isinstance(factor, Factor) and factor.form == LEVEL:
        return _dummy(str(factor.at[0]), parts, layout, starts)
    wide = {part: range(starts[part.key], starts[part.key] + layout.width(part)) for part in parts}
    if not isinstance(factor, Factor):
        return tuple(position for own in wide.values() for position in own)
    bent = tuple(curves[factor.column, factor.form, factor.at])  # type: ignore[index]  # numbers, of a curve
    if CURVES[factor.form].alone:
        return bent
    line = factor.form == "cr"
    beside = (position for part in parts if line or not part.numeric for position in wide[part])
    return (*beside, *bent)


def _dummy(
    level: str, parts: Sequence[Part], layout: Layout, starts: Mapping[tuple[str, str], int]
) -> tuple[int, ...]:
    """Find the dummy of one level, or of its group; there is none of the first."""
    part = next(part for part in reversed(parts) if level in part.levels)
    code, groups = part.levels.index(level), layout.groups.get(part.key)
    code = code if groups is None else int(groups[code])
    return (starts[part.key] + code - 1,) if code else ()


def whole_terms(terms: Terms, step: Step, plan: SynthesisPlan, layout: Layout) -> Terms:
    """Write terms with single levels as terms of whole columns where every dummy of these is there."""
    single = [term for term in terms if any(isinstance(f, Factor) and f.form == LEVEL for f in term)]
    if not single:
        return terms
    whole = tuple(dict.fromkeys(tuple(sorted(map(column_of, term))) for term in single))
    features = _features(replace(step, terms=(*terms, *whole)), plan, layout)
    there = {feature for own in features[: len(terms)] for feature in own}
    complete = {
        term for term, own in zip(whole, features[len(terms) :], strict=True) if there.issuperset(own)
    }
    left = (
        term for term in terms if term not in single or tuple(sorted(map(column_of, term))) not in complete
    )
    return tuple(dict.fromkeys((*left, *(term for term in whole if term in complete))))


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
    products = tuple(term for term in step.terms if len(term) > 1 or isinstance(term[0], Factor))
    if not products and not alone:
        return ()
    used = {design.features[place] for place in design.used}
    pairs = zip(products, _features(replace(step, terms=products), plan, layout), strict=True)
    lost = {term for term, features in pairs if used.isdisjoint(features)} | {(column,) for column in alone}
    return tuple(term for term in step.terms if term in lost)
