"""From scores to findings: which column, what about it, and what to type to mend it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.check.features import CheckedFeatures, Feature
from pysynthdp.curator.check.near import WIDER, NearFunctions
from pysynthdp.curator.check.scores import Scores
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.plan.checked import Finding, FitCheck
from pysynthdp.plan.factors import LEVEL, Factor, column_of, formula_name, formula_text
from pysynthdp.schema import NumericColumn

__all__ = ["findings_of", "remarks_of_check"]

LISTED = 200  # findings that are kept, the worst
_COLUMNS = 5  # of a spline that is proposed: enough to bend at a heap
_LONG = 12  # longer orders and formulas are not written out
_ONE_SHAPE = ("norm", "sqrtnorm", "cubertnorm", "lognorm", "poisson", "negbin")
_OTHER_MODEL = {**dict.fromkeys((*_ONE_SHAPE, "normrank"), "cells"), "cells": "normrank"}
_MEAN_OF = {"number": "mean", "level": "share", "kind": "missing", "cut": "distribution"}
_SAID = {
    "near-function": (
        "it is nearly a linear function of {others}, and rows drawn from the fit lie farther off it"
    ),
    "mean": "its mean in rows drawn from the fit is off by more than chance",
    "shift": "its mean, other columns alike, in rows drawn from the fit is off by more than chance",
    "share": "the share of a level in rows drawn from the fit is off by more than chance",
    "distribution": "its distribution in rows drawn from the fit is off by more than chance",
    "missing": "where it is absent in rows drawn from the fit is off by more than chance",
    "slope": "how it goes with {others} in rows drawn from the fit is off by more than chance",
    "curve": "its curve in {others} is lost in rows drawn from the fit",
    "product": "its product with {others} is lost in rows drawn from the fit",
    "spread": "its spread by {others} is lost in rows drawn from the fit",
}
_MISSING_BY = "where it is absent by {others}, in rows drawn from the fit, is off by more than chance"


def findings_of(
    plan: SynthesisPlan,
    features: CheckedFeatures,
    scores: Sequence[Scores],
    near: NearFunctions,
    wider: Mapping[str, float],
) -> tuple[Finding, ...]:
    """Name what is beyond chance, worst first: near-functions, which spoil others, before all else.

    Parameters
    ----------
    plan : SynthesisPlan
        With the order, by which the column that is drawn last is named.
    features : CheckedFeatures
        What was compared.
    scores : sequence of Scores
        By family.
    near : NearFunctions
        Numbers that are nearly a function of others.
    wider : mapping column -> float
        How many times as far off drawn rows are.
    """
    place = {name: at for at, name in enumerate(plan.visit_sequence, start=1)}
    best: dict[tuple[str, str, tuple[str, ...]], tuple[float, float]] = {}
    for each in scores:
        for index in np.argwhere(np.abs(each.values) > each.limit):
            involved = [features.all[at] for at in index]
            key = _about(each.what, involved, place)
            size = float(abs(each.values[tuple(index)]))
            if key not in best or size / each.limit > best[key][0] / best[key][1]:
                best[key] = (size, each.limit)
    for last, others, times in _last_of(near, wider, place):
        best[last, "near-function", others] = (times, WIDER)
    by_few = (name for name, few in zip(near.names, near.by_few, strict=True) if few)
    spoilt = {*by_few, *(column for column, what, _ in best if what == "near-function")}
    drifting = {column for column, _, _ in best}
    found = [_finding(plan, key, *sizes, spoilt, drifting) for key, sizes in best.items()]
    found.sort(key=lambda one: (one.what != "near-function", -one.strength))
    return tuple(found[:LISTED])


def _last_of(
    near: NearFunctions, wider: Mapping[str, float], place: Mapping[str, int]
) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Name each identity once, by the column that is drawn last of it."""
    alike: dict[frozenset[str], list[str]] = {}
    for name, others in zip(near.names, near.others, strict=True):
        if name in wider:
            alike.setdefault(frozenset((name, *others)), []).append(name)
    for everything, names in alike.items():
        last = max(names, key=lambda name: place.get(name, 0))
        rest = sorted(everything - {last}, key=lambda name: place.get(name, 0))
        yield last, tuple(rest), wider[last]


def _about(
    family: str, involved: Sequence[Feature], place: Mapping[str, int]
) -> tuple[str, str, tuple[str, ...]]:
    """Say which column a score is about, what, and with which others."""
    last = max((each.column for each in involved), key=lambda name: place.get(name, 0))
    others = tuple(sorted({each.column for each in involved} - {last}, key=lambda name: place.get(name, 0)))
    own = [each.form for each in involved if each.column == last]
    if family == "mean":
        return last, _MEAN_OF[own[0]], ()
    if family == "given":
        return last, "shift" if own[0] == "number" else _MEAN_OF[own[0]], ()
    if "kind" in own:
        return last, "missing", others
    if family == "product":
        if len(own) > 1:
            return last, "spread", others
        return last, "curve" if len(others) == 1 else "product", others
    bent = any(each.form == "cut" for each in involved if each.column != last)
    return last, "curve" if bent else "spread" if "cut" in own else "slope", others


