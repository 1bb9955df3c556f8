"""``ridge`` and ``logridge``: fits against statsmodels and scipy, laws, hard tables, brute force."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit

from pysynthdp.models.logridge import LogRidge
from pysynthdp.models.ridge import Ridge
from pysynthdp.privacy.mechanism import mechanism_from_dict
from pysynthdp.privacy.prices.regression import ridge_shift
from pysynthdp.testing import fitted, sampler, task_for

LEAST = 1e-9
RNG = np.random.default_rng(11)
X = np.column_stack([np.ones(300), RNG.uniform(-1, 1, (300, 2)), RNG.random(300) < 0.3]).astype(float)
Y = np.clip(20 * X[:, 1] - 8 * X[:, 3] + RNG.normal(0, 6, 300) + 50, 0, 100)
LEVEL = (RNG.random(300) < expit(X @ [0.3, 2.0, -1.0, 1.0])).astype(float)


def test_ridge_is_least_squares_on_rows_augmented_by_the_penalty():
    params = fitted(
        Ridge(penalty=30.0, sigma=6.0), X, Y, task=task_for(300, lower=0.0, upper=100.0, features=4)
    ).params
    rows = np.vstack([X, np.sqrt(30.0) * np.eye(4)])
    oracle = sm.OLS(np.append(Y - 50.0, np.zeros(4)), rows).fit()
    np.testing.assert_allclose(params.beta, oracle.params, rtol=1e-9)


def test_ridge_records_are_normal_around_their_prediction():
    model = Ridge(penalty=30.0, sigma=6.0)
    params = fitted(model, X, Y, task=task_for(300, lower=0.0, upper=100.0, features=4)).params
    rows = np.tile(X, (60, 1))
    z = (model.draw(params, rows, sampler(1)) - 50.0 - rows @ params.beta) / 6.0
    assert stats.kstest(z, stats.norm.cdf).pvalue > LEAST
    assert stats.kstest(z * 1.2, stats.norm.cdf).pvalue < LEAST


def test_rows_longer_than_the_declared_norm_are_clipped_at_the_fit_and_at_the_draw():
    model, task = (
        Ridge(penalty=30.0, sigma=1e-9, row_norm=1.1),
        task_for(300, lower=0.0, upper=100.0, features=4),
    )
    short = X * np.minimum(1, 1.1 / np.linalg.norm(X, axis=1))[:, None]
    params = fitted(model, X, Y, task=task).params
    bare = fitted(Ridge(penalty=30.0, sigma=1e-9), short, Y, task=task).params
    np.testing.assert_allclose(params.beta, bare.beta, rtol=1e-9)
    drawn = model.draw(params, X, sampler())
    np.testing.assert_allclose(drawn, 50 + short @ params.beta, atol=1e-6)


def test_no_neighbour_moves_a_ridge_prediction_further_than_priced():
    """Searched: one informative row, the adversary's, and random ones."""
    n, rng, largest = 8, np.random.default_rng(4), 0.0
    task = task_for(n, lower=-1.0, upper=1.0, features=2)
    limit = ridge_shift(n, row_norm=2**0.5, response=1.0, ridge=2.0)
    for _ in range(400):
        rows = np.column_stack([np.ones(n), rng.choice([-1.0, 0.0, 1.0], n)])
        y = rng.choice([-1.0, 1.0], n)
        other, moved = y.copy(), rows.copy()
        other[0], moved[0, 1] = -y[0], rng.uniform(-1, 1)
        fits = [
            fitted(Ridge(penalty=2.0, sigma=1.0), *data, task=task).params
            for data in ((rows, y), (moved, other))
        ]
        shift = fits[0].beta - fits[1].beta
        largest = max(largest, np.abs(shift[0]) + np.abs(shift[1]))
    assert largest <= limit
    assert largest > limit / 4  # a bound four times too small would be found out


def loss(beta, penalty):
    return np.logaddexp(0, -(2 * LEVEL - 1) * (X @ beta)).sum() + penalty / 2 * beta @ beta


