"""Tests of several coefficients of a pooled result."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from formulaic.utils.constraints import LinearConstraints

from pysynthdp.analysis.estimates import adapter_for, estimates_of
from pysynthdp.analysis.f_tests import JOINT_TESTS, FTest, Ratios
from pysynthdp.analysis.pooled import Pooled
from pysynthdp.analysis.rules.base import Sums, find_rule
from pysynthdp.analysis.term_names import as_named
from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import CombiningRuleError, PysynthdpWarning
from pysynthdp.base.remarks import outside

__all__ = ["anova", "likelihood_ratio", "wald"]


def wald(result: Pooled, hypothesis: Any, value: Any) -> FTest:
    """Test a term, names, a constraint or a matrix of contrasts."""
    contrasts, offset = _contrasts(result, hypothesis)
    target = np.broadcast_to(np.asarray(value, dtype=np.float64) + offset, len(contrasts))
    lost = np.isnan(result.combined.qbar)
    gone = tuple(result.terms[i] for i in np.flatnonzero(np.any(contrasts != 0, axis=0) & lost))
    kept = ~np.any(contrasts[:, lost] != 0, axis=1)
    if gone and not kept.any():
        raise CombiningRuleError(
            f"{', '.join(gone)} cannot be estimated in every copy; leave it out", kind="joint test"
        )
    if gone:
        warnings.warn(
            f"{', '.join(gone)} cannot be estimated in every copy, and the test is of the others alone",
            PysynthdpWarning,
            stacklevel=outside(),
        )
    contrasts, target = contrasts[kept], target[kept]
    if np.linalg.matrix_rank(contrasts) < contrasts.shape[0]:
        raise CombiningRuleError(
            "the contrasts are not independent of each other; drop one", kind="joint test"
        )
    return replace(result.combined.wald(contrasts, target), left_out=gone)


def _contrasts(result: Pooled, hypothesis: Any) -> tuple[FloatArray, FloatArray | float]:
    """Turn a hypothesis into a matrix (k, p) and what it adds to the value."""
    p = len(result.terms)
    if isinstance(hypothesis, str):
        hypothesis = as_named(hypothesis, result.terms)
        places = _places(result, hypothesis)
        if places:
            return np.eye(p)[places], 0.0
        return _constraint(result, hypothesis)
    if all(isinstance(name, str) for name in hypothesis):
        names = [as_named(name, result.terms) for name in hypothesis]
        places = [place for name in names for place in _places(result, name) or [_unknown(result, name)]]
        return np.eye(p)[list(dict.fromkeys(places))], 0.0
    matrix = np.atleast_2d(np.asarray(hypothesis, dtype=np.float64))
    if matrix.shape[1] != p:
        raise CombiningRuleError(f"contrasts need {p} columns, one a term", kind="joint test")
    return matrix, 0.0


def _unknown(result: Pooled, name: str) -> int:
    """Refuse a name that is neither a coefficient nor a term."""
    raise CombiningRuleError(
        f"there is no term {name!r}; terms are {', '.join(result.terms)}", kind="joint test"
    )


def _places(result: Pooled, name: str) -> list[int]:
    """Coefficients of that name, or that belong to that term of the formula."""
    if name in result.terms:
        return [result.terms.index(name)]
    wanted = _term_key(name)
    return [i for i, inner in enumerate(result.design_terms) if _term_key(inner) == wanted]


def _term_key(name: str) -> frozenset[str]:
    """Give the factors of a coefficient's or term's name, without their levels.

    ``C(edu)[T.upper]:age`` and ``age:C(edu)`` are the same term. Levels stand in the last brackets.
    """
    parts = re.split(r":(?![^\[(]*[\])])", name.replace(" ", ""))
    return frozenset(_without_level(part) for part in parts)


def _without_level(part: str) -> str:
    """Drop a level in brackets, or what patsy puts behind a polynomial (``C(edu, Poly).Linear``)."""
    return re.sub(r"\[[^\[\]]*\]$|(?<=\))(?:\.\w+|\^\d+)$", "", part)


def _constraint(result: Pooled, text: str) -> tuple[FloatArray, FloatArray]:
    """Read constraints such as ``x = 0, z - w = 1``."""
    quoted = text if "`" in text else _quoted(text, result.terms)
    try:
        read = LinearConstraints.from_spec(quoted, variable_names=list(result.terms))
    except Exception as error:
        raise CombiningRuleError(
            f"{text!r} is neither a term nor a constraint on terms; terms are {', '.join(result.terms)}",
            kind="joint test",
        ) from error
    return np.asarray(read.constraint_matrix, dtype=np.float64), np.asarray(read.constraint_values)


def _quoted(text: str, terms: Sequence[str]) -> str:
    """Put names with brackets between backticks, longest first."""
    odd = sorted((term for term in terms if not term.isidentifier()), key=len, reverse=True)
    if not odd:
        return text
    return re.sub("|".join(re.escape(term) for term in odd), lambda found: f"`{found.group()}`", text)


def anova(result: Pooled) -> pd.DataFrame:
    """Wald tests of every term but the intercept."""
    groups: dict[frozenset[str], list[int]] = {}
    for place, inner in enumerate(result.design_terms):
        if inner not in {"Intercept", "const"} and "/" not in inner:
            groups.setdefault(_term_key(inner), []).append(place)
    rows = {}
    for places in groups.values():
        if np.isnan(result.combined.qbar[places]).all():
            rows[":".join(_labels(result.design_terms[places[0]]))] = (np.nan,) * 4
            continue
        test = wald(result, np.eye(len(result.terms))[places], 0.0)
        label = ":".join(_labels(result.design_terms[places[0]]))
        rows[label] = (test.stat, test.df1, test.df2, test.pvalue)
    return pd.DataFrame.from_dict(rows, orient="index", columns=["F", "df1", "df2", "p.value"])


def _labels(name: str) -> list[str]:
    """Factors of a coefficient's name in their order, without levels."""
    return [_without_level(part) for part in re.split(r":(?![^\[(]*[\])])", name)]


