"""Pooled least squares of large copies: CPU over m fits of statsmodels, and memory, in one run.

Run: python -m benchmarks.speed.pooled [ROWS] [--write]

Five copies of 24 coefficients, as data frames and from a release's files. Memory is the largest RssAnon and
RssShmem while it works, less what was there before; differences are over the coefficient or its error,
whichever is larger.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import pysynthdp as sdp
from benchmarks.scale.memory import Peak

RESULTS = Path(__file__).parents[1] / "results" / "pooled.csv"
NUMBERS = [f"x{j}" for j in range(10)]
FORMULA = f"y ~ {' + '.join(NUMBERS)} + np.log(x1**2 + 1) + a + b + c + x2:x3"  # 24 coefficients
M = 5


def table(rows: int, seed: int) -> pd.DataFrame:
    """Ten numbers, three factors of 5, 6 and 3 levels, and a response of them."""
    rng = np.random.default_rng(seed)
    frame = {name: rng.normal(size=rows) * 10 ** (j % 3) + j for j, name in enumerate(NUMBERS)}
    for name, levels in (("a", "abcde"), ("b", "uvwxyz"), ("c", "hij")):
        frame[name] = pd.Categorical.from_codes(rng.integers(0, len(levels), rows), list(levels))
    frame["y"] = sum(frame[name] for name in NUMBERS) + rng.normal(size=rows) * 3
    return pd.DataFrame(frame, copy=False)


def release(rows: int) -> sdp.SyntheticRelease:
    """Five copies, drawn from a small table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sdp.Synthesizer(progress=False).fit(table(5000, 0)).draw(m=M, k=rows, rng=1)


def measured(work) -> tuple[object, float, float]:
    """Give what comes out, CPU seconds and MB."""
    start = time.process_time()
    with Peak() as peak:
        found = work()
    return found, time.process_time() - start, peak.grown


def rounded(value):
    """Give three digits of a number that was measured."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def main(words: list[str]) -> None:
    """Measure, show, and store if asked."""
    rows = int(float(next((word for word in words if word.isdigit()), "1000000")))
    copies = release(rows)
    sdp.ols("y ~ x1", release(60_000))  # loads what is needed
    with tempfile.TemporaryDirectory() as home:
        folder = copies.save(Path(home) / "out")
        pooled, memory_cpu, memory_mb = measured(lambda: sdp.ols(FORMULA, copies))
        _, opened_cpu, _ = measured(lambda: sdp.SyntheticRelease.open(folder))
        opened = sdp.SyntheticRelease.open(folder)
        from_files, files_cpu, files_mb = measured(lambda: sdp.ols(FORMULA, opened))
        fits, cpu, mb = measured(lambda: [smf.ols(FORMULA, copy).fit() for copy in copies])
    beta = np.mean([fit.params for fit in fits], axis=0)
    unit = np.maximum(np.abs(beta), np.mean([fit.bse for fit in fits], axis=0))
    found = {
        "date": datetime.now(UTC).date().isoformat(),
        "rows": rows,
        "m": M,
        "coefficients": len(beta),
        "statsmodels_cpu_s": cpu,
        "statsmodels_mb": mb,
        "ratio": memory_cpu / cpu,
        "mb": memory_mb,
        "ratio_from_files": files_cpu / cpu,
        "mb_from_files": files_mb,
        "opening_cpu_s": opened_cpu,
        "largest_difference": max(np.max(np.abs(done.params - beta) / unit) for done in (pooled, from_files)),
    }
    line = pd.DataFrame([{name: rounded(value) for name, value in found.items()}])
    print(line.T.to_string(header=False))
    if "--write" in words:
        line.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)


if __name__ == "__main__":
    main(sys.argv[1:])
