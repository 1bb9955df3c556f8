"""Gradients and Hessians beside finite differences of the value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from pysynthdp.models.fits.counts import _negative_binomial_terms
from pysynthdp.models.fits.glm import logistic_terms, poisson_terms
from pysynthdp.models.fits.level_prior import MultinomialProblem, penalty, prior_coupling
from pysynthdp.models.fits.multinomial import _gradient_terms
from pysynthdp.models.fits.ordinal import OrdinalTerms, gap_barrier

RNG = np.random.default_rng(11)
X = np.column_stack([np.ones(40), RNG.normal(size=(40, 2))])
LEVEL = RNG.integers(0, 4, size=40).astype(float)
CASES = {
    "logistic": (logistic_terms, np.array([0.2, -0.5, 0.3])),
    "poisson": (poisson_terms, np.array([0.2, -0.5, 0.3])),
    "negbin": (_negative_binomial_terms, np.array([0.2, -0.5, 0.3, 0.4])),
    "ordinal": (OrdinalTerms(np.arange(4), 3), np.array([0.0, -0.5, 0.3, -1.0, 0.1, 0.9])),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient_and_hessian(name):
    terms, theta = CASES[name]
    value, gradient, hessian = terms(theta, True)(X, LEVEL)
    np.testing.assert_allclose(
        gradient,
        approx_fprime(theta, lambda t: float(terms(t, False)(X, LEVEL)[0]), 1e-7),
        rtol=1e-5,
        atol=1e-5,
    )
    slopes = [
        approx_fprime(theta, lambda t, j=j: terms(t, False)(X, LEVEL)[1][j], 1e-6) for j in range(theta.size)
    ]
    np.testing.assert_allclose(hessian, slopes, rtol=1e-4, atol=1e-4)
    assert np.isfinite(value)


def test_multinomial_gradient():
    beta = RNG.normal(size=(4, 3))
    gradient = _gradient_terms(beta)(X, LEVEL)[1]
    flat = approx_fprime(beta.ravel(), lambda t: float(_gradient_terms(t.reshape(4, 3))(X, LEVEL)[0]), 1e-7)
    np.testing.assert_allclose(gradient.ravel(), flat, atol=1e-5)


def test_gap_barrier():
    barrier = gap_barrier(np.array([5.0, 3.0, 2.0, 7.0]), 1)
    theta = np.array([0.3, -1.0, 0.1, 0.9])
    _, gradient, hessian = barrier(theta)
    np.testing.assert_allclose(gradient, approx_fprime(theta, lambda t: barrier(t)[0], 1e-7), atol=1e-5)
    slopes = [approx_fprime(theta, lambda t, j=j: barrier(t)[1][j], 1e-6) for j in range(4)]
    np.testing.assert_allclose(hessian, slopes, atol=1e-4)
    assert barrier(np.array([0.0, 1.0, 1.0, 2.0]))[0] == np.inf


def test_level_prior_is_coupling_and_its_gradient():
    cells = np.abs(RNG.normal(size=(4, 3))) + 1
    gram = np.diag([cells[:, 0].sum(), 9.0, 9.0])
    precision = np.abs(RNG.normal(size=(4, 3)))
    problem, beta = MultinomialProblem(cells, gram, precision, np.arange(3)), RNG.normal(size=(4, 3))
    value, gradient = penalty(problem, beta)
    flat = approx_fprime(beta.ravel(), lambda t: penalty(problem, t.reshape(4, 3))[0], 1e-7)
    np.testing.assert_allclose(gradient.ravel(), flat, atol=1e-5)
    quadratic = np.einsum("kj,jkl,lj->", beta, prior_coupling(problem), beta)
    np.testing.assert_allclose(2 * value, quadratic)
    np.testing.assert_allclose(penalty(problem, beta + 7.0)[0], value)
