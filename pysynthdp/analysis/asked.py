"""What an analysis asks of the copies: its response, its terms, and what it says of the rows' variance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from patsy import ModelDesc, PatsyError

from pysynthdp.analysis.expressions import Expression, from_plain, from_python

__all__ = ["Asked", "Factor", "Term", "asked_by_fits", "asked_by_formula", "asked_by_r"]

_PLAIN = frozenset(
    {None, "nonrobust", "H1", "H2", "H3"}
)  # H1 to H3: statsmodels' M-estimators, not sandwiches
_SANDWICH = frozenset({"lm_robust", "iv_robust", "lm_lin", "vcovHC", "vcovCL", "vcovCR", "vcovHAC", "vcovBS"})
_MIXED = frozenset({"MixedLM", "lmerMod", "glmerMod", "nlmerMod", "lme", "glmmTMB", "lmerModLmerTest"})
_MARGINAL = frozenset({"GEE", "NominalGEE", "OrdinalGEE", "geeglm", "gee"})
_MOMENTS = frozenset({"OLS", "GLM", "Logit", "MNLogit", "Poisson", "lm", "glm", "multinom"})
_QUANTILES = frozenset({"QuantReg", "rq", "rqs"})
_STRAIGHT = frozenset({"OLS", "WLS", "GLS", "GLSAR", "RLM", "MixedLM", "lm", "rlm", "lmerMod", "lme", "gls"})


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a term, as it was written and as a tree."""

    text: str
    tree: Expression


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a formula: the product of its factors."""

    factors: tuple[Factor, ...]

    @property
    def text(self) -> str:
        """As it was written."""
        return ":".join(factor.text for factor in self.factors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an analysis asks.

    Parameters
    ----------
    response : Factor or None
        What is explained; None where there is none.
    terms : tuple of Term
        By what.
    shape : str
        What is estimated of a distribution besides its mean: "quantile", "Gini index"; "" for none.
    canonical : bool
        Whether the estimates solve moment equations, sum of x (y - mean) = 0: least squares, logit, Poisson.
    straight : bool
        Whether the terms add up to the mean of the response itself, without a link: least squares.
    robust, clusters, mixed, quantiles, subgroup : bool
        A sandwich covariance; rows in clusters; random effects; a regression of quantiles; part of the rows.
    groups : tuple of str
        Columns that name the clusters.
    within : tuple of Term
        What picks the rows, where it is known.
    """

    response: Factor | None = None
    terms: tuple[Term, ...] = ()
    shape: str = ""
    canonical: bool = False
    straight: bool = False
    robust: bool = False
    clusters: bool = False
    mixed: bool = False
    quantiles: bool = False
    subgroup: bool = False
    groups: tuple[str, ...] = ()
    within: tuple[Term, ...] = ()


def asked_by_formula(formula: str | None, **more: Any) -> Asked:
    """Read a formula in patsy's syntax; what patsy cannot read asks for nothing that can be told.

    Examples
    --------
    >>> [term.text for term in asked_by_formula("y ~ a*b + np.log(c)").terms]
    ['a', 'b', 'a:b', 'np.log(c)']
    """
    try:
        found = ModelDesc.from_formula(formula or "")
        left, right = ([_term(each) for each in side] for side in (found.lhs_termlist, found.rhs_termlist))
    except (PatsyError, SyntaxError):
        return Asked(**more)
    response = left[0].factors[0] if left and left[0].factors else None
    return Asked(response=response, terms=tuple(term for term in right if term.factors), **more)


def _term(found: Any) -> Term:
    """Take over a term of patsy's."""
    return Term(tuple(Factor(str(each.code), from_python(str(each.code))) for each in found.factors))


def asked_by_fits(formula: str | None, fits: Sequence[Any], **more: Any) -> Asked:
    """Read the formula of fits, and what they say of variances and clusters."""
    kinds = {type(getattr(fit, "model", fit)).__name__ for fit in fits}
    covariances = {getattr(fit, "cov_type", None) for fit in fits}
    cov = {str(each).lower() for each in covariances if each not in _PLAIN}
    facts = {
        "canonical": kinds <= _MOMENTS,
        "straight": all(map(_without_link, fits)),
        "robust": bool(cov) and not kinds & _MARGINAL,
        "clusters": bool(kinds & _MARGINAL) or any("cluster" in each or "groupsum" in each for each in cov),
        "mixed": bool(kinds & _MIXED),
        "quantiles": bool(kinds & _QUANTILES),
    }
    return asked_by_formula(formula, **{**facts, **more})


def _without_link(fit: Any) -> bool:
    """Whether a fit explains the mean itself: least squares, or a family with the identity as its link."""
    model = getattr(fit, "model", fit)
    link = getattr(getattr(model, "family", None), "link", None)
    return type(model).__name__ in _STRAIGHT or type(link).__name__ == "Identity"


def asked_by_r(plain: Mapping[str, Any] | None, model: str) -> Asked:
    """Read what R sent of a fit: response and terms as trees, names of functions, clusters and subgroup."""
    if not plain:
        return Asked(mixed=model in _MIXED, clusters=model in _MARGINAL, quantiles=model in _QUANTILES)
    functions = set(_texts(plain.get("functions")))
    groups = tuple(_texts(plain.get("groups")))
    response = plain.get("response")
    return Asked(
        response=None if response is None else _factor(response),
        terms=tuple(Term(tuple(map(_factor, term))) for term in plain.get("terms") or ()),
        canonical=model in _MOMENTS,
        straight=model in _STRAIGHT,
        robust=bool((functions | {model}) & _SANDWICH),
        clusters=model in _MARGINAL or (bool(groups) and model not in _MIXED),
        mixed=model in _MIXED,
        quantiles=model in _QUANTILES,
        subgroup=plain.get("subset") is not None,
        groups=groups,
        within=() if plain.get("subset") is None else (Term((_factor(plain["subset"]),)),),
    )


def _factor(plain: Mapping[str, Any]) -> Factor:
    """Read one factor."""
    return Factor(str(plain["text"]), from_plain(plain["tree"]))


def _texts(value: Any) -> Iterable[str]:
    """Give texts; R writes one alone."""
    return [] if value is None else [value] if isinstance(value, str) else [str(each) for each in value]
