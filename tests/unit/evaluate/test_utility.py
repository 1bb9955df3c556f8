from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.evaluate import halves

pytestmark = pytest.mark.filterwarnings("ignore::pysynthdp.base.errors.PysynthdpWarning")  # of the fits


def survey(seed: int, n: int = 1200) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    sex = rng.choice(["F", "M"], n)
    region = rng.choice(["north", "east", "south", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
    pay = np.round(900 + 12 * age + 300 * (sex == "M") + rng.normal(0, 200, n), 1)
    pay[rng.random(n) < 0.1] = np.nan
    smokes = np.where(rng.random(n) < 1 / (1 + np.exp(-(age - 50) / 15)), "yes", "no")
    return pd.DataFrame(
        {
            "age": age,
            "sex": pd.Categorical(sex),
            "region": region,
            "pay": pay,
            "smokes": smokes,
            "rooms": rng.poisson(3, n),
        }
    )


TABLE, FRESH = survey(1), survey(2)


def alarms(copy: pd.DataFrame, table: pd.DataFrame = TABLE) -> list[str]:
    found = sdp.compare(table, copy, models=[]).worst(0)
    assert found.attrs == {"classification": "INTERNAL"}
    return found["measure"].tolist()


def shuffled(frame: pd.DataFrame, seed: int = 3) -> pd.DataFrame:
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


# a fresh sample


def test_a_fresh_sample_scores_one_and_raises_no_alarm():
    found = sdp.compare(TABLE, FRESH)
    assert not found.alarms
    tables = found.tables()
    for ways, most in (("one-way", 2.5), ("two-way", 1.5), ("three-way", 1.3)):
        assert 0.3 < tables[ways]["ratio"].mean() < most, ways
    for method in ("logit", "tree"):
        assert abs(found.propensity.ratio(method) - 1) < 4 * found.propensity.spread(method)
    assert 0.7 < tables["subgroups"]["ratio"].mean() < 1.3
    assert tables["moments"]["std.diff"].abs().max() < 4
    assert tables["regressions"]["std.diff"].abs().max() < 6
    assert "no proof" in str(found)


def test_page_one_is_internal_names_the_worst_subgroup_and_has_no_overall_score():
    page = str(sdp.compare(TABLE, FRESH, models=[]))
    assert page.startswith("INTERNAL: copies against the confidential table")
    assert "subgroup  " in page
    assert "score" not in page.lower()
    assert repr(sdp.compare(TABLE, FRESH, models=[])).startswith("<UtilityComparison: INTERNAL")


# files that are no synthesis: page one says so


def test_the_original_is_told_whatever_the_order_of_its_rows():
    for copy in (TABLE.copy(), shuffled(TABLE)):
        said = alarms(copy)
        assert "unique were found, as they are, in all columns" in said[0]
        assert "this is no synthesis" in said[0]
    page = str(sdp.compare(TABLE, shuffled(TABLE), models=[]))
    assert page.splitlines()[2].startswith("ALARM")


def test_records_moved_by_a_constant_are_told():
    moved = TABLE.assign(age=TABLE["age"] + 3, pay=TABLE["pay"] - 17.3, rooms=TABLE["rooms"] + 1)
    assert "moved by a constant, in all columns" in alarms(shuffled(moved))[0]
    scaled = TABLE.assign(age=TABLE["age"] * 1.1, pay=TABLE["pay"] * 0.9 + 4)
    assert "moved and scaled" in alarms(shuffled(scaled))[0]


def test_columns_permuted_one_by_one_are_told_by_their_numbers_and_by_tables():
    rng = np.random.default_rng(5)
    permuted = pd.DataFrame({name: rng.permutation(TABLE[name].to_numpy()) for name in TABLE})
    found = sdp.compare(TABLE, permuted, models=[])
    assert [one.kind for one in found.alarms] == ["copied margin"]
    assert "age, pay hold exactly the confidential numbers" in found.alarms[0].text
    worst = found.worst(1)
    assert worst["where"].tolist()[-1] in {"age x pay", "age x smokes"}
    assert worst["value"].tolist()[-1] > 20


def test_one_pair_permuted_leaves_the_others_as_they_were():
    order = np.random.default_rng(6).permutation(len(TABLE))
    permuted = TABLE.copy()
    permuted[["sex", "smokes"]] = TABLE[["sex", "smokes"]].iloc[order].to_numpy()
    found = sdp.compare(TABLE, permuted, models=[])
    rows = next(one for one in found.alarms if one.kind == "copied rows")
    assert rows.columns == ("age", "region", "pay", "rooms")
    assert found.worst(1)["where"].tolist()[-1] == "age x smokes"


def test_a_few_copied_records_among_synthetic_ones_are_told():
    mixed = pd.concat([TABLE.iloc[:60], FRESH.iloc[60:]], ignore_index=True)
    assert "copied" not in "".join(one.kind for one in sdp.compare(TABLE, FRESH, models=[]).alarms)
    found = sdp.compare(TABLE, mixed, models=[]).alarms
    assert [one.kind for one in found] == ["copied records"]
    assert 0.01 < found[0].value < 0.05


def test_fresh_samples_that_are_sorted_alike_raise_no_alarm():
    by = ["region", "age"]
    sorted_alike = [frame.sort_values(by, ignore_index=True) for frame in (TABLE, FRESH)]
    assert alarms(sorted_alike[1], sorted_alike[0]) == []
    assert "row by row" in alarms(sorted_alike[0].assign(pay=1.0), sorted_alike[0])[-2]


def test_names_that_hardly_anybody_shares_are_no_difference():
    marked = (("a", TABLE), ("b", FRESH))
    named = [frame.assign(name=[f"{at} {mark}" for at in range(len(frame))]) for mark, frame in marked]
    told = sdp.compare(*named, models=[]).tables()["one-way"].set_index("column 1")
    assert told.loc["name", "ratio"] < 2
    assert told.loc["name", "moved"] < 0.02


def test_our_own_copies_raise_no_alarm():
    release = sdp.Synthesizer(progress=False).fit(TABLE).draw(m=2, rng=1)
    found = sdp.compare(TABLE, release, models=[])
    assert not found.alarms
    assert not len(found.tables()["structure"])


def test_independent_columns_show_in_tables_and_scores_of_pairs():
    release = sdp.Synthesizer(method="sample", progress=False).fit(TABLE).draw(m=2, rng=1)
    found = sdp.compare(TABLE, release, models=[])
    assert found.tables()["two-way"]["ratio"].iloc[0] > 10
    assert found.propensity.ratio("tree") > 2


# what cannot be computed


def test_what_cannot_be_computed_says_why_and_is_in_no_summary():
    flat = FRESH.assign(age=50.0, pay=np.nan, region="north")
    found = sdp.compare(TABLE.assign(region="north"), flat, models=["pay ~ age"])
    assert any("pay ~ age" in why for why in found.missing)
    assert any(
        why.startswith("tables of region alone: it has one value on both sides") for why in found.missing
    )
    assert found.tables()["one-way"].set_index("column 1")["ratio"].isna()["region"]
    assert "pay ~ age" not in found.fits
    for name, frame in found.tables().items():
        if "ratio" in frame:
            assert (frame["ratio"].dropna() > 0).all(), name


def test_a_table_of_one_column_and_few_rows_is_taken():
    one = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0] * 5})
    found = sdp.compare(one, one.iloc[::-1].reset_index(drop=True))
    assert not len(found.tables()["two-way"])
    assert not found.fits


