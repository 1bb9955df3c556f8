from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.linalg import null_space

from pysynthdp.models.ask import MomentSums
from pysynthdp.models.fits.linear import fit_linear
from pysynthdp.models.fits.ridge import marginal_ridge


def sums(X, y):
    return MomentSums(float(len(y)), X.T @ X, X.T @ y, float(y @ y))


def rows(n, size, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, size))])
    return X, X @ rng.normal(size=size + 1) + rng.normal(size=n)


def test_agrees_with_statsmodels():
    X, y = rows(150, 6)
    fit, ols = fit_linear(sums(X, y)), sm.OLS(y, X).fit()
    np.testing.assert_allclose(fit.beta, ols.params, rtol=1e-10)
    np.testing.assert_allclose(fit.sigma**2, ols.scale, rtol=1e-10)
    np.testing.assert_allclose(fit.sigma**2 * fit.root @ fit.root.T, ols.cov_params(), rtol=1e-8, atol=1e-12)
    assert fit.df == ols.df_resid


def test_wild_scales_agree_with_statsmodels():
    X, y = rows(150, 3)
    X[:, 1:] = X[:, 1:] * [1e-7, 1.0, 1e8] + [0, 30, 0]
    fit, ols = fit_linear(sums(X, y)), sm.OLS(y, X).fit(method="qr")
    np.testing.assert_allclose(fit.beta, ols.params, rtol=1e-6)


def test_aliased_features_have_coefficient_zero_and_cost_no_df():
    X, y = rows(80, 3)
    wide = np.column_stack([X, X[:, 1] + X[:, 2], np.full(80, 2.0)])
    fit, ols = fit_linear(sums(wide, y)), sm.OLS(y, X).fit()
    np.testing.assert_allclose(fit.beta[:4], ols.params, rtol=1e-9)
    assert fit.aliased == (4, 5)
    assert fit.beta[4:].tolist() == [0.0, 0.0]
    assert fit.sigma**2 == pytest.approx(ols.scale)


def test_exact_relation_has_no_noise():
    X, _ = rows(60, 2)
    fit = fit_linear(sums(X, X @ np.array([1.0, 2.0, 3.0])))
    np.testing.assert_allclose(fit.beta, [1, 2, 3], rtol=1e-9)
    assert fit.sigma == 0.0


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_constant_target(n):
    X, _ = rows(n, 3)
    fit = fit_linear(sums(X, np.full(n, 7.25)))
    np.testing.assert_allclose(fit.beta, [7.25, 0, 0, 0], atol=1e-12)
    assert fit.sigma == 0.0


@pytest.mark.parametrize("size", [37, 60])
def test_few_rows_for_the_predictors_are_not_memorised(size):
    X, _ = rows(40, size)
    y = X[:, 1] + np.random.default_rng(5).normal(size=40)
    fit = fit_linear(sums(X, y))
    fresh, _ = rows(4000, size, seed=9)
    truth = fresh[:, 1] + np.random.default_rng(6).normal(size=4000)
    error = np.sqrt(np.mean((truth - fresh @ fit.beta) ** 2))
    assert 0.5 < fit.sigma < 2.0
    assert error < truth.std()
    spread = np.sqrt(np.mean((X @ fit.beta - y) ** 2))
    assert spread > 0.2


def test_penalty_maximises_the_marginal_likelihood():
    X, y = rows(30, 27)
    Z = X[:, 1:] - X[:, 1:].mean(axis=0)
    Z = Z / Z.std(axis=0)
    ridge = marginal_ridge(Z.T @ Z, Z.T @ y, float(np.sum((y - y.mean()) ** 2)), n=30)
    contrasts = null_space(np.ones((1, 30))).T

    def evidence(penalty):
        cover = contrasts @ (np.eye(30) + Z @ Z.T / penalty) @ contrasts.T
        left = contrasts @ y
        return -0.5 * np.linalg.slogdet(cover)[1] - 29 / 2 * np.log(left @ np.linalg.solve(cover, left))

    grid = 30 * np.exp(np.linspace(-9, 12, 400))
    best = grid[np.argmax([evidence(penalty) for penalty in grid])]
    assert ridge.penalty == pytest.approx(best, rel=0.06)
    np.testing.assert_allclose(
        ridge.beta, np.linalg.solve(Z.T @ Z + ridge.penalty * np.eye(27), Z.T @ y), rtol=1e-6
    )
