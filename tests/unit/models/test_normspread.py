"""``normspread``: a margin, a regression, and squared residuals that follow the features."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.models.normrank import NormRank
from pysynthdp.models.normspread import NormSpread
from pysynthdp.testing import fitted, sampler

N = 1200


def funnel(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A number whose residuals spread more where a feature is large."""
    x = rng.standard_normal(N)
    X = np.column_stack([np.ones(N), x, rng.standard_normal(N)])
    return X, 10 + 2 * x + np.exp(0.6 * x) * rng.standard_normal(N)


def squares(X: np.ndarray, y: np.ndarray, beta: np.ndarray) -> float:
    """Squared residuals times the square of the feature: the heart of a linearised variance."""
    return float(np.sum((X[:, 1] * (y - X @ beta)) ** 2))


def drawn_ratio(model: NormSpread | NormRank, X: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Such a sum in forty draws over that of the records, and the mean slopes of draws."""
    beta = np.linalg.lstsq(X, y, rcond=None)[0]
    fit = fitted(model, X, y)
    draws = [model.draw(fit.params, X, sampler(seed)) for seed in range(40)]
    slopes = np.mean([np.linalg.lstsq(X, each, rcond=None)[0] for each in draws], axis=0)
    return float(np.mean([squares(X, each, beta) for each in draws])) / squares(X, y, beta), slopes - beta


def test_squared_residuals_follow_the_features_and_slopes_stay():
    X, y = funnel(np.random.default_rng(3))
    ratio, off = drawn_ratio(NormSpread(), X, y)
    assert ratio == pytest.approx(1.0, abs=0.12)
    assert np.abs(off[1:]).max() < 0.05
    assert drawn_ratio(NormRank(), X, y)[0] < 0.8  # one spread for all rows, which is what this mends


def test_even_residuals_stay_even():
    rng = np.random.default_rng(4)
    X = np.column_stack([np.ones(N), rng.standard_normal((N, 2))])
    y = X @ np.array([1.0, 2.0, -1.0]) + rng.standard_normal(N)
    ratio, off = drawn_ratio(NormSpread(), X, y)
    assert ratio == pytest.approx(1.0, abs=0.1)
    assert np.abs(off[1:]).max() < 0.03


def test_a_number_that_is_nearly_a_function_spreads_as_it_does():
    rng = np.random.default_rng(5)
    x = np.exp(rng.standard_normal(N) / 2)
    X = np.column_stack([np.ones(N), (x - x.mean()) / x.std()])
    y = 3 * x + 0.1 * x * rng.standard_normal(N)
    ratio, _ = drawn_ratio(NormSpread(), X, y)
    assert ratio == pytest.approx(1.0, abs=0.25)


def test_zeros_of_many_records_are_drawn_as_often():
    rng = np.random.default_rng(6)
    X, y = funnel(rng)
    y = np.where(rng.random(N) < 0.3, 0.0, np.maximum(y, 1.0))
    model = NormSpread()
    fit = fitted(model, X, y)
    drawn = model.draw(fit.params, X, sampler(1))
    assert np.mean(drawn == 0) == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("features", [0, 1])
def test_no_features_and_no_spread_are_drawn_too(features):
    rng = np.random.default_rng(7)
    X = np.column_stack([np.ones(N), *(rng.standard_normal(N) for _ in range(features))])
    for y in (np.full(N, 3.0), rng.gamma(2.0, size=N)):
        model = NormSpread()
        fit = fitted(model, X, y)
        drawn = model.draw(fit.params, X, sampler(1))
        assert drawn.mean() == pytest.approx(y.mean(), rel=0.1)
        assert drawn.std() == pytest.approx(y.std(), rel=0.15, abs=1e-9)
