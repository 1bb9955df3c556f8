"""Households and panels: fitted and drawn as whole units."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.draw.block import BlockDraw

SCALE = "1 + 0.5 * (count(age >= 14) - 1) + 0.3 * count(age < 14)"
UNITS = sdp.Units(id="hid", size="hsize", order="age desc", member="pid")


def people(n=400, seed=1):
    """Make households: couples near in age, children 20 to 40 years younger, an income that they share."""
    rng = np.random.default_rng(seed)
    rows = []
    for home in range(n):
        size = rng.choice([1, 2, 3, 4, 5], p=[0.3, 0.3, 0.2, 0.15, 0.05])
        head = int(rng.integers(25 if size > 2 else 20, 60 if size > 2 else 85))
        ages = [head, max(18, head - int(rng.integers(0, 6)))] if size > 1 else [head]
        ages += [max(0, head - int(rng.integers(22, 38))) for _ in range(size - 2)]
        region, rent = rng.choice(["north", "south"]), round(float(rng.gamma(3, 150)), 1)
        for number, age in enumerate(sorted(ages, reverse=True), start=1):
            pay = round(float(rng.gamma(4, 400)), 1) if age >= 16 else np.nan
            rows.append((home + 100_001, number, size, region, rent, age, rng.choice(["f", "m"]), pay))
    frame = pd.DataFrame(rows, columns=["hid", "pid", "hsize", "region", "rent", "age", "sex", "pay"])
    old = (frame.age >= 14).groupby(frame.hid).transform("sum")
    frame["eqSS"] = 1 + 0.5 * (old - 1) + 0.3 * (frame.hsize - old)
    frame["eqPay"] = frame.groupby("hid").pay.transform("sum") / frame.eqSS
    return frame


def asked(**settings):
    """Say what the households are."""
    own = {
        "units": UNITS,
        "derive": {"eqSS": SCALE, "eqPay": "sum(pay) / eqSS"},
        "universe": {"pay": "age >= 16"},
        "terms": "main",
        "progress": False,
        "workers": 1,
    }
    return sdp.Synthesizer(**{**own, **settings})


def quietly(synthesizer, table):
    """Fit without what is said of the columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sdp.PysynthdpWarning)
        return synthesizer.fit(table)


@pytest.fixture(scope="module")
def table():
    """Give households."""
    return people()


@pytest.fixture(scope="module")
def fitted(table):
    """Fit them."""
    return quietly(asked(), table)


@pytest.fixture(scope="module")
def release(fitted):
    """Draw copies."""
    return fitted.draw(m=3, rng=1)


def test_sizes_shared_and_derived_columns_are_exact_in_every_copy(table, release):
    for copy in release:
        unit = copy.groupby("hid", sort=False)
        assert (unit.age.transform("size") == copy.hsize).all()
        assert unit[["hsize", "region", "rent", "eqSS", "eqPay"]].nunique().max().max() == 1
        old = (copy.age >= 14).groupby(copy.hid).transform("sum")
        np.testing.assert_allclose(copy.eqSS, 1 + 0.5 * (old - 1) + 0.3 * (copy.hsize - old))
        np.testing.assert_allclose(copy.eqPay, unit.pay.transform("sum") / copy.eqSS)
        assert (copy.pay.isna() == (copy.age < 16)).all()
        assert list(copy.dtypes) == list(table.dtypes)
        assert list(copy.columns) == list(table.columns)


def test_rows_stand_as_in_the_table_with_new_ids_of_its_form(release):
    copy = release[0]
    assert copy.hid.is_monotonic_increasing
    assert copy.hid.iloc[0] == 100_001
    assert copy.hid.nunique() == 400
    assert (copy.pid == copy.groupby("hid").cumcount() + 1).all()
    assert (copy.groupby("hid").age.diff().dropna() <= 0).all()
    assert copy.age.min() >= 0


def test_couples_and_generations_are_those_of_the_table(table, release):
    def gaps(frame, place):
        rows = frame[frame.hsize > 2]
        ages = rows.groupby("hid").age
        return (ages.first() - ages.nth(place).to_numpy()).to_numpy()

    for place, low, high in ((1, 0, 6), (2, 20, 38)):
        real = np.mean((gaps(table, place) >= low) & (gaps(table, place) <= high))
        made = np.mean(
            [np.mean((gaps(copy, place) >= low) & (gaps(copy, place) <= high)) for copy in release]
        )
        assert abs(real - made) < 0.12
    shares = table.drop_duplicates("hid").hsize.value_counts(normalize=True)
    drawn = pd.concat(list(release)).groupby("hsize").size().div(shares.index.to_series()) / 1200
    assert (shares - drawn).abs().max() < 0.03


