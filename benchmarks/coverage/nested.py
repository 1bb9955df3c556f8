"""Coverage after imputation: `fit([imputed_1, ..., imputed_M])`, copies in nests, the rule by the tags.

    python -m benchmarks.coverage.nested [--runs 500] [--workers 2]

A sample of n = 400 from a joint normal law of x, z and y; y is missing at random, given x, in four rows of
ten. It is imputed M = 5 times by proper Bayesian draws of the right regression (below; no package's), the
five tables are fitted with ``norm``, r copies of each are drawn, and `pool` chooses by the release's own
tags. Estimands: the mean of y, both slopes of y on x and z, and the slope of x on y.

The rule, fixed before the first run:

right        coverage lies in the exact binomial interval at 1e-6 around 0.95, or above it where r = 2 (the
             variance of T is large there, and Reiter's degrees of freedom err on the safe side)
conservative at least the lower end of that interval
wrong        below the lower end for the two estimands in which most is missing, the mean of y and the slope
             of y on x; these are what an analyst might do who does not know of nests
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

import pysynthdp as sdp

N, M = 400, 5
SLOPES = (0.5, -0.3)
TABLE = Path(__file__).parents[1] / "results" / "nested.csv"
COVARIANCE = np.array([[1.0, 0.3], [0.3, 1.0]])
SCHEMA = sdp.Schema([sdp.NumericColumn(name, may_be_missing=False) for name in ("x", "z", "y")])
CHOSEN = "chosen by the tags"
FLAT = "all copies as if of one table"
ONE = "the first imputed table alone"
WIDE = "missing_then_partial_conservative"


@dataclass(frozen=True, slots=True)
class Situation:
    """How copies are made, and what is expected of each way to pool them."""

    made: str
    r: int
    expect: dict[str, str]
    proper: bool = False
    keep: tuple[str, ...] = ()
    k: int | None = None


BOTH = {CHOSEN: "right", FLAT: "wrong"}
SITUATIONS = (
    Situation("partial, x real", 5, BOTH, keep=("x",)),
    Situation("partial, x real, proper", 5, {CHOSEN: "right"}, keep=("x",), proper=True),
    Situation("complete", 5, BOTH),
    Situation("complete, proper", 5, BOTH, proper=True),
    Situation("complete", 2, {CHOSEN: "right"}),
    Situation("complete, half as many rows", 5, {CHOSEN: "right"}, k=N // 2),
    Situation("complete, twice as many rows", 5, {CHOSEN: "right"}, k=2 * N),
    Situation("complete", 1, {WIDE: "conservative"}),
    Situation("complete", 5, {ONE: "wrong"}),
)


def truth() -> np.ndarray:
    """Give the population values: mean of y, slopes of y on x and z, slope of x on y."""
    slopes = np.array(SLOPES)
    variance = slopes @ COVARIANCE @ slopes + 1
    return np.array([1.0, *slopes, (COVARIANCE @ slopes)[0] / variance])


def sample(rng: np.random.Generator, n: int = N) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table and which y are missing: logit P = -0.45 + 1.2 x."""
    X = rng.multivariate_normal([0.0, 0.0], COVARIANCE, n)
    y = 1 + X @ np.array(SLOPES) + rng.standard_normal(n)
    missing = rng.random(n) < 1 / (1 + np.exp(0.45 - 1.2 * X[:, 0]))
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "y": y}), missing


