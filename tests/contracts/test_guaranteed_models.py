"""What every model that carries a guarantee must keep; a new one fails here until it has a case."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import pysynthdp as sdp
from pysynthdp.io.tree import from_tree, to_tree
from pysynthdp.models.base import COLUMN_MODELS
from pysynthdp.models.dirichlet import Dirichlet
from pysynthdp.models.gaussian import Gaussian
from pysynthdp.models.gaussian_floor import GaussianFloor
from pysynthdp.models.joint.linear_statistics import LinearStatistics
from pysynthdp.models.joint.multivariate_normal import MultivariateNormal
from pysynthdp.models.logridge import LogRidge
from pysynthdp.models.ridge import Ridge
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.guarantee import Guarantee
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.prices.cells_curves import binary_draws, categorical_draws
from pysynthdp.privacy.prices.gaussian_floored import floored_variance
from pysynthdp.privacy.prices.gaussian_known import mean_per_copy, mean_per_record, plug_in_mean
from pysynthdp.privacy.prices.gaussian_prior import mean_with_prior
from pysynthdp.privacy.prices.gaussian_truncated import truncated_draws
from pysynthdp.privacy.prices.multivariate_normal import ridged_normal
from pysynthdp.privacy.prices.regression import logistic_ridge_curve, ridge_draws
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.protection.sampling.by_sampling import BySampling

N, K, M = 500, 300, 2
BINS = {"age": [15, 25, 35, 50], "educ": 4}
RELIGION = [1.0, 2.0, 3.0, 4.0]


@dataclass(frozen=True)
class Case:
    """A model on a column (or a pair), and its price by the formula itself."""

    name: str
    model: Any
    columns: tuple[str, ...]
    price: Any
    given: tuple[str, ...] = ()
    proper: bool = False


@cache
def real() -> pd.DataFrame:
    """Affairs of 1974 (statsmodels fair), the first rows."""
    frame = sm.datasets.fair.load_pandas().data.iloc[:N]
    affair = np.where(frame["affairs"] > 0, "yes", "no")
    columns = {name: frame[name].to_numpy() for name in ("age", "educ", "religious")}
    return pd.DataFrame({**columns, "affair": affair})


def number(name: str, lower: float, upper: float) -> sdp.NumericColumn:
    return sdp.NumericColumn(name, lower=lower, upper=upper, may_be_missing=False, fallback=lower, decimals=1)


SCHEMA = sdp.Schema(
    [
        number("age", 15, 50),
        number("educ", 5, 22),
        sdp.CategoricalColumn("religious", RELIGION, other=1.0, may_be_missing=False, dtype="float64"),
        sdp.CategoricalColumn("affair", ["no", "yes"], other="no", may_be_missing=False),
    ]
)
DRAWN = {"n_syn": K, "copies": M}
RANGE = {"n": N, "lower": 15, "upper": 50, "sigma": 7.0}
FIVE = (5.0,) * 4
CASES = [
    Case("plug-in", Gaussian(sigma=7.0), ("age",), lambda: plug_in_mean(**RANGE, **DRAWN)),
    Case("one", Gaussian(sigma=7.0), ("age",), lambda: mean_per_copy(**RANGE, **DRAWN), proper=True),
    Case("many", Gaussian(sigma=7.0, posterior="many"), ("age",), lambda: mean_per_record(**RANGE, **DRAWN)),
    Case(
        "prior",
        Gaussian(sigma=7.0, prior_mean=30.0, prior_sd=0.2),
        ("age",),
        lambda: mean_with_prior(**RANGE, sigma0=0.2, draw="map", **DRAWN),
    ),
    Case(
        "truncated",
        Gaussian(sigma=7.0, truncate=True),
        ("age",),
        lambda: truncated_draws(N, 17.5, sigma=7.0, **DRAWN),
    ),
    Case("floor", GaussianFloor(floor=10.0), ("age",), lambda: floored_variance(N, 17.5, 10.0, **DRAWN)),
    Case(
        "ridge",
        Ridge(penalty=400.0, sigma=9.0),
        ("age",),
        lambda: ridge_draws(N, row_norm=2.0, response=17.5, ridge=400.0, sigma=9.0, **DRAWN),
        given=("educ", "religious", "affair"),
    ),
    Case(
        "logridge",
        LogRidge(penalty=50.0),
        ("affair",),
        lambda: logistic_ridge_curve(row_norm=2.0 * (1 + 1e-7), ridge=50.0, **DRAWN),
        given=("age", "educ", "religious"),
    ),
    Case(
        "joint normal",
        MultivariateNormal(ridge=2.0),
        ("age", "educ"),
        lambda: ridged_normal(N, 2, 2.0, **DRAWN),
    ),
    Case("beta", Dirichlet(prior=20.0), ("affair",), lambda: binary_draws(N, (20.0, 20.0), **DRAWN)),
    Case(
        "beta, one",
        Dirichlet(prior=20.0),
        ("affair",),
        lambda: binary_draws(N, (20.0, 20.0), draw="one", **DRAWN),
        proper=True,
    ),
    Case(
        "dirichlet, mode",
        Dirichlet(prior=FIVE, posterior="map"),
        ("religious",),
        lambda: categorical_draws(N, FIVE, draw="map", **DRAWN),
    ),
    Case(
        "marginals",
        LinearStatistics(epsilon=2.0, bins=BINS),
        ("age", "educ", "religious", "affair"),
        lambda: PureDP(2.0),
    ),
]
IDS = [case.name for case in CASES]
each = pytest.mark.parametrize("case", CASES, ids=IDS)


def synthesizer(case: Case, **settings: Any) -> sdp.Synthesizer:
    """The case's model; its predictors by levels and means that cost little beside it."""
    schema = sdp.Schema([SCHEMA[name] for name in (*case.given, *case.columns)])
    plain = {
        name: Dirichlet(prior=20.0) if name in ("religious", "affair") else Gaussian(sigma=7.0)
        for name in case.given
    }
    joint = [(case.columns, case.model)] if len(case.columns) > 1 else []
    method = plain if joint else {**plain, case.columns[0]: case.model}
    settings = {"guarantee": BySampling(), "progress": False, "proper": case.proper, **settings}
    return sdp.Synthesizer(schema=schema, method=method, joint=joint, **settings)


