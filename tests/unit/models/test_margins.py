"""normrank and the transforms keep the shape of a margin where synthpop bends it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.models.ask import Moments, Quantiles, RowSum, WholeRows
from pysynthdp.models.cubertnorm import CubeRtNorm
from pysynthdp.models.lognorm import LogNorm
from pysynthdp.models.normrank import NormRank
from pysynthdp.models.sqrtnorm import SqrtNorm
from pysynthdp.testing import fitted, sampler

LEAST = 1e-9


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return rng, np.column_stack([np.ones(n), x, x > 0.7]).astype(float), x


def many(model, fit, X, times=40):
    return model.draw(fit, np.tile(X, (times, 1)), sampler(5))


def test_normrank_keeps_tied_counts():
    # variance within 3 % of the table's own; mapping Phi(z) instead, as synthpop does, loses a tenth
    rng, X, x = rows(3000)
    y = rng.poisson(np.exp(0.5 * x)).astype(float)
    fit = fitted(NormRank(), X, y).params
    drawn = np.rint(many(NormRank(), fit, X))
    shares = np.bincount(drawn.astype(int), minlength=6)[:6] / drawn.size
    np.testing.assert_allclose(shares, np.bincount(y.astype(int), minlength=6)[:6] / 3000, atol=0.008)
    assert drawn.var() / y.var() == pytest.approx(1.0, abs=0.03)


def test_normrank_keeps_margin_and_rank_correlation_of_a_skew_column():
    rng, X, x = rows(4000, 1)
    y = np.exp(1.5 * x + rng.normal(size=4000))
    done = fitted(NormRank(), X, y)
    fit, asked = done.params, done.asked
    assert {type(query) for query in asked} == {Quantiles, Moments, RowSum}
    drawn = many(NormRank(), fit, X)
    assert stats.ks_1samp(drawn[:20_000], lambda v: np.searchsorted(np.sort(y), v) / 4000).statistic < 0.02
    new = stats.spearmanr(np.tile(x, 40), drawn).statistic
    assert new == pytest.approx(stats.spearmanr(x, y).statistic, abs=0.015)
    assert not np.isin(drawn, y).any()
    assert drawn.min() >= 0
    assert drawn.max() < 2 * y.max()


def slopes(X, y):
    """Least squares with standard errors."""
    beta, rest, *_ = np.linalg.lstsq(X, y)
    return beta, np.sqrt(rest / len(X) * np.diag(np.linalg.inv(X.T @ X)))


@pytest.mark.parametrize("scale", [lambda y: y, np.log], ids=["plain", "log"])
@pytest.mark.parametrize("n", [4_000, 60_000])
def test_normrank_keeps_a_straight_relation_of_a_skew_column(scale, n):
    # mean of 40 draws a row against the table's own fit: 0.16 standard errors of noise
    rng, X, _ = rows(n, 1)
    line = X @ [4.0, 0.5, 1.0]
    y = line + rng.gamma(1.0, size=n) if scale(0.5) == 0.5 else np.exp(line + rng.gamma(1.0, size=n))
    drawn = many(NormRank(), fitted(NormRank(), X, y).params, X)
    found, _ = slopes(np.tile(X, (40, 1)), scale(drawn))
    own, errors = slopes(X, scale(y))
    assert np.abs((found - own) / errors)[1:].max() < 1.0


def test_a_column_that_nothing_explains_is_drawn():
    X = np.column_stack([np.ones(26), np.zeros(26)])
    y = np.random.default_rng(0).gamma(1.0, size=26)
    drawn = many(NormRank(), fitted(NormRank(), X, y).params, X)
    assert 0 <= drawn.min() <= drawn.max() <= 2 * y.max()
    assert drawn.mean() == pytest.approx(y.mean(), rel=0.1)


def test_a_rank_regression_would_bend_it(monkeypatch):
    monkeypatch.setattr("pysynthdp.models.normrank.nearly_normal", lambda *_: False)
    monkeypatch.setattr("pysynthdp.models.normrank.ENOUGH", 10.0)  # no scale is good enough
    rng, X, _ = rows(4_000, 1)
    y = X @ [4.0, 0.5, 1.0] + rng.gamma(1.0, size=4_000)
    drawn = many(NormRank(), fitted(NormRank(), X, y).params, X)
    own, errors = slopes(X, y)
    assert np.abs((slopes(np.tile(X, (40, 1)), drawn)[0] - own) / errors)[1:].max() > 2.0


def test_redrawn_slopes_spread_as_their_standard_errors():
    # 150 redraws: the spread is known to 6 %, and the copies' own sampling adds 1/20 to its variance
    rng, X, _ = rows(2_000, 1)
    y = X @ [4.0, 0.5, 1.0] + rng.gamma(1.0, size=2_000)
    fit = fitted(NormRank(), X, y).params
    wide, found = np.tile(X, (20, 1)), []
    for seed in range(150):
        again = NormRank().redraw(fit, np.random.default_rng(seed))
        found.append(slopes(wide, NormRank().draw(again, wide, sampler(seed)))[0])
    errors = slopes(X, y)[1]
    assert np.std(found, axis=0)[1:] / errors[1:] == pytest.approx(np.sqrt(1.05), rel=0.25)


def test_normrank_of_a_few_spikes_invents_nothing_between_them():
    rng, X, x = rows(3000, 2)
    y = np.array([0.0, 10.0, 50.0])[np.digitize(x + rng.normal(size=3000), [0.5, 2.0])]
    drawn = many(NormRank(), fitted(NormRank(), X, y).params, X)
    assert set(np.unique(drawn)) == {0.0, 10.0, 50.0}
    for value in (0.0, 10.0, 50.0):
        assert np.mean(drawn == value) == pytest.approx(np.mean(y == value), abs=0.006)


def test_normrank_of_a_function_of_the_predictors():
    _, X, x = rows(2000, 3)
    y = np.exp(x)
    drawn = many(NormRank(), fitted(NormRank(), X, y).params, X, times=1)
    assert stats.spearmanr(drawn, y).statistic > 0.995
    assert np.median(drawn) == pytest.approx(np.median(y), rel=0.1)


def test_normrank_of_original_values_emits_them_and_asks_for_rows():
    rng, X, x = rows(500, 4)
    y = np.round(x + rng.normal(size=500), 1)
    model = NormRank(emit_original=True)
    done = fitted(model, X, y)
    fit, asked = done.params, done.asked
    assert isinstance(asked[0], WholeRows)
    assert model.real_values
    drawn = many(model, fit, X)
    assert np.isin(drawn, y).all()
    assert drawn.var() == pytest.approx(y.var(), rel=0.04)


def test_lognorm_with_zeros_keeps_zeros_and_scale():
    # synthpop undoes the shift on the log scale: median 852 becomes 72 and zeros vanish
    rng, X, x = rows(3000, 5)
    y = np.where(rng.random(3000) < 0.1, 0.0, np.exp(6.7 + 0.3 * x + 0.3 * rng.normal(size=3000)))
    fit = fitted(LogNorm(), X, y).params
    assert fit.shift not in y
    assert fit.shift not in y / 2
    drawn = many(LogNorm(), fit, X)
    assert drawn.min() == 0.0
    assert 0.5 < np.median(drawn) / np.median(y) < 2.0


def test_lognorm_without_zeros_is_a_regression_of_the_logarithm():
    rng, X, x = rows(2000, 6)
    logs = 2.0 + 0.5 * x + 0.4 * rng.normal(size=2000)
    fit = fitted(LogNorm(), X, np.exp(logs)).params
    np.testing.assert_allclose(fit.beta, np.linalg.lstsq(X, logs, rcond=None)[0], rtol=1e-9)
    assert fit.shift == 0.0
    drawn = np.log(many(LogNorm(), fit, X))
    assert drawn.mean() == pytest.approx(logs.mean(), abs=0.02)
    assert drawn.std() == pytest.approx(logs.std(), rel=0.03)


def test_sqrtnorm_clips_negative_roots_at_zero():
    rng, X, _ = rows(2000, 7)
    y = rng.gamma(0.6, 2.0, size=2000)
    fit = fitted(SqrtNorm(), X, y).params
    drawn = many(SqrtNorm(), fit, X)
    below = stats.norm.cdf(0, X @ fit.beta, fit.sigma).mean()
    assert np.mean(drawn == 0.0) == pytest.approx(below, abs=0.004)


def test_cubertnorm_keeps_the_sign():
    rng, X, x = rows(2000, 8)
    y = (0.3 + x + 0.5 * rng.normal(size=2000)) ** 3
    drawn = many(CubeRtNorm(), fitted(CubeRtNorm(), X, y).params, X)
    assert np.mean(drawn < 0) == pytest.approx(np.mean(y < 0), abs=0.02)
    assert np.median(drawn) == pytest.approx(np.median(y), abs=0.05)
