"""``normrank`` with predictors that repeat each other: what the rows leave open must not show in copies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.models.fits.bending import bend
from pysynthdp.models.fits.linear import LinearFit, redraw_linear
from pysynthdp.models.normrank import NormRank
from pysynthdp.testing import fitted, sampler


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
    assert there.between(20, 31).all()
    assert len(there) <= 0.0005 * len(copies)  # in the table there is none


@pytest.mark.parametrize("width", [1.0, 1e-3])
def test_aliased_features_keep_the_coefficient_zero(width):
    rng = np.random.default_rng(2)
    x, z = rng.standard_normal((2, 800))
    X = np.column_stack([np.ones(800), x, z, x - z, np.full(800, 0.5), width * x])
    params = fitted(NormRank(), X, np.exp(x + z + rng.standard_normal(800))).params
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


@pytest.mark.parametrize("relation", [0.0, 1.0], ids=["none", "strong"])
def test_redraws_keep_the_margin_of_a_skewed_number(relation):
    # forty groups and 500 rows: 600 redraws know the mean to .06 standard errors, so the truth stays below
    # .37 (p > 1e-9); a latent law that is not shrunk lies above .45
    rng = np.random.default_rng(6)
    group = rng.integers(0, 40, 500)
    X = np.column_stack([np.ones(500), group[:, None] == np.arange(1, 40)]).astype(float)
    y = np.exp(relation * np.sin(group) + rng.standard_normal(500))
    params = fitted(NormRank(), X, y, proper=True).params
    plug_in = np.concatenate([NormRank().draw(params, X, sampler(seed)) for seed in range(600)])
    redrawn = [NormRank().redraw(params, np.random.default_rng(seed)) for seed in range(600)]
    proper = np.concatenate([NormRank().draw(one, X, sampler(seed)) for seed, one in enumerate(redrawn)])
    assert abs(proper.mean() - plug_in.mean()) < 0.37 * y.std() / np.sqrt(500)
    high = np.quantile(y, 0.95)
    assert (proper > high).mean() == pytest.approx((plug_in > high).mean(), rel=0.1)
    # the defect: every redraw as wide as its coefficients make it
    wide = [redraw_linear(params, np.random.default_rng(seed)) for seed in range(600)]
    spread = np.concatenate([NormRank().draw(one, X, sampler(seed)) for seed, one in enumerate(wide)])
    assert spread.mean() - plug_in.mean() > 0.45 * y.std() / np.sqrt(500)


def test_a_redraw_has_the_latent_spread_of_the_fit():
    rng = np.random.default_rng(7)
    X = np.column_stack([np.ones(300), rng.standard_normal((300, 20))])
    y = np.exp(X[:, 1] + rng.standard_normal(300))
    params = fitted(NormRank(), X, y, proper=True).params
    spread = (X @ params.beta).var() + params.sigma**2
    for seed in range(20):
        again = NormRank().redraw(params, np.random.default_rng(seed))
        assert (X @ again.beta).var() + again.sigma**2 == pytest.approx(spread, rel=1e-9)
        assert not np.allclose(again.beta, params.beta)


@pytest.mark.parametrize("outliers", [0, 8])
def test_outliers_do_not_choose_the_scale(outliers):
    # a product of powers, and a few rows far out in both numbers that follow a straight line
    rng = np.random.default_rng(8)
    log_x = rng.standard_normal(3000)
    y = np.exp(0.5 * log_x + 0.4 * rng.standard_normal(3000))
    x = np.exp(0.5 * log_x)
    x[:outliers], y[:outliers] = 30 + 5 * rng.random(outliers), 30 + 5 * rng.random(outliers)
    X = np.column_stack([np.ones(3000), x / x.std(), log_x])
    drawn = NormRank().draw(fitted(NormRank(), X, y).params, X, sampler(1))
    slope = [np.linalg.lstsq(X[outliers:, [0, 2]], np.log(v[outliers:]))[0][1] for v in (y, drawn)]
    assert slope[1] == pytest.approx(slope[0], abs=0.05)


@pytest.mark.parametrize("zeros", [0, 12])
def test_a_few_zeros_leave_the_scale_of_logarithms(zeros):
    rng = np.random.default_rng(9)
    x = rng.standard_normal(2000)
    y = np.exp(7 + 0.6 * x + rng.standard_normal(2000))
    y[:zeros] = 0.0
    X = np.column_stack([np.ones(2000), x])
    drawn = NormRank().draw(fitted(NormRank(), X, y).params, X, sampler(1))
    slope = [np.polyfit(x[v > 0], np.log(v[v > 0]), 1)[0] for v in (y, drawn)]
    assert slope[1] == pytest.approx(slope[0], abs=0.1)
    assert np.quantile(drawn[drawn > 0], 0.02) == pytest.approx(np.quantile(y[y > 0], 0.02), rel=0.5)


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize("make", [lambda y: 2 * y, lambda y: 5 - 0.1 * y, np.exp])
def test_a_function_of_another_number_stays_one(make, proper):
    y = np.random.default_rng(10).normal(size=600).round(3)
    copies = stacked(pd.DataFrame({"y": y, "v": make(y)}), proper=proper)
    away = np.abs(copies.v - make(copies.y)) / make(y).std()
    assert away.quantile(0.9) < 0.003  # of the spread; a latent residual leaves 0.04


def test_a_sum_of_others_is_exact_and_keeps_its_range():
    rng = np.random.default_rng(11)
    wage, rent = rng.exponential(1000, 800).round(), rng.exponential(200, 800).round()
    real = pd.DataFrame({"wage": wage, "rent": rent})
    real["total"] = real.wage + real.rent
    copies = stacked(real)
    gap = np.abs(copies.total - copies.wage - copies.rent)
    assert gap.quantile(0.95) <= 1
    assert copies.total.max() <= 1.5 * real.total.max()  # an end is drawn beyond the largest record


def test_a_number_that_outliers_alone_explain_keeps_its_margin():
    # least squares sees a perfect line through two rows; the others hang on nothing and are skewed
    rng = np.random.default_rng(12)
    x, y = rng.standard_normal(1000), rng.exponential(size=1000)
    x[:2], y[:2] = 1e5, 1e5
    X = np.column_stack([np.ones(1000), x])
    drawn = NormRank().draw(fitted(NormRank(), X, y).params, X, sampler(1))
    assert np.quantile(drawn, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(y, [0.1, 0.5, 0.9]), rel=0.25)


def test_redrawn_scores_spread_as_their_standard_errors(monkeypatch):
    # 2,000 redraws know a spread to 2 %
    monkeypatch.setattr("pysynthdp.models.normrank.nearly_normal", lambda *_: False)
    monkeypatch.setattr("pysynthdp.models.normrank.ENOUGH", 10.0)
    rng = np.random.default_rng(13)
    X = np.column_stack([np.ones(400), rng.standard_normal((400, 2))])
    y = X @ [1.0, 1.0, 0.5] + 0.5 * rng.standard_normal(400)
    params = fitted(NormRank(), X, y).params
    found = np.array([NormRank().redraw(params, np.random.default_rng(i)).beta for i in range(2000)])
    errors = np.sqrt(np.diag(np.linalg.inv(X.T @ X)))  # the latent residual has unit spread
    shrunk = params.sigma**2 / (params.sigma**2 + params.index[1])  # a longer slope is drawn back in part
    across = np.array([0.0, 1.0, -2.0])  # a contrast that leaves the index as long as it was
    size = np.sqrt(across @ np.linalg.inv(X.T @ X) @ across)
    assert (found @ across).std() == pytest.approx(size, rel=0.1)
    assert found[:, 1].std() < errors[1] * 1.05
    assert found[:, 1].std() > errors[1] * np.sqrt(shrunk) * 0.9


@pytest.mark.filterwarnings("ignore:y. constant")
@pytest.mark.parametrize("value", [0.0, 5.0, 734159.27])
def test_a_number_that_never_varies_stays_what_it_is(value):
    table = pd.DataFrame({"x": np.random.default_rng(1).normal(size=90).round(3), "y": [value] * 90})
    assert stacked(table, method={"y": "normrank"})["y"].to_numpy() == pytest.approx(value, rel=1e-9)