def test_what_is_computed_in_units_keeps_its_distribution(table, fitted, release):
    """Shares of groups of units are those of the table, however models add members up."""
    held = {own.column: own for own in fitted.plan.over_units}
    assert fitted.plan.held_margins == ("eqSS", "eqPay")
    assert "eqPay keeps its distribution" in str(fitted.plan)
    assert "of eqSS, eqPay: shares of groups" in " ".join(str(release.privacy).split())
    heads = [frame[~frame.hid.duplicated()] for frame in (table, *release)]
    for name, own in held.items():
        groups = [np.bincount(np.searchsorted(own.edges, frame[name])) for frame in heads]
        assert groups[0].tolist() == list(own.counts)
        assert all(np.abs(group - groups[0]).max() <= 4 for group in groups[1:])


def test_shares_of_groups_are_drawn_where_parameters_are(table):
    """Then copies differ in them as samples do: standard deviations of counts are 7.5 of 66 units."""
    copies = quietly(asked(proper=True), table).draw(m=20, rng=1)
    plain = quietly(asked(), table).draw(m=20, rng=1)
    spread = []
    for release in (copies, plain):
        heads = [copy[~copy.hid.duplicated()].eqPay for copy in release]
        edge = table[~table.hid.duplicated()].eqPay.quantile(1 / 6)
        spread.append(np.std([(each <= edge).sum() for each in heads]))
    assert 4 < spread[0] < 12
    assert spread[1] < 2


def test_rows_that_break_the_order_are_drawn_again_in_few_steps(fitted, monkeypatch):
    """Of 6,000 households a few dozen rows are hard to place; one by one they would take 116 steps."""
    steps, draw = [], BlockDraw._step
    monkeypatch.setattr(BlockDraw, "_step", lambda *given: steps.append(given[1]) or draw(*given))
    fitted.draw(m=1, k=6000, rng=1)
    assert len(steps) < 60


def test_workers_and_files_change_no_cell(fitted, release, tmp_path):
    folder = fitted.draw_to(tmp_path / "out", m=3, rng=1)
    for copy, stored in zip(release, sdp.SyntheticRelease.load(folder), strict=True):
        pd.testing.assert_frame_equal(copy, stored)
    release.save(tmp_path / "saved")
    again = sdp.SyntheticRelease.load(tmp_path / "saved")
    assert again.tags == release.tags
    assert "no guarantee is stated" in str(sdp.verify(folder))  # and nothing is wrong


def test_a_saved_fit_draws_the_same(fitted, release, tmp_path):
    again = sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit.zip"))
    for copy, other in zip(release, again.draw(m=3, rng=1), strict=True):
        pd.testing.assert_frame_equal(copy, other)


def test_no_row_of_the_table_is_kept_in_the_fit(fitted):
    for fit in fitted._machine.tables:
        assert not fit.kept
        assert not fit.kept_columns
    assert not fitted.confidential


def test_more_units_than_the_table_can_be_drawn_in_blocks(fitted, monkeypatch):
    monkeypatch.setattr("pysynthdp.draw.unit_machine.BLOCK_ROWS", 128)
    copy = fitted.draw(m=1, k=300, rng=2)[0]
    assert copy.hid.nunique() == 300
    assert (copy.groupby("hid").age.transform("size") == copy.hsize).all()


def test_a_release_counts_units(release):
    assert (release.tags.unit, release.tags.n_syn, release.tags.n_org) == ("hid", 400, 400)
    homes = release.units()
    assert homes.tags.unit is None
    assert list(homes[0]) == ["hid", "hsize", "region", "rent", "eqSS", "eqPay"]
    assert [len(copy) for copy in homes] == [400] * 3
    with pytest.raises(PlanError, match="stand alone"):
        homes.units()


def test_the_statement_names_each_column_once_and_the_plan_says_how_places_are_drawn(fitted, release, table):
    assert [each.column for each in release.privacy.columns] == list(table.columns)
    text = str(fitted.plan)
    assert "places with models of their own" in text or "places drawn by the same models" in text
    assert "computed in whole units" in text


def test_places_of_few_units_share_their_models(table, fitted):
    assert [own.places for own in fitted.plan.places] == [(1,), (2, 3, 4)]
    assert "rows at place 2" in str(fitted.plan.places[0])
    assert "REAL" not in str(fitted.plan.places[0])  # heads are drawn, too
    assert "rows at places 3 to 5" in repr(fitted.plan.places[1])
    few = quietly(asked(units=sdp.Units(id="hid", size="hsize", order="age desc", own_models=10_000)), table)
    assert [own.places for own in few.plan.places] == [(1, 2, 3, 4)]