@pytest.mark.parametrize("penalty", [0.5, 20.0, 1e4])
def test_logridge_finds_the_penalised_optimum(penalty):
    params = fitted(LogRidge(penalty=penalty), X, LEVEL, task=task_for(300, levels=2, features=4)).params
    oracle = minimize(loss, np.zeros(4), args=(penalty,), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(params.beta, oracle.x, atol=1e-5)
    assert loss(params.beta, penalty) <= oracle.fun + 1e-9


SEPARATED = (X[:, 1] > 0).astype(float)


@pytest.mark.parametrize("penalty", [1e-9, 1e-3, 1.0])
@pytest.mark.parametrize(
    "y", [SEPARATED, np.ones(300), np.zeros(300), LEVEL], ids=["sep", "one", "nil", "mix"]
)
@pytest.mark.parametrize("scale", [1e-6, 1.0])
def test_logridge_reaches_its_optimum_on_any_table(penalty, y, scale):
    rows = X * scale
    bound = float(np.linalg.norm(rows, axis=1).max())
    task = task_for(300, levels=2, features=4, row_norm=bound)
    beta = fitted(LogRidge(penalty=penalty), rows, y, task=task).params.beta
    gradient = rows.T @ (expit(rows @ beta) - y) + penalty * beta
    assert np.linalg.norm(gradient) <= 1e-7 * bound


@pytest.mark.parametrize("seed", range(40))
def test_logridge_reaches_its_optimum_where_plain_newton_steps_diverge(seed):
    """Rows of very different length, one of the longest with the unlikely level, a small penalty."""
    rng = np.random.default_rng(seed)
    n, penalty = int(rng.integers(10, 200)), 10 ** rng.uniform(-8, -3)
    rows = np.column_stack([np.ones(n), rng.standard_normal((n, 3)) * 10 ** rng.uniform(-2, 2, (n, 1))])
    y = (rng.random(n) < expit(rows @ rng.normal(0, 3, 4))).astype(float)
    far = np.argmax(np.abs(rows[:, 1]))
    y[far] = 1 - y[far]
    bound = float(np.linalg.norm(rows, axis=1).max())
    task = task_for(n, levels=2, features=4, row_norm=bound)
    beta = fitted(LogRidge(penalty=penalty), rows, y, task=task).params.beta
    assert np.linalg.norm(rows.T @ (expit(rows @ beta) - y) + penalty * beta) <= 1e-7 * bound


def test_logridge_levels_follow_their_probability():
    model = LogRidge(penalty=5.0)
    params = fitted(model, X, LEVEL, task=task_for(300, levels=2, features=4)).params
    rows = np.tile(X[:1], (20_000, 1))
    p = float(expit(X[0] @ params.beta))
    ones = int(model.draw(params, rows, sampler(2)).sum())
    assert stats.binomtest(ones, 20_000, p).pvalue > LEAST
    assert stats.binomtest(ones, 20_000, p * 0.9).pvalue < LEAST


def test_no_neighbour_moves_a_logit_further_than_priced():
    """Coefficients move by at most 2 L/penalty (strong convexity); flipping a far row attains half."""
    rng, penalty, largest = np.random.default_rng(5), 0.3, 0.0
    task = task_for(6, levels=2, features=2, row_norm=2**0.5)
    for _ in range(200):
        rows = np.column_stack([np.ones(6), rng.choice([-1.0, 1.0], 6)])
        y, moved = rng.integers(0, 2, 6).astype(float), rows.copy()
        other = np.append(1 - y[0], y[1:])
        moved[0, 1] = rng.uniform(-1, 1)
        fits = [
            fitted(LogRidge(penalty=penalty), *data, task=task).params for data in ((rows, y), (moved, other))
        ]
        largest = max(largest, float(np.linalg.norm(fits[0].beta - fits[1].beta)))
    constants = LogRidge(penalty=penalty).mechanism(task)[1]
    assert largest <= 2 * constants["row_norm"] / constants["ridge"]
    assert largest > 0.1 * 2 * constants["row_norm"] / constants["ridge"]
    assert mechanism_from_dict("logistic_ridge", constants).price(n_syn=1, copies=1).epsilon(1e-6) > 0
