"""What a pooled table must say: which effects the copies do not hold, by the release's own plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pysynthdp.analysis.asked import Asked, Factor, Term
from pysynthdp.analysis.expressions import Call, Expression, columns_in, monomials
from pysynthdp.analysis.held import TREE, Chain
from pysynthdp.analysis.noise_flags import noise_flags
from pysynthdp.tags import AnalysableRelease, ReleaseTags
from pysynthdp.tags.steps import TaggedStep

__all__ = ["UNSAID", "Remarks", "remarks_on"]

UNSAID = (
    "This release does not say which effects its models hold, so none is flagged here; do not rely on a "
    "relation that they may not contain."
)
_FAMILIES = {"log": "log", "log1p": "log", "log2": "log", "log10": "log", "sqrt": "sqrt", "cbrt": "cubert"}
_SCALES = {
    "plain": "its plain scale",
    "log": "its logarithmic scale",
    "log mean": "the scale of the logarithm of its mean",
    "sqrt": "the scale of its square root",
    "cubert": "the scale of its cube root",
    "score": "the scale of its normal scores",
}
_LEAST_MET = 0.9  # of the rows, below which what moved is more than a note
_BENT = frozenset({"log", "sqrt", "cubert", "score"})


@dataclass(frozen=True, slots=True)
class Remarks:
    """What to say: flags make estimates or intervals doubtful, notes do not."""

    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """What is not held, gathered over responses and terms; dicts keep the order."""

    products: dict[str, None] = field(default_factory=dict)
    tested: dict[frozenset[str], dict[str, None]] = field(default_factory=dict)
    curves: dict[str, frozenset[str]] = field(default_factory=dict)
    absent: dict[str, dict[str, None]] = field(default_factory=dict)
    early: dict[str, dict[str, None]] = field(default_factory=dict)


def remarks_on(release: AnalysableRelease, asked: Asked) -> Remarks:
    """Say what the copies of a release do not hold of an analysis.

    Parameters
    ----------
    release : release
        Its tags say what each step was given; the names and types of its columns are read, no row.
    asked : Asked
        Response, terms, kind of variance.

    Returns
    -------
    Remarks
        Flags for the header, and notes.

    Notes
    -----
    Privacy: post-processing; the plan is public.
    """
    tags, drawn = release.tags, _of_weights(release.tags)
    notes = tuple(_beyond_bounds(tags.details.get("column_notes"), asked, release))
    if tags.steps is None:
        unsaid = (UNSAID,) if tags.kind != "imputed" and tags.noise == "none" else ()
        edited = () if tags.noise != "none" else tuple(map(str, tags.details.get("flags", ())))
        flags = (*drawn, *edited, *noise_flags(tags, asked), *_of_rows(asked, None))
        return Remarks(flags, (*unsaid, *notes))
    frame = getattr(release, "typed", None)
    frame = release.copies[0] if frame is None else frame
    names = frozenset(map(str, frame.columns))
    chain = Chain(tags.steps, levels=_levels(frame) if len(frame) else ())
    moved, hardly = _of_rules(asked, tags.details.get("rules", ()), names)
    notes = (*notes, *hardly, *_of_chosen(asked, chain, names))
    own = (
        *drawn,
        *moved,
        *_of_trees(asked, chain, names),
        *_of_terms(asked, chain, names),
        *_of_response(asked, chain, names),
        *_of_rows(asked, chain),
    )
    told = [str(flag) for flag in tags.details.get("flags", ())]
    void = ("void: the noise was seeded, for testing",) if tags.details.get("void") else ()
    return Remarks(tuple(dict.fromkeys((*told, *own, *void))), notes)


def _of_weights(tags: ReleaseTags) -> tuple[str, ...]:
    """Say that weights were drawn, so that no variance in a copy is that of the survey."""
    told = tags.details.get("design")
    if not isinstance(told, Mapping) or told.get("how") != "synthesise":
        return ()
    weight = dict(told.get("columns") or {}).get("weight", "the weight")
    text = (
        f"{weight}: drawn like any number and moved to declared totals; the variance within a copy (u) is "
        "not that of the survey's design, which the copies do not hold"
    )
    return (text,)


def _levels(frame: pd.DataFrame) -> Iterator[str]:
    """Columns of a copy that are no numbers."""
    kinds = pd.api.types
    return (
        str(name)
        for name, dtype in frame.dtypes.items()
        if kinds.is_bool_dtype(dtype) or not kinds.is_numeric_dtype(dtype)
    )


def _beyond_bounds(column_notes: object, asked: Asked, release: AnalysableRelease) -> Iterator[str]:
    """Say of columns in the analysis what the release says of each."""
    if not isinstance(column_notes, dict):
        return
    names = frozenset(map(str, release.copies[0].columns))
    factors = [factor for term in asked.terms for factor in term.factors]
    factors += [asked.response] if asked.response is not None else []
    used = frozenset[str]().union(*(columns_in(factor.tree, names) for factor in factors))
    yield from (f"{name}: {text}." for name, text in column_notes.items() if name in used)


def _of_rules(
    asked: Asked, rules: Sequence[Mapping[str, Any]], names: AbstractSet[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say which columns of an analysis moved because rows were drawn again: much, and hardly."""
    used = _used(asked, names)
    told = [rule for rule in rules if used.intersection(rule["columns"]) and (rule.get("met") or 1.0) < 1.0]
    flags = tuple(
        f"{_listed(sorted(used.intersection(rule['columns'])))}: {100 * (1 - rule['met']):.0f} % of the rows "
        f"were drawn again to keep the rule {rule['rule']}, so that means and relations have moved"
        for rule in told
        if rule["met"] < _LEAST_MET
    )
    notes = tuple(
        f"{100 * (1 - rule['met']):.1g} % of the rows were drawn again to keep the rule {rule['rule']}."
        for rule in told
        if rule["met"] >= _LEAST_MET
    )
    return flags, notes


