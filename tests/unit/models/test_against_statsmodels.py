"""Fits beside statsmodels, to 1e-6, with an aliased feature and an unused level thrown in."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pysynthdp.models.logreg import LogReg
from pysynthdp.models.negbin import NegBin
from pysynthdp.models.norm import Norm
from pysynthdp.models.poisson import Poisson
from pysynthdp.models.polr import PolR
from pysynthdp.models.polyreg import PolyReg
from pysynthdp.testing import fitted, sampler

N = 900


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(2024)


@pytest.fixture(scope="module")
def full(rng):
    """Features, the last a combination of two others."""
    X = np.column_stack([np.ones(N), rng.normal(size=(N, 3)), rng.random((N, 2)) < 0.3]).astype(float)
    return np.column_stack([X, X[:, 1] - X[:, 4]])


@pytest.mark.parametrize("mean", [1e6, 1e9])
def test_norm_with_a_huge_mean(rng, full, mean):
    y = mean + full @ rng.normal(size=7) + rng.normal(size=N)
    done = fitted(Norm(), full, y)
    fit, asked = done.params, done.asked
    ols = sm.OLS(y - mean, full[:, :6]).fit()
    np.testing.assert_allclose(fit.beta[1:6], ols.params[1:], rtol=1e-6)
    np.testing.assert_allclose(fit.beta[0] - mean, ols.params[0], rtol=1e-5)
    np.testing.assert_allclose(fit.sigma**2, ols.scale, rtol=1e-6)
    assert fit.aliased == (6,)
    assert len(asked) == 2


def test_logreg(rng, full):
    y = (full @ rng.normal(size=7) + rng.logistic(size=N) > 0.4).astype(float)
    fit, logit = fitted(LogReg(), full, y, levels=2).params, sm.Logit(y, full[:, :6]).fit(disp=0)
    np.testing.assert_allclose(fit.beta[:6], logit.params, rtol=1e-6)
    np.testing.assert_allclose((fit.root @ fit.root.T)[:6, :6], logit.cov_params(), rtol=1e-6, atol=1e-9)
    assert (fit.beta[6], fit.aliased, fit.shrunk) == (0.0, (6,), False)


def test_polyreg_with_an_unused_level(rng, full):
    code = np.argmax(full @ rng.normal(size=(7, 4)) * 0.5 + rng.gumbel(size=(N, 4)), axis=1)
    y = np.array([0, 1, 3, 4])[code].astype(float)
    fit = fitted(PolyReg(), full, y, levels=5, proper=True).params
    oracle = sm.MNLogit(code, full[:, :6]).fit(disp=0, method="newton", tol=1e-12)
    np.testing.assert_allclose((fit.beta[1:] - fit.beta[0])[:, :6], oracle.params.T, rtol=1e-6, atol=1e-8)
    information = fit.whole @ fit.whole.T
    np.testing.assert_allclose(np.linalg.inv(information), oracle.cov_params(), rtol=1e-5, atol=1e-9)
    assert fit.levels.tolist() == [0, 1, 3, 4]
    assert not fit.shrunk
    drawn = PolyReg().draw(fit, np.tile(full, (20, 1)), sampler(1))
    assert set(np.unique(drawn)) == {0.0, 1.0, 3.0, 4.0}


def test_polr_with_an_unused_level(rng, full):
    code = np.searchsorted([-1.0, 0.2, 1.0], full[:, 1:] @ rng.normal(size=6) * 0.5 + rng.logistic(size=N))
    y = np.array([0, 2, 3, 4])[code].astype(float)
    fit = fitted(PolR(), full, y, levels=5, ordered=True).params
    model = OrderedModel(code, full[:, 1:6], distr="logit")
    oracle = model.fit(method="bfgs", disp=0, gtol=1e-8, maxiter=500)
    np.testing.assert_allclose(fit.beta[1:6], oracle.params[:5], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fit.cuts, model.transform_threshold_params(oracle.params)[1:-1], rtol=1e-6)
    deviation = np.sqrt(np.sum(fit.root**2, axis=1))
    np.testing.assert_allclose(np.append(deviation[1:6], deviation[7:]), oracle.bse, rtol=1e-3)


def test_poisson(rng, full):
    y = rng.poisson(np.exp(full @ rng.normal(size=7) * 0.3)).astype(float)
    fit = fitted(Poisson(), full, y).params
    oracle = sm.GLM(y, full[:, :6], family=sm.families.Poisson()).fit(tol=1e-14)
    np.testing.assert_allclose(fit.beta[:6], oracle.params, rtol=1e-6)
    np.testing.assert_allclose((fit.root @ fit.root.T)[:6, :6], oracle.cov_params(), rtol=1e-6, atol=1e-10)


def test_negbin(rng, full):
    mean = np.exp(full @ rng.normal(size=7) * 0.3) * rng.gamma(2.0, 0.5, size=N)
    y = rng.poisson(mean).astype(float)
    fit = fitted(NegBin(), full, y).params
    model = sm.NegativeBinomial(y, full[:, :6])
    near = model.fit(disp=0, method="bfgs", gtol=1e-4, maxiter=500)
    oracle = model.fit(near.params, disp=0, method="newton", tol=1e-12)  # bfgs may stall just before the end
    np.testing.assert_allclose(fit.beta[:6], oracle.params[:6], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fit.alpha, oracle.params[6], rtol=1e-6)
    values, below = fitted(NegBin(), full, y, proper=True).params.dispersion
    spread = np.interp((np.arange(2000) + 0.5) / 2000, below, values).std()
    assert spread == pytest.approx(oracle.bse[6], rel=0.05)  # the posterior is a little skewed


def test_negbin_without_overdispersion_is_poisson(rng, full):
    y = rng.binomial(20, 0.3, size=N).astype(float)
    fit, poisson = fitted(NegBin(), full, y).params, fitted(Poisson(), full, y).params
    assert fit.alpha == 0.0
    np.testing.assert_array_equal(fit.beta, poisson.beta)
    assert NegBin().redraw(fit, np.random.default_rng(0)).alpha == 0.0


@pytest.mark.parametrize("kind", ["logreg", "polyreg", "polr", "poisson"])
def test_long_tables_reach_the_maximum_in_few_rounds_over_all_rows(kind):
    rng = np.random.default_rng(8)
    n = 120_000
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 3)), rng.random(n) < 0.2, rng.random(n) < 3e-4])
    eta = X @ np.array([0.0, 0.8, -0.5, 0.2, 0.6, 1.0])
    noise = eta + rng.logistic(size=n)
    if kind == "logreg":
        done = fitted(LogReg(), X, (noise > 0.5).astype(float), levels=2)
        fit, asked = done.params, done.asked
        np.testing.assert_allclose(
            fit.beta, sm.Logit(noise > 0.5, X).fit(disp=0, tol=1e-12).params, rtol=2e-6
        )
    elif kind == "polyreg":
        y = np.argmax(np.outer(eta, [0.0, 1.0, -1.0]) + rng.gumbel(size=(n, 3)), axis=1)
        done = fitted(PolyReg(), X, y, levels=3)
        fit, asked = done.params, done.asked
        oracle = sm.MNLogit(y, X).fit(disp=0, method="newton", tol=1e-12)
        np.testing.assert_allclose(fit.beta[1:] - fit.beta[0], oracle.params.T, rtol=2e-6, atol=1e-7)
    elif kind == "polr":
        y = np.searchsorted([-1.0, 0.5, 2.0], noise).astype(float)
        done = fitted(PolR(), X, y, levels=4, ordered=True)
        fit, asked = done.params, done.asked
        below = np.column_stack([1 / (1 + np.exp(X @ fit.beta - cut)) for cut in fit.cuts])
        bounds = np.column_stack([np.zeros(n), below, np.ones(n)])
        at, before = bounds[np.arange(n), y.astype(int) + 1], bounds[np.arange(n), y.astype(int)]
        score = X.T @ (1 - at - before)
        assert np.abs(score[1:]).max() < 1e-3
    else:
        y = rng.poisson(np.exp(0.3 * eta)).astype(float)
        done = fitted(Poisson(), X, y)
        fit, asked = done.params, done.asked
        oracle = sm.GLM(y, X, family=sm.families.Poisson()).fit(tol=1e-14)
        np.testing.assert_allclose(fit.beta, oracle.params, rtol=2e-6)
    rounds = [query for query in asked if getattr(query, "every", 0) == 1]
    assert len(rounds) <= 14
