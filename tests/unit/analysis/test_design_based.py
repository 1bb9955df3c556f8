"""Estimates under a design are those of R's package survey; pooled, they say what they rest on."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.analysis.designs.sample import checked_lonely, sample_of, variance
from pysynthdp.base.errors import FitError
from pysynthdp.tags import ReleaseTags

FOLDER = Path(__file__).parents[2] / "golden" / "design"
WANTED = json.loads((FOLDER / "survey.json").read_text(encoding="utf-8"))
R_TERMS = ("Intercept", "hours", "region[T.south]", "region[T.west]")
ROLES = {
    "clustered": {"weight": "weight", "strata": "stratum", "psu": "unit"},
    "finite": {"weight": "weight", "strata": "stratum", "psu": "unit", "fpc": "size"},
    "rows": {"weight": "weight", "strata": "stratum"},
    "weighted": {"weight": "weight"},
}
ESTIMATES = {
    "mean": lambda release, **own: sdp.svymean("income", release, **own),
    "means": lambda release, **own: sdp.svymean(["income", "hours"], release, **own),
    "total": lambda release, **own: sdp.svytotal("hours", release, **own),
    "shares": lambda release, **own: sdp.svymean("region", release, **own),
    "counts": lambda release, **own: sdp.svytotal("region", release, **own),
    "ratio": lambda release, **own: sdp.svyratio("income", "hours", release, **own),
    "by": lambda release, **own: sdp.svymean("hours", release, by="region", **own),
    "linear": lambda release, **own: sdp.svyglm("income ~ hours + region", release, **own),
    "logistic": lambda release, **own: sdp.svyglm("work ~ hours + region", release, family="binomial", **own),
}


def sample(name: str = "sample") -> pd.DataFrame:
    return pd.read_csv(FOLDER / f"{name}.csv")


def release_of(*copies: pd.DataFrame, **details: Any) -> Any:
    """Give copies as a release whose columns are all synthetic, and only they."""
    n = len(copies[0])
    names = frozenset(map(str, copies[0].columns))
    tags = ReleaseTags(kind="complete", m=len(copies), n_syn=n, n_org=n, synthesised=names, details=details)
    return SimpleNamespace(copies=copies, tags=tags, schema=None)


@pytest.mark.parametrize("design", ROLES)
@pytest.mark.parametrize("what", ESTIMATES)
def test_estimates_are_those_of_the_package_survey(design, what):
    table = sample()
    given = sdp.Design(**ROLES[design])
    done = ESTIMATES[what](release_of(table, table), design=given, rule="partial_size_adjusted")
    own, want = done.estimates[0], WANTED["designs"][design][what]
    if what in ("linear", "logistic"):  # R puts numbers before factors as they stand in the formula
        own = own.aligned(R_TERMS, R_TERMS)
    np.testing.assert_allclose(own.values, np.atleast_1d(want["values"]), rtol=1e-8)
    cov = np.reshape(want["cov"], own.cov.shape)
    np.testing.assert_allclose(own.cov, cov, rtol=1e-8, atol=1e-8 * np.abs(cov).max())
    df = want["df"] if what in ("linear", "logistic") else WANTED["designs"][design]["df"]
    assert own.df == df


@pytest.mark.parametrize("word", ["certainty", "adjust", "average"])
def test_a_stratum_with_one_unit_adds_what_is_said(word):
    table = sample("alone")
    roles = ROLES["clustered"]
    own = sample_of(table, roles)
    z = own.w[:, None] * table[["hours"]].to_numpy(dtype=float)
    np.testing.assert_allclose(variance(z, own, word)[0, 0], WANTED["lonely"][word]["cov"][0], rtol=1e-8)


def test_a_stratum_with_one_unit_is_refused_with_the_way_out():
    table = sample("alone")
    with pytest.raises(FitError, match=r"2 strata have one sampling unit.*lonely='adjust'"):
        sdp.svymean("hours", release_of(table, table), design=sdp.Design(**ROLES["clustered"]))


def test_the_pooled_variance_is_that_of_the_design_and_of_the_copies():
    table = sample()
    other = table.assign(hours=table["hours"].to_numpy()[::-1])
    done = sdp.svymean("hours", release_of(table, other), design=sdp.Design(**ROLES["clustered"]))
    u = np.mean([each.cov[0, 0] for each in done.estimates])
    b = np.var([each.values[0] for each in done.estimates], ddof=1)  # noqa: PD011 -- not a pandas object
    T = u + b / 2
    assert done.rule == "partial_design"
    assert done.bse.iloc[0] == pytest.approx(np.sqrt(T), rel=1e-12)
    design = WANTED["designs"]["clustered"]["df"]
    assert done.df.iloc[0] == pytest.approx(T**2 / (u**2 / design + (b / 2) ** 2), rel=1e-12)


def test_copies_that_are_alike_leave_the_degrees_of_freedom_of_the_design():
    table = sample()
    done = sdp.svymean("hours", release_of(table, table), design=sdp.Design(**ROLES["clustered"]))
    assert done.df.iloc[0] == pytest.approx(WANTED["designs"]["clustered"]["df"])
    many = sdp.svymean("hours", release_of(table, table), design=sdp.Design(weight="weight"))
    assert many.df.iloc[0] == pytest.approx(len(table) - 1)


def test_a_confidential_estimate_is_compared():
    table = sample()
    design = sdp.Design(**ROLES["clustered"])
    for what in ("mean", "linear"):
        done = ESTIMATES[what](release_of(table, table), design=design)
        assert ("of the design, linearised" in str(done.summary())) == (what == "linear")
        by_table = sdp.compare_fits(done, table)
        own = done.estimates[0]
        by_pair = sdp.compare_fits(done, (own.values, own.cov))  # noqa: PD011 -- not a pandas object
        assert np.abs(by_table.std_diff).max() < 1e-9
        assert by_pair.terms == by_table.terms
        np.testing.assert_allclose(by_pair.std_diff, by_table.std_diff, atol=1e-9)


WRONG = {
    "no design": (lambda t: release_of(t, t), {}, "the release has no design"),
    "no column": (lambda t: release_of(t, t), {"design": sdp.Design(weight="w")}, "no column 'w'"),
    "no stratum": (
        lambda t: release_of(t, t[t["stratum"] != 2].reset_index(drop=True)),
        {"design": sdp.Design(weight="weight", strata="stratum")},
        r"copy 2 has no rows in 1 of the 6 strata of stratum",
    ),
    "no weight": (
        lambda t: release_of(t.assign(weight=-t["weight"]), t),
        {"design": sdp.Design(weight="weight")},
        r"copy 1.*some weights are missing, negative or infinite",
    ),
    "small population": (
        lambda t: release_of(t.assign(size=3), t),
        {"design": sdp.Design(weight="weight", strata="stratum", psu="unit", fpc="size")},
        "more sampling units in the sample than there are",
    ),
    "two sizes": (
        lambda t: release_of(t.assign(size=t["hours"]), t),
        {"design": sdp.Design(weight="weight", strata="stratum", psu="unit", fpc="size")},
        "one positive size in each stratum",
    ),
    "a word": (
        lambda t: release_of(t, t),
        {"design": sdp.Design(weight="weight"), "lonely": "adjusted"},
        "lonely must be one of.*did you mean 'adjust'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_gives_no_estimate_is_refused_by_name(case):
    release, options, says = WRONG[case]
    made = release(sample())
    with pytest.raises(FitError, match=says):
        sdp.svymean("hours", made, **options)


def test_a_ratio_is_of_numbers():
    table = sample()
    with pytest.raises(FitError, match="a ratio is of two numbers"):
        sdp.svyratio("income", "region", release_of(table, table), design=sdp.Design(weight="weight"))


def test_a_domain_that_a_copy_lacks_is_not_pooled():
    table = sample()
    other = table.assign(region=table["region"].replace("west", "north"))
    design = sdp.Design(weight="weight", strata="stratum")
    done = sdp.svymean("hours", release_of(table, other), by="region", design=design)
    assert np.isnan(done.params["mean(hours)[region=west]"])
    assert any("cannot be estimated in copy 2" in note for note in done.notes)


def test_single_units_have_one_vocabulary():
    old = sdp.Design(weight="w", how="population", lonely="certain")
    assert old == sdp.Design(weight="w", how="population", lonely="certainty")
    assert checked_lonely("refuse") == "fail"


def test_a_regression_of_large_numbers_converges_whatever_rounding_does():
    rng = np.random.default_rng(2)
    for _ in range(40):  # an absolute tolerance failed one in fifty of such tables
        age, pay = rng.integers(25, 70, 200), rng.lognormal(9.5, 1, 200)
        table = pd.DataFrame({"age": age, "pay": pay, "w": rng.choice([58.1, 77.7], 200)})
        table["income"] = 200 * age + 0.4 * pay + rng.normal(0, 9000, 200)
        both = SimpleNamespace(copies=(table, table), tags=complete(table), schema=None)
        found = sdp.svyglm("income ~ age + pay", both, design=sdp.Design(weight="w"))
        assert np.isfinite(found.params).all()


def complete(table: pd.DataFrame) -> ReleaseTags:
    """Tags of two copies that are a table."""
    names, n = frozenset(table.columns), len(table)
    return ReleaseTags(kind="complete", m=2, n_syn=n, n_org=n, synthesised=names)
