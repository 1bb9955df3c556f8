"""Speed and quality on SD2011, the standard example of synthpop (5,000 x 35).

Run: python -m benchmarks.defaults.sd2011 PATH_TO_FOLDER_WITH_SD2011 [seeds]

The table is not ours to give away: the folder must hold ``sd2011.csv`` and ``sd2011_levels.json``.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import pysynthdp as sdp
from pysynthdp.base.errors import PysynthdpWarning

TEN = ["sex", "age", "edu", "income", "depress", "smoke", "nociga", "region", "marital", "ls"]
SEVENTEEN = [
    *(
        "sex",
        "age",
        "agegr",
        "placesize",
        "region",
        "edu",
        "socprof",
        "income",
        "marital",
        "ls",
        "depress",
        "smoke",
    ),
    *("nociga", "height", "weight", "bmi", "unempdur"),
]
MISSING = {name: {-8: "not applicable"} for name in ("income", "unempdur", "nociga", "wkabdur")}


def read(folder: Path) -> pd.DataFrame:
    """Read the survey with its level order."""
    frame = pd.read_csv(folder / "sd2011.csv", keep_default_na=False, na_values=["NA"])
    levels = json.loads((folder / "sd2011_levels.json").read_text())
    for name, own in levels.items():
        if name in frame:
            frame[name] = pd.Categorical(frame[name].astype("str"), categories=own)
    return frame


def codes_of(names: list[str], frame: pd.DataFrame) -> dict[str, dict[int, str]]:
    """Codes of the numeric columns among some."""
    return {n: MISSING[n] for n in names if n in MISSING and pd.api.types.is_numeric_dtype(frame[n])}


def cpu(work):
    """Run and return the result with its CPU seconds."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def cells(frame: pd.DataFrame, edges: dict[str, np.ndarray]) -> pd.DataFrame:
    """Cut numbers into fifths of the original; missing and -8 are cells of their own."""
    out = {}
    for name in frame:
        column = frame[name]
        if name in edges:
            codes = np.searchsorted(edges[name], column.to_numpy(float), side="right")
            codes = np.where(column.isna(), 90, np.where(column == -8, 91, codes))
        else:
            codes = column.cat.codes.to_numpy()
        out[name] = codes
    return pd.DataFrame(out)


def edges_of(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    """Inner fifths of every numeric column."""
    return {
        name: np.unique(np.quantile(values, [0.2, 0.4, 0.6, 0.8]))
        for name in frame
        if pd.api.types.is_numeric_dtype(frame[name])
        for values in [frame.loc[frame[name].notna() & (frame[name] != -8), name].to_numpy(float)]
    }


def pairwise_tvd(
    real: pd.DataFrame, copy: pd.DataFrame, skip: set[tuple[str, str]]
) -> dict[tuple[str, str], float]:
    """Total-variation distance of every two-way table."""
    result = {}
    for a, b in itertools.combinations(real.columns, 2):
        if (a, b) not in skip:
            p, q = (f.value_counts([a, b], normalize=True) for f in (real, copy))
            result[a, b] = float(p.sub(q, fill_value=0).abs().sum() / 2)
    return result


def log_income(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with an income."""
    rows = frame[frame["income"] > 0].copy()
    rows["log_income"] = np.log(rows["income"].astype(float))
    return rows


def overlap(pooled: sdp.PooledResults, real) -> float:
    """Mean confidence-interval overlap of the slopes."""
    a, b = pooled.conf_int().to_numpy(), real.conf_int().to_numpy()
    inner = np.minimum(a[:, 1], b[:, 1]) - np.maximum(a[:, 0], b[:, 0])
    return float(np.mean((inner / (a[:, 1] - a[:, 0]) + inner / (b[:, 1] - b[:, 0])) / 2))


def quality(frame: pd.DataFrame, seeds: int) -> None:
    """Mean pairwise distance and overlap over seeds."""
    table = frame[SEVENTEEN]
    fitted = sdp.Synthesizer(missing=codes_of(SEVENTEEN, table)).fit(table)
    edges = edges_of(table)
    real_cells = cells(table, edges)
    real = smf.ols("log_income ~ age + C(sex) + C(edu)", log_income(table)).fit()
    distances, overlaps = [], []
    for seed in range(seeds):
        release = fitted.draw(m=5, rng=seed)
        tvd = pairwise_tvd(real_cells, cells(release[0], edges), set())
        distances.append(np.mean(list(tvd.values())))
        fits = [smf.ols("log_income ~ age + C(sex) + C(edu)", log_income(copy)).fit() for copy in release]
        overlaps.append(overlap(sdp.pool(fits, release=release), real))
    print(
        f"pairwise TVD, 17 columns, mean of {seeds} seeds: {np.mean(distances):.4f} (bar 0.039; CART 0.031)"
    )
    print(f"CI overlap of pooled log income, mean: {np.mean(overlaps):.3f} (bar 0.85)")
    for pair, distance in sorted(tvd.items(), key=lambda item: -item[1])[:8]:
        print(f"   worst pair {pair[0]} x {pair[1]}: {distance:.3f}")


def main() -> None:
    """Run all measurements."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", PysynthdpWarning)  # what a fit says of the table
    frame = read(Path(sys.argv[1]))
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    sdp.synthesize(frame[["sex", "age"]].head(500), m=1)  # imports
    _, seconds = cpu(lambda: sdp.synthesize(frame[TEN], m=1, missing=codes_of(TEN, frame)))
    print(f"ten columns, m=1: {seconds:.2f} CPU s (bar 1; synthpop parametric 32, its CART 2.4)")
    _, seconds = cpu(lambda: sdp.synthesize(frame, m=5, missing=codes_of(list(frame), frame)))
    print(f"35 columns, m=5: {seconds:.2f} CPU s (bar 30; synthpop parametric did not finish in 200)")
    quality(frame, seeds)


if __name__ == "__main__":
    main()
