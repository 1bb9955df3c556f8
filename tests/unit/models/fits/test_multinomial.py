"""Multinomial searches on long tables: a sample's curvature gives way to that of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from pysynthdp.models.fits import level_curvature, multinomial, newton
from pysynthdp.models.fits.level_prior import MultinomialProblem
from pysynthdp.models.polyreg import PolyReg
from pysynthdp.testing import fitted

N = 12_000


def heavy(tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Features with tails, the more the larger, and four levels that hang on them."""
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((N, 3))
    X = np.column_stack([np.ones(N), np.exp(tail * Z)])
    score = Z @ rng.standard_normal((3, 4)) + rng.gumbel(size=(N, 4))
    return X, score.argmax(axis=1).astype(float)


def looks(found) -> int:
    """Count the sums over all rows that were asked for."""
    return sum(getattr(query, "every", 0) == 1 for query in found.asked)


def hessian(p, X):
    """Second derivatives in the log odds to the first level, level by level."""
    spread = (p[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    blocks = block_diag(*(X.T @ (X * share[:, None]) for share in p.T))
    return blocks - spread.T @ spread


def distance(found, X, y) -> float:
    """Largest distance to the minimum that scipy finds, in standard errors; statsmodels overflows here."""
    size = np.sqrt((X**2).mean(axis=0))
    Z, chosen = X / size, (y[:, None] == np.arange(1, 4)).astype(float)

    def odds(b):
        return Z @ b.reshape(3, -1).T

    def shares(b):
        return softmax(np.column_stack([np.zeros(len(Z)), odds(b)]), axis=1)[:, 1:]

    def value(b):
        eta = odds(b)
        return float(
            (logsumexp(np.column_stack([np.zeros(len(Z)), eta]), axis=1) - (eta * chosen).sum(1)).sum()
        )

    beta = (found.params.beta[1:] - found.params.beta[0]) * size
    best = minimize(
        value,
        np.zeros(beta.size),
        jac=lambda b: ((shares(b) - chosen).T @ Z).ravel(),
        hess=lambda b: hessian(shares(b), Z),
        method="trust-exact",
        options={"gtol": 1e-5, "maxiter": 500},
    ).x
    errors = np.sqrt(np.diag(np.linalg.inv(hessian(shares(best), Z))))
    return float(np.abs((beta.ravel() - best) / errors).max())


@pytest.fixture
def sampled(monkeypatch):
    """Call a table long from 2000 rows on, and look at some of its rows first."""

    def of(rows):
        monkeypatch.setattr(newton, "LONG", 2_000)
        monkeypatch.setattr(newton, "SAMPLE", rows)

    return of


@pytest.mark.parametrize(("tail", "rows", "most"), [(0.8, 4_000, 6), (1.7, 1_000, 30)])
def test_a_long_table_has_the_coefficients_that_scipy_finds_after_few_looks(sampled, tail, rows, most):
    X, y = heavy(tail)
    sampled(rows)
    found = fitted(PolyReg(), X, y, levels=4)
    assert looks(found) <= most  # 11 and 129 by blocks of a sample alone
    assert distance(found, X, y) < 1e-3


def test_without_rows_far_out_the_curvature_takes_longer(sampled, monkeypatch):
    X, y = heavy(1.7)
    sampled(1_000)
    with_far = looks(fitted(PolyReg(), X, y, levels=4))
    monkeypatch.setattr(level_curvature, "FAR", np.inf)
    found = fitted(PolyReg(), X, y, levels=4)
    assert looks(found) > with_far
    assert distance(found, X, y) < 5e-3  # it is in no way wrong


@pytest.mark.parametrize("few", [True, False])
def test_tables_of_few_rows_a_coefficient_take_blocks(sampled, monkeypatch, few):
    X, y = heavy(0.8)
    sampled(4_000)
    if few:
        monkeypatch.setattr(multinomial, "whole_pays", lambda problem, rows_each=700.0: False)  # noqa: ARG005
    found = fitted(PolyReg(), X, y, levels=4)
    blocks = any(a.ndim == 3 for q in found.asked if getattr(q, "every", 0) > 1 for a in q.of(X[:2], y[:2]))
    assert blocks == few
    assert distance(found, X, y) < 1e-3


@pytest.mark.parametrize(("rows_each", "pays"), [(700.0, True), (900.0, False)])
def test_the_whole_curvature_needs_rows_for_each_coefficient(rows_each, pays):
    X, y = heavy(0.8)
    cells = multinomial.level_cells(4)(X, y)[0]
    problem = MultinomialProblem(cells, X.T @ X, np.zeros_like(cells), np.arange(4))
    assert level_curvature.whole_pays(problem, rows_each) == pays  # 12,000 rows, 16 coefficients
    wide = MultinomialProblem(np.ones((800, 4)), X.T @ X * 1e6, np.zeros((800, 4)), np.arange(4))
    assert not level_curvature.whole_pays(wide)  # nor is its matrix too large


def test_the_whole_curvature_is_the_hessian():
    X, y = heavy(0.3)
    X, y = X[:300], y[:300]
    rng = np.random.default_rng(2)
    beta, weights = rng.standard_normal((4, 4)), rng.integers(1, 4, 300).astype(float)
    free = np.array([0, 1, 3])
    (made,) = level_curvature.whole_terms(beta, free, lambda X: np.ones(len(X), bool))(X, y, weights)

    def gradient(moved):
        return (multinomial.level_probabilities(moved, X) @ (X * weights[:, None]))[:-1][:, free].ravel()

    for index in range(made.shape[0]):
        level, feature = divmod(index, free.size)
        step = np.zeros_like(beta)
        step[level, free[feature]] = 1e-6
        slope = (gradient(beta + step) - gradient(beta - step)) / 2e-6
        np.testing.assert_allclose(made[index], slope, rtol=1e-5, atol=1e-4)


def test_a_dummy_of_rows_that_no_sample_shows(sampled):
    X, y = heavy(0.3)
    rare = np.zeros(N)
    rare[1 + 12 * np.arange(40)] = 1.0
    sampled(1_000)
    X = np.column_stack([X, rare])
    y = np.where((rare == 1) & (np.arange(N) % 5 == 0), 3.0, y)
    found = fitted(PolyReg(), X, y, levels=4, dummies=(False,) * 4 + (True,))
    assert distance(found, X, y) < 1e-3
    assert looks(found) <= 12


def test_a_search_that_is_near_takes_the_curvature_there(sampled, monkeypatch):
    X, y = heavy(1.7)
    sampled(400)
    near = looks(fitted(PolyReg(), X, y, levels=4))
    monkeypatch.setattr(multinomial, "NEAR_WHOLE", 0.0)
    assert looks(fitted(PolyReg(), X, y, levels=4)) > near


def test_a_slow_search_of_a_sample_takes_the_whole_curvature(sampled, monkeypatch):
    X, y = heavy(1.7)
    sampled(400)
    asked = len(fitted(PolyReg(), X, y, levels=4).asked)
    monkeypatch.setattr(multinomial, "SLOW", 1_000)
    assert len(fitted(PolyReg(), X, y, levels=4).asked) > asked
