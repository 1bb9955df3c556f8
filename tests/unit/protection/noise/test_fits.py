"""Fits from moments against statsmodels on the rows that have those moments."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from pysynthdp.design.encode import Layout
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import StepMoments
from pysynthdp.models.fits.moment_linear import linear_from_moments
from pysynthdp.models.fits.moment_logit import PRIOR_SD, MomentLogit, logit_from_moments
from pysynthdp.protection.noise.moments.cells import Cells, thinned
from pysynthdp.protection.noise.moments.fitting import feasible_cross


def rows(levels: int, n: int = 4_000, features: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Dummies and a level that depends on them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.integers(0, 2, (n, features - 1))]).astype(float)
    beta = rng.standard_normal((levels, features)) / 2
    shares = np.exp(X @ beta.T)
    shares /= shares.sum(axis=1, keepdims=True)
    return X, (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_logit_from_moments_is_maximum_likelihood_of_the_rows(levels):
    X, y = rows(levels)
    cross = X.T @ np.eye(levels)[y]
    beta = logit_from_moments(X, np.ones(len(X)), cross, n=len(X))
    fit = sm.MNLogit(y, X).fit(disp=False)
    # the prior N(0, 16) moves an estimate by about its variance over 16
    assert np.allclose((beta[1:] - beta[0]).T, fit.params, atol=5e-3)


def test_large_problems_take_the_other_search_to_the_same_place(monkeypatch):
    X, y = rows(5)
    cross = X.T @ np.eye(5)[y]
    whole = logit_from_moments(X, np.ones(len(X)), cross, n=len(X))
    monkeypatch.setattr("pysynthdp.models.fits.moment_logit.WHOLE", 1)
    other = logit_from_moments(X, np.ones(len(X)), cross, n=len(X))
    # it stops when all rows' log likelihood would gain less than 0.001; standard errors are about 0.1
    assert np.abs(other - whole).max() < 0.01


def test_a_direction_is_curved_as_the_hessian_says():
    X, y = rows(3, n=50)
    problem = MomentLogit(X, np.full(50, 0.02), (X.T @ np.eye(3)[y]).T / 50, 0.1)
    rng = np.random.default_rng(1)
    _, _, probability = problem.value(rng.standard_normal((3, 4)))
    way = rng.standard_normal((3, 4))
    assert np.allclose(problem.curve(way, probability).ravel(), problem.hessian(probability) @ way.ravel())


def test_moments_of_no_rows_have_a_finite_fit_at_the_optimum():
    X, y = rows(3)
    cross = X.T @ np.eye(3)[y]
    cross[1] = [-30.0, cross[1].sum() + 10.0, 20.0]  # a negative cell
    beta = logit_from_moments(X, np.ones(len(X)), cross, n=len(X))
    assert np.isfinite(beta).all()
    target = cross.T / len(X)
    share = target[:, 0] / target[:, 0].sum()
    target = target + np.outer(share, X.mean(axis=0) - target.sum(axis=0))
    problem = MomentLogit(X, np.full(len(X), 1 / len(X)), target, 1 / (len(X) * PRIOR_SD**2))
    assert np.abs(problem.value(beta)[1]).max() < 1e-5


def test_derivatives_are_those_of_the_objective():
    X, y = rows(3, n=50)
    target = (X.T @ np.eye(3)[y]).T / 50
    problem = MomentLogit(X, np.full(50, 0.02), target, 0.1)
    beta = np.random.default_rng(1).standard_normal((3, 4))
    _, gradient, probability = problem.value(beta)
    hessian = problem.hessian(probability)
    for i in range(12):
        step = np.zeros(12)
        step[i] = 1e-5
        up, down = (problem.value(beta + sign * step.reshape(3, 4)) for sign in (1, -1))
        assert (up[0] - down[0]) / 2e-5 == pytest.approx(gradient.ravel()[i], abs=1e-7)
        assert np.allclose((up[1] - down[1]).ravel() / 2e-5, hessian[i], atol=1e-6)


def test_tables_that_could_be_of_rows_are_left_alone_and_others_become_such():
    layout = Layout((Part("a", "value", ("x", "y", "z")), Part("b", "value", ("u", "v"))), {})
    at, mean = np.array([0, 1, 2]), np.array([100.0, 30.0, 50.0])
    real = np.array([[60.0, 40.0], [10.0, 20.0], [35.0, 15.0]])
    assert np.allclose(feasible_cross(real, at, layout, mean), real)
    noisy = np.array([[60.0, 40.0], [-9.0, 41.0], [50.0, 1.0]])
    found = feasible_cross(noisy, at, layout, mean)
    table = np.vstack([found[0] - found[1:].sum(axis=0), found[1:]])
    assert (table > 0).all()
    assert np.allclose(table.sum(axis=1), [20, 30, 50])
    assert np.allclose(table.sum(axis=0), [60, 40])


def test_linear_from_moments_is_least_squares():
    X, _ = rows(2)
    y = X @ [1.0, 2.0, -1.0, 0.5] + np.random.default_rng(2).standard_normal(len(X))
    given = StepMoments(X, np.ones(len(X)), X.T @ X, (X.T @ y)[:, None], float(y @ y), float(len(X)))
    fit, ols = linear_from_moments(given), sm.OLS(y, X).fit()
    assert np.allclose(fit.beta, ols.params)
    assert fit.sigma**2 == pytest.approx(ols.ssr / len(X))


def test_no_residual_variance_says_so():
    given = StepMoments(np.zeros((0, 2)), np.zeros(0), 9 * np.eye(2), np.array([[5.0], [8.0]]), 2.0, 9.0)
    assert linear_from_moments(given).df == 0


def test_thinning_keeps_heavy_cells_and_every_expectation():
    rng = np.random.default_rng(3)
    weights = rng.pareto(1.2, 5_000)
    weights /= weights.sum()
    kept, new = thinned(weights, 400)
    assert abs(len(kept) - 400) <= 1
    assert new.sum() == pytest.approx(1, rel=5e-3)
    heavy = weights[kept] > new.min()
    assert np.allclose(new[heavy], weights[kept][heavy])
    values = np.arange(5_000) % 7
    assert new @ values[kept] == pytest.approx(weights @ values, abs=0.1)


def test_numbers_in_cells_have_the_moments_of_simulated_rows():
    cells = Cells.start().split(np.array([[0.3, 0.7]])).split(np.array([[0.2, 0.8], [0.6, 0.4]]))
    every, present = np.ones(4, dtype=bool), cells.codes[:, 1] == 0
    none = np.arange(0)
    cells = cells.with_number(np.arange(3), none, np.array([1.0, 2.0, -1.0]), 0.5, every)
    cells = cells.with_number(np.arange(3), np.arange(1), np.array([0.5, 1.0, 0.3, 0.7]), 0.8, present)
    cells = cells.with_number(np.arange(3), np.arange(2), np.array([0.1, 1.0, 2.0, -0.4, 0.9]), 0.6, every)
    rng = np.random.default_rng(5)
    at = rng.choice(4, 400_000, p=cells.weights)
    X = cells.X[at]
    e = rng.standard_normal((3, len(at)))
    a = X @ [1.0, 2.0, -1.0] + 0.5 * e[0]
    b = np.where(present[at], X @ [0.5, 1.0, 0.3] + 0.7 * a + 0.8 * e[1], 0.0)
    c = X @ [0.1, 1.0, 2.0] - 0.4 * a + 0.9 * b + 0.6 * e[2]
    full = np.column_stack([X, a, b, c])
    implied = cells.products(np.arange(3), np.arange(3), every)
    # largest standard deviation of a product over root rows is about 0.02; 6 of them
    assert np.abs(full.T @ full / len(at) - implied).max() < 0.12