# copies of other tools


def test_types_of_another_tool_are_listed_and_read(tmp_path):
    FRESH.to_csv(tmp_path / "copy.csv", index=False)
    text = FRESH.assign(pay=FRESH["pay"].astype(object).fillna("refused"))
    listed = sdp.compare(TABLE, [tmp_path / "copy.csv", text], models=["pay ~ age + sex"])
    assert listed.fits["pay ~ age + sex"].mean_abs_std_diff < 4
    told = sdp.compare(TABLE, text, models=[]).tables()["structure"]
    assert ["pay", "type"] in told[["column", "what"]].to_numpy().tolist()
    lost = told[told["what"] == "cells that are no finite number"]
    assert lost["copies"].tolist() == [f"{FRESH['pay'].isna().sum():,}"]


def test_levels_and_columns_that_one_side_lacks_are_listed():
    other = FRESH.assign(region="abroad").drop(columns="rooms")
    found = sdp.compare(TABLE, other, models=[])
    told = found.tables()["structure"].to_numpy().tolist()
    assert ["rooms", "column", "there", "-"] in told
    assert ["region", "cells with a level that the table does not have", "0", "1,200"] in told
    assert "columns that copies do not have" in str(found)


def test_whole_numbers_floats_and_texts_of_levels_are_one():
    table = pd.DataFrame({"code": ["1", "2"] * 100, "x": range(200)})
    copy = pd.DataFrame({"code": [1.0, 2.0] * 100, "x": range(1, 201)})
    assert sdp.compare(table, copy, models=[]).tables()["one-way"]["ratio"].max() < 1


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: sdp.compare(FRESH, 3), "copies are a release, its folder"),
        (lambda: sdp.compare(3, FRESH), "the first thing compared is the confidential table"),
        (lambda: sdp.compare(FRESH, []), "there is no copy"),
        (lambda: sdp.compare(FRESH, FRESH[["age"]].rename(columns={"age": "b"})), "no column in common"),
        (lambda: sdp.compare(FRESH, FRESH, by=["regio"]), "did you mean 'region'"),
        (lambda: sdp.compare(FRESH, FRESH, models=["pay"]), "models are formulas"),
        (lambda: sdp.compare(FRESH, FRESH.iloc[:0]), "have no rows"),
        (lambda: sdp.compare(FRESH, [FRESH, FRESH[["age"]]]), "copy 2 has no column sex"),
        (lambda: sdp.compare(FRESH, FRESH, models=[]).worst(of="two"), "did you mean 'two-way'"),
        (lambda: sdp.compare(FRESH, FRESH, models=[]).plot("colums"), "did you mean 'columns'"),
    ],
)
def test_slips_are_answered(call, what):
    with pytest.raises(sdp.PysynthdpError, match=what):
        call()


