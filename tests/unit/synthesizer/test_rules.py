"""Rules that every row of a copy keeps, totals, top codes and roundings: exact in every copy."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

import pysynthdp as sdp
from pysynthdp import Synthesizer, synthesize
from pysynthdp.base.errors import PlanError, PrivacyError, PysynthdpWarning
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.protection.noise.by_noise import ByNoise
from pysynthdp.protection.sampling.by_sampling import BySampling
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

MARRIED = "not (marital == 'MARRIED' and age < 18)"


def people(n: int = 1500, seed: int = 1) -> pd.DataFrame:
    """People, of whom five are married and under 18."""
    rng = np.random.default_rng(seed)
    age = rng.integers(10, 98, n)
    marital = np.where((age >= 18) & (rng.random(n) < 0.6), "MARRIED", "SINGLE")
    marital[np.flatnonzero(age < 18)[:5]] = "MARRIED"
    wage, pension = rng.gamma(2, 900, n).round(), np.where(age > 60, rng.gamma(2, 400, n).round(), 0)
    return pd.DataFrame({"marital": marital, "age": age, "wage": wage, "pension": pension})


def quiet(**settings) -> sdp.SyntheticRelease:
    """Draw copies without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return synthesize(people(), m=2, rng=1, **settings)


def broken(copy: pd.DataFrame) -> int:
    """Rows that break the rule."""
    return int(((copy.marital == "MARRIED") & (copy.age < 18)).sum())


def test_no_row_of_a_copy_breaks_a_rule_that_some_of_the_table_do():
    with pytest.warns(PysynthdpWarning, match="fewer than ten rows of the table break the rule not"):
        fitted = Synthesizer(rules=[MARRIED], terms="main").fit(people())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = fitted.draw(m=3, rng=1)
        without = Synthesizer(terms="main").fit(people()).draw(m=3, rng=1)
    assert [broken(copy) for copy in release] == [0, 0, 0]
    assert sum(broken(copy) for copy in without) > 0


def test_a_rule_is_met_by_the_last_of_its_columns():
    """What was drawn before it is the same with the rule and without."""
    order = ["age", "marital", "wage", "pension"]
    with_rule, without = (quiet(rules=rules, visit_sequence=order) for rules in ([MARRIED], []))
    pd.testing.assert_series_equal(with_rule[0].age, without[0].age)
    kept = ~((without[0].marital == "MARRIED") & (without[0].age < 18))
    pd.testing.assert_series_equal(with_rule[0].marital[kept], without[0].marital[kept])


def test_rows_that_the_last_column_cannot_mend_are_drawn_anew():
    """Of the young no kept level is left, so that these rows need another age."""
    order = ["age", "marital", "wage", "pension"]
    rules = ["not (marital == 'SINGLE' and age < 18)", MARRIED]
    release = quiet(rules=rules, visit_sequence=order)
    assert all((copy.age >= 18).all() for copy in release)


def test_a_rule_that_nothing_meets_stops_by_name():
    for text in ("age > 400", "age < 0 and marital == 'MARRIED'"):
        with pytest.raises(PlanError, match="cannot be met by what the models draw") as caught:
            quiet(rules=[text])
        assert text in str(caught.value)