def imputed(table: pd.DataFrame, missing: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Impute y once: sigma^2 and beta from their posterior under the flat prior (Rubin 1987, 5.3), then y."""
    X = np.column_stack([np.ones(len(table)), table[["x", "z"]].to_numpy()])
    seen, y = X[~missing], table["y"].to_numpy().copy()
    inverse = np.linalg.inv(seen.T @ seen)
    beta = inverse @ (seen.T @ y[~missing])
    rest = y[~missing] - seen @ beta
    sigma = np.sqrt(rest @ rest / rng.chisquare(len(seen) - X.shape[1]))
    drawn = beta + sigma * np.linalg.cholesky(inverse) @ rng.standard_normal(X.shape[1])
    y[missing] = X[missing] @ drawn + sigma * rng.standard_normal(missing.sum())
    return table.assign(y=y)


def regression(y: np.ndarray, *predictors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and their variances, constant first."""
    X = np.column_stack([np.ones(len(y)), *predictors])
    inverse = np.linalg.inv(X.T @ X)
    beta = inverse @ (X.T @ y)
    rest = y - X @ beta
    return beta, np.diag(inverse) * (rest @ rest / (len(y) - X.shape[1]))


def analysed(copy: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Give the four estimates of a copy with their variances."""
    x, z, y = copy.to_numpy().T
    slopes, slope = regression(y, x, z), regression(x, y)
    q = np.array([y.mean(), *slopes[0][1:], slope[0][1]])
    return q, np.array([y.var(ddof=1) / len(y), *slopes[1][1:], slope[1][1]])


def covered(situation: Situation, seed: int) -> np.ndarray:
    """Whether the intervals of one run hold the population values, (ways, 4); NaN without interval."""
    rng = np.random.default_rng([11, seed])
    table, missing = sample(rng)
    tables = [imputed(table, missing, rng) for _ in range(M)]
    settings = sdp.Synthesizer(
        schema=SCHEMA, method="norm", proper=situation.proper, keep=situation.keep, workers=1, progress=False
    )
    fitted = settings.fit(tables[0] if ONE in situation.expect else tables)
    release = fitted.draw(m=situation.r, k=situation.k, rng=rng)
    fits = [analysed(copy) for copy in release]
    return np.array([inside(pooled_by(way, fits, release)) for way in situation.expect])


def pooled_by(
    way: str, fits: list[tuple[np.ndarray, np.ndarray]], release: sdp.SyntheticRelease
) -> np.ndarray:
    """Limits of the intervals, (4, 2)."""
    if way == FLAT:
        return (
            sdp.pool(fits, n_syn=release.n_syn, n_org=N, rule="partial_size_adjusted").conf_int().to_numpy()
        )
    rule = WIDE if way == WIDE else "auto"
    return sdp.pool(fits, release=release, rule=rule).conf_int().to_numpy()


def inside(limits: np.ndarray) -> np.ndarray:
    """Whether the population values lie between the limits; NaN where there are none."""
    held = (limits[:, 0] <= truth()) & (truth() <= limits[:, 1])
    return np.where(np.isnan(limits).any(axis=1), np.nan, held)


def judged(expect: str, r: int, shares: np.ndarray, runs: int) -> bool:
    """Whether coverage is what the rule above says."""
    low, high = binom.interval(1 - 1e-6, runs, 0.95)
    if expect == "wrong":
        return bool((shares[:2] < low / runs).all())
    above = expect == "conservative" or r == 2
    return bool((shares >= low / runs).all() and (above or (shares <= high / runs).all()))


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--runs", type=int, default=500)
    asked.add_argument("--workers", type=int, default=2)
    given = asked.parse_args()
    rows, good = [], True
    with ProcessPoolExecutor(given.workers) as pool:
        for situation in SITUATIONS:
            runs = [situation] * given.runs
            hits = np.array(list(pool.map(covered, runs, range(given.runs), chunksize=50)))
            for place, (way, expect) in enumerate(situation.expect.items()):
                found = hits[:, place]
                shares = np.nan_to_num(found).mean(axis=0)
                fine = judged(expect, situation.r, shares, given.runs)
                good &= fine
                rows.append(
                    [
                        dt.datetime.now(tz=dt.UTC).date(),
                        given.runs,
                        situation.made,
                        N,
                        M,
                        situation.r,
                        situation.k or N,
                        way,
                        expect,
                        *(f"{share:.4f}" for share in shares),
                        f"{np.isnan(found).mean():.4f}",
                        "yes" if fine else "NO",
                    ]
                )
                print(*rows[-1], flush=True)
    with TABLE.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            [
                "date",
                "runs",
                "made",
                "n",
                "imputations",
                "copies_of_each",
                "k",
                "pooled",
                "expect",
                "mean_y",
                "y_on_x",
                "y_on_z",
                "x_on_y",
                "undefined",
                "as_expected",
            ]
        )
        out.writerows(rows)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