def test_without_a_size_and_an_order_rows_are_drawn_as_they_stand(table):
    plain = table[["hid", "region", "age", "sex"]]
    copy = quietly(asked(units=sdp.Units(id="hid"), derive={}, universe={}), plain).draw(m=1, rng=3)[0]
    assert list(copy) == list(plain)
    assert copy.groupby("hid").region.nunique().max() == 1


def test_rows_to_be_shared_that_differ_are_refused_by_name(table):
    wrong = sdp.Units(id="hid", size="hsize", shared=["region", "sex"])
    with pytest.raises(SchemaError, match="sex is said to be shared"):
        asked(units=wrong).fit(table)


def test_an_id_that_joins_households_is_named_by_its_sizes(table):
    merged = table.assign(hid=table.hid.where(table.hid != 100_002, 100_003))
    with pytest.raises(SchemaError, match="hsize is not the number of rows"):
        asked().fit(merged)


def test_rare_levels_are_counted_in_units_where_these_share_them(table):
    odd = table.assign(region=table.region.where(table.hid != table.hid[table.hsize == 5].iloc[0], "rare"))
    with pytest.warns(sdp.PysynthdpWarning, match="region: 1 level has fewer than 5 records"):
        asked().fit(odd)
    merged = quietly(asked(rare="merge"), odd)
    assert "rare" not in merged.schema["region"].levels


def test_a_computed_number_of_few_values_takes_values_that_the_table_has_not():
    few = people(120)
    assert few.eqSS.nunique() <= 12
    copies = quietly(asked(), few).draw(m=2, rng=1)
    for copy in copies:
        old = (copy.age >= 14).groupby(copy.hid).transform("sum")
        np.testing.assert_allclose(copy.eqSS, 1 + 0.5 * (old - 1) + 0.3 * (copy.hsize - old))


def test_each_household_of_a_copy_has_one_head(table):
    rng = np.random.default_rng(3)
    chosen = table.groupby("hid").pid.transform(lambda own: rng.choice(own[: min(2, len(own))]))
    who = np.where(table.pid == chosen, "head", np.where(table.age < 18, "child", "other"))
    units = sdp.Units(id="hid", size="hsize", order="age desc", head=("who", "head"))
    copy = quietly(asked(units=units), table.drop(columns="pid").assign(who=who)).draw(m=1, rng=6)[0]
    assert (copy.groupby("hid").who.apply(lambda own: (own == "head").sum()) == 1).all()
    assert (copy.groupby("hid").who.first() == "head").all()


def test_rules_are_kept_and_counted_row_by_row(table):
    rule = "not (sex == 'm' and age > 80)"
    fitted = quietly(asked(rules=[rule]), table)
    copy = fitted.draw(m=1, rng=5)[0]
    assert not ((copy.sex == "m") & (copy.age > 80)).any()
    counts = asked(rules=[rule]).check_rules(table)
    assert rule in str(counts)


def test_what_a_plan_of_units_cannot_be_made_of_is_said(table):
    with pytest.raises(PlanError, match="give the table"):
        asked().plan()
    with pytest.raises(PlanError, match="imputed"):
        asked().fit([table, table])
    with pytest.raises(PlanError, match="of units and of rows together"):
        asked(joint=[(["region", "sex"], "catall")]).fit(table)
    with pytest.raises(PlanError, match="derived from one another"):
        asked(derive={"eqSS": "sum(eqPay)", "eqPay": "sum(eqSS)"}).fit(table)
    assert asked().plan(table).units == UNITS


@pytest.mark.parametrize(
    "slip",
    [
        {name: {"agee": value}}
        for name, value in {
            "bounds": (0, 99), "missing": [-1], "spikes": [0], "decimals": 0, "levels": ["a"],
            "method": "norm", "derive": "sum(age)", "universe": "age > 3", "nested": "region",
            "top_code": 90, "round": 5, "must_sum": ["age"], "predictor_matrix": ["age"],
        }.items()
    ]
    + [{"formulas": ["agee ~ age"]}, {"joint": [(["agee"], "catall")]}, {"visit_sequence": ["agee"]}],
    ids=lambda slip: next(iter(slip)),
)  # fmt: skip
def test_a_setting_of_what_is_no_column_is_refused_by_name(table, slip):
    with pytest.raises(
        PlanError, match=f"{next(iter(slip))} names 'agee', which is no column; did you mean 'age'"
    ):
        sdp.Synthesizer(units=UNITS, **slip).plan(table)


