"""Speed and memory on generated tables of a million rows, as ratios in one run.

Run: python -m benchmarks.speed.million_rows [norm | mixed | curve]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp.base.blas import one_blas_thread

ROWS = 1_000_000


def cpu(work):
    """Run and return the result with its CPU and wall seconds."""
    start, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - start, time.perf_counter() - wall


def peak() -> float:
    """Peak memory of the process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def numeric(rows: int, columns: int = 20) -> pd.DataFrame:
    """Correlated normals."""
    rng = np.random.default_rng(1)
    mix = np.eye(columns) + 0.3 * rng.standard_normal((columns, columns))
    return pd.DataFrame(rng.standard_normal((rows, columns)) @ mix, columns=[f"x{i}" for i in range(columns)])


def mixed(rows: int) -> pd.DataFrame:
    """Ten numeric and ten categorical columns, missing values in five."""
    rng = np.random.default_rng(2)
    frame = numeric(rows, 10)
    for index, levels in enumerate([2, 2, 3, 4, 5, 6, 7, 8, 10, 12]):
        score = frame["x0"].to_numpy()[:, None] * np.linspace(-1, 1, levels) + rng.gumbel(size=(rows, levels))
        frame[f"c{index}"] = pd.Categorical.from_codes(
            score.argmax(axis=1), [f"level {i}" for i in range(levels)]
        )
    for name in ("x3", "x7", "c1", "c4", "c9"):
        frame.loc[rng.random(rows) < 0.1, name] = np.nan
    return frame


def norm() -> None:
    """Fit against one X'X, drawing against that many normals."""
    frame = numeric(ROWS)
    schema = sdp.Schema([sdp.NumericColumn(name, may_be_missing=False) for name in frame])
    settings = sdp.Synthesizer(schema=schema, method="norm", workers=1)
    settings.fit(frame.head(1000)).draw(m=1)
    X = frame.to_numpy()
    with one_blas_thread():
        _, product, _ = min((cpu(lambda: X.T @ X) for _ in range(5)), key=lambda r: r[1])
    (fitted, fit, _) = min((cpu(lambda: settings.fit(frame)) for _ in range(5)), key=lambda r: r[1])
    print(f"fit: {fit:.3f} CPU s, {fit / product:.2f} times one X'X ({product:.3f}); bar 5")
    rng = np.random.default_rng(3)
    _, normals, _ = cpu(lambda: [rng.standard_normal((ROWS, 20)) for _ in range(5)])
    release, draw, _ = cpu(lambda: fitted.draw(m=5, rng=1))
    print(f"draw m=5: {draw:.2f} CPU s, {draw / normals:.2f} times that many normals ({normals:.2f}); bar 4")
    worst = np.abs(np.cov(release[0].to_numpy().T) - np.cov(X.T)).max()
    print(f"largest difference of a covariance: {worst:.4f}")


def mixed_million() -> None:
    """Mixed columns, streamed to Parquet."""
    sdp.synthesize(mixed(2000), m=1)
    frame = mixed(ROWS)
    size = frame.memory_usage(deep=True).sum() / 2**20
    before = peak()
    with tempfile.TemporaryDirectory() as folder:
        settings = sdp.Synthesizer()
        fitted, fit, wall = cpu(lambda: settings.fit(frame))
        print(f"fit: {fit:.1f} CPU s, {wall:.1f} s; peak {peak():.0f} MB")
        _, draw, wall = cpu(lambda: fitted.draw_to(Path(folder) / "release", m=5, rng=1))
    print(f"draw m=5 to Parquet: {draw:.1f} CPU s, {wall:.1f} s; in all {fit + draw:.1f} CPU s (bar 180)")
    print(f"peak {peak():.0f} MB; table {size:.0f} MB, before the fit {before:.0f} MB")


def curve() -> None:
    """Cost by rows and by m."""
    for rows in (125_000, 250_000, 500_000, 1_000_000):
        frame = mixed(rows)
        settings = sdp.Synthesizer()
        fitted, fit, _ = cpu(lambda settings=settings, frame=frame: settings.fit(frame))
        draws = [cpu(lambda m=m, fitted=fitted: fitted.draw(m=m, rng=1))[1] for m in (1, 2)]
        print(f"{rows:>9,} rows: fit {fit:6.1f}, draw m=1 {draws[0]:6.1f}, m=2 {draws[1]:6.1f} CPU s")


if __name__ == "__main__":
    {"norm": norm, "mixed": mixed_million, "curve": curve}[sys.argv[1] if len(sys.argv) > 1 else "norm"]()