# parts of the result


def test_indicators_cross_columns_and_name_groups():
    found = sdp.compare(TABLE, FRESH, models=[], by=["region", ("sex", "smokes")])
    told = found.tables()["indicators"]
    assert set(told["by"]) == {"region", "sex x smokes"}
    own = TABLE[(TABLE["sex"] == "F") & (TABLE["smokes"] == "yes")]
    row = told.set_index(["group", "statistic"]).loc[("F, yes", "mean(pay)")]
    assert row["confidential"] == pytest.approx(own["pay"].mean())
    assert told.set_index(["group", "statistic"]).loc[("west", "share"), "copies"] == pytest.approx(
        (FRESH["region"] == "west").mean()
    )


def test_correlations_and_cramers_v_are_those_of_scipy():
    from scipy.stats.contingency import association

    told = sdp.compare(TABLE, FRESH, models=[]).tables()["associations"]
    told = told.set_index(["column 1", "column 2", "measure"])
    assert told.loc[("age", "pay", "correlation"), "confidential"] == pytest.approx(
        TABLE["age"].corr(TABLE["pay"])
    )
    table = pd.crosstab(TABLE["sex"], TABLE["smokes"])
    v = told.loc[("sex", "smokes", "Cramer's V"), "confidential"]
    assert v == pytest.approx(association(table.to_numpy(), method="cramer"))