@cache
def fitted(case: Case) -> sdp.FittedSynthesizer:
    return synthesizer(case).fit(real()[[*case.given, *case.columns]])


def params(fit: sdp.FittedSynthesizer) -> Any:
    """Parameters of the case's own step, which runs last."""
    return fit._machine.fit.steps[-1].params


def arrays(value: Any) -> list[np.ndarray]:
    if dataclasses.is_dataclass(value):
        assert value.__dataclass_params__.frozen
        return [a for item in dataclasses.fields(value) for a in arrays(getattr(value, item.name))]
    if isinstance(value, tuple):
        return [a for part in value for a in arrays(part)]
    return [np.asarray(value, dtype=float)]


def same(cost: Guarantee, formula: Guarantee) -> bool:
    """Same kind and curve, and rounded up, never down."""
    mine, theirs = cost.renyi(ORDERS), formula.renyi(ORDERS)
    bounded = np.isfinite(theirs)
    close = np.allclose(mine[bounded], theirs[bounded], rtol=1e-9, atol=0)
    return cost.name == formula.name and close and bool(np.all(mine >= theirs * (1 - 1e-14)))


def test_every_model_with_a_mechanism_has_a_case():
    priced = {name for name in COLUMN_MODELS if hasattr(COLUMN_MODELS[name], "mechanism")}
    assert {case.model.name for case in CASES} == priced


@each
def test_a_plan_is_priced_by_the_formula_of_its_system(case):
    steps = synthesizer(case).plan().price(n=N, n_syn=K, m=M)
    assert same(steps.costs[-1], case.price())


@each
def test_it_releases_a_table_with_a_statement_that_verifies(case, tmp_path):
    fit = synthesizer(case).fit(real()[[*case.given, *case.columns]])
    release = fit.draw(m=M, k=K)
    statement = release.privacy
    assert statement.status == "idealised"
    assert statement.verify().ok
    assert same(statement.columns[-1].cost, case.price())
    assert sdp.verify(release.save(tmp_path / "out")).ok
    assert release.tags.bias in {"none", "clamped", "shrunk", "noisy_linear_statistics"}
    for copy in release:
        assert copy.shape == (K, len(case.given) + len(case.columns))
        for name in case.columns:
            column = SCHEMA[name]
            if isinstance(column, sdp.NumericColumn):
                assert copy[name].between(column.lower, column.upper).all()
            else:
                assert set(copy[name].unique()) <= set(column.levels)


