"""The prior chosen by marginal likelihood beside brute force, and the equations that its optimum solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from pysynthdp.models.fits.evidence import Evidence, free_of_nuisance, tuned_prior
from pysynthdp.models.fits.sparsity import SLOPE_SD

RNG = np.random.default_rng(5)


def quadratic(size, effect):
    """A pseudo-estimate z ~ N(b, A^-1) as information A and score A z."""
    root = RNG.normal(size=(size, 3 * size))
    information = root @ root.T
    noise = np.linalg.solve(np.linalg.cholesky(information).T, RNG.normal(size=size))
    return Evidence(information, information @ (effect * RNG.normal(size=size) + noise))


@pytest.mark.parametrize("effect", [0.3, 1.0])
def test_the_scale_maximises_the_density_of_the_estimate(effect):
    evidence = quadratic(8, effect)
    z, spread = np.linalg.solve(evidence.information, evidence.score), np.linalg.inv(evidence.information)

    def loss(log_scale):
        return -multivariate_normal(np.zeros(8), spread + np.exp(-log_scale) * np.eye(8)).logpdf(z)

    brute = min(
        (minimize_scalar(loss, bounds=(low, low + 2), method="bounded") for low in range(-2, 8)),
        key=lambda found: found.fun,
    )
    scale = float(tuned_prior(evidence, np.ones(8)).scale)
    np.testing.assert_allclose(np.log(scale), brute.x, atol=1e-4)


def test_the_scale_given_weights_solves_mackays_equation():
    evidence, weight = quadratic(6, 0.8), RNG.uniform(0.2, 2.0, size=6)
    prior = tuned_prior(evidence, weight)
    precision = float(prior.scale) * weight
    cover = np.linalg.inv(evidence.information + np.diag(precision))
    slope = cover @ evidence.score
    gamma = 6 - np.sum(precision * cover.diagonal())
    assert np.sum(precision * slope**2) == pytest.approx(gamma, rel=1e-6)
    expected = 2 / (1 + float(prior.scale) * (slope**2 + cover.diagonal()))
    np.testing.assert_allclose(prior.weight, expected, rtol=1e-9)


def test_no_effect_gives_the_strongest_prior_and_huge_ones_the_weakest():
    nothing = tuned_prior(Evidence(np.diag([4.0, 9.0]), np.zeros(2)), np.ones(2))
    np.testing.assert_allclose(nothing.precision(), 900.0, rtol=0.01)
    np.testing.assert_allclose(nothing.weight, 1.0, rtol=0.02)
    huge = tuned_prior(Evidence(np.diag([4.0, 9.0]), np.array([400.0, 900.0])), np.ones(2))
    np.testing.assert_allclose(huge.precision(), 1 / SLOPE_SD**2, rtol=1e-3)


def test_a_stack_is_its_members():
    members = [quadratic(5, effect) for effect in (0.1, 0.5, 2.0)]
    stack = Evidence(np.stack([m.information for m in members]), np.stack([m.score for m in members]))
    together = tuned_prior(stack, np.ones((3, 5)))
    for k, member in enumerate(members):
        alone = tuned_prior(member, np.ones(5))
        np.testing.assert_allclose(together.precision()[k], alone.precision(), rtol=1e-9)
    scaled = Evidence(members[0].information, stack.score[:2], np.array([1.0, 3.0]))
    own = Evidence(3 * members[0].information, stack.score[1])
    np.testing.assert_allclose(
        tuned_prior(scaled, np.ones(1)).precision()[1], tuned_prior(own, np.ones(5)).precision(), rtol=1e-9
    )


def test_nuisance_is_profiled_out():
    information = quadratic(5, 0.0).information
    score, slopes = RNG.normal(size=5), np.array([False, True, True, False, True])
    free = free_of_nuisance(information, score, slopes)
    np.testing.assert_allclose(
        np.linalg.inv(free.information), np.linalg.inv(information)[np.ix_(slopes, slopes)]
    )
    np.testing.assert_allclose(
        np.linalg.solve(free.information, free.score), np.linalg.solve(information, score)[slopes]
    )
