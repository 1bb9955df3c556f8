"""What a rule for screened terms does to intervals, by the size of a true effect, and what noise it costs.

Selection is common to all copies, so the variation between them does not show it. A term that is not kept is
about zero in every copy; one that is kept was kept because chance made it large. Here the response of four
numbers and two categories has one product or square of 0 to 5 confidential standard errors; the rule sees the
response and some 120 candidates, and pooled 95 % intervals of that term are compared with the truth and with
the confidential interval.

Run ``python -m benchmarks.coverage.selection 300``; the table is written to
``benchmarks/results/selection.csv``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from pysynthdp.models.fits.score_tests import Base, Scores, forward

COPIES = 5
EFFECTS = (0, 1, 2, 2.5, 3, 4, 5)
SIZES = (500, 2000)
PLACES = {"hinge": np.arange(1, 5) / 5, "step": np.arange(1, 20) / 20}
RESULTS = Path(__file__).parents[1] / "results" / "selection.csv"


@dataclass(frozen=True)
class Rule:
    """A rule: up to which tail probability, how many terms, and by how much what is kept is shrunk."""

    name: str
    level: Callable[[int, int], float]
    most: int = 12
    shrink: bool = False


RULES = (
    Rule("none", lambda _n, _c: 0.0, most=0),
    Rule("BIC", lambda n, _c: float(np.exp(-np.log(n) / 2) / np.sqrt(np.log(n) * np.pi / 2))),
    Rule(".05 over candidates", lambda _n, c: 0.05 / c),
    Rule(".01", lambda _n, _c: 0.01),
    Rule(".05", lambda _n, _c: 0.05),
    Rule(".15", lambda _n, _c: 0.15),
    Rule(".15, six", lambda _n, _c: 0.15, most=6),
    Rule(".32", lambda _n, _c: 0.32),
    Rule(".32, shrunk", lambda _n, _c: 0.32, shrink=True),
    Rule(".32, two dozen", lambda _n, _c: 0.32, most=24),
    Rule("1, three dozen", lambda _n, _c: 1.0, most=36),
)


@dataclass(frozen=True)
class Situation:
    """A response, and which product carries the effect."""

    name: str
    logistic: bool
    term: tuple[int, int]


SITUATIONS = (
    Situation("ols, number x level", logistic=False, term=(0, 4)),
    Situation("ols, square", logistic=False, term=(1, 1)),
    Situation("logit, number x number", logistic=True, term=(0, 1)),
    Situation("logit, square", logistic=True, term=(2, 2)),
)
SLOPES = np.array([0.4, -0.3, 0.2, 0.0, 0.3, -0.2, 0.1])


def predictors(rng: np.random.Generator, n: int) -> np.ndarray:
    """Four numbers, of which two are correlated, a level of two and two dummies of three."""
    x = rng.standard_normal((n, 4))
    x[:, 1] = 0.5 * x[:, 0] + np.sqrt(0.75) * x[:, 1]
    two = rng.random(n) < 0.4
    three = rng.integers(0, 3, n)
    return np.column_stack([x, two, three == 1, three == 2]).astype(float)


def candidates(X: np.ndarray) -> np.ndarray:
    """All products of two features, squares, hinges and steps at the quantiles of the normal law."""
    pairs = [(a, b) for a in range(7) for b in range(a, 7) if not (a == b and a > 3) and (a, b) != (5, 6)]
    columns = [X[:, a] * X[:, b] for a, b in pairs]
    for j in range(4):
        columns += [np.maximum(X[:, j] - at, 0) for at in norm.ppf(PLACES["hinge"])]
        columns += [(X[:, j] >= at).astype(float) for at in norm.ppf(PLACES["step"])]
    return np.stack(columns).T


def with_intercept(*columns: np.ndarray) -> np.ndarray:
    """Put an intercept before columns."""
    return np.column_stack([np.ones(len(columns[0])), *columns])


def regress(X: np.ndarray, y: np.ndarray, *, logistic: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, covariance, and the residual spread of a number."""
    if not logistic:
        gram = np.linalg.inv(X.T @ X)
        beta = gram @ (X.T @ y)
        variance = float(((y - X @ beta) ** 2).sum() / (len(y) - X.shape[1]))
        return beta, gram * variance, float(np.sqrt(variance))
    beta = np.zeros(X.shape[1])
    for _ in range(7):
        p = 1 / (1 + np.exp(-np.clip(X @ beta, -30, 30)))
        info = X.T @ (X * (p * (1 - p))[:, None]) + 1e-6 * np.eye(X.shape[1])
        beta = beta + np.linalg.solve(info, X.T @ (y - p))
    return beta, np.linalg.inv(info), 1.0


def respond(rng: np.random.Generator, mean: np.ndarray, spread: float, *, logistic: bool) -> np.ndarray:
    """Draw a response."""
    if logistic:
        return (rng.random(len(mean)) < 1 / (1 + np.exp(-mean))).astype(float)
    return mean + spread * rng.standard_normal(len(mean))