def _finding(
    plan: SynthesisPlan,
    key: tuple[str, str, tuple[str, ...]],
    size: float,
    limit: float,
    spoilt: set[str],
    drifting: set[str],
) -> Finding:
    """Add the remedy."""
    column, what, others = key
    if what == "near-function":
        remedy = Words("leave it out with {drop}, and compute it from copies", drop=Setting("drop", [column]))
    else:
        step = next((step for step in plan.steps if column in {part.column for part in step.targets}), None)
        bad = [name for name in (column, *others, *(step.predictors if step else ())) if name in spoilt]
        remedy = _without(bad[-1]) if bad else _remedy(plan, key, step, drifting)
    return Finding(column, what, others, size, limit, remedy)


def _without(name: str) -> Words:
    """Mend a near-function first, along whose width later columns are spoilt."""
    text = "leave out {name} first, nearly a function of others, with {drop}"
    return Words(text, name=name, drop=Setting("drop", [name]))


def _remedy(
    plan: SynthesisPlan, key: tuple[str, str, tuple[str, ...]], step: Step | None, drifting: set[str]
) -> Words:
    """Say what to type: the term that is missing, else another order or model, after what comes before."""
    column, what, others = key
    made = next((own for own in plan.derived if own.column == column), None)
    if made is not None:
        return Words("mend {given}, which it is computed from", given=" and ".join(made.given))
    if what == "shift" or (what == "distribution" and step is not None and step.model.name in _ONE_SHAPE):
        return _model(plan, column)
    if step is None or not others:
        return _own_remedy(plan, column)
    wanted = () if what == "spread" else _wanted(plan, what, others, step)
    if wanted:
        return _formula(column, step, wanted)
    before = [name for name in others if name in drifting]
    if before:
        return Words("mend {name} first, which is drawn before it", name=before[0])
    return _model(plan, column) if what == "spread" else _moved(plan, column, others)


def _wanted(plan: SynthesisPlan, what: str, others: tuple[str, ...], step: Step) -> tuple[str | Factor, ...]:
    """Name the term that the step lacks; empty where it has it."""
    single = len(others) == 1 and isinstance(plan.schema[others[0]], NumericColumn)
    if what in ("curve", "missing") and single:
        bent = {factor for term in step.terms for factor in term if isinstance(factor, Factor)}
        spline = Factor(others[0], "bs", (_COLUMNS,))
        return (
            () if any(each.form in ("cr", "bs") and each.column == others[0] for each in bent) else (spline,)
        )
    wanted = others if what == "product" else others[:1]
    known = {frozenset(map(column_of, term)) for term in step.terms if not any(map(_of_a_level, term))}
    return () if frozenset(wanted) in known else wanted


def _of_a_level(factor: str | Factor) -> bool:
    """Whether a factor is one level alone: a term with it is a part of the columns' product."""
    return isinstance(factor, Factor) and factor.form == LEVEL


def _formula(column: str, step: Step, term: tuple[str | Factor, ...]) -> Words:
    """Write the formula with the term."""
    new = formula_text(term)
    screened = any(isinstance(factor, Factor) for each in step.terms for factor in each)
    if screened or len(step.terms) > _LONG:
        return Words("add {new} to a formula of {column}", new=new, column=column)
    right = " + ".join([*map(formula_text, step.terms), new])
    return Words("give {formulas}", formulas=Setting("formulas", [f"{formula_name(column)} ~ {right}"]))


def _own_remedy(plan: SynthesisPlan, column: str) -> Words:
    """Mend a column's own distribution: draw it before what its drift comes from, or by another model."""
    order = plan.visit_sequence
    if column not in order or order[0] == column:
        return _model(plan, column)
    others = [name for name in order if name != column] if len(order) <= _LONG else [...]
    return Words("draw it first with {order}", order=Setting("visit_sequence", [column, *others]))


def _model(plan: SynthesisPlan, column: str) -> Words:
    """Name another model."""
    steps = (step for step in plan.steps if (column, "value") in {part.key for part in step.targets})
    other = next((_OTHER_MODEL.get(step.model.name) for step in steps), None)
    if other is None:
        return Words("leave it out with {drop}", drop=Setting("drop", [column]))
    return Words("choose another model with {method}", method=Setting("method", {column: other}))


def _moved(plan: SynthesisPlan, column: str, others: tuple[str, ...]) -> Words:
    """Draw a column directly after the last that it goes with; where it stands there, by another model."""
    order = [name for name in plan.visit_sequence if name != column]
    after = 1 + max((order.index(name) for name in others if name in order), default=-1)
    moved: list[Any] = [*order[:after], column, *order[after:]]
    if tuple(moved) == tuple(plan.visit_sequence):
        return _model(plan, column)
    near = others[-1]
    if len(moved) > _LONG:
        moved = [..., near, column, ...]
    return Words("draw it directly after {near}: {order}", near=near, order=Setting("visit_sequence", moved))


def remarks_of_check(check: FitCheck) -> Iterator[Remark]:
    """Say each column's worst finding; how large it is says the check itself.

    Notes
    -----
    Privacy: names columns; never any under a guarantee.
    """
    for finding in check.worst():
        together = finding.what == "missing" and finding.others
        text = _MISSING_BY if together else _SAID[finding.what]
        what = Words(text, others=" and ".join(finding.others))
        kind = finding.what if finding.what == "near-function" else "drift"
        yield Remark(finding.column, kind, what, finding.remedy)