def _of_trees(asked: Asked, chain: Chain, names: AbstractSet[str]) -> Iterator[str]:
    """Say which columns of an analysis were drawn by trees, and what to do."""
    drawn = [name for name, step in chain.steps.items() if step.model == TREE]
    used = _used(asked, names)
    own = sorted(used.intersection(drawn)) if used else drawn
    if own:
        yield (
            f"{_listed(own)}: drawn by trees ({TREE!r}), which hold relations in steps and weak ones hardly, "
            "and whose coverage was not measured; have them drawn by the default methods for intervals"
        )


# -- terms -------------------------------------------------------------------------------------------------


def _of_terms(asked: Asked, chain: Chain, names: AbstractSet[str]) -> Iterator[str]:
    """Say which terms of an analysis no model of the release was given."""
    responses = _responses(asked.response, names)
    strange = sorted((names - set(chain.steps)) & _used(asked, names))
    if strange:
        yield f"{_listed(strange)}: identifiers or running numbers, from which no other column was drawn"
    known = frozenset(chain.steps)
    found = _Found()
    for response in responses:
        if response in known:
            for term in asked.terms:
                _look(
                    term, response, chain, known, found, plain=asked.canonical and _bare(asked, chain, names)
                )
    yield from _said(found, chain)
    yield from _of_subgroup(asked, chain, known, [each for each in responses if each in known])


def _of_chosen(asked: Asked, chain: Chain, names: AbstractSet[str]) -> Iterator[str]:
    """Say which terms are held because a test found them, which makes weak ones look larger."""
    known = frozenset(chain.steps)
    found: dict[str, None] = {}
    for response in known.intersection(_responses(asked.response, names)):
        for term in asked.terms:
            shape = chain.shape_of(term, known)
            products = (product for product in shape.products if response not in product)
            if any(chain.link(response, each, shape.bent, shape.logs).chosen for each in products):
                found[term.text] = None
    if found:
        yield (
            f"{_listed(found)}: in the models because a test against the confidential data found it; a weak "
            "effect that chance made large enough to be found is exaggerated, and its interval too short."
        )


def _responses(response: Factor | None, names: AbstractSet[str]) -> list[str]:
    """Columns of the response."""
    return [] if response is None else sorted(columns_in(response.tree, names))


def _used(asked: Asked, names: AbstractSet[str]) -> frozenset[str]:
    """Columns of terms and response."""
    factors = [factor for term in asked.terms for factor in term.factors]
    factors += [asked.response] if asked.response is not None else []
    return frozenset[str]().union(*(columns_in(factor.tree, names) for factor in factors))


def _bare(asked: Asked, chain: Chain, names: AbstractSet[str]) -> bool:
    """Whether the response is a column as it is, a sum of such, or levels."""
    if asked.response is None:
        return False
    products = monomials(asked.response.tree, names)
    straight = products is not None and max(map(len, products)) == 1
    return straight or chain.levels.issuperset(columns_in(asked.response.tree, names))