def standard_error(case: Situation, n: int) -> float:
    """Confidential standard error of the term, at an effect of zero."""
    rng = np.random.default_rng(1)
    X = predictors(rng, 100_000)
    a, b = case.term
    y = respond(rng, X @ SLOPES, 1.0, logistic=case.logistic)
    cov = regress(with_intercept(X, X[:, a] * X[:, b]), y, logistic=case.logistic)[1]
    return float(np.sqrt(cov[-1, -1] * 100_000 / n))


def kept_by(rule: Rule, base: Base, Z: np.ndarray, y: np.ndarray) -> list[int]:
    """Candidates that a rule takes."""
    n = len(y)
    ranks = np.argsort(np.argsort(y)) / n - 0.5
    coded = np.stack([ranks, ranks**2]).T if len(np.unique(y)) > 2 else y[:, None]
    cells = [(np.floor((ranks + 0.5) * 8) == c).astype(float) for c in range(1, 8)]
    codings = [coded, np.stack(cells).T] if coded.shape[1] == 2 else [coded]
    scores = Scores(tuple(base.off(Y) for Y in codings))
    return forward(base, Z, scores, level=rule.level(n, Z.shape[1]), most=rule.most) if rule.most else []


def shrunk(beta: np.ndarray, cov: np.ndarray, first: int) -> np.ndarray:
    """Shrink the coefficients behind the first ones by 1 - 1 / t^2."""
    t2 = beta**2 / np.diag(cov)
    return np.where(np.arange(len(beta)) < first, beta, beta * np.maximum(1 - 1 / t2, 0))


def one_run(case: Situation, n: int, effect: float, rng: np.random.Generator) -> list[dict[str, float]]:
    """Coverage, keeping and noise of every rule on one confidential table."""
    truth = effect * standard_error(case, n)
    a, b = case.term
    X = predictors(rng, n)
    y = respond(rng, X @ SLOPES + truth * X[:, a] * X[:, b], 1.0, logistic=case.logistic)
    Z, base = candidates(X), Base.of(X)
    own, cov, _ = regress(with_intercept(X, X[:, a] * X[:, b]), y, logistic=case.logistic)
    confidential = abs(own[-1] - truth) < 1.96 * np.sqrt(cov[-1, -1])
    new = [(copy, candidates(copy)) for copy in (predictors(rng, n) for _ in range(COPIES))]
    found = []
    for rule in RULES:
        taken = kept_by(rule, base, Z, y)
        beta, cov, spread = regress(with_intercept(X, Z[:, taken]), y, logistic=case.logistic)
        beta = shrunk(beta, cov, 8) if rule.shrink else beta
        q, u, far = [], [], 0.0
        for copy, every in new:
            mean, product = with_intercept(copy, every[:, taken]) @ beta, copy[:, a] * copy[:, b]
            far += float(np.mean((mean - copy @ SLOPES - truth * product) ** 2)) / COPIES
            drawn = respond(rng, mean, spread, logistic=case.logistic)
            est, var, _ = regress(with_intercept(copy, product), drawn, logistic=case.logistic)
            q.append(est[-1])
            u.append(var[-1, -1])
        half = 1.96 * np.sqrt(np.mean(u) * (1 + 1 / COPIES))
        exact = any(np.allclose(Z[:, j], X[:, a] * X[:, b]) for j in taken)
        found.append(
            {
                "covered": float(abs(np.mean(q) - truth) < half),
                "confidential": float(confidential),
                "kept": float(exact),
                "terms": float(len(taken)),
                "off": far * n,
            }
        )
    return found


def study(runs: int, seed: int = 14) -> pd.DataFrame:
    """Run all situations, sizes and effects."""
    rows = []
    for case in SITUATIONS:
        for n in SIZES:
            for effect in EFFECTS:
                rng = np.random.default_rng([seed, SITUATIONS.index(case), n, int(effect * 10)])
                tables = [one_run(case, n, effect, rng) for _ in range(runs)]
                for place, rule in enumerate(RULES):
                    mean = pd.DataFrame([table[place] for table in tables]).mean()
                    rows.append({"situation": case.name, "n": n, "effect": effect, "rule": rule.name, **mean})
    return pd.DataFrame(rows)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Coverage by rule and effect, lowest cell, and noise where there is no effect."""
    table = found.pivot_table(index="rule", columns="effect", values="covered", sort=False)
    null = found[found["effect"] == 0].groupby("rule", sort=False)
    table["lowest"] = found.groupby("rule", sort=False)["covered"].min()
    table["terms at 0"] = null["terms"].mean()
    table["noise at 0"] = null["off"].mean() / null["off"].mean()["none"]
    table["kept at 2"] = found[found["effect"] == 2].groupby("rule", sort=False)["kept"].mean()
    return table.round(3)


if __name__ == "__main__":
    result = study(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
    result.insert(0, "date", datetime.now(UTC).date().isoformat())
    result.round(4).to_csv(RESULTS, index=False)
    print(summary(result).to_string())
