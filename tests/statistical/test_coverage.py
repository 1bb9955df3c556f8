"""Pooled 95 % intervals cover the population value: a small, seeded form of benchmarks/coverage/intervals.py.

Right: the count of covered runs lies in the exact binomial interval at 1e-6 (false alarm 1e-6 a situation).
Wrong: the interval of one copy taken as real (true coverage about 0.84 for plug-in, 0.74 for proper copies)
leaves that interval; with 600 runs the chance to miss it is below 1e-5.

That is so of independent rows. Even rows (the default) take away a part of what the rules of a single copy
count, so the naive interval is near and that of one copy too long. There the bar is that nothing covers too
seldom, that five copies do not cover too often, and that their spread taken alone is found out.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pysynthdp as sdp

RUNS = 600
N = 200
SLOPE = 0.5
SCHEMA = sdp.Schema([sdp.NumericColumn(name, may_be_missing=False) for name in ("x", "y")])


def sample(rng: np.random.Generator) -> pd.DataFrame:
    x = rng.standard_normal(N)
    return pd.DataFrame({"x": x, "y": 1 + SLOPE * x + rng.standard_normal(N)})


def slope(copy: pd.DataFrame) -> tuple[float, float]:
    x, y = copy["x"].to_numpy(), copy["y"].to_numpy()
    centred = x - x.mean()
    square = centred @ centred
    beta = centred @ y / square
    residual = y - y.mean() - beta * centred
    return float(beta), float(residual @ residual / (len(x) - 2) / square)


def covered(*, proper: bool, m: int, k: int, draws: str) -> tuple[int, int, int]:
    """Runs in which the slope lies in the interval: pooled, of one copy as if real, of the spread alone."""
    settings = sdp.Synthesizer(schema=SCHEMA, method="norm", proper=proper, draws=draws, workers=1)
    right = naive = spread = 0
    for run in range(RUNS):
        rng = np.random.default_rng([7, run])
        release = settings.fit(sample(rng)).draw(m=m, k=k, rng=rng)
        fits = [slope(copy) for copy in release]
        pooled = sdp.pool([(np.array([q]), np.array([u])) for q, u in fits], release=release)
        low, high = pooled.conf_int().iloc[0]
        right += int(low <= SLOPE <= high)
        q, u = fits[0]
        naive += int(abs(q - SLOPE) <= 1.96 * np.sqrt(u))
        slopes = np.array([q for q, _ in fits])
        spread += int(abs(slopes.mean() - SLOPE) <= 1.96 * np.sqrt(slopes.var(ddof=1) / m)) if m > 1 else 0
    return right, naive, spread


@pytest.mark.statistical
@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize(("m", "k"), [(1, N // 2), (1, N), (5, N // 2), (5, N), (5, 2 * N)])
def test_intervals_cover_and_the_naive_ones_do_not(proper: bool, m: int, k: int) -> None:
    right, naive, _ = covered(proper=proper, m=m, k=k, draws="independent")
    low, high = binom.interval(1 - 1e-6, RUNS, 0.95)
    assert low <= right <= high
    if k >= N:  # on half the rows the naive interval covers 0.89, too near for this many runs
        assert naive < low


@pytest.mark.statistical
@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize(("m", "k"), [(1, N), (5, N)])
def test_intervals_of_even_rows_cover_and_their_spread_alone_does_not(proper: bool, m: int, k: int) -> None:
    right, _, spread = covered(proper=proper, m=m, k=k, draws="even")
    low, high = binom.interval(1 - 1e-6, RUNS, 0.95)
    assert low <= right
    if m > 1:  # the rule of one copy counts its rows as independent, on the safe side
        assert right <= high
        assert spread < low


@pytest.mark.statistical
def test_copies_of_synthetic_populations_cover_what_weighted_samples_are_of() -> None:
    """A stratum of one tenth of the population is half of the sample; its mean is two deviations higher.

    Right: as above; undefined intervals count as not covering. Wrong: copies of the sample as it is, which
    never cover.
    """
    runs, half, sizes = 40, 40, np.array([9000, 1000])
    design = sdp.Design(weight="w", strata="g", how="population", populations=20, sample=600)
    schema = sdp.Schema(
        [
            sdp.CategoricalColumn("g", ["a", "b"], may_be_missing=False),
            sdp.NumericColumn("y", may_be_missing=False),
            sdp.NumericColumn("w", may_be_missing=False),
        ]
    )
    settings = sdp.Synthesizer(schema=schema, method={"y": "norm"}, design=design, workers=1)
    plain = sdp.Synthesizer(schema=schema, method={"y": "norm"}, drop=["w"], workers=1)
    truth, right, wrong = 2 * 0.1, 0, 0
    for run in range(runs):
        rng = np.random.default_rng([9, run])
        g = np.repeat([0, 1], half)
        own = pd.DataFrame({"g": np.array(["a", "b"])[g], "y": 2.0 * g + rng.normal(size=2 * half)})
        own["w"] = sizes[g] / half
        for fitted, counted in ((settings.fit(own, rng=run), True), (plain.fit(own), False)):
            release = fitted.draw(m=20, rng=run)
            each = [(copy["y"].mean(), copy["y"].var() / len(copy)) for copy in release]
            pooled = sdp.pool([(np.array([q]), np.array([u])) for q, u in each], release=release)
            low, high = pooled.conf_int().iloc[0]
            hit = int(low <= truth <= high)
            right, wrong = (right + hit, wrong) if counted else (right, wrong + hit)
    low, high = binom.interval(1 - 1e-6, runs, 0.95)
    assert low <= right <= high
    assert wrong < low