def _look(
    term: Term, response: str, chain: Chain, names: AbstractSet[str], found: _Found, *, plain: bool
) -> None:
    """Follow one term to the model that would have to hold it."""
    shape = chain.shape_of(term, names)
    for product in sorted(shape.products, key=len):
        if response in product:
            continue
        link = chain.link(response, product, shape.bent, shape.logs)
        if link.tested:
            curve = len({*product}) == 1 and shape.bent.issuperset(product)
            found.tested.setdefault(shape.bent if curve else frozenset(), {})[term.text] = None
            if link.last != response:
                found.early.setdefault(response, {})[link.last] = None
        elif not link.held and shape.bent:
            found.curves[term.text] = shape.bent
        elif not link.held and len(product) > 1:
            found.products[term.text] = None
            if link.last != response:
                found.early.setdefault(response, {})[link.last] = None
        elif not link.held:
            found.absent.setdefault(response, {})[product[0]] = None
        elif link.last != response and not (plain and link.exact):
            found.early.setdefault(response, {})[link.last] = None


def _said(found: _Found, chain: Chain) -> Iterator[str]:
    """Write what was found."""
    if found.products:
        yield (
            f"{_listed(found.products)}: interactions or powers that the models of the release do not hold; "
            "beside their main effects they are about zero in the copies by design, whatever they are in the "
            "confidential data (not in the plan)"
        )
    for of, terms in found.tested.items():
        yield _tested(terms, sorted(of))
    if found.curves:
        bent = sorted(frozenset[str]().union(*found.curves.values()))
        yield (
            f"{_listed(found.curves)}: the models of the release take {_listed(bent)} by straight lines, so "
            "the copies hold no such curve (not in the plan)"
        )
    for response, columns in found.absent.items():
        yield (
            f"{response} and {_listed(columns)} were not drawn from one another: what they have in common in "
            "the copies comes by way of other columns"
        )
    for response, columns in found.early.items():
        yield _early(response, list(columns), real=response in chain.kept)


def _tested(terms: Iterable[str], bent: Sequence[str]) -> str:
    """Say what screening took for weak: a curve leaves a straight line, a product leaves nothing."""
    left, real = (
        (f"of {_listed(bent)} the copies hold little but a straight line", "no curve")
        if bent
        else ("about zero in the copies", "zero")
    )
    return (
        f"{_listed(terms)}: tested against the confidential data when the models were settled, "
        f"and not kept, or kept in part, being weak there: {left}, which is not to be read as {real} in the "
        "confidential data"
    )


def _early(response: str, columns: Sequence[str], *, real: bool) -> str:
    """Say that a response stands before its predictors, and what to do."""
    held = "the copies hold this relation only as far as the models of those columns do"
    if real:
        return f"{response} is released real and {_listed(columns)} drawn from it: {held}"
    return (
        f"{response} is drawn before {_listed(columns)}: {held}; put {response} last of them in "
        "visit_sequence to have it drawn from them"
    )


def _of_subgroup(
    asked: Asked, chain: Chain, names: AbstractSet[str], responses: Iterable[str]
) -> Iterator[str]:
    """Say which relations within a subgroup are those of all rows."""
    if asked.subgroup and not asked.within:
        yield (
            "part of the rows: the copies hold there what the models hold for all rows alike, and nothing "
            "that is particular to a subgroup but their interactions"
        )
    for group in asked.within:
        same = [
            term.text
            for term in asked.terms
            for response in responses
            if not _held(Term((*term.factors, *group.factors)), response, chain, names)
        ]
        alone = [each for each in responses if not _held(group, each, chain, names)]
        if same or alone:
            what = _listed(dict.fromkeys(same)) if same else f"the level of {_listed(alone)}"
            yield (
                f"within {group.text}: the models of the release hold {what} for all rows alike, so the "
                "copies show nothing particular to this subgroup"
            )


def _held(term: Term, response: str, chain: Chain, names: AbstractSet[str]) -> bool:
    """Whether a whole term is held."""
    shape = chain.shape_of(term, names)
    return all(
        chain.link(response, product, shape.bent, shape.logs).held
        for product in shape.products
        if response not in product
    )


# -- the response ------------------------------------------------------------------------------------------


