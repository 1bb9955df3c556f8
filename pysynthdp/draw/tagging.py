"""What is true of a release whatever protects it: the tags for pooling, and how it came about."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from pysynthdp.base.marks import DERIVED, KEPT_REAL
from pysynthdp.base.registry import is_outside, package_of
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Words
from pysynthdp.design.parts import Part, parts_of
from pysynthdp.draw.tally import Tally
from pysynthdp.models.base import ColumnModel, FitsFromMoments
from pysynthdp.plan import Factor, Protection, Step, SynthesisPlan, Terms, lost_terms, whole_terms
from pysynthdp.plan.designed import design_details, design_words
from pysynthdp.plan.factors import LEVEL, columns_of
from pysynthdp.plan.fit import DrawnStep, Fit
from pysynthdp.plan.protection import UNAUDITED
from pysynthdp.plan.rules import LEAST_MET
from pysynthdp.plan.step import predicting
from pysynthdp.plan.within import told_within
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.schema import Design
from pysynthdp.tags import Bias, ReleaseTags
from pysynthdp.tags.provenance import Provenance
from pysynthdp.tags.release_tags import Nesting
from pysynthdp.tags.steps import Draws, TaggedFactor, TaggedStep

__all__ = [
    "marked_design",
    "marked_imputed",
    "marked_outside",
    "provenance_of",
    "release_tags",
    "rule_remarks",
    "tagged_steps",
    "with_rules",
]

_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow")


def release_tags(
    plan: SynthesisPlan,
    fits: Sequence[Fit],
    *,
    m: int,
    n_syn: int,
    nests: tuple[str, ...] | None = None,
    nesting: Nesting = "none",
) -> ReleaseTags:
    """Say what a combining rule must know, before the protection adds its own.

    Notes
    -----
    Privacy: settings and public numbers; the number of rows only where it may be told.
    """
    drawn = [column.name for column in plan.schema if column.name not in plan.keep]
    return ReleaseTags(
        kind="partial" if plan.keep else "complete",
        synthesised=frozenset(drawn),
        kept=frozenset(plan.keep),
        parameters="drawn" if plan.proper else "fitted",
        draws=plan.draws or "independent",
        bias=_bias(plan),
        m=m,
        nests=nests,
        nesting=nesting,
        n_syn=n_syn,
        n_org=fits[0].n if plan.protection.n_told else None,
        steps=tagged_steps(plan, fits),
        details=design_details(plan.design),
    )


def with_rules(tags: ReleaseTags, plan: SynthesisPlan, tally: Tally) -> ReleaseTags:
    """Say of each rule how many rows met it at once: what was drawn again has moved margins.

    Notes
    -----
    Privacy: of drawn rows.
    """
    if not plan.rules:
        return tags
    told = [
        {
            "rule": rule.text,
            "columns": list(rule.columns),
            "met": tally.met(rule.text),
            "anew": tally.anew(rule.text),
        }
        for rule in plan.rules
    ]
    return replace(tags, details={**tags.details, "rules": told})


def rule_remarks(plan: SynthesisPlan, tally: Tally) -> tuple[Remark, ...]:
    """Say which rules so many rows did not meet at once that margins move.

    Notes
    -----
    Privacy: of drawn rows.
    """
    met = {rule: tally.met(rule.text) for rule in plan.rules}
    few = [(rule, share) for rule, share in met.items() if share is not None and share < LEAST_MET]
    what = "{share} of the rows met the rule {rule} at once, and the others were drawn again: margins move"
    mend = "let the models know it, as by predictors and products, or derive a column"
    return tuple(
        Remark(
            ", ".join(rule.columns),
            "moved margins",
            Words(what, share=f"{100 * share:.0f} %", rule=rule.text),
            mend,
        )
        for rule, share in few
    )


def tagged_steps(plan: SynthesisPlan, fits: Sequence[Fit]) -> tuple[TaggedStep, ...]:
    """Say of each step what it was given, in drawing order; columns kept real stand first.

    Notes
    -----
    Privacy: the plan. The scale on which a fit found a number straight, and which terms rest on too few
    records, are told only where fits may learn.
    """
    scales = _learned_scales(fits) if plan.protection.learns else {}
    kept = predicting(plan.schema, plan.keep)
    tagged = [
        TaggedStep(columns=(name,), draws=_draws(parts_of(plan.schema[name])[-1]), model=KEPT_REAL)
        for name in kept
    ]
    before, counted = list(kept), {own.column for own in plan.counted}
    for step, terms in zip(plan.steps, plan.protection.given(plan), strict=True):
        columns = tuple(dict.fromkeys(part.column for part in step.targets))
        held = _held(terms, step, plan, fits) if plan.protection.learns else terms
        held = told_within(step, whole_terms(held, step, plan, fits[0].layout), _alone(step, fits))
        earlier = {(name,) for name in before if name not in columns}
        tagged.append(
            TaggedStep(
                columns=columns,
                draws=_draws(step.targets[-1]),
                model=step.model.name,
                terms=None if {*held} == earlier and len(held) == len(earlier) else _tagged(held),
                linear_on=None
                if counted.intersection(columns)
                else scales.get(step.targets) or _scale(step.model, learns=plan.protection.learns),
                keeps_shape=bool(getattr(step.model, "keeps_shape", False)),
                together=min(getattr(step.model, "ways", 2), len(columns)) if len(columns) > 1 else 1,
                tested=step.tested if plan.protection.learns else (),
            )
        )
        before += [name for name in columns if name not in before]
    return _with_derived(tagged, plan)


def _with_derived(tagged: list[TaggedStep], plan: SynthesisPlan) -> tuple[TaggedStep, ...]:
    """Put the columns that are computed behind the last one that each is computed from.

    What corrects a drawn column is part of its own step.
    """
    for own in (each for each in plan.derived if not each.corrects):
        part = parts_of(plan.schema[own.column])[-1]
        terms = tuple((name,) for name in own.given)
        step = TaggedStep(columns=(own.column,), draws=_draws(part), model=DERIVED, terms=terms)
        places = [at for at, each in enumerate(tagged) if {*each.columns} & {*own.given}]
        tagged.insert(1 + max(places, default=-1), step)
    return tuple(tagged)


def _tagged(terms: Terms) -> tuple[tuple[TaggedFactor, ...], ...]:
    """Write factors that are no whole columns as plain values."""
    return tuple(tuple(_factor(factor) for factor in term) for term in terms)


def _factor(factor: str | Factor) -> TaggedFactor:
    """Write one factor."""
    if not isinstance(factor, Factor):
        return factor
    key = "level" if factor.form == LEVEL else "basis"
    told = {"column": factor.column, key: factor.at[0] if key == "level" else factor.form}
    return told if key == "level" or not factor.at else {**told, "at": [*factor.at]}


def _held(terms: Terms, step: Step, plan: SynthesisPlan, fits: Sequence[Fit]) -> Terms:
    """Leave out terms that rest on fewer than five records; all, where the target's levels are one group."""
    lost: set[tuple[str | Factor, ...]] = set()
    for fit in fits:
        drawn = next(each for each in fit.steps if each.targets == step.targets)
        for own in drawn.each:
            alone = own.groups is not None and own.groups.size == 1 and not step.within
            lost.update(terms if alone else lost_terms(step, plan, fit.layout, own.design))
    parted = {*step.within}
    return tuple(term for term in terms if term not in lost or parted.intersection(columns_of((term,))))


