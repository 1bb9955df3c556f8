"""Regressions of long tables: few looks at all rows where a sample is a bad guide, the same coefficients."""

import numpy as np
import pytest
import statsmodels.api as sm

from pysynthdp.models.fits import newton
from pysynthdp.models.logreg import LogReg
from pysynthdp.models.poisson import Poisson
from pysynthdp.testing import fitted

N = 12_000
THOUSANDTH = 1e-3  # of a standard error


@pytest.fixture(autouse=True)
def long(monkeypatch):
    """Call a table long from 2000 rows on, and look at every twentieth first."""
    monkeypatch.setattr(newton, "LONG", 2_000)
    monkeypatch.setattr(newton, "SAMPLE", 600)


def features(tail, seed=5):
    """Three features with tails, and a dummy of twelve records that no sample shows."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((N, 3))
    rare = np.zeros(N)
    rare[1 + 20 * np.arange(12)] = 1.0
    return np.column_stack([np.ones(N), np.exp(tail * Z), rare]), Z, rng


def of_all_rows(found):
    """Sums over all rows that were asked for."""
    return sum(getattr(query, "every", 0) == 1 for query in found.asked)


@pytest.mark.parametrize(("tail", "most"), [(0.5, 5), (1.5, 7), (2.5, 11)])
def test_a_logistic_regression_is_that_of_statsmodels(tail, most):
    X, Z, rng = features(tail)
    y = (Z.sum(axis=1) + rng.logistic(size=N) + X[:, -1] > 0.4).astype(float)
    found = fitted(LogReg(), X, y, levels=2)
    oracle = sm.Logit(y, X).fit(disp=0, method="newton", tol=1e-14, maxiter=200)
    assert np.abs((found.params.beta - oracle.params) / oracle.bse).max() < THOUSANDTH
    np.testing.assert_allclose(np.sqrt(np.sum(found.params.root**2, axis=1)), oracle.bse, rtol=0.03)
    assert of_all_rows(found) <= most  # 14, 35 and no end where the sample is asked for X'y of all rows


@pytest.mark.parametrize("tail", [0.3, 0.8])
def test_a_poisson_regression_is_that_of_statsmodels(tail):
    X, Z, rng = features(tail)
    y = rng.poisson(np.exp(0.3 * Z.sum(axis=1) + X[:, -1])).astype(float)
    found = fitted(Poisson(), X, y)
    oracle = sm.GLM(y, X, family=sm.families.Poisson()).fit(tol=1e-14, maxiter=200)
    assert np.abs((found.params.beta - oracle.params) / oracle.bse).max() < THOUSANDTH
    assert of_all_rows(found) <= 10  # else 55


def test_one_row_so_far_out_that_its_mean_overflows_does_not_stop_a_fit():
    X, Z, rng = features(0.3)
    X = np.column_stack([np.ones(N), Z[:, 0]])
    y = rng.poisson(np.exp(0.5 * Z[:, 0])).astype(float)
    X[7, 1], y[7] = 2_000.0, 1.0  # the sample's slope makes e^1000 of it
    found = fitted(Poisson(), X, y)
    oracle = sm.GLM(y, X, family=sm.families.Poisson()).fit(tol=1e-14, maxiter=200)
    assert np.abs((found.params.beta - oracle.params) / oracle.bse).max() < THOUSANDTH


def test_a_search_that_lasts_takes_the_curvature_anew(monkeypatch):
    X, Z, rng = features(3.0)
    y = (Z.sum(axis=1) + rng.logistic(size=N) > 0.4).astype(float)
    found = fitted(LogReg(), X, y, levels=2)
    monkeypatch.setattr(newton, "PATIENCE", 1_000)
    assert of_all_rows(fitted(LogReg(), X, y, levels=2)) > of_all_rows(found)