def test_missing_kinds_are_told_apart():
    def coded(frame: pd.DataFrame, n: int) -> pd.DataFrame:
        return frame.assign(pay=frame["pay"].where(np.arange(len(frame)) >= n, -8.0))

    schema = sdp.Schema([sdp.NumericColumn("pay", missing={-8: "not asked"})])
    found = sdp.compare(coded(TABLE, 300), coded(FRESH, 60), models=[], schema=schema)
    told = found.tables()["missing"].set_index(["column", "kind"])
    assert told.loc[("pay", "not asked"), ["confidential", "copies"]].tolist() == [0.25, 0.05]
    assert told.loc[("pay", "not asked"), "std.diff"] < -10
    assert found.tables()["moments"].iloc[5:]["confidential"].min() > -8


def test_rules_are_counted_on_both_sides():
    found = sdp.compare(TABLE, FRESH.assign(age=FRESH["age"] - 10), models=[], rules=["age >= 18"])
    told = found.tables()["rules"]
    assert told["confidential"].tolist() == [0]
    assert told["copies"].item() == pytest.approx((FRESH["age"] < 28).mean())


def test_held_out_rows_measure_copies_by_the_tables_own_distance():
    fit, held = halves(survey(7, 3000))
    again = sdp.compare(fit, survey(8, 1500), models=[], holdout=held).tables()["held-out"]
    assert again["ratio"].between(0.75, 1.3).all()
    rng = np.random.default_rng(1)
    apart = pd.DataFrame({name: rng.permutation(fit[name].to_numpy()) for name in fit})
    far = sdp.compare(fit, apart, models=[], holdout=held).tables()["held-out"].set_index("measure")
    assert far.loc["two-way tables", "ratio"] > 1.5
    assert far.loc["propensity by tree", "ratio"] > 2


def test_a_stored_release_is_compared_as_the_one_in_memory(tmp_path):
    release = sdp.Synthesizer(progress=False).fit(TABLE).draw(m=2, rng=1)
    release.save(tmp_path / "out")
    one, two = sdp.compare(TABLE, release), sdp.compare(TABLE, tmp_path / "out")
    for name, frame in one.tables().items():
        pd.testing.assert_frame_equal(frame, two.tables()[name], obj=name)


def test_it_is_not_saved_into_a_release_and_says_internal_elsewhere(tmp_path):
    release = sdp.Synthesizer(progress=False).fit(TABLE).draw(m=1, rng=1)
    found = sdp.compare(TABLE, release, models=[])
    release.save(tmp_path / "out")
    with pytest.raises(sdp.FitError, match="INTERNAL; choose another folder"):
        found.save(tmp_path / "out")
    assert sdp.verify(tmp_path / "out")
    (tmp_path / "own").mkdir()
    found.save(tmp_path / "own", name="may")
    assert all(path.name.startswith("INTERNAL_may") for path in (tmp_path / "own").iterdir())


def test_under_a_guarantee_page_one_says_that_the_comparison_has_none():
    schema = sdp.Schema(
        [
            sdp.CategoricalColumn("sex", ["F", "M"], other="F"),
            sdp.CategoricalColumn("smokes", ["no", "yes"], other="no"),
        ]
    )
    made = sdp.Synthesizer(schema=schema, guarantee=sdp.ByNoise(sdp.ZCDP(1.0)), progress=False)
    release = made.fit(TABLE[["sex", "smokes"]].astype(object)).draw(m=2)
    assert "none of its numbers" in str(sdp.compare(TABLE, release, models=[]))
    plain = sdp.Synthesizer(progress=False).fit(TABLE).draw(m=1, rng=1)
    assert "none of its numbers" not in str(sdp.compare(TABLE, plain, models=[]))


@pytest.mark.parametrize("kind", ["columns", "tables", "regressions", "propensity"])
def test_pictures_are_drawn_and_say_internal(kind):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = sdp.compare(TABLE, FRESH).plot(kind, most=4)
    assert figure._suptitle.get_text().startswith("INTERNAL")
    assert any(ax.get_title(loc="left") for ax in figure.axes)
    pyplot.close(figure)


