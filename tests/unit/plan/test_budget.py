"""What a budget buys, from public constants: the most records or copies, or the smallest setting."""

from __future__ import annotations

import math
from typing import Any

import pytest

import pysynthdp as sdp
from pysynthdp.models import Dirichlet, Gaussian, GaussianFloor, LinearStatistics, LogRidge, Ridge

AGE = sdp.NumericColumn("age", lower=-4, upper=4, may_be_missing=False, fallback=0)
SEX = sdp.CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False)


def plan(*columns: Any, exact: bool = False, **method: Any) -> sdp.SynthesisPlan:
    settings = {"schema": sdp.Schema(columns), "method": method, "guarantee": sdp.BySampling(exact=exact)}
    return sdp.Synthesizer(**settings).plan()


@pytest.mark.parametrize("exact", [False, True])
def test_the_printed_number_of_records_is_bought(exact):
    """Neunhoeffer, Latner and Drechsler: rho = 0.5 buys 15,625 records of n = 1000, sigma = 1, range 8."""
    mean = plan(AGE, age=Gaussian(sigma=1.0), exact=exact)
    assert mean.records_for(n=1000, rho=0.5) == 15_625
    assert mean.records_for(n=1000, rho=0.5, m=5) == 3125
    assert mean.copies_for(n=1000, rho=0.5) == 15  # of a thousand records: 0.032 each
    assert mean.copies_for(n=1000, rho=0.5, n_syn=3125) == 5


@pytest.mark.parametrize("budget", [{"rho": 0.03}, {"epsilon": 1.1}, {"epsilon": 0.9, "delta": 1e-5}])
def test_one_more_record_or_copy_would_cost_more(budget):
    mean = plan(AGE, age=Gaussian(sigma=1.0))
    rows, copies = mean.records_for(n=1000, **budget), mean.copies_for(n=1000, n_syn=10, **budget)
    for less, more in (
        ({"n_syn": rows, "m": 1}, {"n_syn": rows + 1, "m": 1}),
        ({"m": copies}, {"m": copies + 1}),
    ):
        costs = [mean.price(n=1000, **{"n_syn": 10, **asked}) for asked in (less, more)]
        kept = [c.guarantee.rho if "rho" in budget else c.epsilon(budget.get("delta")) for c in costs]
        assert kept[0] <= budget.get("rho", budget.get("epsilon")) * (1 + 1e-12) < kept[1]


def test_both_columns_of_a_table_share_the_budget():
    table = plan(AGE, SEX, age=Gaussian(sigma=1.0), sex=Dirichlet(prior=20.0))
    rows = table.records_for(n=1000, epsilon=1.0)
    assert rows < plan(AGE, age=Gaussian(sigma=1.0)).records_for(n=1000, epsilon=1.0)
    assert table.price(n=1000, n_syn=rows, m=1).epsilon() <= 1.0


@pytest.mark.parametrize(
    ("column", "model", "setting", "budget"),
    [
        (AGE, Gaussian(sigma=1.0), "sigma", {"rho": 0.01}),
        (AGE, GaussianFloor(floor=1.0), "floor", {"epsilon": 4.2}),
        (AGE, Ridge(penalty=1.0, sigma=1.0), "penalty", {"rho": 0.5}),
        (SEX, Dirichlet(prior=1.0), "prior", {"epsilon": 1.0}),
        (SEX, Dirichlet(prior=5.0, posterior="map"), "prior", {"epsilon": 1.0}),
        (SEX, LogRidge(penalty=1.0), "penalty", {"epsilon": 1.0}),
    ],
)
def test_the_smallest_setting_meets_the_budget_and_a_smaller_one_does_not(column, model, setting, budget):
    found = plan(column, **{column.name: model}).smallest_setting(column.name, setting, n=1000, **budget)
    for factor, kept in ((1.0, True), (0.999, False)):
        changed = type(model)(
            **{name: getattr(model, name) for name in ("sigma", "posterior") if hasattr(model, name)}
            | {setting: found * factor}
        )
        price = plan(column, **{column.name: changed}).price(n=1000, m=1)
        cost = price.guarantee.rho if "rho" in budget else price.epsilon()
        assert (cost <= next(iter(budget.values())) * (1 + 1e-11)) is kept


def test_a_floor_near_half_the_range_is_found_though_a_larger_one_is_refused():
    floor = plan(AGE, age=GaussianFloor(floor=1.0)).smallest_setting("age", "floor", n=1000, epsilon=1.06)
    assert 2.1 < floor <= 4


def test_noise_paid_once_buys_any_number():
    paid = plan(SEX, sex=LinearStatistics(epsilon=1.0))
    assert paid.records_for(n=100, epsilon=1.0, delta=1e-9) == 10**9
    assert paid.copies_for(n=100, epsilon=1.0, delta=1e-9) == 10**9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.records_for(n=1000), "one way"),
        (lambda p: p.records_for(n=1000, rho=1.0, epsilon=1.0), "one way"),
        (lambda p: p.records_for(n=1000, rho=1.0, delta=1e-6), "no delta"),
        (lambda p: p.records_for(n=1000, rho=0.0), "budget must be above zero"),
        (lambda p: p.records_for(n=1000, rho=math.nan), "budget must be finite"),
        (lambda p: p.records_for(n=1000, epsilon=1.0, delta=1.0), "delta"),
        (lambda p: p.records_for(n=0, epsilon=1.0), "n, the rows of the table, must be at least 1"),
        (lambda p: p.price(n=-5), "n, the rows of the table, must be at least 1"),
        (lambda p: p.price(n=10, n_syn=0), "n_syn"),
        (lambda p: p.price(n=10, m=0), "copies"),
        (lambda p: p.records_for(n=1000, rho=1e-9), "one record a copy already costs more"),
        (lambda p: p.copies_for(n=1000, rho=1e-9), "one copy already costs more"),
        (lambda p: p.smallest_setting("age", "prior_sd", n=1000, rho=1.0), "settings that protect"),
        (lambda p: p.smallest_setting("age", "floor", n=1000, rho=1.0), "no setting 'floor'"),
        (lambda p: p.smallest_setting("sex", "sigma", n=1000, rho=1.0), "'sex' has no setting"),
    ],
)
def test_a_budget_outside_its_domain_is_refused_with_the_mend(call, message):
    with pytest.raises(sdp.PrivacyError, match=message):
        call(plan(AGE, age=Gaussian(sigma=1.0)))


def test_a_table_without_a_rho_asks_for_epsilon():
    with pytest.raises(sdp.PrivacyError, match="has no rho; give epsilon"):
        plan(SEX, sex=Dirichlet(prior=20.0)).records_for(n=1000, rho=1.0)
    with pytest.raises(sdp.PrivacyError, match="has no rho; give epsilon"):
        plan(SEX, sex=Dirichlet(prior=20.0)).smallest_setting("sex", "prior", n=1000, rho=1.0)
    with pytest.raises(sdp.PrivacyError, match="no guarantee"):
        sdp.Synthesizer(schema=sdp.Schema([AGE])).plan().records_for(n=1000, rho=1.0)
