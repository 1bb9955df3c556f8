"""Tests of three coefficients at once under the null hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchmarks.coverage.means import labels, make
from benchmarks.coverage.situations import Situation
from benchmarks.coverage.tables import FAMILIES, newton
from pysynthdp import CombiningRuleError, combine, pool
from pysynthdp.analysis.estimates import ADAPTERS, Estimates

RULE_OF = {
    "wald_partial_reiter2005": "partial_size_adjusted",
    "lr_partial_reiter2005": "partial_size_adjusted",
    "wald_full_reiter2005": "full_rrr2003",
    "lr_full_reiter2005": "full_rrr2003",
    "wald_missing_lrr1991": "missing_rubin1987",
    "lr_missing_mengrubin1992": "missing_rubin1987",
    "wald_between_only": "census_fresh_samples",
    "wald_nested": "missing_then_partial_reiter2004",
    "lr_nested": "missing_then_partial_reiter2004",
}


@dataclass(frozen=True)
class ArrayFit:
    """A logistic regression fitted on arrays."""

    X: np.ndarray
    y: np.ndarray
    values: np.ndarray
    cov: np.ndarray


@ADAPTERS.register
class ArrayAdapter:
    """Reads an ArrayFit: an adapter is this much."""

    name: ClassVar[str] = "array"

    def accepts(self, fit) -> bool:
        """Whether it is one."""
        return isinstance(fit, ArrayFit)

    def estimates(self, fit) -> Estimates:
        """Give values and covariance."""
        return Estimates(tuple(f"b{i}" for i in range(fit.values.size)), fit.values, fit.cov)

    def loglike(self, fit, values) -> float:
        """Give the log-likelihood at other values."""
        eta = fit.X @ values
        return float(fit.y @ eta - np.logaddexp(0, eta).sum())


def _rule(s: Situation) -> str:
    if s.rule == "wald_known_variance":
        return "raab_simple" if s.made == "fitted" else "raab_proper"
    return RULE_OF[s.rule]


def wald_pvalues(s: Situation, rng: np.random.Generator, runs: int) -> np.ndarray:
    """P-values (runs,) of the test that three independent means are zero; NaN where there is none."""
    c = make(s, rng, runs, p=3)
    found = np.full(runs, np.nan)
    truth = np.broadcast_to(c.truth, (runs, 3))
    for run in range(runs):
        U = c.u[:, run, :, None] * np.eye(3)
        options = {"rule": _rule(s), "n_syn": s.k, "n_org": c.n_org, "nests": labels(s)}
        try:
            found[run] = combine(c.q[:, run] - truth[run], U, **options).wald(np.eye(3)).pvalue
        except CombiningRuleError:
            continue
    return found


def _fit(X: np.ndarray, y: np.ndarray) -> ArrayFit:
    return ArrayFit(X, y, *newton(X, y[:, None], *FAMILIES["logistic"]))


def _answers(s: Situation, rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Responses of all copies; the predictors are real and complete."""
    n = len(y)

    def drawn(fit: ArrayFit, beta: np.ndarray | None = None) -> np.ndarray:
        at = fit.values if beta is None else beta
        return (rng.random(n) < 1 / (1 + np.exp(-X @ at))).astype(float)

    if s.made in {"fitted", "drawn"}:
        fit = _fit(X, y)
        at = [fit.values] * s.m
        if s.made == "drawn":
            at = list(rng.multivariate_normal(fit.values, fit.cov, s.m))
        return [drawn(fit, beta) for beta in at]
    seen = np.arange(n) >= 0.3 * n
    fit = _fit(X[seen], y[seen])
    completed = [
        np.where(seen, y, drawn(fit, beta)) for beta in rng.multivariate_normal(fit.values, fit.cov, s.m)
    ]
    if s.made == "missing values imputed only":
        return completed
    return [drawn(whole) for whole in (_fit(X, part) for part in completed) for _ in range(s.r)]


def ratio_pvalues(s: Situation, seed: int, runs: int) -> np.ndarray:
    """P-values (runs,) of the likelihood-ratio test that three slopes of a logistic model are zero."""
    found = np.full(runs, np.nan)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        X = np.column_stack([np.ones(s.n), rng.standard_normal((s.n, 4))])
        y = (rng.random(s.n) < 1 / (1 + np.exp(-0.3 - 0.5 * X[:, 1]))).astype(float)
        answers = _answers(s, rng, X, y)
        options = {"rule": _rule(s), "n_syn": s.k, "n_org": s.n, "nests": labels(s)}
        try:
            large, small = ([_fit(X[:, :p], a) for a in answers] for p in (5, 2))
            found[run] = pool(large, **options).lr_test(pool(small, **options)).pvalue
        except (CombiningRuleError, np.linalg.LinAlgError):
            continue
    return found