# points in time


def test_dates_stand_as_dates_on_page_one_and_beside_days_in_tables():
    rng = np.random.default_rng(2)
    born = pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(0, 15_000, 400), unit="D")
    table = pd.DataFrame({"born": born, "sex": rng.choice(["F", "M"], 400)})
    table["wave"] = pd.to_datetime(rng.choice(["2020-01-01", "2021-01-01"], 400))
    table["took"] = pd.to_timedelta(rng.integers(0, 30, 400), unit="D")
    other = table.sample(frac=1, replace=True, random_state=1)
    tables = sdp.compare(table, other, models=[]).tables()
    groups = set(tables["subgroups"]["subgroup"])
    assert {"2020-01-01", "2021-01-01"} <= groups
    cut = pd.Series(born).quantile([0.2, 0.4, 0.6, 0.8])
    assert len({f"up to {at:%Y-%m-%d}" for at in cut} & groups) >= 3  # a fifth quantile may fall between days
    means = tables["moments"].set_index(["column", "statistic"])
    assert means.loc[("born", "mean"), "confidential date"] == f"{born.to_series().mean():%Y-%m-%d}"
    assert means.loc[("born", "sd"), "confidential date"] == ""
    assert means.loc[("took", "mean"), "confidential date"] == ""
    shares = tables["indicators"].set_index(["group", "statistic"])
    assert shares.loc[("F", "mean(born)"), "copies date"].startswith("19")
    assert shares.loc[("F", "share"), "copies date"] == ""
    cells = tables["distributions"]
    assert cells[cells["column"] == "born"]["cell"].str.match(r"\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d").all()
    assert "confidential date" not in sdp.compare(TABLE, FRESH, models=[]).tables()["moments"]


def test_trees_that_see_a_part_of_the_rows_say_so():
    long = pd.DataFrame({"a": np.arange(21_000) % 7, "b": np.arange(21_000) % 3})
    found = sdp.compare(long, long.iloc[::-1], models=[])
    notes = found.tables()["propensity"].set_index("method")["note"]
    assert "20,000 evenly spaced rows" in notes["tree"]
    assert "Trees see 20,000 evenly spaced rows of a side" in " ".join(found.notes)
    assert not any("rows of a side" in one for one in sdp.compare(TABLE, FRESH, models=[]).notes)


# one reference level on both sides


def test_levels_of_another_tools_copies_stand_in_the_order_of_the_table(tmp_path):
    order = pd.CategoricalDtype(["<10 yrs", "10 yrs", "higher", "12 yrs"])
    rng = np.random.default_rng(8)
    place = rng.integers(0, 4, 800)
    table = pd.DataFrame({"edu": pd.Categorical.from_codes(place, dtype=order)})
    table["pay"] = 100.0 * place + rng.normal(0, 10, 800)
    table.iloc[::-1].to_csv(tmp_path / "copy.csv", index=False)
    fits = sdp.compare(table, tmp_path / "copy.csv", models=["pay ~ edu"]).tables()["regressions"]
    assert fits["std.diff"].abs().max() < 1e-6
    assert "edu[T.12 yrs]" in set(fits["term"])
    release = sdp.Synthesizer(progress=False).fit(table).draw(m=2, rng=1)
    texts = table.assign(edu=table["edu"].astype(str))
    ours = [sdp.compare(one, release, models=["pay ~ edu"]).tables()["regressions"] for one in (table, texts)]
    pd.testing.assert_frame_equal(*ours)