def waves(n=300, seed=2):
    """Make a panel: people who leave, gaps, a constant sex, a pay that follows the one before."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        sex, pay, last = rng.choice(["f", "m"]), rng.normal(100, 20), rng.choice([2, 3, 4], p=[0.3, 0.3, 0.4])
        for wave in range(1, last + 1):
            pay += rng.normal(2, 3)
            if wave == 1 or rng.random() < 0.9:
                rows.append((f"P{person:05d}", 2000 + wave, sex, round(pay, 1)))
    return pd.DataFrame(rows, columns=["id", "wave", "sex", "pay"])


def test_a_panel_keeps_who_is_there_when_and_what_follows_what():
    table = waves()
    fitted = quietly(asked(units=sdp.Units(id="id", order="wave"), derive={}, universe={}), table)
    copies = list(fitted.draw(m=3, rng=4))
    assert not any("(first)" in str(remark.remedy) for remark in fitted.remarks)
    for copy in copies:
        assert list(copy.dtypes) == list(table.dtypes)
        assert not copy.duplicated(["id", "wave"]).any()
        assert copy.groupby("id").sex.nunique().max() == 1
        assert copy.id.str.fullmatch(r"P\d{5}").all()
        assert copy.id.nunique() == 300
    drawn = pd.concat(copies).wave.value_counts(normalize=True)
    assert (drawn - table.wave.value_counts(normalize=True)).abs().max() < 0.03

    def follows(frame):
        wide = frame.pivot_table(index="id", columns="wave", values="pay")
        return wide[2001].corr(wide[2002])

    assert follows(table) > 0.95
    assert min(follows(copy) for copy in copies) > 0.9
    there = [
        frame.pivot_table(index="id", columns="wave", values="pay").notna() for frame in (table, *copies)
    ]
    gaps = [((~own[2002]) & own[2003]).mean() for own in there]
    assert max(abs(gap - gaps[0]) for gap in gaps[1:]) < 0.06


def test_the_check_looks_at_the_rows_of_every_place_and_says_at_which(table):
    rng = np.random.default_rng(8)
    second = table.groupby("hid").cumcount() == 1
    own = rng.normal(0, 1, len(table))
    twin = np.where(second, own**2, rng.normal(0, 1, len(table)))  # a curve, at the second place alone
    odd = table.assign(own=own.round(3), twin=twin.round(3))
    check = quietly(asked(), odd).check()
    assert check.looked_at == (
        "units and first rows",
        "rows at place 2",
        "rows at places 3 to 5",
        "whole units, all their rows",
    )
    worst = next(each for each in check.findings if each.column == "twin")
    assert (worst.rows, worst.others) == ("rows at place 2", ("own",))
    assert set(check.to_frame().rows) <= set(check.looked_at)
    assert "rows at place 2" in str(check)
    assert not any("(before)" in str(each.remedy) for each in check.findings)
    few = quietly(asked(units=sdp.Units(id="hid", size="hsize", own_models=30)), odd[odd.hid < 100_120])
    assert any("fewer than 50" in each for each in few.check().not_looked_at)
    assert few.check().rows < len(odd[odd.hid < 100_120])


def long_panel(n=40, waves=20, seed=3):
    """Make a balanced panel of few units and many waves: eight skewed numbers, which wander."""
    rng = np.random.default_rng(seed)
    mix = rng.normal(0, 0.5, (8, 8))
    now, rows = rng.normal(0, 1, (n, 8)) @ mix, []
    for wave in range(1, waves + 1):
        now = now + rng.normal(0, 0.12, (n, 8))
        columns = pd.DataFrame(np.exp(now).round(3), columns=list("abcdefgh"))
        rows.append(columns.assign(id=range(1, n + 1), wave=wave))
    return pd.concat(rows, ignore_index=True)


def test_errors_do_not_grow_from_wave_to_wave_in_a_panel_of_few_units():
    table, units = long_panel(), sdp.Units(id="id", order="wave")

    def gone(fitted):
        """How far means of the last waves are from the table's, in logarithms."""
        copies = pd.concat(list(fitted.draw(m=2, rng=1)))
        means = [frame[frame.wave > 16][list("abcdefgh")].mean() for frame in (copies, table)]
        return float(np.abs(np.log(means[0] / means[1])).mean())

    fitted = quietly(sdp.Synthesizer(units=units, progress=False, workers=1), table)
    for own in fitted.plan.places:
        assert own.plan.max_predictors == 4  # one for every ten units, whatever their rows
        assert not own.plan.to_screen
    many = sdp.Synthesizer(units=units, max_predictors=20, terms="screened", progress=False, workers=1)
    asked_for = quietly(many, table)
    assert asked_for.plan.places[0].plan.max_predictors == 20
    assert gone(fitted) < 0.35 < gone(asked_for)


