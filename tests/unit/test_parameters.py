"""Releasing a parameter itself: laws, prices, exact noise, and tables with odd cells."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp as sdp
from pysynthdp.parameters import release_mean, release_shares
from pysynthdp.privacy.orders import ORDERS
from pysynthdp.privacy.sampling.beta_renyi import parameter_renyi

LEAST = 1e-9
AGE = sdp.NumericColumn("age", lower=20, upper=70, may_be_missing=False, fallback=45)
SEX = sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)
REGION = sdp.CategoricalColumn("region", ["a", "b", "c"], other="a", may_be_missing=False)
N = 100
TABLE = pd.DataFrame(
    {
        "age": np.random.default_rng(1).uniform(20, 70, N),
        "sex": ["F"] * 60 + ["M"] * 40,
        "region": ["a"] * 50 + ["b"] * 30 + ["c"] * 20,
    }
)
MEAN = TABLE["age"].mean()


def test_posterior_means_are_normal_around_the_mean():
    drawn = release_mean(TABLE, AGE, sigma=15.0, copies=20_000).estimates
    assert stats.kstest(drawn, stats.norm(MEAN, 1.5).cdf).pvalue > LEAST
    assert stats.kstest(drawn, stats.norm(MEAN, 1.8).cdf).pvalue < LEAST


def test_a_prior_pulls_and_narrows_the_posterior_and_lowers_the_price():
    release = release_mean(TABLE, AGE, sigma=15.0, prior_mean=30.0, prior_sd=1.0, copies=5000)
    weight = 1 / (225 / N + 1)
    law = stats.norm(weight * MEAN + (1 - weight) * 30.0, 1.5 * math.sqrt(weight))
    assert stats.kstest(release.estimates, law.cdf).pvalue > LEAST
    flat = release_mean(TABLE, AGE, sigma=15.0, copies=5000)
    assert release.guarantee.rho == pytest.approx(weight * flat.guarantee.rho)
    assert flat.guarantee.rho == pytest.approx(5000 * 50**2 / (2 * N * 225))


@pytest.mark.parametrize("prior_sd", [None, 1.0])
def test_a_noisy_mean_has_laplace_noise_of_its_sensitivity_over_epsilon(prior_sd):
    release = release_mean(TABLE, AGE, how="laplace", epsilon=0.5, copies=4000, sigma=15.0, prior_sd=prior_sd)
    weight = 1.0 if prior_sd is None else 1 / (225 / N + 1)
    mode, scale = weight * MEAN + (1 - weight) * 45.0, weight * 50 / (N * 0.5)
    assert stats.kstest(release.estimates, stats.laplace(mode, scale).cdf).pvalue > LEAST
    assert (
        stats.kstest(release.estimates, stats.laplace(mode, scale / 2).cdf).pvalue < LEAST
    )  # the printed scale
    assert release.guarantee.eps == pytest.approx(2000)
    assert release.status == "implemented"


def test_posterior_shares_have_their_dirichlet_law_and_price():
    release = release_shares(TABLE, SEX, prior=20.0, copies=4000)
    assert stats.kstest(release.estimates[:, 0], stats.beta(80, 60).cdf).pvalue > LEAST
    assert stats.kstest(release.estimates[:, 0], stats.beta(60, 40).cdf).pvalue < LEAST
    np.testing.assert_allclose(release.estimates.sum(axis=1), 1)
    price = release_shares(TABLE, SEX, prior=20.0, copies=3).guarantee.renyi(ORDERS)
    curve = parameter_renyi(N, 20.0, 20.0, orders=ORDERS)
    bounded = np.isfinite(curve)
    np.testing.assert_allclose(price[bounded], 3 * curve[bounded], rtol=1e-9)


@pytest.mark.parametrize(("column", "gap", "posterior"), [(SEX, 1, [79, 59]), (REGION, 2, [69, 49, 39])])
def test_noisy_shares_have_laplace_noise_on_their_counts(column, gap, posterior):
    release = release_shares(TABLE, column, prior=20.0, how="laplace", epsilon=0.1, copies=4000)
    total = sum(posterior)
    for level, count in enumerate(posterior):
        error = release.estimates[:, level] * total - count
        # discrete Laplace of scale 10 or 20: within 5 % of the continuous law; at half the scale p < 1e-9
        assert np.abs(error).mean() == pytest.approx(gap / 0.1, rel=0.12)
        np.testing.assert_allclose(error, np.round(error), atol=1e-6)
    assert release.guarantee.eps == pytest.approx(400)


@pytest.mark.parametrize("cell", ["x", None, np.inf, np.nan, 10**400, [1], pd.NaT, 1j])
def test_a_table_with_an_odd_cell_releases_like_any_other(cell):
    odd = pd.DataFrame({"age": [cell, *TABLE["age"][1:]], "sex": [cell, *TABLE["sex"][1:]]}, dtype=object)
    assert np.isfinite(release_mean(odd, AGE, sigma=15.0).estimates).all()
    assert np.isfinite(release_shares(odd, SEX, prior=2.0).estimates).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: release_mean(TABLE, AGE), "sigma"),
        (lambda: release_mean(TABLE, AGE, how="laplace"), "epsilon"),
        (lambda: release_mean(TABLE, AGE, how="other", sigma=1.0), "how"),
        (lambda: release_mean(TABLE, AGE, sigma=1.0, copies=0), "copies"),
        (lambda: release_mean(TABLE, sdp.NumericColumn("age"), sigma=1.0), "age: .* bounds"),
        (lambda: release_shares(TABLE, SEX, prior=[1.0]), "2 weights"),
        (lambda: release_shares(TABLE, SEX, prior=0.5, how="laplace", epsilon=1.0), "at least 1"),
        (lambda: release_shares(TABLE, sdp.CategoricalColumn("sex", ["F", "M"]), prior=2.0), "other="),
    ],
)
def test_a_missing_constant_is_refused_by_name(call, message):
    with pytest.raises(sdp.PrivacyError, match=message):
        call()


def test_a_release_prints_its_price():
    text = str(release_mean(TABLE, AGE, sigma=15.0, copies=2).to_table())
    assert "B2" in text
    assert "idealised" in text