def likelihood_ratio(result: Pooled, smaller: str | Pooled | Sequence[Any]) -> FTest:
    """Compare the copies' likelihoods at their own and at the pooled parameters."""
    rule = find_rule(result.rule)
    if rule.lr is None:
        raise CombiningRuleError(
            f"{rule.name} has no likelihood-ratio test; use wald_test", kind="joint test"
        )
    small = _smaller_fits(result, smaller)
    p = len(result.terms) - len(estimates_of(small[0]).terms)
    if p <= 0 or len(small) != result.m:
        raise CombiningRuleError(
            "lr_test needs a smaller model, fitted to the same m copies", kind="joint test"
        )
    factor = float(rule.within(_unit(result)))
    ratios = _ratios(result.fits, small, result.combined.stack.nests if rule.nested else None, factor)
    return JOINT_TESTS[rule.lr]().ratio(ratios, p=p)


def _ratios(large: Sequence[Any], small: Sequence[Any], nests: IntArray | None, factor: float) -> Ratios:
    """Mean statistics at the copies' own, the nests' and the pooled parameters."""
    one = np.zeros(len(large), dtype=np.int64)
    own = np.arange(len(large))
    groups = own if nests is None else nests
    own_mean, nest_mean, pooled = (
        float(np.mean(2 * (_at_means(large, by) - _at_means(small, by)))) / factor
        for by in (own, groups, one)
    )
    m = int(np.unique(groups).size)
    return Ratios(own_mean, nest_mean, pooled, m, len(large) // m)


def _unit(result: Pooled) -> Sums:
    """Give sums with variance one within copies, which show the factor that the rule puts before U."""
    values = result.combined.stack
    return Sums(result.m, np.ones(()), np.zeros(()), values.n_syn, values.n_org)


def _smaller_fits(result: Pooled, smaller: str | Pooled | Sequence[Any]) -> tuple[Any, ...]:
    """Fits of the smaller model, fitted now if a formula was given."""
    if not isinstance(smaller, str):
        fits: Any = getattr(smaller, "fits", smaller)
        return tuple(fits)
    if result.refit is None:
        raise CombiningRuleError(
            "lr_test with a formula needs a result of ols, logit, glm or fit_copies", kind="joint test"
        )
    return tuple(result.refit(smaller).fits)


def _at_means(fits: Sequence[Any], groups: IntArray) -> FloatArray:
    """Log-likelihood of every copy at the mean estimates of its group."""
    adapters = [adapter_for(fit) for fit in fits]  # a large copy may be read by another than the rest
    estimates = [adapter.estimates(fit) for adapter, fit in zip(adapters, fits, strict=True)]
    values = np.array([estimate.values for estimate in estimates])  # noqa: PD011 -- not a pandas object
    if not np.isfinite(values).all():
        raise CombiningRuleError(
            "a coefficient cannot be estimated in every copy, so likelihoods do not compare; use wald_test",
            kind="joint test",
        )
    means = np.array([values[groups == group].mean(axis=0) for group in groups])
    pairs = zip(adapters, fits, means, strict=True)
    return np.array([adapter.loglike(fit, mean) for adapter, fit, mean in pairs])