def test_where_every_unit_of_a_panel_is_there_nothing_is_drawn_of_it():
    table = long_panel(60, 8)
    gaps = table.drop(index=table.index[(table.wave == 3) & (table.id <= 20)])
    for own, drawn in ((table, ()), (gaps, ("there at place 3",))):
        fitted = quietly(sdp.Synthesizer(units=sdp.Units(id="id", order="wave"), progress=False), own)
        names = fitted.plan.first.schema.names
        assert tuple(name for name in names if name.startswith("there")) == drawn
        copy = fitted.draw(m=1, rng=1)[0]
        counts = copy.wave.value_counts()
        assert (counts.drop(3) == 60).all()
        assert (counts[3] == 60) == (not drawn)


def test_five_members_of_one_household_are_one_unit_where_places_share_models():
    rng = np.random.default_rng(6)
    table = long_panel(30, 8)[["id", "wave", "a", "b"]]
    table["mood"] = rng.choice(["well", "ill"], len(table))
    for units, rare in ((1, True), (5, False)):
        odd = table.assign(mood=table.mood.where((table.id > units) | (table.wave < 2), "odd"))
        assert (odd.mood == "odd").sum() >= 7
        settings = sdp.Synthesizer(
            units=sdp.Units(id="id", order="wave"), method={"a": "cells"}, progress=False, workers=1
        )
        fitted = quietly(settings, odd)
        told = [remark for remark in fitted.remarks if remark.column == "mood"]
        assert any("1 level has fewer than 5 records" in str(remark.what) for remark in told) == rare
        places = fitted._machine.tables[1]
        assert ("mood" in places.rare) == rare
    knots = next(step.params for step in places.steps if step.targets[0].column == "a").knots
    rows = knots[0] * 30 * 7
    assert (rows > 4 * 7 + 0.5).all()  # four units have so many rows at most


def test_further_numbers_of_units_and_of_rows_are_new_ones(table):
    homes = table.hid.map({home: f"H{at:05d}" for at, home in enumerate(table.hid.unique(), start=501)})
    odd = table.assign(home=homes, row=np.arange(len(table)) + 7000)
    copy = quietly(asked(method={"home": "serial", "row": "serial"}), odd).draw(m=1, rng=1)[0]
    assert copy.groupby("hid").home.nunique().max() == 1
    assert copy.drop_duplicates("hid").home.tolist() == [f"H{at:05d}" for at in range(1, 401)]
    assert copy.row.tolist() == list(range(1, len(copy) + 1))
    assert list(copy) == list(odd)


def test_a_panel_may_hold_the_number_of_its_waves():
    table = waves(60)
    table["times"] = table.groupby("id").wave.transform("size")
    units = sdp.Units(id="id", size="times", order="wave")
    fitted = quietly(sdp.Synthesizer(units=units, progress=False, workers=1), table)
    copy = fitted.draw(m=1, rng=1)[0]
    assert (copy.groupby("id").wave.transform("size") == copy.times).all()
    assert copy.times.dtype == table.times.dtype
    assert "times" in fitted.plan.unit_columns


def test_rows_of_one_column_are_drawn_together_with_those_of_another(table):
    both = table.assign(work=np.where(table.sex == "f", "x", np.where(table.age % 2 == 0, "y", "z")))
    copy = quietly(asked(joint=[(["sex", "work"], "catall")]), both).draw(m=1, rng=1)[0]
    assert not ((copy.sex == "f") & (copy.work != "x")).any()
    assert set(copy.work) == {"x", "y", "z"}


def test_analyses_by_wave_are_flagged_only_where_places_share_models():
    table = waves()
    flags = {}
    for own in (50, 200):  # from so many units on a wave has models of its own: all of them, or not the last
        units = sdp.Units(id="id", order="wave", own_models=own)
        release = quietly(sdp.Synthesizer(units=units, progress=False, workers=1), table).draw(m=2, rng=1)
        flags[own] = [sdp.ols(text, release).flags for text in ("pay ~ C(wave) + sex", "pay ~ wave")]
    assert flags[50] == [(), ()]
    assert "straight lines" in flags[200][0][0]
    assert flags[200][1] == ()
