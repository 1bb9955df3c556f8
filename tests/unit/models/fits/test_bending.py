"""A bent regression keeps its margin and its least-squares regression, seen on rows it was not made from."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.models.fits import bending
from pysynthdp.models.fits.bending import bend
from pysynthdp.models.fits.latent import few_together, index_mass, latent_cdf
from pysynthdp.models.fits.linear import LinearFit
from pysynthdp.models.fits.quantile_table import quantile_table, table_values

FRESH = 400_000
BETA = np.array([1.0, 0.3, -0.4, 0.5, -0.5])
U = (np.arange(256) + 0.5) / 256


def features(n: int, seed: int) -> np.ndarray:
    """Intercept, two dummies, a normal and a skewed number."""
    rng = np.random.default_rng(seed)
    dummies = rng.random((n, 2)) < (0.3, 0.6)
    return np.column_stack([np.ones(n), dummies, rng.standard_normal(n), rng.exponential(size=n)])


def drawn(found: tuple[bending.Bent, np.ndarray], X: np.ndarray) -> np.ndarray:
    """Draw from the latent regression."""
    bent, knots = found
    latent = X @ bent.gamma + np.random.default_rng(9).standard_normal(len(X))
    return table_values(quantile_table(knots), np.interp(latent, bent.grid, bent.cdf))


def fit(strength: float) -> LinearFit:
    """A regression with unit residual spread."""
    return LinearFit(strength * BETA, 1.0, 1e4, np.zeros((5, 0)), ())


def gap(bent: tuple[bending.Bent, np.ndarray], beta: np.ndarray) -> np.ndarray:
    """Least squares on fresh rows beside the wanted coefficients, in standard errors of 5,000 rows."""
    X = features(FRESH, 2)
    found, rest, *_ = np.linalg.lstsq(X, drawn(bent, X))
    errors = np.sqrt(rest / FRESH * np.diag(np.linalg.inv(X.T @ X)) * FRESH / 5_000)
    return np.abs(found - beta) / errors


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("values", [-np.log1p(-U), np.where(U < 0.4, 0.0, U**4)], ids=["skewed", "lumpy"])
def test_the_regression_of_a_skewed_draw_is_the_wanted_one(strength, values):
    # fresh rows leave 0.11 standard errors, the rows of the fit about 0.2 of the misfit
    bent = bend(fit(strength), features(10_000, 1), np.stack([U, values]))
    assert gap(bent, strength * BETA).max() < 0.75


def test_without_the_search_the_regression_would_be_bent(monkeypatch):
    monkeypatch.setattr(bending, "ROUNDS", 1)
    bent = bend(fit(1.0), features(10_000, 1), np.stack([U, -np.log1p(-U)]))
    assert gap(bent, BETA).max() > 3


def test_the_margin_has_the_wanted_shape_mean_and_spread():
    X = features(10_000, 1)
    bent = bend(fit(1.0), X, np.stack([U, -np.log1p(-U)]))
    values = drawn(bent, features(FRESH, 2))
    assert values.mean() == pytest.approx((X @ BETA).mean(), abs=0.02)
    assert values.std() == pytest.approx(np.sqrt((X @ BETA).var() + 1), abs=0.02)
    wanted = -np.log1p(-np.array([0.1, 0.5, 0.9]))
    scaled = (np.quantile(values, [0.1, 0.5, 0.9]) - values.mean()) / values.std() + 1
    assert np.allclose(scaled, wanted, atol=0.03)


def test_a_number_that_is_nearly_a_function_of_others_ends():
    bent, _ = bend(fit(1e4), features(2_000, 1), np.stack([U, -np.log1p(-U)]))
    assert np.isfinite(bent.gamma).all()
    assert np.std(features(2_000, 1) @ bent.gamma) <= bending.FARTHEST * (1 + 1e-9)


def test_a_start_leads_to_the_same_place():
    X, knots = features(10_000, 1), np.stack([U, -np.log1p(-U)])
    cold, _ = bend(fit(1.0), X, knots)
    warm, _ = bend(fit(1.0), X, knots, start=cold.gamma * 1.2)
    assert np.abs(X @ (warm.gamma - cold.gamma)).std() < 0.01


def test_rows_alone_in_a_tail_tell_only_their_mean():
    dense = np.repeat(np.linspace(-2, 2, 33), 40)
    laws = []
    for tail in (
        [10.0, 11.0, 12.0, 13.0, 14.0],
        [11.9, 12.0, 12.0, 12.0, 12.1],
        [10.0, 10.0, 10.0, 10.0, 20.0],
    ):
        mass = index_mass(np.concatenate([dense, tail]), -40.0, 641)
        together = few_together(mass, 5)
        assert together.sum() == pytest.approx(mass.sum())
        assert (together * np.arange(641)).sum() == pytest.approx((mass * np.arange(641)).sum())
        laws.append(latent_cdf(together))
    np.testing.assert_allclose(laws[1], laws[0], atol=1e-12)
    np.testing.assert_allclose(laws[2], laws[0], atol=1e-12)


def test_where_many_rows_lie_nothing_moves():
    mass = index_mass(np.repeat(np.linspace(-2, 2, 33), 40), -40.0, 641)
    np.testing.assert_array_equal(few_together(mass, 5), mass)
