"""Coverage of pooled 95 % intervals, from the confidential sample to the population.

Run: python benchmarks/coverage.py RUNS [OUT.csv]

The situations below were fixed before any run. Each run draws a confidential sample of 500, fits once plug-in
and once proper, draws copies, and pools with the rule that ``pool`` chooses from the release's own tags.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm

import pysynthdp as sdp

N_ORG = 500
TRUTH = {"linear": 0.5, "logistic": 0.7}


@dataclass(frozen=True)
class Situation:
    """One way to make copies and one coefficient."""

    parameters: str
    m: int
    n_syn: int
    model: str


SITUATIONS = tuple(
    Situation(parameters, m, n_syn, model)
    for parameters, m, n_syn, model in product(
        ("fitted", "drawn"), (1, 5), (N_ORG // 2, N_ORG, 2 * N_ORG), ("linear", "logistic")
    )
)


def sample(rng: np.random.Generator) -> pd.DataFrame:
    """Draw a confidential sample."""
    x2 = (rng.random(N_ORG) < 0.4).astype(float)
    x1 = 0.3 * x2 + rng.standard_normal(N_ORG)
    y = 1 + TRUTH["linear"] * x1 + 0.8 * x2 + rng.standard_normal(N_ORG)
    p = 1 / (1 + np.exp(0.5 - TRUTH["logistic"] * x1 - 0.5 * x2))
    z = (rng.random(N_ORG) < p).astype(float)
    return pd.DataFrame({"x2": x2, "x1": x1, "y": y, "z": z})


SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("x2", [0.0, 1.0], dtype="float64", may_be_missing=False),
        sdp.NumericColumn("x1", may_be_missing=False),
        sdp.NumericColumn("y", may_be_missing=False),
        sdp.CategoricalColumn("z", [0.0, 1.0], dtype="float64", may_be_missing=False),
    ]
)
METHOD = {"x1": "norm", "y": "norm"}


def fit(copy: pd.DataFrame, model: str):
    """Analyse one copy with statsmodels."""
    X = sm.add_constant(copy[["x1", "x2"]])
    return sm.OLS(copy["y"], X).fit() if model == "linear" else sm.Logit(copy["z"], X).fit(disp=0)


def covered(situation: Situation, fits: list, release: sdp.SyntheticRelease) -> tuple[bool, float]:
    """Whether the pooled interval holds the truth, and its length."""
    some = replace(release, copies=release.copies[: situation.m], tags=replace(release.tags, m=situation.m))
    pooled = sdp.pool(fits[: situation.m], release=some)
    low, high = pooled.conf_int().loc["x1"]
    return bool(low <= TRUTH[situation.model] <= high), float(high - low)


def one_run(seed: int) -> list[tuple[bool, float]]:
    """Every situation once, from one confidential sample."""
    rng = np.random.default_rng([20261128, seed])
    table = sample(rng)
    cache = {}
    for parameters in ("fitted", "drawn"):
        settings = sdp.Synthesizer(schema=SCHEMA, method=METHOD, proper=parameters == "drawn", workers=1)
        fitted = settings.fit(table)
        for n_syn in (N_ORG // 2, N_ORG, 2 * N_ORG):
            release = fitted.draw(m=5, k=n_syn, rng=rng)
            for model in TRUTH:
                cache[parameters, n_syn, model] = [fit(copy, model) for copy in release], release
    return [covered(s, *cache[s.parameters, s.n_syn, s.model]) for s in SITUATIONS]


def main() -> None:
    """Run in two processes and store the table."""
    runs = int(sys.argv[1])
    with Pool(2) as pool:
        results = np.array(pool.map(one_run, range(runs), chunksize=10))
    rate, length = results[:, :, 0].mean(axis=0), results[:, :, 1].mean(axis=0)
    error = np.sqrt(0.95 * 0.05 / runs)
    bar = 0.015 + 3 * error
    rows = [
        (
            "date",
            "runs",
            "n_org",
            "parameters",
            "m",
            "n_syn",
            "model",
            "coverage",
            "mean_length",
            "within_bar",
        )
    ]
    today = datetime.now(UTC).date().isoformat()
    for s, r, width in zip(SITUATIONS, rate, length, strict=True):
        inside = abs(r - 0.95) < bar
        rows.append(
            (today, runs, N_ORG, s.parameters, s.m, s.n_syn, s.model, f"{r:.4f}", f"{width:.4f}", inside)
        )
    for row in rows:
        print(*row)
    if len(sys.argv) > 2:
        with Path(sys.argv[2]).open("w", newline="") as file:
            csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
