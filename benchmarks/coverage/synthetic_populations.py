"""Do intervals from copies of synthetic populations cover, for stratified samples of a known population?

    python -m benchmarks.coverage.synthetic_populations apipop.csv norm 1000 [minutes]

The population is that of the R package survey (``apipop``: California's schools in 2000), written as a CSV,
without the schools of which the enrolment is not known. Each run takes a stratified sample of 200 (100, 50
and 50 by type of school, as ``apistrat``), fits samples of 20 synthetic populations, by the model named or by
``default`` ones, draws a copy of each and pools. Undefined intervals (T not positive) count as not
covering. Beside them the intervals of the sample itself, by its design, and those of copies of the sample
without its weights.

The bar, set before the first run: the exact binomial interval (95 %) of the share covered meets .93 to .97.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import pysynthdp as sdp
from pysynthdp.analysis import Estimates, apply

COLUMNS = ["stype", "api00", "meals", "ell", "enroll", "stu"]
ALLOCATION = {"E": 100, "M": 50, "H": 50}
DESIGN = sdp.Design(weight="pw", strata="stype", fpc="fpc", how="population")
TARGETS = ["mean(api00)", "total(enroll)", "ratio(stu/enroll)", "meals", "ell"]
RESULTS = Path(__file__).parents[1] / "results" / "synthetic_populations.csv"


def population(path: str) -> pd.DataFrame:
    """Read the schools of which all columns are known."""
    return pd.read_csv(path).rename(columns={"api.stu": "stu"})[COLUMNS].dropna().reset_index(drop=True)


def sampled(schools: pd.DataFrame, run: int) -> pd.DataFrame:
    """Take a stratified sample, with weights and sizes of strata."""
    rng, sizes = np.random.default_rng([17, run]), schools["stype"].value_counts()
    stype = schools["stype"].to_numpy()
    rows = [rng.choice(np.flatnonzero(stype == h), n, replace=False) for h, n in ALLOCATION.items()]
    own = schools.loc[np.concatenate(rows)].reset_index(drop=True)
    size = own["stype"].map(sizes)
    return own.assign(pw=size / own["stype"].map(ALLOCATION), fpc=size)


def estimates(
    copy: pd.DataFrame, size: float, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Estimates, and the rows' parts in them (rows, estimates), by which variances are made."""
    w = np.ones(len(copy)) if weight is None else weight
    y, enroll, stu = (copy[name].to_numpy(float) for name in ("api00", "enroll", "stu"))
    X = np.column_stack([np.ones(len(copy)), copy["meals"], copy["ell"]]).astype(float)
    bread = np.linalg.inv(X.T @ (X * w[:, None]))
    beta = bread @ (X.T @ (w * y))
    mean, total = np.average(y, weights=w), size * np.average(enroll, weights=w)
    ratio = (w @ stu) / (w @ enroll)
    parts = np.column_stack(
        [
            (y - mean) / w.sum(),
            size * (enroll - total / size) / w.sum(),
            (stu - ratio * enroll) / (w @ enroll),
            (X * (y - X @ beta)[:, None]) @ bread[:, 1:],
        ]
    )
    return np.array([mean, total, ratio, *beta[1:]]), w[:, None] * parts


def of_copy(size: float) -> Callable[[pd.DataFrame], Estimates]:
    """Make the analysis of a copy as a simple random sample."""

    def analysis(copy: pd.DataFrame) -> Estimates:
        q, parts = estimates(copy, size)
        return Estimates(tuple(TARGETS), q, parts.T @ parts, float(len(copy) - 1))

    return analysis


def of_sample(own: pd.DataFrame, size: float) -> np.ndarray:
    """Give estimates and limits (3, estimates) by the design: linearised, by strata, finite."""
    q, parts = estimates(own, size, own["pw"].to_numpy())
    variance = np.zeros(len(q))
    for h, n in ALLOCATION.items():
        inside = (own["stype"] == h).to_numpy()
        variance += (1 - n / own.loc[inside, "fpc"].iloc[0]) * n * parts[inside].var(axis=0, ddof=1)
    half = stats.t.ppf(0.975, len(own) - len(ALLOCATION)) * np.sqrt(variance)
    return np.stack([q, q - half, q + half])


def one(path: str, method: str, run: int) -> dict[str, np.ndarray]:
    """Give estimates and limits (3, estimates) of one run, by way of making them."""
    schools = population(path)
    own, size = sampled(schools, run), float(len(schools))
    models = None if method == "default" else dict.fromkeys(COLUMNS[1:], method)
    settings: dict[str, Any] = {"method": models, "workers": 1, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sdp.Synthesizer(design=DESIGN, **settings).fit(own, rng=run)
        plain = sdp.Synthesizer(drop=["pw", "fpc"], **settings).fit(own).draw(m=5, rng=run)
        return {
            "sample": of_sample(own, size),
            "population": _pooled(fitted.draw(rng=run), size),
            "without weights": _pooled(plain, size),
        }


def _pooled(release: sdp.SyntheticRelease, size: float) -> np.ndarray:
    """Pool the analysis of all copies."""
    pooled = apply(of_copy(size), release)
    return np.vstack([pooled.params, pooled.conf_int().to_numpy(float).T])


def main(path: str, method: str, runs: int, minutes: float = np.inf) -> None:
    """Run the study, as far as it comes in so many minutes, and append its table."""
    schools, until = population(path), monotonic() + 60 * minutes
    truth, _ = estimates(schools, float(len(schools)))
    found: list[dict[str, np.ndarray]] = []
    with ProcessPoolExecutor(2) as pool:
        for start in range(0, runs, 20):
            if monotonic() < until:
                found += pool.map(partial(one, path, method), range(start, min(start + 20, runs)))
    own = {way: np.array([run[way] for run in found]) for way in found[0]}
    rows = [row for way, values in own.items() for row in _table(way, values, truth)]
    table = pd.DataFrame(rows).assign(method=method, date=f"{datetime.now(UTC):%Y-%m-%d}")
    table.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False, float_format="%.4g")


def _table(way: str, own: np.ndarray, truth: np.ndarray) -> Iterator[dict[str, object]]:
    """Give a row an estimate: bias and width in standard deviations, cover with its exact interval."""
    for place, name in enumerate(TARGETS):
        q, low, high = own[:, :, place].T
        hits = int(((low <= truth[place]) & (truth[place] <= high)).sum())
        exact = stats.binomtest(hits, len(q)).proportion_ci(0.95)
        yield {
            "way": way,
            "estimate": name,
            "runs": len(q),
            "covered": hits,
            "cover": hits / len(q),
            "from": exact.low,
            "to": exact.high,
            "undefined": int(np.isnan(low).sum()),
            "bias_in_sd": (q.mean() - truth[place]) / q.std(ddof=1),
            "sd": q.std(ddof=1),
            "median_width": float(np.nanmedian(high - low)),
        }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(float, sys.argv[4:5]))
