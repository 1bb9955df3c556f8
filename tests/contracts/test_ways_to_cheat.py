"""No way round: each of these leaves a table without a claim, or is refused before a record is read."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import pysynthdp as sdp
from pysynthdp.models import Dirichlet, Gaussian, LinearStatistics, LogRidge
from pysynthdp.privacy import ColumnStatement, local_bound

N = 600
AGE = sdp.NumericColumn("age", lower=15, upper=50, may_be_missing=False, fallback=30)
RELIGION = sdp.CategoricalColumn("religious", [1, 2, 3, 4], other=1, may_be_missing=False)
METHODS = {"age": Gaussian(sigma=7.0), "religious": Dirichlet(prior=20.0)}


def survey() -> pd.DataFrame:
    return sm.datasets.fair.load_pandas().data[["age", "religious"]].head(N)


def fitted(*columns: Any, exact: bool = False, unit: Any = None, **settings: Any) -> sdp.FittedSynthesizer:
    schema = sdp.Schema(columns or (AGE, RELIGION))
    asked = sdp.BySampling(exact=exact, unit=unit or sdp.PrivacyUnit())
    own = {"method": {name: METHODS[name] for name in schema.names}, "guarantee": asked, **settings}
    return sdp.Synthesizer(schema=schema, progress=False, **own).fit(survey()[list(schema.names)])


def test_the_honest_release_has_a_claim():
    statement = fitted().draw(m=1).privacy
    assert (statement.status, statement.may_be_published, statement.verify().ok) == ("idealised", True, True)


# J3: what is learned from the data


def test_bounds_from_the_data_are_refused():
    with pytest.raises(sdp.PrivacyError, match=r"age: .*finite declared bounds"):
        fitted(dataclasses.replace(AGE, lower=None), RELIGION)


def test_a_schema_seen_in_the_data_is_refused_also_after_bounds_were_added():
    seen = sdp.Synthesizer(method={"age": "cells"}).plan(survey()).schema.amend("age", lower=15, upper=50)
    with pytest.raises(sdp.PrivacyError, match="declare the column"):
        sdp.Synthesizer(schema=seen, method=METHODS, guarantee=sdp.BySampling()).fit(survey())
    with pytest.raises(sdp.PrivacyError, match="declare every column"):
        sdp.Synthesizer(method=METHODS, guarantee=sdp.BySampling()).fit(survey())


def test_a_schema_seen_in_the_data_is_refused_also_after_a_codebook(tmp_path):
    number = {"method": {"age": "cells"}, "bounds": {"age": (15, 50)}, "decimals": {"age": 1}}
    made = sdp.Synthesizer(**number, progress=False)
    release = made.fit(survey()).draw(m=1)
    release.save(tmp_path / "out")
    again = sdp.Schema.from_codebook(tmp_path / "out" / "codebook.csv")
    with pytest.raises(sdp.PrivacyError, match="declare the column"):
        sdp.Synthesizer(schema=again, method=METHODS, guarantee=sdp.BySampling()).fit(survey())


def test_a_level_list_from_the_data_is_refused():
    levels = tuple(sorted(survey()["religious"].unique()))
    learned = dataclasses.replace(RELIGION, levels=levels, declared=False)
    with pytest.raises(sdp.PrivacyError, match=r"religious: .*declare the column"):
        fitted(AGE, learned)
    with pytest.raises(sdp.PrivacyError, match="religious: unlisted values need a level"):
        fitted(AGE, dataclasses.replace(RELIGION, other=None))


@pytest.mark.parametrize("absent", [{"may_be_missing": True}, {"missing": {-8: "no"}}, {"fallback": None}])
def test_missing_values_of_a_number_are_not_copied(absent):
    with pytest.raises(sdp.PrivacyError, match="age: "):
        fitted(dataclasses.replace(AGE, **absent), RELIGION)


# J5: randomness


@pytest.mark.parametrize("rng", [1, np.random.SeedSequence(1), np.random.default_rng(1)])
@pytest.mark.parametrize("exact", [False, True])
def test_a_known_seed_voids_the_claim_and_all_later_ones_of_the_fit(rng, exact):
    fit = fitted(exact=exact)
    before = fit.draw(m=1).privacy
    seeded, after = fit.draw(m=1, rng=rng).privacy, fit.draw(m=1).privacy
    assert before.status == ("implemented" if exact else "idealised")
    assert (seeded.status, after.status) == ("void", "void")
    assert not seeded.may_be_published
    assert "void: seeded, for testing" in str(seeded)
    assert sdp.PrivacyStatement.compose(before, seeded).status == "void"


# n is confidential when records may be added or removed


def test_n_syn_from_n_is_refused_where_n_is_confidential():
    settings = {
        "method": None,
        "joint": [(("age", "religious"), LinearStatistics(epsilon=1.0, bins={"age": 4}))],
    }
    fit = fitted(unit=sdp.PrivacyUnit("add_remove"), **settings)
    with pytest.raises(sdp.PrivacyError, match=r"number of rows is confidential; give k="):
        fit.draw(m=1)
    release = fit.draw(m=1, k=50)
    assert release.n_org is None
    told = "".join([str(release), str(fit), str(release.privacy), json.dumps(release.privacy.to_dict())])
    assert str(N) not in told


def test_a_price_that_knows_n_is_refused_where_n_is_confidential():
    with pytest.raises(sdp.PrivacyError, match="not proved for 'add_remove'"):
        fitted(AGE, unit=sdp.PrivacyUnit("add_remove")).draw(m=1, k=10)


@pytest.mark.parametrize("model", [LinearStatistics(epsilon=1.0), LogRidge(penalty=1.0)])
def test_a_table_may_be_empty_where_n_is_confidential(model):
    """One record more or less: neither of the two neighbours may fail."""
    column = sdp.CategoricalColumn("affair", ["no", "yes"], other="no", may_be_missing=False)
    asked = sdp.BySampling(unit=sdp.PrivacyUnit("add_remove"))
    settings = {"schema": sdp.Schema([column]), "method": {"affair": model}, "guarantee": asked}
    for size in (0, 1):
        table = pd.DataFrame({"affair": ["yes"] * size})
        assert len(sdp.Synthesizer(**settings, progress=False).fit(table).draw(m=1, k=4)[0]) == 4


# J1: drawing twice


def test_a_second_draw_adds_to_the_account_whichever_way_it_is_asked(tmp_path):
    fit, whole = fitted(AGE), fitted(AGE).draw(m=3).privacy
    fit.draw(m=1)
    copy.copy(fit).draw(m=1)
    fit.draw_to(tmp_path / "third", m=1)
    third = sdp.SyntheticRelease.load(tmp_path / "third").privacy
    assert third.copies == 3
    assert third.guarantee.rho == pytest.approx(whole.guarantee.rho, rel=1e-12)


@pytest.mark.parametrize("fork", [pickle.dumps, copy.deepcopy])
def test_an_account_cannot_be_forked(fork, tmp_path):
    fit = fitted(AGE)
    with pytest.raises(sdp.PrivacyError, match="forked"):
        fork(fit)
    with pytest.raises(sdp.PrivacyError, match="second account"):
        fit.save(tmp_path / "fit")


def test_a_draw_that_fails_is_charged(monkeypatch):
    fit = fitted(AGE)
    monkeypatch.setattr("pysynthdp.draw.machine.Drawing.copy", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fit.draw(m=2)
    assert fit.account.copies == 2


def test_a_new_fit_starts_anew_and_says_that_it_covers_itself_only():
    first, second = fitted(AGE).draw(m=1).privacy, fitted(AGE).draw(m=1).privacy
    assert second.copies == 1
    assert "covers this fit only" in second.reason
    both = sdp.PrivacyStatement.compose(first, second)
    assert both.guarantee.rho == pytest.approx(2 * first.guarantee.rho, rel=1e-12)
    assert both.verify().ok


# J2: a column without a guarantee


@pytest.mark.parametrize("bare", ["age", "religious"])
def test_an_unguaranteed_column_before_or_behind_leaves_no_claim_and_is_named(bare):
    methods = {**METHODS, bare: {"age": "norm", "religious": "polyreg"}[bare]}
    with pytest.raises(sdp.PrivacyError, match=f"{bare}: method .* has no guarantee"):
        fitted(method=methods)
    settings = {"schema": sdp.Schema([AGE, RELIGION]), "method": methods, "progress": False}
    statement = sdp.Synthesizer(**settings).fit(survey()).draw(m=1).privacy
    assert statement.status == "none"
    assert "epsilon" not in json.dumps(statement.to_dict())


def test_an_unguaranteed_parent_cannot_be_left_out_of_a_statement():
    good = fitted().draw(m=1).privacy
    parent = ColumnStatement("income", "norm", "none", "its slope is unbounded")
    with pytest.raises(sdp.PrivacyError, match="'income' has no guarantee"):
        dataclasses.replace(good, columns=(parent, *good.columns))
    bare = sdp.PrivacyStatement.none([parent], unit=good.unit)
    assert sdp.PrivacyStatement.compose(good, bare).status == "none"


def test_a_kept_column_leaves_no_claim():
    with pytest.raises(sdp.PrivacyError, match="age is kept real"):
        fitted(method={"religious": METHODS["religious"]}, keep=["age"])


# J4: a number that depends on the data


def test_a_data_dependent_number_enters_no_statement():
    local = local_bound(N, 17.5, mean=0.0, variance=49.0, orders=2.0, n_draws=N)
    with pytest.raises((sdp.PrivacyError, TypeError)):
        fitted(AGE, method={"age": Gaussian(sigma=local)})
    good = fitted(AGE).draw(m=1).privacy
    with pytest.raises((sdp.PrivacyError, TypeError)):
        json.dumps(dataclasses.replace(good, public=(local,)).to_dict())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("guarantee", "mu"), 0.01),
        (("columns", 0, "cost", "mu"), 0.01),
        (("columns", 0, "constants", "sigma"), 70.0),
        (("columns", 0, "constants", "n"), 10 * N),
        (("columns", 0, "constants", "lower"), 40.0),
        (("columns", 0, "share"), 0.5),
        (("columns", 0, "entry"), "B2"),
        (("columns", 0, "source"), "a better paper"),
        (("columns", 0, "assumptions"), ["none"]),
        (("columns", 0, "mechanism"), "mean_per_copy"),
        (("draws", 0, "copies"), 1),
        (("draws", 0, "n_syn"), 10),
        (("points", 0, "epsilon"), 0.1),
        (("points", 0, "delta"), 0.1),
        (("total", "copies"), 1),
        (("unit", "rows_per_unit"), 2),
        (("unit", "relation"), "add_remove"),
        (("neighbours",), "two tables"),
        (("statement_may_be_published",), False),
        (("status",), "implemented"),
        (("learned",), ["the bounds of age"]),
        (("schema_version",), 99),
    ],
)
def test_a_statement_changed_by_hand_is_found_out(place, value):
    plain = json.loads(json.dumps(fitted(AGE).draw(m=2).privacy.to_dict()))
    inner = plain
    for key in place[:-1]:
        inner = inner[key]
    assert inner[place[-1]] != value
    inner[place[-1]] = value
    try:
        found = sdp.PrivacyStatement.from_dict(plain).verify()
    except sdp.PrivacyError:
        return
    assert not found.ok


def test_a_guarantee_changed_without_any_point_to_betray_it_is_found_out():
    plain = fitted(AGE).draw(m=2).privacy.to_dict()
    plain |= {"guarantee": {"name": "gdp", "mu": 0.01}, "points": []}
    assert not sdp.PrivacyStatement.from_dict(plain).verify().ok


def reachable(records: np.ndarray, mean: float, sigma: float) -> np.ndarray:
    """Whether a float sampler ``mean + sigma z`` can give each record for any double z."""
    z = (records - mean) / sigma
    found = np.zeros(len(records), dtype=bool)
    for step in range(-8, 9):
        near = z + step * np.spacing(np.abs(z))
        found |= mean + sigma * near == records
    return found


@pytest.mark.parametrize(("exact", "separated"), [(False, True), (True, False)])
def test_the_float_attack_separates_neighbours_and_the_exact_sampler_defeats_it(exact, separated):
    """H0: some doubles drawn around one mean cannot come from its neighbour's, and one such tells them apart.

    Both means are known to the attacker, 0 and 8/1000. At most 1e-9: that of 5,000 float records none is
    impossible (each is with probability near 1/200). On the public grid every value comes from both.
    """
    column = sdp.NumericColumn("x", lower=-4, upper=4, may_be_missing=False, fallback=0)
    asked = sdp.BySampling(exact=exact)
    settings = {"schema": sdp.Schema([column]), "method": {"x": Gaussian(sigma=1.0)}, "guarantee": asked}
    common = [0.0, *np.tile([-1.0, 1.0], 499)]
    ends = (-4.0, 4.0)
    fits = [
        sdp.Synthesizer(**settings, progress=False).fit(pd.DataFrame({"x": [end, *common]})) for end in ends
    ]
    laws = [fit._machine.fit.steps[0].params for fit in fits]
    drawn = fits[0].draw(m=1, k=5000)[0]["x"].to_numpy()
    inside = drawn[np.abs(drawn) < 4]
    if exact:
        grid = laws[0].lower + laws[0].step * np.arange(-20_000, 20_000)  # each point likely under both
        assert abs(laws[1].place - laws[0].place) == 1
        assert laws[0].step == laws[1].step
        impossible = ~np.isin(inside, grid)
    else:
        assert reachable(inside, laws[0].mean, 1.0).all()
        impossible = ~reachable(inside, laws[1].mean, 1.0)
    assert impossible.any() == separated
    if separated:
        assert math.isclose(laws[1].mean - laws[0].mean, 0.008)
        assert impossible.mean() > 0.002
