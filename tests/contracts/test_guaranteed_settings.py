"""Settings of the models that carry a guarantee: refused before a record is read, or drawn exactly."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import pysynthdp as sdp
from pysynthdp.models.dirichlet import Dirichlet
from pysynthdp.models.gaussian import Gaussian
from pysynthdp.models.gaussian_floor import GaussianFloor
from pysynthdp.models.logridge import LogRidge
from pysynthdp.models.ridge import Ridge
from pysynthdp.protection.sampling.by_sampling import BySampling

N = 500
RELIGION = [1.0, 2.0, 3.0, 4.0]
SCHEMA = sdp.Schema(
    [
        sdp.NumericColumn("age", lower=15, upper=50, may_be_missing=False, fallback=15, decimals=1),
        sdp.CategoricalColumn("religious", RELIGION, other=1.0, may_be_missing=False, dtype="float64"),
        sdp.CategoricalColumn("affair", ["no", "yes"], other="no", may_be_missing=False),
    ]
)


def real() -> pd.DataFrame:
    """Affairs of 1974 (statsmodels fair), the first rows."""
    frame = sm.datasets.fair.load_pandas().data.iloc[:N]
    return frame[["age", "religious"]].assign(affair=np.where(frame["affairs"] > 0, "yes", "no"))


UNSET = [
    (Gaussian(), "age", "sigma"),
    (Gaussian(sigma=-1.0), "age", "sigma"),
    (Gaussian(sigma=float("nan")), "age", "sigma"),
    (Gaussian(sigma=7.0, prior_sd=0.0), "age", "prior_sd"),
    (GaussianFloor(), "age", "floor"),
    (GaussianFloor(floor=18.0), "age", "floor"),
    (Dirichlet(), "affair", "prior"),
    (Dirichlet(prior=0.0), "affair", "prior"),
    (Dirichlet(prior=1.0, posterior="map"), "affair", "prior"),
    (Ridge(sigma=1.0), "age", "penalty"),
    (Ridge(penalty=1.0, sigma=0.0), "age", "sigma"),
    (LogRidge(), "affair", "penalty"),
    (LogRidge(penalty=float("inf")), "affair", "penalty"),
]


@pytest.mark.parametrize(("model", "column", "setting"), UNSET)
def test_a_missing_or_impossible_constant_is_refused_by_name_before_a_record_is_read(model, column, setting):
    plan = sdp.Synthesizer(
        schema=sdp.Schema([SCHEMA[column]]), method={column: model}, guarantee=BySampling()
    ).plan()
    with pytest.raises(sdp.PrivacyError, match=setting):
        plan.price(n=N)


@pytest.mark.parametrize(
    ("model", "column", "proper"),
    [
        (Gaussian(sigma=7.0, posterior="one"), "age", False),
        (Gaussian(sigma=7.0, posterior="map"), "age", True),
        (Gaussian(sigma=7.0, truncate=True), "age", True),
        (Dirichlet(prior=20.0, posterior="one"), "affair", False),
        (Dirichlet(prior=20.0, posterior="many"), "affair", True),
    ],
)
def test_a_posterior_that_the_plan_does_not_draw_is_refused(model, column, proper):
    settings = {"schema": sdp.Schema([SCHEMA[column]]), "method": {column: model}, "proper": proper}
    with pytest.raises(sdp.PlanError, match="proper"):
        sdp.Synthesizer(**settings, guarantee=BySampling()).plan().price(n=N)
    with pytest.raises(sdp.PlanError, match="proper"):
        sdp.Synthesizer(**settings).fit(real()[[column]])


EXACT = [
    ("age", Gaussian(sigma=7.0), False),
    ("age", Gaussian(sigma=7.0, posterior="many"), False),
    ("age", Gaussian(sigma=7.0, prior_sd=1.0), True),
    ("affair", Dirichlet(prior=20.0), False),
    ("religious", Dirichlet(prior=2.5, posterior="map"), False),
    ("affair", Dirichlet(prior=20.0), True),
    ("religious", Dirichlet(prior=(2.5, 1.0, 0.125, 7.0)), True),
]


@pytest.mark.parametrize(("column", "model", "proper"), EXACT)
def test_an_exact_release_is_drawn_in_whole_numbers_and_says_implemented(column, model, proper, monkeypatch):
    """No float variate carries the claim: with all of them withheld at the draw, records still come."""
    schema = sdp.Schema([dataclasses.replace(SCHEMA[column], **_undecimal(column))])
    settings = {"schema": schema, "method": {column: model}, "proper": proper, "progress": False}
    fit = sdp.Synthesizer(**settings, guarantee=BySampling(exact=True)).fit(real()[[column]])
    monkeypatch.delattr("pysynthdp.base.streams.NumpySampler.normal")
    monkeypatch.delattr("pysynthdp.base.streams.NumpySampler.uniform")
    release = fit.draw(m=2, k=200)
    assert release.privacy.status == "implemented"
    assert release.privacy.guarantee.name in {"zcdp", "rdp"}
    assert release.privacy.verify().ok
    if column == "age":
        inside = release[0]["age"][release[0]["age"].between(15, 50, inclusive="neither")]
        steps = (inside - 15) / (35 / N)
        np.testing.assert_allclose(steps, steps.round(), atol=1e-6)


def _undecimal(column: str) -> dict[str, Any]:
    return {"decimals": None} if column == "age" else {}


@pytest.mark.parametrize(
    ("column", "model", "proper"),
    [
        ("age", GaussianFloor(floor=10.0), False),
        ("age", Gaussian(sigma=7.0, truncate=True), False),
        ("affair", LogRidge(penalty=50.0), False),
    ],
)
def test_exact_is_refused_where_no_proof_is_known(column, model, proper):
    settings = {"schema": sdp.Schema([SCHEMA[column]]), "method": {column: model}, "proper": proper}
    plan = sdp.Synthesizer(**settings, guarantee=BySampling(exact=True)).plan()
    with pytest.raises(sdp.PrivacyError, match=f"{column}.*exact"):
        plan.price(n=N)


def test_a_prior_that_has_no_whole_weights_is_refused_before_a_record_is_read():
    settings = {"schema": sdp.Schema([SCHEMA["affair"]]), "method": {"affair": Dirichlet(prior=1 / 3)}}
    with pytest.raises(sdp.PlanError, match=r"affair: .*six decimals"):
        sdp.Synthesizer(**settings, guarantee=BySampling(exact=True)).plan().price(n=N)


def test_an_exact_draw_of_one_parameter_a_copy_costs_what_the_parameter_would():
    for prior, column in (((20.0, 20.0), "affair"), ((5.0,) * 4, "religious")):
        settings = {"schema": sdp.Schema([SCHEMA[column]]), "method": {column: Dirichlet(prior=prior)}}
        plans = [
            sdp.Synthesizer(**settings, proper=True, guarantee=BySampling(exact=exact)).plan()
            for exact in (True, False)
        ]
        for m in (1, 3):
            exact, idealised = (plan.price(n=N, n_syn=50, m=m) for plan in plans)
            assert exact.guarantee == idealised.guarantee
            assert [price.steps[0].mechanism.exact for price in (exact, idealised)] == [True, False]


def test_exact_copies_vary_as_one_parameter_each_and_over_blocks():
    """Shares of 2,500 copies: beta, p > 1e-9; one record that counts too little gives p < 1e-9."""
    settings = {"schema": sdp.Schema([SCHEMA["affair"]]), "method": {"affair": Dirichlet(prior=0.5)}}
    table = pd.DataFrame({"affair": ["no", "no", "yes"]})
    fit = sdp.Synthesizer(**settings, proper=True, guarantee=BySampling(exact=True), progress=False).fit(
        table
    )
    shares = [(copy["affair"] == "no").mean() for copy in fit.draw(m=2500, k=200)]
    assert stats.kstest(shares, stats.beta(2.5, 1.5).cdf).pvalue > 1e-9
    assert stats.kstest(shares, stats.beta(5, 3).cdf).pvalue < 1e-9
    (long,) = fit.draw(m=1, k=40_000)  # three blocks share one urn: their shares agree
    blocks = [(long["affair"] == "no")[start : start + 16_384] for start in (0, 16_384)]
    assert abs(blocks[0].mean() - blocks[1].mean()) < 6 * 2**0.5 * 0.5 / 128