def test_few_rows_that_are_drawn_again_have_the_law_of_those_that_keep_the_rule():
    """Forty rows, of which one in six keeps the rule at once: most are drawn several times in one go."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [Synthesizer(rules=rules, terms="main").fit(people()) for rules in (["wage > 3000"], [])]
        held, free = (fitted.draw(m=50, k=40, rng=1) for fitted in fits)
    found, law = (np.concatenate([copy.wage for copy in release]) for release in (held, free))
    assert found.min() > 3000
    assert len(law[law > 3000]) < len(law) / 5
    assert ks_2samp(found, law[law > 3000]).pvalue > 1e-6
    assert ks_2samp(found, np.sort(found)[len(found) // 6 :]).pvalue < 1e-6  # a defect: the larger are taken


def test_workers_change_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [Synthesizer(rules=[MARRIED, "wage >= pension"], workers=n).fit(people()) for n in (1, 4)]
        copies = [fitted.draw(m=1, k=40_000, rng=3)[0] for fitted in fits]
    pd.testing.assert_frame_equal(*copies)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rules": ["ages > 3"]}, "names 'ages'"),
        ({"rules": ["age + 3"]}, "neither true nor false"),
        ({"rules": ["1 < 2"]}, "names no column that is drawn"),
        ({"rules": ["age > 3"], "keep": ["age"]}, "names no column that is drawn"),
        ({"rules": MARRIED}, "rules is a single text"),
        ({"must_sum": {"age": ["age", "wage"]}}, "sum of two or more other columns"),
        ({"must_sum": {"age": ["marital", "wage"]}}, "marital is drawn as levels"),
        ({"must_sum": {"age": "wage"}}, "must be a list of columns"),
        ({"must_sum": {"age": ["wage", "pension"]}, "derive": {"age": "wage"}}, "both derived and a sum"),
        ({"must_sum": {"age": ["wage", "pension"]}, "round": {"age": 5}}, "its bounds and steps are theirs"),
        ({"top_code": {"marital": 3}}, "drawn as levels"),
        ({"top_code": {"age": "x"}}, "top_code of age must be a number"),
        ({"round": {"age": 0}}, "multiples of nothing"),
        ({"round": {"age": 0.5}}, "whole numbers"),
        ({"round": {"agee": 5}}, "no column"),
    ],
)
def test_what_cannot_be_is_refused(settings, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(sdp.PysynthdpError, match=words):
            Synthesizer(**settings).plan(people(200))


def test_a_total_is_the_sum_of_its_parts():
    table = people()
    table["income"] = table.wage + table.pension
    table.loc[3:200:7, "pension"] = np.nan
    table["income"] = table.wage + table.pension
    release = synthesize(table, m=2, rng=1, must_sum={"income": ["wage", "pension"]})
    assert "income: computed as wage + pension" in " ".join(str(release.privacy).split())
    for copy in release:
        total = copy.wage + copy.pension
        assert (total.isna() == copy.income.isna()).all()
        assert (total - copy.income).abs().max() == 0


def test_top_codes_and_roundings_are_exact():
    release = quiet(top_code={"age": 90}, round={"wage": 50})
    share = (people().age >= 90).mean()
    for copy in release:
        assert copy.age.max() == 90
        assert (copy.age == 90).mean() == pytest.approx(share, abs=0.03)
        assert (copy.wage % 50 == 0).all()
    assert release.schema["age"].topped
    assert release.schema["wage"].step == 50


def schema() -> Schema:
    """What is public of people."""
    return Schema(
        [
            CategoricalColumn("marital", ["MARRIED", "SINGLE"], other="SINGLE", may_be_missing=False),
            NumericColumn("age", 0, 110, decimals=0, fallback=50, may_be_missing=False),
            NumericColumn("wage", 0, 20_000, fallback=0, may_be_missing=False),
            NumericColumn("pension", 0, 20_000, fallback=0, may_be_missing=False),
            NumericColumn("income", fallback=0, may_be_missing=False),
        ]
    )


def test_under_noise_all_are_exact_and_nothing_is_counted():
    table = people(4000).assign(income=1.0)
    fitted = Synthesizer(
        schema=schema(),
        guarantee=ByNoise(ZCDP(2.0), testing=True),
        rules=[MARRIED],
        must_sum={"income": ["wage", "pension"]},
        top_code={"age": 90},
        round={"wage": 50},
    ).fit(table, noise_seed=1)
    assert fitted.remarks == ()
    for copy in fitted.draw(m=2, rng=1):
        assert broken(copy) == 0
        assert copy.age.max() <= 90
        assert np.allclose(copy.wage % 50, 0)
        assert np.allclose(copy.income, copy.wage + copy.pension)


def test_under_sampling_a_rule_is_refused():
    own = schema().without(["income", "pension", "wage"])
    method = {"marital": "dirichlet", "age": "gaussian"}
    with pytest.raises(PrivacyError, match="another mechanism"):
        Synthesizer(schema=own, method=method, guarantee=BySampling(), rules=[MARRIED]).plan()


def test_rules_are_counted_before_and_after():
    """Counts of records are INTERNAL and vague below ten; of the copies they are none."""
    settings = Synthesizer(rules=[MARRIED, "age >= 30"], universe={"pension": ("age > 60", 0)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = settings.check_rules(people())
        release = settings.fit(people()).draw(m=2, rng=1)
    counts = dict(found.rules)
    assert "INTERNAL" in str(found)
    assert counts[MARRIED] == "<10"
    assert counts["age >= 30"] == f"{(people().age < 30).sum()}"
    assert counts["pension is asked if age > 60"] == "0"
    after = release.check_rules()
    assert after.broken == 0
    assert after.to_frame()["rule"].tolist() == ["pension is asked if age > 60", MARRIED, "age >= 30"]
    shares = dict(zip(after.to_frame()["rule"], after.to_frame()["met at once"], strict=True))
    assert shares["age >= 30"] == pytest.approx((people().age >= 30).mean(), abs=0.03)
    row = release.copies[0].index[release.copies[0].age <= 60][0]
    release.copies[0].loc[row, ["marital", "age"]] = "SINGLE", 20
    assert release.check_rules().broken == 1


@pytest.mark.parametrize(
    "rule", ["not (marital == 'Married' and age < 18)", "marital not in ('MARRIED ', 'SINGEL')"]
)
def test_a_level_that_a_column_does_not_have_is_said(rule):
    """Such a rule is met by all rows, so that nobody would ever know of the slip."""
    with pytest.warns(PysynthdpWarning, match=r"marital: the rule, .*, names a level that it does not have"):
        Synthesizer(rules=[rule], terms="main", progress=False).fit(people())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counted = dict(Synthesizer(rules=[rule, MARRIED]).check_rules(people()).rules)
    assert counted == {rule: "0 (marital: no such level)", MARRIED: "<10"}


def test_nothing_is_counted_under_a_guarantee():
    with pytest.raises(PrivacyError, match="may not look at the records"):
        Synthesizer(schema=schema(), guarantee=ZCDP(1.0), rules=[MARRIED]).check_rules(people())


def test_moved_margins_are_said_by_a_warning_and_by_flags(tmp_path):
    """Of a rule that nearly all rows meet, only a note says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = Synthesizer(rules=["age >= 30", "wage < 8000"]).fit(people())
    with pytest.warns(PysynthdpWarning, match="% of the rows met the rule age >= 30 at once") as said:
        release = fitted.draw(m=3, rng=1)
    assert len(said) == 1
    text = str(sdp.ols("wage ~ age", release).summary())
    assert "were drawn again to keep the rule age >= 30" in " ".join(text.split())
    assert "age >= 30" not in str(sdp.ols("wage ~ pension", release).summary())
    with pytest.warns(PysynthdpWarning, match="margins move"):
        folder = fitted.draw_to(tmp_path / "release", m=3, rng=1)
    there = sdp.SyntheticRelease.load(folder)
    assert there.tags.details["rules"] == release.tags.details["rules"]
    assert there.check_rules().broken == 0


