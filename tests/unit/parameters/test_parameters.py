"""Releasing a parameter itself: laws, prices, exact noise, and tables with odd cells."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pysynthdp as sdp
from pysynthdp.parameters import release_mean, release_shares
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.prices.beta_curves import parameter_renyi

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
    prior = {} if prior_sd is None else {"sigma": 15.0, "prior_sd": prior_sd}
    release = release_mean(TABLE, AGE, how="laplace", epsilon=0.5, copies=4000, **prior)
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


SHOWN = (
    "Guarantee",
    "Status",
    "Protected unit",
    "Neighbours",
    "Sensitivity",
    "Entry",
    "epsilon at delta = 1e-06",
)
WITH_MISSING = sdp.CategoricalColumn(
    "sex", ["F", "M"], other="F", may_be_missing=True, missing={-8: "refused"}
)


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (
            lambda **more: release_mean(TABLE, AGE, sigma=15.0, copies=2, **more),
            ("B2", "idealised", "mean of age"),
        ),
        (
            lambda **more: release_mean(TABLE, AGE, sigma=15.0, prior_sd=5.0, **more),
            ("B5", "idealised", "mu"),
        ),
        (lambda **more: release_mean(TABLE, AGE, how="laplace", epsilon=0.5, **more), ("B7", "implemented")),
        (lambda **more: release_shares(TABLE, SEX, prior=20.0, **more), ("F8, G3", "idealised", "F", "M")),
        (lambda **more: release_shares(TABLE, REGION, prior=20.0, **more), ("F8, G3", "a", "b", "c")),
        (
            lambda **more: release_shares(TABLE, WITH_MISSING, prior=2.0, how="laplace", epsilon=1.0, **more),
            ("F9", "F", "M", "NA", "refused"),
        ),
    ],
)
def test_a_release_says_what_it_cost_for_whom_and_of_which_levels(make, facts):
    alone = make()
    assert alone.privacy.verify().ok
    assert alone.together is None
    assert (alone.privacy.released, alone.privacy.records) == ("parameters", 0)
    for shown in (str(alone), alone._repr_html_()):
        for part in (*SHOWN, *facts, "one record", "no account was given"):
            assert part in shown
    account = sdp.PrivacyAccount(unit=sdp.PrivacyUnit(name="pupil"), deltas=(1e-6, 1e-5))
    first, second = make(account=account), make(account=account)
    assert "first on its account" in str(first)
    assert "1 other before it on the same account" in " ".join(str(second).split())
    assert "one pupil" in str(second)
    assert second.privacy.points[0] == pytest.approx(alone.privacy.points[0])
    assert second.together.points[0][1] > second.privacy.points[0][1]


def test_a_statement_that_was_changed_does_not_verify():
    for release in (
        release_mean(TABLE, AGE, sigma=15.0),
        release_mean(TABLE, AGE, how="laplace", epsilon=0.5),
        release_shares(TABLE, SEX, prior=20.0),
        release_shares(TABLE, REGION, prior=20.0, how="laplace", epsilon=0.5),
    ):
        plain = release.privacy.to_dict()
        assert sdp.PrivacyStatement.from_dict(plain).verify().ok
        constants = plain["columns"][0]["constants"]
        for name in {"sigma", "eps", "prior"} & set(constants):
            scaled = [2 * each for each in constants[name]] if name == "prior" else constants[name] / 2
            changed = {
                **plain,
                "columns": [{**plain["columns"][0], "constants": {**constants, name: scaled}}],
            }
            priced = not (
                name == "prior" and release.entry == "F9"
            )  # noise on counts costs the same at any prior
            assert sdp.PrivacyStatement.from_dict(changed).verify().ok != priced


def test_the_sensitivity_is_what_the_worst_replacement_does():
    """Oracle: exact means and modes of two neighbouring tables at the ends of the range."""
    low, high = [20.0] * 10, [70.0, *[20.0] * 9]
    mean = release_mean(pd.DataFrame({"age": low}), AGE, how="laplace", epsilon=1.0)
    assert mean.sensitivity == pytest.approx(np.mean(high) - np.mean(low))
    shrunk = release_mean(pd.DataFrame({"age": low}), AGE, sigma=15.0, prior_sd=1.0)
    weight = 1 / (225 / 10 + 1)
    assert shrunk.sensitivity == pytest.approx(weight * 5.0)
    table = pd.DataFrame({"region": ["a"] * 10, "sex": ["F"] * 10})
    for column, prior, moved in ((REGION, 2.0, 2), (SEX, 2.0, 1)):
        size = len(column.levels)
        modal = release_shares(table, column, prior=prior, how="laplace", epsilon=1.0)
        assert modal.sensitivity == pytest.approx(moved / (10 + size * prior - size))
        drawn = release_shares(table, column, prior=prior)
        assert drawn.sensitivity == pytest.approx(moved / (10 + size * prior))


def test_a_unit_of_several_rows_gets_the_epsilon_that_was_asked_for_and_more_noise():
    home = sdp.PrivacyUnit(name="household", rows_per_unit=4)
    release = release_mean(TABLE, AGE, how="laplace", epsilon=0.5, copies=4000, unit=home)
    assert release.guarantee.eps == pytest.approx(2000)
    assert release.sensitivity == pytest.approx(4 * 50 / N)
    scale = 4 * 50 / (N * 0.5)
    assert stats.kstest(release.estimates, stats.laplace(MEAN, scale).cdf).pvalue > LEAST
    assert stats.kstest(release.estimates, stats.laplace(MEAN, scale / 4).cdf).pvalue < LEAST
    assert "at most 4 rows a household: assumed, not checked" in " ".join(str(release).split())
    drawn = release_mean(TABLE, AGE, sigma=15.0, unit=home)
    assert drawn.guarantee.rho == pytest.approx(16 * 50**2 / (2 * N * 225))
    counts = release_shares(TABLE, SEX, prior=1.0, how="laplace", epsilon=0.5, unit=home)
    assert (counts.guarantee.eps, counts.sensitivity) == pytest.approx((0.5, 4 / N))
    for refused in (home, sdp.PrivacyUnit(relation="add_remove")):
        with pytest.raises(sdp.PrivacyError, match=r"one row a unit|add_remove"):
            release_shares(TABLE, SEX, prior=20.0, unit=refused)
    with pytest.raises(sdp.PrivacyError, match="add_remove"):
        release_mean(TABLE, AGE, how="laplace", epsilon=1.0, unit=sdp.PrivacyUnit(relation="add_remove"))


KEYED = sdp.PrivacyUnit(name="household", rows_per_unit=2, key="hid")
HOMES = pd.DataFrame(
    {"hid": [1, 1, 1, 1, 2, None], "age": [20.0, 30.0, 70.0, 70.0, 60.0, 70.0], "sex": [*"FFMMMM"]}
)


def near(values, low, high):
    """Whether all values lie within a range: noise at epsilon 1e6 moves none of them by 0.001."""
    return bool(np.all((np.subtract(low, 0.01) < values) & (values < np.add(high, 0.01))))


@pytest.mark.parametrize("order", [range(6), [4, 5, 0, 1, 2, 3]])
def test_a_key_bounds_the_rows_of_a_unit_before_any_sum(order):
    """Oracle: by hand. Two rows of household 1 and the row without a key become 45 and 'F'."""
    table = HOMES.iloc[list(order)]
    kept = (20.0 + 30.0 + 60.0 + 3 * 45.0) / 6
    mean = release_mean(table, AGE, how="laplace", epsilon=1e6, unit=KEYED)
    assert near(mean.estimates, kept, kept)
    assert not near(mean.estimates, table["age"].mean(), table["age"].mean())
    drawn = release_mean(table, AGE, sigma=1e-4, unit=KEYED)
    assert near(drawn.estimates, kept, kept)
    shares = release_shares(table, SEX, prior=1.0, how="laplace", epsilon=1e6, unit=KEYED)
    assert near(shares.estimates, [5 / 6, 1 / 6], [5 / 6, 1 / 6])
    for release in (mean, drawn, shares):
        text = " ".join(str(release).split())
        assert "at most 2 rows a household: enforced by hid before any sum" in text
        assert "assumed, not checked" not in text
        assert release.privacy.verify().ok


def test_a_key_of_one_row_a_unit_serves_a_posterior_of_shares():
    unit = sdp.PrivacyUnit(name="household", key="hid")
    table = pd.DataFrame({"hid": [1] * 1000 + [2], "sex": ["M"] * 1001})
    assert near(release_shares(table, SEX, prior=1.0, unit=unit).estimates[:, 1], 0, 0.05)


def test_two_tables_that_differ_in_one_household_differ_by_its_limit_at_most():
    """The sensitivity that is stated is reached, and no number of rows of the household passes it."""
    others = [(2, 20.0), (3, 20.0)]
    means = [
        release_mean(
            pd.DataFrame([(1, age)] * 8 + others, columns=["hid", "age"]),
            AGE,
            how="laplace",
            epsilon=1e7,
            unit=KEYED,
        )
        for age in (20.0, 70.0)
    ]
    moved = float(means[1].estimates[0] - means[0].estimates[0])
    assert moved == pytest.approx(means[0].sensitivity, rel=1e-3) == pytest.approx(2 * 50 / 10)


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (sdp.PrivacyUnit(key="home"), "no column 'home', which the unit names as its key"),
        (sdp.PrivacyUnit(key="age"), "age is the key that says whose a row is"),
        (sdp.PrivacyUnit("add_remove", key="hid"), "add_remove"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_and_nothing_is_charged(unit, message):
    account = sdp.PrivacyAccount(unit=unit)
    with pytest.raises((sdp.PrivacyError, sdp.SchemaError), match=message):
        release_mean(HOMES, AGE, sigma=1.0, account=account)
    assert account.statements == ()


@pytest.mark.parametrize("value", ["1", True, np.True_, [1.0], math.nan, math.inf, -1.0, 0], ids=repr)
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda value: release_mean(TABLE, AGE, sigma=value), "sigma"),
        (lambda value: release_mean(TABLE, AGE, sigma=1.0, prior_sd=value), "prior_sd"),
        (lambda value: release_mean(TABLE, AGE, sigma=1.0, copies=value), "copies"),
        (lambda value: release_mean(TABLE, AGE, how="laplace", epsilon=value), "epsilon"),
        (lambda value: release_mean(TABLE, AGE, sigma=1.0, deltas=(value,)), "delta"),
        (lambda value: release_shares(TABLE, SEX, prior=(1.0, value)), "prior"),
        (lambda value: release_shares(TABLE, SEX, prior=1.0, how="laplace", epsilon=value), "epsilon"),
        (lambda value: release_shares(TABLE, SEX, prior=1.0, copies=value), "copies"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name_and_costs_nothing(call, name, value):
    with pytest.raises(sdp.PrivacyError, match=name):
        call(value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda **more: release_mean(TABLE, AGE, sigma=1.0, epsilon=1.0, **more), "epsilon belongs"),
        (
            lambda **more: release_mean(TABLE, AGE, how="laplace", epsilon=1.0, sigma=1.0, **more),
            "sigma belongs",
        ),
        (lambda **more: release_mean(TABLE, AGE, sigma=1.0, prior_mean=40.0, **more), "prior_sd"),
        (
            lambda **more: release_mean(TABLE, AGE, sigma=1.0, prior_mean="40", prior_sd=1.0, **more),
            "prior_mean",
        ),
        (lambda **more: release_mean(TABLE, SEX, sigma=1.0, **more), "release_shares"),
        (lambda **more: release_shares(TABLE, AGE, prior=1.0, **more), "release_mean"),
        (lambda **more: release_shares(TABLE, SEX, prior="11", **more), "prior"),
        (lambda **more: release_shares(TABLE, SEX, prior=None, **more), "prior"),
        (lambda **more: release_mean(TABLE[["sex"]], AGE, sigma=1.0, **more), "no column 'age'"),
        (lambda **more: release_mean(TABLE[:0], AGE, sigma=1.0, **more), "no rows"),
        (lambda **more: release_mean(TABLE["age"], AGE, sigma=1.0, **more), "DataFrame"),
        (lambda **more: release_mean(TABLE, AGE, sigma=1.0, unit="pupil", **more), "unit must be"),
        (lambda **more: release_mean(TABLE, AGE, sigma=1.0, deltas=1e-6, **more), "deltas"),
    ],
)
def test_what_is_refused_is_not_charged(call, message):
    account = sdp.PrivacyAccount()
    with pytest.raises((sdp.PrivacyError, sdp.SchemaError), match=message):
        call(account=account)
    assert account.statements == ()


def test_a_table_with_labels_is_its_rows():
    labelled = sdp.SurveyTable(TABLE[["age", "sex"]], sdp.Schema([AGE, SEX]))
    assert release_mean(labelled, AGE, sigma=15.0, copies=2000).estimates.mean() == pytest.approx(MEAN, abs=1)
    assert release_shares(labelled, SEX, prior=1.0, copies=1).estimates.sum() == pytest.approx(1)