def _of_response(asked: Asked, chain: Chain, names: AbstractSet[str]) -> Iterator[str]:
    """Say where the response is taken on another scale, or by more of its distribution, than was modelled."""
    if asked.response is None:
        return
    bent = not _bare(asked, chain, names)
    for column in _responses(asked.response, names):
        step = chain.steps.get(column)
        if step is None or step.draws != "number" or column in chain.kept or step.linear_on == "any":
            continue
        if (
            bent
            and _family(asked.response.tree) != step.linear_on
            and _explained(asked, column, chain, names)
        ):
            scale = _SCALES.get(step.linear_on or "", "a scale that the release does not tell")
            yield (
                f"{asked.response.text}: {column} was drawn on {scale} ({step.model}), so the copies hold "
                "its relation to other columns there, and not on this one"
            )
        other = not bent and asked.straight and step.linear_on in _BENT
        if other and _explained(asked, column, chain, names):
            yield _on_its_own_scale(column, step)
        if (bent or asked.shape) and not step.keeps_shape:
            yield (
                f"{column} has the shape that {step.model!r} gives it: quantiles, Gini index, logarithms and "
                "shares below a value are those of that shape"
            )
        if asked.shape and asked.terms:
            yield (
                f"the {asked.shape} of {column} by group: the models hold its mean in each group, and one "
                "spread and shape for all"
            )


def _on_its_own_scale(column: str, step: TaggedStep) -> str:
    """Say that a number is analysed as it is, though drawn on another scale, and what to do."""
    scale = step.linear_on or ""
    there = "" if scale == "score" else f"analyse {column} on that scale, or "
    return (
        f"{column} was drawn on {_SCALES[scale]} ({step.model}), so the copies hold its slopes and group "
        f"means there, and those of {column} as it is only roughly; {there}have it drawn by method 'norm'"
    )


def _explained(asked: Asked, column: str, chain: Chain, names: AbstractSet[str]) -> bool:
    """Whether a column was drawn from any column of the analysis."""
    known = frozenset(chain.steps)
    shapes = [chain.shape_of(term, known & names) for term in asked.terms]
    products = {product for shape in shapes for product in shape.products if column not in product}
    return any(chain.link(column, product).last == column for product in products)


def _family(tree: Expression) -> str | None:
    """Name the scale on which a response is taken."""
    if not isinstance(tree, Call):
        return None
    return _family(tree.arguments[0]) if tree.function == "I" else _FAMILIES.get(tree.function)


def _of_rows(asked: Asked, chain: Chain | None) -> Iterator[str]:
    """Say what copies' rows are: alike in variance but for what models say, and independent."""
    if asked.robust and not asked.clusters:
        yield (
            "robust covariances describe the copies, whose rows have the variances that their models give "
            "them, not those of the confidential rows"
        )
    if asked.clusters or asked.mixed:
        yield _of_clusters(asked, chain)
    if asked.quantiles:
        yield (
            "quantiles of the response given others: the models hold its mean, and one spread and shape for "
            "all rows"
        )


def _of_clusters(asked: Asked, chain: Chain | None) -> str:
    """Say what of clusters the copies hold: nothing, or the mean of each where the cluster is a category."""
    what = "random effects" if asked.mixed else "robust or cluster covariances"
    text = f"{what}: rows of the copies are drawn independently, so they have no clusters"
    held = [] if chain is None else [name for name in asked.groups if _is_category(name, asked, chain)]
    if not held:
        return (
            f"{text}; only a cluster's name kept as a category from which the response is drawn would keep "
            "the means of clusters"
        )
    return (
        f"{text} beyond the mean of the response in each level of {_listed(held)}, a category from which it "
        "was drawn; nothing else is alike within one"
    )


def _is_category(name: str, asked: Asked, chain: Chain) -> bool:
    """Whether clusters are levels that the response was drawn from."""
    if name not in chain.levels or name not in chain.steps:
        return False
    known = frozenset(chain.steps)
    responses = frozenset() if asked.response is None else columns_in(asked.response.tree, known)
    return bool(responses) and all(chain.link(each, (name,)).held for each in responses)


def _listed(names: Iterable[str]) -> str:
    """List names; the first six where there are many."""
    shown = list(names)
    rest = f" and {len(shown) - 6} more" if len(shown) > 6 else ""
    return ", ".join(shown[:6]) + rest