def test_the_statement_and_the_plan_say_what_is_exact():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = Synthesizer(
            rules=[MARRIED], universe={"pension": ("age > 60", 0)}, top_code={"age": 90}, round={"wage": 50}
        )
        fitted = settings.fit(people())
        release = fitted.draw(m=1, rng=1)
    for text in (str(fitted.plan), str(release.privacy)):
        flat = " ".join(text.split())
        assert MARRIED in flat
        assert "age > 60" in flat
        assert "90" in flat
        assert "50" in flat


def spells(n: int = 2000, seed: int = 1) -> pd.DataFrame:
    """Spells with a start, an end that a fifth of them reaches on the same day, and a visit at the close."""
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2001-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D")
    days = np.where(rng.random(n) < 0.2, 0, rng.gamma(1.0, 200, n).round())
    end = pd.Series(start + pd.to_timedelta(days, unit="D")).where(rng.random(n) < 0.7)
    close = pd.Series(pd.Timestamp("2015-12-31"), index=range(n)).where(rng.random(n) < 0.8, end)
    return pd.DataFrame({"start": start, "end": end, "close": close.fillna(pd.Timestamp("2015-12-31"))})


ORDER = ["start <= end", "start <= close"]


def test_dates_in_order_are_drawn_as_distances():
    """So rows meet the rule at once, and ends on the day of the start are as common as in the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = Synthesizer(rules=ORDER, derive="no").fit(spells())
        release = fitted.draw(m=2, rng=1)
    assert [own.column for own in fitted.plan.counted] == ["end"]  # most closes are one day, which is kept
    assert "end is drawn as" in str(fitted.plan)
    met = {rule["rule"]: rule["met"] for rule in release.tags.details["rules"]}
    assert met["start <= end"] == 1
    real = (spells().end - spells().start).dt.days
    for copy in release:
        days = (copy.end - copy.start).dt.days
        assert (days.dropna() >= 0).all()
        assert (days == 0).mean() == pytest.approx((real == 0).mean(), abs=0.03)
        assert days.median() == pytest.approx(real.median(), rel=0.2)
        assert copy.end.dt.normalize().equals(copy.end)
        assert (copy.close >= copy.start).all()


def test_a_column_may_be_counted_backwards_and_from_what_is_kept():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = spells().dropna()
        settings = Synthesizer(rules=ORDER, derive="no", visit_sequence=["end", "start"], keep=["close"])
        fitted = settings.fit(table)
        copy = fitted.draw(m=1, rng=1)[0]
    assert {(own.column, own.origin, own.side) for own in fitted.plan.counted} == {("start", "end", -1)}
    assert (copy.start <= copy.end).all()
    assert (copy.start <= copy.close).all()


def test_a_fit_with_rules_comes_back_from_its_file(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = Synthesizer(rules=ORDER, derive="no").fit(spells())
        again = sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit"))
        pd.testing.assert_frame_equal(again.draw(m=1, rng=2)[0], fitted.draw(m=1, rng=2)[0])


def test_a_method_of_ones_own_is_left_as_it_is():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = Synthesizer(rules=ORDER, method={"end": "normrank"}, derive="no").plan(spells())
    assert plan.counted == ()


@pytest.mark.parametrize(
    "asked",
    [
        {"rules": ["not (marital == 'Married' and age < 18)"]},
        {"universe": {"age": "marital != 'Married'"}},
    ],
    ids=["rule", "universe"],
)
def test_a_level_that_is_not_declared_is_said_under_a_guarantee_too_and_of_any_table(asked):
    """Declared levels are public, so the warning is the same whatever the rows."""
    declared = Schema(
        [
            CategoricalColumn("marital", ["MARRIED", "SINGLE"], other="SINGLE", may_be_missing=False),
            NumericColumn("age", lower=0, upper=120, missing={-8: "not asked"}, may_be_missing=True),
        ]
    )
    said = []
    for table in (people()[["marital", "age"]], people()[["marital", "age"]].assign(marital="?", age=-8)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Synthesizer(schema=declared, guarantee=ZCDP(5.0), progress=False, **asked).fit(table)
        said.append([str(each.message) for each in caught])
    assert said[0] == said[1]
    assert any("names a level that it does not have" in each for each in said[0])


def test_dates_in_order_are_drawn_again_under_noise_and_not_as_distances():
    """Distances are sums of two columns, which noisy cross-products of declared columns do not hold."""
    declared = Schema(
        [
            NumericColumn(name, lower=10_000, upper=18_000, unit="day", may_be_missing=False, fallback=11_000)
            for name in ("start", "end")
        ]
    )
    table = spells(3_000)[["start", "end"]].assign(end=lambda own: own.end.fillna(own.start))
    fitted = Synthesizer(schema=declared, guarantee=ZCDP(5.0), rules=["start <= end"], progress=False).fit(
        table
    )
    assert not fitted.plan.counted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PysynthdpWarning)
        release = fitted.draw(m=2, rng=1)
    assert all((copy.start <= copy.end).all() for copy in release)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"round": {"start": 30}}, r"round names start, which is a date.*12 \* date.dt.year"),
        ({"top_code": {"start": 15_000}}, r"top_code names start, which is a date.*date.clip"),
    ],
)
def test_dates_are_neither_rounded_nor_top_coded_and_the_way_is_named(asked, says):
    with pytest.raises(PlanError, match=says):
        Synthesizer(progress=False, **asked).fit(spells(300))
