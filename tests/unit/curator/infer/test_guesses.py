"""What a table's columns are taken for: the user's word wins, certain keys are refused, others said."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp import PlanError, PysynthdpWarning, SchemaError, Synthesizer
from pysynthdp.curator.infer import infer_column
from pysynthdp.curator.infer.keys import key_of
from pysynthdp.curator.look import remarks_of
from pysynthdp.curator.rows import rows_of

N = 300
RNG = np.random.default_rng(5)
X = RNG.normal(size=N).round(2)


def quiet(**settings) -> Synthesizer:
    return Synthesizer(progress=False, **settings)


def table(values, name: str = "v", **others) -> pd.DataFrame:
    return pd.DataFrame({"x": np.resize(X, len(values)), name: values, **others})


def remarks(values, name: str = "v") -> list[str]:
    frame = pd.DataFrame({name: values})
    found = remarks_of(rows_of(frame), sdp.Schema([infer_column(frame[name], name)]))
    kinds = ("identifier", "group key", "few values", "numbers as text", "dates as text")
    return [remark.kind for remark in found if remark.kind in kinds]


def refusal(values, name: str = "v") -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        infer_column(pd.Series(values), name)
    return caught.value


# -- what counts the rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (range(1, 61), "id"),
        (range(60), "b"),
        (range(101, 169), "plot"),
        (range(3_500, 3_600), "v"),
        (np.delete(np.arange(1, 400), [3, 90, 200]), "v"),  # in order, with gaps
        (np.sort(np.random.default_rng(1).choice(500, 400, replace=False)), "pid"),
    ],
)
def test_what_counts_the_rows_is_an_identifier(values, name) -> None:
    error = refusal(list(values), name)
    assert (error.kind, error.column) == ("identifier", name)
    assert all(way in str(error) for way in (f"drop=['{name}']", "'serial'", "'normrank'"))


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (range(1960, 2020), "year"),
        (range(1960, 2020), "v"),  # years by their size
        (range(18, 81), "age"),
        (range(18, 81), "v"),
        (range(168), "hour"),
        (range(1, 121), "month"),
        (np.sort(np.random.default_rng(1).integers(0, 10**6, 300)), "income"),
    ],
)
def test_years_ages_and_hours_in_order_are_no_identifiers(values, name) -> None:
    assert isinstance(infer_column(pd.Series(list(values)), name), sdp.NumericColumn)


@pytest.mark.parametrize(
    "word",
    [
        {"method": {"v": "norm"}},
        {"method": {"v": "sample"}},
        {"bounds": {"v": (0, 500)}},
        {"decimals": {"v": 0}},
        {"spikes": {"v": []}, "bounds": {"v": (0, None)}},
        {"missing": {"v": {-8: "refused"}}},
        {"schema": sdp.Schema([sdp.NumericColumn("x"), sdp.NumericColumn("v", decimals=0)])},
    ],
)
def test_the_users_word_wins_over_the_guess_of_an_identifier(word) -> None:
    frame = table(range(N))
    with pytest.raises(SchemaError):
        quiet().plan(frame)
    fitted = quiet(**word).fit(frame)
    assert not [remark for remark in fitted.remarks if remark.kind in ("identifier", "group key")]
    assert fitted.draw(m=1, rng=1)[0]["v"].nunique() > 50


def test_a_method_for_the_whole_table_says_nothing_of_one_column() -> None:
    with pytest.raises(SchemaError, match="identifier"):
        quiet(method="norm").plan(table(range(N)))


def test_a_method_models_texts_that_repeat_but_none_that_every_record_has_alone() -> None:
    towns = [f"town {i % 200}" for i in range(N)]
    with pytest.raises(SchemaError, match="identifier"):
        quiet().plan(table(towns))
    assert "polyreg" in str(quiet(method={"v": "polyreg"}).plan(table(towns)))
    with pytest.raises(SchemaError, match="identifier"):
        quiet(method={"v": "sample"}).plan(table([f"person {i}" for i in range(N)]))


@pytest.mark.parametrize(
    "values",
    [
        np.resize([2**60, 2**60 + 1, 2**60 + 2], N),
        np.resize([0.1, 0.25, 7.5], N),
        np.arange(N),
        np.resize(["a", "b"], N),
    ],
)
def test_declared_levels_make_levels_of_anything(values) -> None:
    levels = pd.Series(values).unique().tolist()
    copy = quiet(levels={"v": levels}, method={"v": "sample"}).fit(table(values)).draw(m=1, rng=1)[0]
    assert set(copy["v"]) <= set(levels)
    assert copy["v"].dtype == table(values)["v"].dtype


def test_few_numbers_beyond_float64_are_levels_and_exact() -> None:
    codes = 2**60 + np.arange(6)
    copy = quiet().fit(table(np.resize(codes, N))).draw(m=1, rng=1)[0]
    assert set(copy["v"]) == set(codes.tolist())


def test_declared_decimals_win_over_levels() -> None:
    halves = np.resize([0.5, 1, 1.5, 2], N)
    assert isinstance(infer_column(pd.Series(halves), "v"), sdp.CategoricalColumn)
    assert isinstance(infer_column(pd.Series(halves), "v", decimals=0), sdp.NumericColumn)
    assert isinstance(infer_column(pd.Series(halves), "v", decimals=1), sdp.CategoricalColumn)


# -- keys that are said --------------------------------------------------------------------------------------

SHUFFLED = np.random.default_rng(2).permutation


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        (SHUFFLED(np.arange(1, N + 1)), "hh", "identifier"),
        (SHUFFLED(np.arange(1.0, N + 1)), "v", "identifier"),
        (np.random.default_rng(3).choice(3_455, 2_231, replace=False), "v", "identifier"),
        (np.random.default_rng(3).choice(10**9, 500, replace=False), "person_id", "identifier"),
        (np.repeat(np.arange(1, 151), 2), "v", "group key"),
        (np.tile(np.arange(1_000, 1_150), 2), "v", "group key"),  # two waves, one below the other
        (np.repeat(SHUFFLED(np.arange(40)), np.random.default_rng(4).integers(2, 40, 40)), "v", "group key"),
        (np.repeat([f"h{i:03d}" for i in range(150)], 4), "v", "group key"),
        (np.random.default_rng(5).integers(1, 80, 900), "psu", "group key"),
    ],
)
def test_keys_are_said_with_the_ways_out(values, name, kind) -> None:
    frame = table(values, name)
    with pytest.warns(PysynthdpWarning) as caught:
        fitted = quiet().fit(frame)
    said = [warning.message for warning in caught if warning.message.kind == kind]
    assert [message.column for message in said] == [name]
    assert all(way in str(said[0]) for way in (f"drop=['{name}']", "'serial'", "says that it is none"))
    assert (f"units=Units(id='{name}') draws" in str(said[0])) == (kind == "group key")
    assert f'drop = "{name}"' in said[0].said("r")
    assert f"--drop {name}" in said[0].said("shell")
    shown = str(sdp.look(frame))
    assert str(said[0].what)[len(name) + 2 :] in " ".join(shown.split())
    assert fitted.draw(m=1, rng=1)[0].shape == frame.shape


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.random.default_rng(1).lognormal(10, 0.6, 5_000).round(), "income"),
        (np.random.default_rng(1).lognormal(10, 0.6, 900).round(2), "income"),
        (np.random.default_rng(2).choice(50_000, 100, replace=False) + 50_000, "grams"),
        (np.random.default_rng(3).normal(3_400, 500, 2_000).round(), "weight"),
        (np.random.default_rng(4).integers(18, 95, 3_000), "v"),
        (np.sort(np.random.default_rng(4).integers(18, 95, 3_000)), "v"),
        (np.repeat(np.arange(1, 25), 40), "v"),  # a file sorted by a scale without gaps
        (np.random.default_rng(5).poisson(40, 3_000), "visits"),
        (np.random.default_rng(5).poisson(2, 300), "visits"),
        (np.random.default_rng(6).integers(1, 18, 3_000), "school"),  # years of it
        (np.random.default_rng(6).choice([f"town {i}" for i in range(50)], 900), "town"),
        (np.repeat(np.arange(1960, 2020), 12), "year"),
        (SHUFFLED(np.arange(1, 101)), "rank"),
    ],
)
def test_quantities_raise_no_alarm(values, name) -> None:
    assert remarks(values, name) == []


def test_nothing_is_said_under_a_guarantee() -> None:
    schema = sdp.Schema([sdp.NumericColumn("x", -9, 9), sdp.NumericColumn("hh", 0, N)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = quiet(schema=schema, guarantee=sdp.ZCDP(0.5)).fit(table(SHUFFLED(np.arange(N)), "hh"))
    assert fitted.remarks == ()


def test_rare_steps_of_a_scale_count_as_their_neighbours() -> None:
    bands = np.r_[np.repeat([22.0, 27, 32, 37, 42], 30), 17.5, 45.0, 45.0]
    with pytest.warns(sdp.PysynthdpWarning, match="count as their neighbours") as heard:
        fitted = quiet().fit(table(bands))
    assert [one.message.kind for one in heard] == ["few values"]
    assert fitted.plan.schema["v"].levels == (22.0, 27.0, 32.0, 37.0, 42.0)
    release = fitted.draw(m=20, rng=1)
    assert set(pd.concat(release)["v"]) == {22.0, 27.0, 32.0, 37.0, 42.0}
    assert "17.5" not in str(fitted.remarks) + str(release.privacy)
    assert "which levels in v have fewer than five records" in " ".join(str(release.privacy).split())
    shown = " ".join(str(sdp.look(table(bands))).split())
    assert "those of fewer than five records count as their neighbours" in shown


def test_rare_steps_stay_where_the_levels_or_the_method_are_named() -> None:
    bands = np.r_[np.repeat([22.0, 27, 32, 37, 42], 30), 17.5]
    for more in ({"levels": {"v": sorted(set(bands))}}, {"method": {"v": "polyreg"}}):
        plan = quiet(**more).plan(table(bands))
        assert 17.5 in plan.schema["v"].levels
    number = quiet(method={"v": "cells"}).plan(table(bands))
    assert isinstance(number.schema["v"], sdp.NumericColumn)


def test_a_scale_with_many_odd_values_is_a_number() -> None:
    odd = np.r_[np.repeat([1.0, 2, 3, 4], 10), 5.5, 6.5, 7.5]  # 7 % of the records
    assert isinstance(quiet().plan(table(odd)).schema["v"], sdp.NumericColumn)


# -- the method decides the kind -----------------------------------------------------------------------------

ONES = RNG.integers(0, 2, N)


@pytest.mark.parametrize(
    ("values", "more"),
    [
        (ONES, {}),
        (ONES + 1, {}),
        (np.where(X < -1, np.nan, ONES), {}),
        (pd.array(ONES, dtype="Int64"), {}),
        (np.where(X < -1, -9, ONES), {"missing": {"y": {-9: "refused"}}}),
        (np.where(ONES == 1, 7, 40), {}),
        (np.where(ONES == 1, "yes", "no"), {}),
    ],
)
def test_logreg_draws_two_numbers_as_the_default_does(values, more) -> None:
    frame = pd.DataFrame({"x": X, "y": values})
    more |= {"visit_sequence": ["x", "y"]}
    named = quiet(method={"y": "logreg"}, **more).fit(frame).draw(m=1, rng=3)[0]
    pd.testing.assert_frame_equal(named, quiet(**more).fit(frame).draw(m=1, rng=3)[0])


def test_logreg_for_a_table_of_two_valued_columns() -> None:
    frame = pd.DataFrame({"a": ONES, "b": RNG.integers(0, 2, N)})
    assert str(quiet(method="logreg").plan(frame)).count("logreg") == 2


def test_logreg_of_three_values_names_polyreg() -> None:
    with pytest.raises(PlanError, match="draws two levels, and the column has 3") as caught:
        quiet(method={"y": "logreg"}).plan(pd.DataFrame({"x": X, "y": RNG.integers(0, 3, N)}))
    assert 'method = list(y = "polyreg")' in caught.value.said("r")


@pytest.mark.parametrize("dtype", ["int64", "int8", "Int64", "float64"])
def test_polr_draws_a_scale_in_its_order_and_keeps_its_type(dtype) -> None:
    frame = pd.DataFrame({"x": X, "agree": pd.Series(RNG.integers(1, 6, N)).astype(dtype)})
    plan = quiet(method={"agree": "polr"}).plan(frame)
    assert (plan.schema["agree"].levels, plan.schema["agree"].ordered) == ((1, 2, 3, 4, 5), True)
    copy = quiet(method={"agree": "polr"}).fit(frame).draw(m=1, rng=1)[0]
    assert copy["agree"].dtype == frame["agree"].dtype
    assert set(copy["agree"]) == {1, 2, 3, 4, 5}


def test_polr_of_texts_takes_the_order_of_declared_levels() -> None:
    frame = pd.DataFrame({"x": X, "edu": RNG.choice(["low", "mid", "high"], N)})
    with pytest.warns(PysynthdpWarning, match="order in which they are listed"):
        quiet(method={"edu": "polr"}).fit(frame)
    for dtype in ("str", "category"):
        typed = frame.astype({"edu": dtype})
        column = (
            quiet(method={"edu": "polr"}, levels={"edu": ["low", "mid", "high"]}).plan(typed).schema["edu"]
        )
        assert (tuple(column.levels), column.ordered) == (("low", "mid", "high"), True)


def test_methods_for_levels_take_many_numbers_but_not_all_different_ones() -> None:
    thirty = pd.DataFrame({"x": X, "v": np.resize(np.arange(30), N)})
    assert "polyreg" in str(quiet(method={"v": "polyreg"}).plan(thirty))
    with pytest.raises(SchemaError, match="too many different numbers"):
        quiet(method={"v": "polyreg"}).plan(table(RNG.normal(size=N)))


# -- numbers and dates as text -------------------------------------------------------------------------------

AMOUNTS = RNG.integers(1_000, 99_999, N)
DAYS = pd.date_range("2020-01-01", periods=N)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        ([f"{v:,}" for v in AMOUNTS], "numbers as text"),
        ([f"{v / 7:.2f}".replace(".", ",") for v in AMOUNTS], "numbers as text"),
        ([f"{v / 7:.1f} %" for v in AMOUNTS], "numbers as text"),
        ([str(v) for v in AMOUNTS], "numbers as text"),
        ([f"{v:%Y-%m-%d}" for v in DAYS], "dates as text"),
        ([f"{v:%Y-%m-%dT%H:%M:%SZ}" for v in DAYS], "dates as text"),
        ([f"{v:%d.%m.%Y}" for v in DAYS], "dates as text"),
        ([f"{v:%m/%d/%Y}" for v in DAYS], "dates as text"),
        ([f"{v:05d}" for v in range(N)], "identifier"),
        ([f"person {v}" for v in range(N)], "identifier"),
    ],
)
def test_texts_are_named_for_what_they_are_and_the_code_to_type_works(texts, kind) -> None:
    df = table(texts)
    error = refusal(texts)
    assert error.kind == kind
    assert texts[0] not in str(error)
    if kind == "identifier":
        return
    exec(error.remedy.split(" makes them ")[0], {"df": df, "pd": pd})  # noqa: S102 -- it is what we tell people to type
    assert not pd.api.types.is_string_dtype(df["v"])
    assert df["v"].notna().all()
    assert quiet().fit(df).draw(m=1, rng=1)[0]["v"].dtype == df["v"].dtype
    assert "data$v <- " in error.said("r")
    assert "pd." not in error.said("shell")


def test_days_and_months_are_told_apart_where_they_show() -> None:
    days = [f"{v:%m/%d/%Y}" for v in DAYS]
    assert "format='%m/%d/%Y'" in str(refusal(days))
    assert "format='%d/%m/%Y'" in str(refusal([f"{v:%d/%m/%Y}" for v in DAYS]))


def test_numbers_among_levels_are_said() -> None:
    assert remarks(np.resize([f"{v},5" for v in range(20)], N)) == ["numbers as text"]


def test_times_in_several_zones_are_read_by_what_is_said() -> None:
    zones = ("UTC", "Europe/Berlin")
    start = pd.Timestamp("2024-01-01")
    times = [start.tz_localize(zones[i % 2]) + pd.Timedelta(days=i) for i in range(100)]
    df = pd.DataFrame({"v": pd.Series(times, dtype=object)})
    error = refusal(df["v"])
    assert "utc=True" in str(error)
    df["v"] = pd.to_datetime(df["v"], utc=True)
    assert str(df["v"].dtype).startswith("datetime64")


# -- running numbers in place of identifiers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "first"),
    [
        ([f"{i:05d}" for i in range(40, 100)], "00001"),
        ([f"A-{i:04d}/x" for i in range(40, 100)], "A-0001/x"),
        ([f"p{i}" for i in range(8, 120)], "p1"),
        ([f"2020-{i:03d}" for i in range(40, 100)], "2020-001"),
        ([f"{'ab'[i % 2]}-{i:04d}" for i in range(60)], "1"),  # two forms
        ([f"{chr(97 + i % 26)}{chr(97 + i // 26)}@site.org" for i in range(60)], "1"),
    ],
)
@pytest.mark.parametrize("dtype", ["str", object, "category"])
def test_running_numbers_are_written_as_the_identifiers_were(ids, first, dtype) -> None:
    frame = table(ids).astype({"v": dtype})
    fitted = quiet(method={"v": "serial"}).fit(frame)
    copy = fitted.draw(m=1, rng=1)[0]
    assert copy["v"].iloc[0] == first
    assert copy["v"].is_unique
    assert copy["v"].dtype.kind == frame["v"].dtype.kind
    more = fitted.draw(m=1, k=1_100, rng=1)[0]["v"]
    assert more.is_unique


def test_running_numbers_keep_whole_types_and_learn_nothing_from_four_records() -> None:
    copy = (
        quiet(method={"v": "serial"}).fit(table(np.arange(7_000, 7_060, dtype="int16"))).draw(m=1, rng=1)[0]
    )
    assert (copy["v"].dtype, copy["v"].iloc[-1]) == (np.dtype("int16"), 60)
    few = table(["A-1", "A-2", "A-3", "A-4", *[None] * 40])
    assert quiet(method={"v": "serial"}).plan(few).schema["v"].form is None


def test_the_form_of_running_numbers_stays_in_a_saved_fit(tmp_path) -> None:
    fitted = quiet(method={"v": "serial"}).fit(table([f"A-{i:04d}" for i in range(60)]))
    again = sdp.FittedSynthesizer.load(fitted.save(tmp_path / "fit"))
    assert again.draw(m=1, rng=1)[0]["v"].iloc[0] == "A-0001"


def test_a_form_may_be_declared() -> None:
    ids = sdp.CategoricalColumn("v", [], form="K00")
    copy = quiet(schema=sdp.Schema([sdp.NumericColumn("x"), ids]), method={"v": "serial"}).fit(
        table(["a"] * N)
    )
    assert copy.draw(m=1, rng=1)[0]["v"].iloc[[0, -1]].tolist() == ["K01", "K300"]
    with pytest.raises(SchemaError, match="zero"):
        sdp.CategoricalColumn("v", [], form="K")


def test_a_scale_by_which_a_file_is_sorted_is_no_key():
    sizes = np.random.default_rng(1).integers(5, 80, 24)
    income = np.repeat(np.arange(1.0, 25.0), sizes)
    assert key_of("income", income) is None
    schools = np.repeat(np.arange(1.0, 101.0), np.random.default_rng(1).integers(5, 30, 100))
    assert key_of("place", schools) == "group key"