def _alone(step: Step, fits: Sequence[Fit]) -> tuple[str, ...] | None:
    """Name the groups that have a model of their own in every fit; None where all have."""
    found = [next(each for each in fit.steps if each.targets == step.targets) for fit in fits]
    if step.nested:
        shares = any(own.model.name == "sample" for drawn in found for own in drawn.inside[:-1])
        return () if shares else None
    whole = all(drawn.within is None or len(drawn.inside) == len(drawn.within.listed) for drawn in found)
    common = set(fits[0].strata).intersection(*(fit.strata for fit in fits))
    return None if whole else tuple(name for name in fits[0].strata if name in common)


def _learned_scales(fits: Sequence[Fit]) -> dict[tuple[Part, ...], str]:
    """Name the scale on which a model found a number straight, where the fits of all imputations agree."""
    found: dict[tuple[Part, ...], set[str | None]] = {}
    for fit in fits:
        for step in fit.steps:
            own = {_scale_of(each, step) for each in step.each}
            found.setdefault(step.targets, set()).update(own)
    return {targets: one for targets, (one, *more) in found.items() if one is not None and not more}


def _scale_of(own: DrawnStep, step: DrawnStep) -> str | None:
    """Name the scale of one of a step's models: the one that its fit found, or, beside others, its own."""
    found: str | None = getattr(own.params, "linear_on", None)
    return found if found is not None or not step.inside else _scale(own.model, learns=True)


