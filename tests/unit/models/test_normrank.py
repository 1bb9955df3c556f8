"""``normrank`` with predictors that repeat each other: what the rows leave open must not show in copies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.models.normrank import NormRank
from pysynthdp.numerics.bending import bend
from pysynthdp.numerics.linear import LinearFit

from .driver import fit


def stacked(table: pd.DataFrame, **settings) -> pd.DataFrame:
    """Five copies of a table, one below the other."""
    return pd.concat(sdp.synthesize(table, m=5, rng=1, progress=False, **settings).copies)


def monthly(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Yearly income is twelve times the monthly one, and rent hangs on either."""
    month = rng.normal(3000, 700, n).round()
    rent = (0.25 * month + rng.normal(0, 40, n)).round()
    return pd.DataFrame({"month": month, "year": 12 * month, "rent": rent})


def recoded(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """A region, its coarser recode, and a number that differs by region."""
    region = rng.integers(0, 6, n)
    y = (region + rng.standard_normal(n)).round(2)
    names = np.array(list("abcdef"))[region]
    return pd.DataFrame({"region": names, "coarse": np.array(list("xyz"))[region // 2], "y": y})


def spread_about(copies: pd.DataFrame, real: pd.DataFrame, target: str, given: list[str]) -> float:
    """Residual spread of a number given others, over that in the real rows; by least squares on dummies."""
    both = pd.concat([real, copies])
    X = np.column_stack([np.ones(len(both)), pd.get_dummies(both[given], dtype=float)])
    rest = [
        float(np.std(y - A @ np.linalg.lstsq(A, y, rcond=None)[0]))
        for A, y in ((X[: len(real)], real[target]), (X[len(real) :], copies[target]))
    ]
    return rest[1] / rest[0]


@pytest.mark.parametrize(
    ("make", "target", "given"), [(monthly, "rent", ["month"]), (recoded, "y", ["region"])]
)
@pytest.mark.parametrize("proper", [False, True])
def test_a_predictor_told_twice_leaves_the_spread_alone(make, target, given, proper):
    real = make(1500, np.random.default_rng(1))
    copies = stacked(real, proper=proper)
    assert spread_about(copies, real, target, given) == pytest.approx(1.0, abs=0.1)


def test_columns_missing_together_throw_no_row_to_the_end_of_the_range():
    rng = np.random.default_rng(1)
    height, weight = rng.normal(170, 9, 2000).round(), rng.normal(72, 12, 2000).round()
    gone = rng.random(2000) < 0.03
    height[gone] = weight[gone] = np.nan
    real = pd.DataFrame({"height": height, "weight": weight, "bmi": (weight / (height / 100) ** 2).round(1)})
    copies = stacked(real)
    there = copies[copies.height.isna() & copies.bmi.notna()].bmi
    assert len(there) > 0
    assert there.between(20, 31).all()


@pytest.mark.parametrize("width", [1.0, 1e-3])
def test_aliased_features_keep_the_coefficient_zero(width):
    rng = np.random.default_rng(2)
    x, z = rng.standard_normal((2, 800))
    X = np.column_stack([np.ones(800), x, z, x - z, np.full(800, 0.5), width * x])
    params = fit(NormRank(), X, np.exp(x + z + rng.standard_normal(800)))
    assert params.aliased == (3, 4, 5)
    assert (params.beta[[3, 4, 5]] == 0).all()
    assert np.abs(params.beta).max() < 10


def test_a_bend_from_noisy_moments_leaves_repeated_features_where_they_were():
    # a fit to noisy moments has no aliased features of its own; the rows that stand for the table do
    rng = np.random.default_rng(3)
    x = rng.standard_normal(2000)
    X = np.column_stack([np.ones(2000), x, 2 * x, np.zeros(2000)])
    u = (np.arange(200) + 0.5) / 200
    linear = LinearFit(np.array([0.0, 0.3, 0.15, 0.7]), 0.2, 1e3, np.zeros((4, 0)), ())
    bent, _ = bend(linear, X, np.stack([u, -np.log1p(-u)]))
    assert np.abs(bent.gamma[1:] * linear.sigma).max() < 2
    assert bent.gamma[2:] == pytest.approx(linear.beta[2:] / linear.sigma)