@each
def test_a_second_draw_costs_unless_the_noise_was_paid_at_the_fit(case):
    fit = synthesizer(case).fit(real()[[*case.given, *case.columns]])
    first = fit.draw(m=1, k=50).privacy.guarantee.epsilon(1e-6)
    second = fit.draw(m=1, k=50).privacy.guarantee.epsilon(1e-6)
    assert (second == first) if case.name == "marginals" else (second > first)


@each
def test_its_parameters_are_frozen_finite_hold_no_record_and_survive_a_file(case):
    own = params(fitted(case))
    for values in arrays(own):
        assert np.isfinite(values).all()
        assert N not in values.shape
    stored: list[np.ndarray] = []
    again = from_tree(to_tree(own, stored), stored)
    for one, other in zip(arrays(own), arrays(again), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "marginals"], ids=IDS[:-1])
def test_its_fit_is_the_same_whatever_the_order_of_the_rows(case):
    shuffled = real()[[*case.given, *case.columns]].sample(frac=1, random_state=1)
    other = synthesizer(case).fit(shuffled, block_rows=37)
    for one, two in zip(arrays(params(fitted(case))), arrays(params(other)), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


@each
def test_it_works_without_a_guarantee_and_then_claims_none(case):
    fit = synthesizer(case, guarantee=None).fit(real()[[*case.given, *case.columns]])
    release = fit.draw(m=1, k=40, rng=1)
    assert release.privacy.status == "none"
    assert release[0].notna().all(axis=None)


ODD = {
    "text": "x",
    "none": None,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "not a number": np.nan,
    "huge": 10**400,
    "list": [1, 2],
    "dict": {"a": 1},
    "no time": pd.NaT,
    "no value": pd.NA,
    "unlisted": "maybe",
    "unlisted number": 7.5,
    "outside": 1e300,
    "complex": 1 + 2j,
    "bytes": b"\xff",
    "date": pd.Timestamp("2020-01-01"),
    "array": np.array([1.0]),
}


@each
@pytest.mark.parametrize("cell", list(ODD.values()), ids=list(ODD))
def test_a_neighbour_with_one_odd_cell_neither_raises_nor_warns(case, cell):
    table = real()[[*case.given, *case.columns]].iloc[:30].astype(object)
    for name in table.columns:
        table[name] = [cell if row == 3 else value for row, value in enumerate(table[name])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = synthesizer(case).fit(table).draw(m=1, k=20)
    assert release[0].notna().all(axis=None)


def separated(table: pd.DataFrame) -> pd.DataFrame:
    """The affair is known from the age: a maximum likelihood estimate does not exist."""
    known = {"affair": np.where(table["age"] > 30, "yes", "no")} if {"age", "affair"} <= set(table) else {}
    return table.assign(**known).iloc[:50]


DEGENERATE = {
    "one row many times": lambda table: table.iloc[[0] * 30],
    "five rows": lambda table: table.iloc[:5],  # fewer are refused
    "separated": separated,
}


@pytest.mark.filterwarnings("ignore:.*fewer than")  # that five rows are a small table
@each
@pytest.mark.parametrize("shape", DEGENERATE.values(), ids=DEGENERATE)
def test_no_table_makes_a_fit_fail_even_where_constants_are_tiny(case, shape):
    tiny = {name: 1e-12 for name in ("penalty", "ridge") if hasattr(case.model, name)}
    small = dataclasses.replace(case, model=dataclasses.replace(case.model, **tiny))
    table = shape(real()[[*case.given, *case.columns]]).reset_index(drop=True)
    fit = synthesizer(small, guarantee=None).fit(table)  # constants so small have no finite price
    assert fit.draw(m=1, k=10, rng=1)[0].notna().all(axis=None)


def test_add_or_remove_is_priced_only_where_it_is_proved():
    unit = BySampling(unit=PrivacyUnit("add_remove"))
    proved = {case.name for case in CASES if not case.given and _priced(synthesizer(case, guarantee=unit))}
    assert proved == {"marginals"}


def _priced(settings: sdp.Synthesizer) -> bool:
    try:
        settings.plan().price(n=N, n_syn=K, m=M)
    except sdp.PrivacyError:
        return False
    return True


def test_exact_marginals_are_implemented_too():
    case = CASES[-1]
    release = synthesizer(case, guarantee=BySampling(exact=True)).fit(real()[list(case.columns)]).draw(m=1)
    assert release.privacy.status == "implemented"
