"""Coverage of pooled 95 % intervals, from the confidential sample to the population.

Run: python -m benchmarks.coverage.intervals RUNS [OUT.csv]

The situations below were fixed before any run. Each run draws a confidential sample of 500, fits once plug-in
and once proper, draws copies, and pools with the rule that ``pool`` chooses from the release's own tags.

The made-up table is fitted by the models that the analyses assume. The two real ones (of statsmodels; the
table is the population; a fifth of the runs) are fitted with every setting at its default. Rows are drawn
independently, as the rules of one copy count them (``even.py`` is about the others). The sample's own
interval need not cover 0.95 there, so its coverage stands beside the copies' and the bar hangs from it.
"""

from __future__ import annotations

import csv
import sys
import warnings
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
SIZES = (N_ORG // 2, N_ORG, 2 * N_ORG)


@dataclass(frozen=True)
class Analysis:
    """One model of one table, and the coefficient looked at: that of the first predictor."""

    table: str
    model: str
    response: str
    predictors: tuple[str, ...]

    def fit(self, copy: pd.DataFrame):
        """Analyse one copy with statsmodels; a logit is of "above zero"."""
        X = sm.add_constant(copy[list(self.predictors)].astype(float))
        y = copy[self.response].astype(float)
        return sm.OLS(y, X).fit() if self.model == "linear" else sm.Logit((y > 0) * 1.0, X).fit(disp=0)


ANALYSES = (
    Analysis("made up", "linear", "y", ("x1", "x2")),
    Analysis("made up", "logistic", "z", ("x1", "x2")),
    Analysis("fair", "linear", "yrs_married", ("age", "rate_marriage")),
    Analysis("fair", "logistic", "affairs", ("yrs_married", "rate_marriage")),
    Analysis("randhie", "linear", "disea", ("lncoins", "physlm")),
    Analysis("randhie", "logistic", "hlthg", ("disea", "physlm")),
)
TRUTH = {"linear": 0.5, "logistic": 0.7}  # of the made-up table


@dataclass(frozen=True)
class Situation:
    """One way to make copies and one analysis."""

    parameters: str
    m: int
    n_syn: int
    analysis: Analysis


SITUATIONS = tuple(
    Situation(parameters, m, n_syn, analysis)
    for parameters, m, n_syn, analysis in product(("fitted", "drawn"), (1, 5), SIZES, ANALYSES)
)
SCHEMA = sdp.Schema(
    [
        sdp.CategoricalColumn("x2", [0.0, 1.0], dtype="float64", may_be_missing=False),
        sdp.NumericColumn("x1", may_be_missing=False),
        sdp.NumericColumn("y", may_be_missing=False),
        sdp.CategoricalColumn("z", [0.0, 1.0], dtype="float64", may_be_missing=False),
    ]
)
METHOD = {"x1": "norm", "y": "norm"}


def population(table: str) -> pd.DataFrame:
    """Read a real table."""
    return getattr(sm.datasets, table).load_pandas().data


def sample(table: str, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a confidential sample."""
    if table != "made up":
        whole = population(table)
        return whole.iloc[rng.integers(0, len(whole), N_ORG)].reset_index(drop=True)
    x2 = (rng.random(N_ORG) < 0.4).astype(float)
    x1 = 0.3 * x2 + rng.standard_normal(N_ORG)
    y = 1 + TRUTH["linear"] * x1 + 0.8 * x2 + rng.standard_normal(N_ORG)
    p = 1 / (1 + np.exp(0.5 - TRUTH["logistic"] * x1 - 0.5 * x2))
    z = (rng.random(N_ORG) < p).astype(float)
    return pd.DataFrame({"x2": x2, "x1": x1, "y": y, "z": z})


def truth(analysis: Analysis) -> float:
    """Give the coefficient in the population."""
    if analysis.table == "made up":
        return TRUTH[analysis.model]
    return float(analysis.fit(population(analysis.table)).params[analysis.predictors[0]])


def covered(s: Situation, fits: list, release: sdp.SyntheticRelease, true: float) -> tuple[bool, float]:
    """Whether the pooled interval holds the truth, and its length."""
    some = replace(release, copies=release.copies[: s.m], tags=replace(release.tags, m=s.m))
    used = (s.analysis.response, *s.analysis.predictors)
    pooled = sdp.pool(fits[: s.m], release=some, variables=used)
    low, high = pooled.conf_int().loc[s.analysis.predictors[0]]
    return bool(low <= true <= high), float(high - low)


def one_run(asked: tuple[int, str]) -> list[tuple[bool, float, bool]]:
    """Every situation of a table once, from one sample: covered, length, covered by the sample's own."""
    seed, table = asked
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([20261128, seed])
    confidential = sample(table, rng)
    own = {"schema": SCHEMA, "method": METHOD} if table == "made up" else {}
    analyses = [analysis for analysis in ANALYSES if analysis.table == table]
    true = {analysis: truth(analysis) for analysis in analyses}
    alone = {a: a.fit(confidential).conf_int().loc[a.predictors[0]] for a in analyses}
    cache = {}
    for parameters in ("fitted", "drawn"):
        proper = parameters == "drawn"
        settings = {"draws": "independent", "workers": 1, "progress": False, **own}
        fitted = sdp.Synthesizer(proper=proper, **settings).fit(confidential)
        for n_syn in SIZES:
            release = fitted.draw(m=5, k=n_syn, rng=rng)
            for analysis in analyses:
                cache[parameters, n_syn, analysis] = [analysis.fit(copy) for copy in release], release
    return [
        (
            *covered(s, *cache[s.parameters, s.n_syn, s.analysis], true[s.analysis]),
            bool(alone[s.analysis].iloc[0] <= true[s.analysis] <= alone[s.analysis].iloc[1]),
        )
        for s in SITUATIONS
        if s.analysis.table == table
    ]


HEAD = ("date", "runs", "table", "n_org", "parameters", "m", "n_syn", "model")
HEAD += ("coverage", "mean_length", "sample_coverage", "within_bar")


def rows_of(table: str, results: np.ndarray) -> list[tuple[object, ...]]:
    """Write the rows of one table."""
    runs = len(results)
    situations = [s for s in SITUATIONS if s.analysis.table == table]
    rate, length, own = results.mean(axis=0).T
    bar = 0.015 + 3 * np.sqrt(0.95 * 0.05 / runs)
    today = datetime.now(UTC).date().isoformat()
    rows = []
    for s, r, width, alone in zip(situations, rate, length, own, strict=True):
        inside = abs(r - 0.95) < bar if table == "made up" else r > min(alone, 0.95) - bar
        place = (today, runs, table, N_ORG, s.parameters, s.m, s.n_syn, s.analysis.model)
        rows.append((*place, f"{r:.4f}", f"{width:.4f}", f"{alone:.4f}", bool(inside)))
    return rows


def main() -> None:
    """Run in two processes and store the table."""
    runs = int(sys.argv[1])
    rows: list[tuple[object, ...]] = [HEAD]
    for table in dict.fromkeys(analysis.table for analysis in ANALYSES):
        asked = [(seed, table) for seed in range(runs if table == "made up" else runs // 5)]
        with Pool(2) as pool:
            rows += rows_of(table, np.array(pool.map(one_run, asked, chunksize=10), dtype=float))
    for row in rows:
        print(*row)
    if len(sys.argv) > 2:
        with Path(sys.argv[2]).open("w", newline="") as file:
            csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