def test_contrasts_of_other_levels_are_refused_not_compared():
    table = pd.DataFrame({"edu": pd.Categorical(list("bca") * 100, ["b", "a", "c"])})
    table["pay"] = np.random.default_rng(1).normal(size=300)
    release = sdp.Synthesizer(progress=False).fit(table).draw(m=2, rng=1)
    pooled = sdp.ols("pay ~ edu", release)
    assert len(sdp.compare_fits(pooled, table).terms) == 3
    with pytest.raises(sdp.FitError, match="edu has another reference level"):
        sdp.compare_fits(pooled, table.assign(edu=table["edu"].astype(str)))


# what makes rows agree in order, though nothing was copied


def kept_table(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    asked = rng.random(600) < 0.5
    searched = np.where(asked, rng.choice(["no", "yes"], 600, p=[0.95, 0.05]), "not asked")
    return pd.DataFrame(
        {"form": np.where(asked, "new", "old"), "searched": searched, "age": rng.normal(40, 9, 600)}
    )


def test_columns_that_go_with_kept_ones_are_not_called_copied_and_copied_ones_are():
    table = kept_table(1)
    release = sdp.Synthesizer(keep=["form"], progress=False).fit(table).draw(m=1, rng=1)
    assert (release[0]["searched"] == table["searched"]).mean() > 0.9
    assert not sdp.compare(table, release, models=[]).alarms
    assert not sdp.disclosure_risk(table, release, keys=["form", "searched"], attacks=5).alarms
    leaked = [release[0].assign(searched=table["searched"], age=table["age"])]
    leak = replace(release, copies=tuple(leaked))
    assert "copied rows" in [one.kind for one in sdp.compare(table, leak, models=[]).alarms]
    risk = sdp.disclosure_risk(table, leak, keys=["form", "searched"], attacks=5)
    assert any("row by row" in each for each in risk.alarms)


def panel(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    own = np.repeat(rng.normal(0, 1, 120), 4)
    frame = pd.DataFrame({"id": np.repeat(np.arange(120), 4), "year": np.tile([2001, 2002, 2003, 2004], 120)})
    return frame.assign(
        wage=(10 + own + rng.normal(0, 0.5, 480)).round(2), hours=rng.normal(40, 5, 480).round(1)
    )


def test_waves_stand_in_their_order_and_ids_that_are_anew_hide_no_copied_record():
    table = panel(1)
    settings = sdp.Synthesizer(units=sdp.Units(id="id", order="year"), progress=False)
    release = settings.fit(table).draw(m=2, rng=1)
    assert not sdp.compare(table, release, models=[]).alarms
    asked = {"keys": ["year", "wage"], "attacks": 5}
    assert not sdp.disclosure_risk(table, release, **asked).alarms
    held = sdp.disclosure_risk(table, release, refit=settings, shadow_fits=8, **asked)
    assert held.control == "refits"
    assert "in units" in dict(held.not_computed)["membership"]
    leak = replace(release, copies=tuple(table.assign(id=table["id"] + 1_000) for _ in range(2)))
    told = sdp.disclosure_risk(table, leak, **asked).alarms
    assert any("records of the table themselves" in each for each in told)


def test_a_score_of_few_values_is_explained_by_least_squares_and_two_levels_by_a_logit():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"age": rng.integers(20, 60, 400), "score": rng.integers(0, 7, 400)})
    table["smokes"] = rng.choice(["no", "yes"], 400)
    release = sdp.Synthesizer(progress=False).fit(table).draw(m=2, rng=1)
    found = sdp.compare(table, release, models=["score ~ age", "smokes ~ age"])
    assert {name: fit.model for name, fit in found.fits.items()} == {
        "score ~ age": "OLS",
        "smokes ~ age": "Logit",
    }


def test_a_picture_is_drawn_on_given_axes_too():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, ax = pyplot.subplots()
    found = sdp.compare(TABLE, FRESH, models=[])
    assert found.plot("tables", ax=ax) is ax
    worst = found.worst(1)["where"].iloc[0]
    assert ax.get_title(loc="left") == f"INTERNAL: {worst}, in standard errors"
    pyplot.close("all")
