"""Models are fitted apart in strata; small ones together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, SchemaError

SETTINGS = {"workers": 1, "progress": False}
SLOPES = {"A": 2.0, "B": -1.0, "C": 0.5}
RUNS, ROWS, COPIES = 60, 600, 5


def people(n: int, seed: int = 0) -> pd.DataFrame:
    """An outcome whose slope on x, level and spread differ by region."""
    rng = np.random.default_rng(seed)
    region = rng.choice(list(SLOPES), n, p=[0.5, 0.3, 0.2])
    x = rng.standard_normal(n)
    slope = pd.Series(region).map(SLOPES).to_numpy()
    y = 10 * (region == "B") + slope * x + np.where(region == "C", 0.5, 1.5) * rng.standard_normal(n)
    return pd.DataFrame({"x": x.round(3), "y": y.round(3), "region": region})


def test_each_stratum_has_its_own_slope_and_spread():
    table = people(3_000)
    plain = {"method": {"x": "norm", "y": "norm"}, "terms": "main", **SETTINGS}
    fitted = sdp.Synthesizer(strata="region", **plain).fit(table)
    assert set(fitted.strata) == set(SLOPES)
    assert fitted.plan.visit_sequence[0] == "region"
    assert "fitted apart in: region" in str(fitted.plan)
    copy = fitted.draw(m=1, rng=1)[0]
    for name, slope in SLOPES.items():
        own = copy[copy.region == name]
        assert np.polyfit(own.x, own.y, 1)[0] == pytest.approx(slope, abs=0.25)
    assert copy[copy.region == "C"].y.std() < copy[copy.region == "A"].y.std()
    whole = sdp.Synthesizer(**plain).fit(table).draw(m=1, rng=1)[0]
    apart = whole[whole.region == "B"]
    assert abs(np.polyfit(apart.x, apart.y, 1)[0] - SLOPES["B"]) > 0.5  # one slope for all


def test_a_pooled_mean_of_a_stratum_and_an_interaction_cover():
    """Both within the exact binomial interval at 1e-6 of 95 %; independence would cover neither slope."""
    covered = np.zeros(2)
    truth = (10.0, SLOPES["B"] - SLOPES["A"])
    synthesizer = sdp.Synthesizer(
        strata="region", method={"x": "norm", "y": "norm"}, terms="main", proper=False, **SETTINGS
    )
    for run in range(RUNS):
        release = synthesizer.fit(people(ROWS, seed=run)).draw(m=COPIES, rng=run)
        pooled = sdp.ols("y ~ x * region", release).to_frame().set_index("term")
        mean = sdp.ols("y ~ region", release).to_frame().set_index("term")
        for place, (frame, term) in enumerate(((mean, "region[T.B]"), (pooled, "x:region[T.B]"))):
            row = frame.loc[term]
            covered[place] += row["conf.low"] <= truth[place] <= row["conf.high"]
    least = binom.ppf(5e-7, RUNS, 0.95)
    assert (covered >= least).all(), covered


def test_tags_say_that_everything_may_differ_by_stratum():
    release = sdp.Synthesizer(strata="region", **SETTINGS).fit(people(3_000)).draw(m=3, rng=1)
    pooled = sdp.ols("y ~ x * region", release)
    assert "region" not in " ".join(pooled.flags)
    step = release.tags.steps[-1]
    assert ("region", "x") in step.terms or ("region", "y") in step.terms
    assert any("which strata of region" in fact for fact in release.privacy.learned)


def test_small_strata_are_fitted_together_and_it_is_said():
    table = people(2_000)
    table.loc[:11, "region"] = "D"
    table.loc[12:29, "region"] = "E"
    with pytest.warns(sdp.PysynthdpWarning, match="strata are fitted together") as said:
        fitted = sdp.Synthesizer(strata="region", **SETTINGS).fit(table)
    assert not any("'D'" in str(each.message) for each in said)
    assert set(fitted.strata) == set(SLOPES)  # D and E have 30 records, as many as two columns need
    copy = fitted.draw(m=1, rng=1)[0]
    assert {"D", "E"} <= set(copy.region)
    step = fitted.draw(m=2, rng=1).tags.steps[-1]
    crossed = [term for term in step.terms if isinstance(term[0], dict) and term[0].get("level") == "A"]
    assert crossed  # of a stratum by itself alone


def test_several_strata_are_drawn_together_and_kept_ones_stay():
    table = people(4_000)
    table["sex"] = np.where(np.arange(len(table)) % 2, "F", "M")
    table = table[~((table.sex == "F") & (table.region == "C"))].reset_index(drop=True)
    fitted = sdp.Synthesizer(strata=["sex", "region"], proper=True, **SETTINGS).fit(table)
    assert fitted.plan.methods["sex"] == "catall"
    copy = fitted.draw(m=1, rng=1)[0]
    assert not ((copy.sex == "F") & (copy.region == "C")).any()
    kept = sdp.Synthesizer(strata="region", keep=["region"], **SETTINGS).fit(table)
    pd.testing.assert_series_equal(kept.draw(m=1, rng=1)[0].region, table.region)


def test_what_few_records_of_a_stratum_have_is_not_in_it():
    table = people(2_000)
    table.loc[table.index[table.region == "C"][0], "x"] = 1e6  # not the table's largest alone decides
    table.loc[table.index[table.region == "A"][0], "x"] = 2e6
    with pytest.warns(sdp.PysynthdpWarning, match="x: the largest or smallest numbers"):
        fitted = sdp.Synthesizer(strata="region", **SETTINGS).fit(table)
    copy = fitted.draw(m=1, rng=1)[0]
    assert copy.x.abs().max() < 1e3


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"strata": "x"}, "x has too many different numbers to be drawn as levels"),
        ({"strata": "land"}, "strata names 'land', which is no column"),
        ({"strata": "region", "visit_sequence": ["x", "region", "y"]}, "begin visit_sequence with region"),
        ({"strata": 3}, "strata must be a list"),
    ],
)
def test_strata_that_cannot_be_are_refused_by_name(settings, says):
    table = people(300)
    with pytest.raises((PlanError, SchemaError), match=says):
        sdp.Synthesizer(**settings, **SETTINGS).plan(table)


def test_a_universe_holds_in_every_stratum_and_is_fitted_in_each():
    """Who is asked, and what is answered, differs by region; a universe may name the strata themselves."""
    rng = np.random.default_rng(9)
    table = people(2_400, seed=10)[["region"]]
    asked = rng.random(len(table)) < table.region.map({"A": 0.2, "B": 0.5, "C": 0.8})
    table["work"] = np.where(asked, "yes", "no")
    hours = 20 + 10 * (table.region == "B") + rng.normal(0, 2, len(table))
    table["hours"] = np.where(asked, hours.round(1), -8)
    table["cash"] = np.where(table.region == "C", rng.normal(50, 5, len(table)).round(1), np.nan)
    universe = {"hours": ("work == 'yes'", -8), "cash": "region == 'C'"}
    fitted = sdp.Synthesizer(strata="region", universe=universe, terms="main", **SETTINGS).fit(table)
    assert set(fitted.strata) == set(SLOPES)
    copy = fitted.draw(m=1, rng=1)[0]
    assert ((copy.hours == -8) == (copy.work == "no")).all()
    assert (copy.cash.isna() == (copy.region != "C")).all()
    for name, share, mean in (("A", 0.2, 20), ("B", 0.5, 30), ("C", 0.8, 20)):
        own = copy[copy.region == name]
        assert (own.work == "yes").mean() == pytest.approx(share, abs=0.06)
        assert own.hours[own.hours != -8].mean() == pytest.approx(mean, abs=0.8)