def _scale(model: ColumnModel, *, learns: bool) -> str | None:
    """Name the scale on which a model adds up its terms by itself.

    A model fitted to noisy cross-products adds them up on the plain scale, by which those are taken.
    """
    from_moments = "plain" if not learns and isinstance(model, FitsFromMoments) else None
    named: str | None = getattr(model, "linear_on", from_moments)
    return named


def _draws(part: Part) -> Draws:
    """Say what a part is."""
    return "kind" if part.role == "kind" else "number" if part.holds_numbers else "levels"


def _bias(plan: SynthesisPlan) -> Bias:
    """Name what may have moved estimates: the first bias among the models."""
    found: list[Bias] = [getattr(step.model, "bias", "none") for step in plan.steps]
    return next((bias for bias in found if bias != "none"), "none")


def provenance_of(plan: SynthesisPlan) -> Provenance:
    """Say how a release came about, from settings alone."""
    versions = [("python", platform.python_version()), *((name, version(name)) for name in _PACKAGES)]
    if plan.protection.spends != "nothing":
        versions += _maker_of_noise()
    return Provenance(
        software=f"pysynthdp {version('pysynthdp')}",
        versions=tuple(versions),
        methods=tuple((name, plan.methods.get(name, "constant")) for name in plan.schema.names),
        visit_sequence=plan.visit_sequence,
    )


def _maker_of_noise() -> list[tuple[str, str]]:
    """Name the version of OpenDP, if it is installed: the law of the noise hangs on it."""
    try:
        return [("opendp", version("opendp"))]
    except PackageNotFoundError:  # a guarantee by sampling needs none
        return []


def marked_outside(statement: PrivacyStatement, protection: Protection) -> PrivacyStatement:
    """Say it where a statement comes from a protection of another package, whose claims nobody here knows.

    Notes
    -----
    Privacy: settings only.
    """
    if not is_outside(protection) or statement.status == "none":
        return statement
    extra = f"protection {protection.name!r} of {package_of(protection)}: {UNAUDITED}"
    return replace(statement, reason=f"{statement.reason}; {extra}")


def marked_design(statement: PrivacyStatement, design: Design | None) -> PrivacyStatement:
    """Say what became of the design of a sample.

    Notes
    -----
    Privacy: settings only.
    """
    if design is None:
        return statement
    extra = design_words(design)
    return replace(statement, reason=f"{statement.reason}; {extra}") if extra else statement


def marked_imputed(statement: PrivacyStatement, tables: int) -> PrivacyStatement:
    """Say it where the models were fitted to several imputations of the confidential table.

    Notes
    -----
    Privacy: a number of tables, which the nests of the copies show.
    """
    if tables == 1:
        return statement
    extra = f"the models are fitted to each of {tables} imputations of the confidential table"
    return replace(statement, reason=f"{statement.reason}; {extra}")
