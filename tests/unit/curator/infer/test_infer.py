from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, SchemaError
from pysynthdp.curator.infer import infer_column, infer_schema
from pysynthdp.curator.rows import rows_of
from pysynthdp.schema.declarations import Declarations

WAYS_OUT = ("drop=['x']", "method={'x': 'serial'}", "levels")


def learn(values, dtype=None, **wishes):
    return infer_column(pd.Series(values, dtype=dtype), "x", **wishes)


def refusal(values, dtype=None, **wishes) -> str:
    with pytest.raises(SchemaError) as caught:
        learn(values, dtype, **wishes)
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "dtype", "decimals"),
    [
        ([1, 2, 3], "int64", 0),
        ([1.5, 2.25, 3], "float64", 2),
        ([0.1 + 0.2, 0.7, 1e-3], "float64", 3),  # 0.30000000000000004 is noise, not a digit
        ([0.1, 0.2, 0.7], "float32", 1),
        ([1e12 / 3, 1e12 / 7, 5e11], "float64", None),
        ([1e-12, 2.5e-13, 0.0], "float64", None),
        ([1e9 + 0.123456789, 1e9 - 0.3, 1e9], "float64", None),
        ([1e15, 2e15, 3e15], "float64", 0),
        ([1e20, 2e20, 3e20], "float64", 0),
        ([2.5, 3.5, None], "Float64", 1),
        ([2.5, 3.5, 9, None], "double[pyarrow]", 1),
    ],
)
def test_decimals_are_those_of_the_values(values, dtype, decimals) -> None:
    assert learn(values, dtype, exempt=True).decimals == decimals  # released, so that few values tell


def test_no_bound_is_inferred() -> None:
    column = learn([18.0, 40.0, 99.0])
    assert (column.lower, column.upper, column.declared) == (None, None, False)


@pytest.mark.parametrize(
    ("values", "dtype", "levels"),
    [
        (["b", "a", None], "str", ("a", "b")),
        (["b", "a", np.nan], object, ("a", "b")),
        (["b", "a", None], "string[pyarrow]", ("a", "b")),
        ([True, None, True], "boolean", (False, True)),
        ([True, False, None], object, (False, True)),
        ([0, 1, 1], "int8", (0, 1)),
        ([1.0, 2.0, None], "float64", (1.0, 2.0)),
        ([7, 7, 7, 7, 7, 9, 9, 9, 9, 9], "int64", (7, 9)),
        ([], "float64", ()),
        ([None, None], "Int64", ()),
        ([None, None], "datetime64[ns, UTC]", ()),
        ([None, None], object, ()),
    ],
)
def test_levels(values, dtype, levels) -> None:
    column = learn(values, dtype)
    assert isinstance(column, CategoricalColumn)
    assert column.levels == levels
    assert column.dtype == pd.Series(values, dtype=dtype).dtype


def test_heavy_values_apart_from_each_other_are_spikes() -> None:
    months = np.tile(np.arange(1, 31), 20)
    values = np.concatenate([np.full(900, -8), np.zeros(1200), months])
    column = learn(values.astype("int64"))
    assert (column.spikes, column.learned_spikes) == ((-8, 0), True)
    hill = np.round(np.random.default_rng(1).normal(20, 1.5, 4000)).astype("int64")  # three heavy neighbours
    assert learn(np.concatenate([hill, np.arange(60)])).spikes == ()


def test_rare_numbers_do_not_become_levels() -> None:
    """Two incomes among missing values would be listed in the statement as the column's levels."""
    assert isinstance(learn([51_234.5, 12_000.0, *[None] * 50]), NumericColumn)
    assert isinstance(learn([51_234.5, 12_000.0]), NumericColumn)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    "categories",
    [
        ["z", "y", "unused"],
        [3, 1, 2],
        [0.5, 0.25],
        list(pd.to_datetime(["2021-01-01", "2020-01-01"])),
        [True, False],
    ],
)
def test_category_sets_are_kept_with_order_and_type_without_what_no_record_has(categories, ordered) -> None:
    series = pd.Series(pd.Categorical.from_codes([0, 1, -1], categories, ordered=ordered))
    column = infer_column(series, "x")
    assert column.levels == tuple(series.cat.categories[:2])
    assert column.dtype == series.cat.remove_unused_categories().dtype
    assert column.dtype.categories.dtype == series.cat.categories.dtype
    assert column.ordered is ordered
    declared = infer_column(series, "x", levels=categories)
    assert (declared.levels, declared.dtype) == (tuple(series.cat.categories), series.dtype)
    assert infer_column(series, "x", public=True).dtype == series.dtype


def test_declared_codes_keep_their_place_among_the_categories() -> None:
    series = pd.Series(pd.Categorical(["a", "b"], ["a", "unused", "refused", "b", "x"]))
    column = infer_column(series, "x", missing={"refused": "refused", "dk": "don't know"})
    assert column.levels == ("a", "b")
    assert column.dtype.categories.tolist() == ["a", "refused", "b", "dk"]
    declared = infer_column(series, "x", levels=["b", "a", "new"])
    assert declared.dtype.categories.tolist() == ["a", "b", "new"]
    assert declared.levels == ("b", "a", "new")


@pytest.mark.parametrize("ordered", [False, True])
def test_a_categorical_that_names_its_rows_is_an_identifier(ordered) -> None:
    series = pd.Series(pd.Categorical([f"p{i}" for i in range(40)], ordered=ordered))
    with pytest.raises(SchemaError, match="identifier"):
        infer_column(series, "x")
    spare = series.cat.add_categories(["somebody else"])
    assert "somebody else" not in infer_column(spare, "x", exempt=True).dtype.categories


def test_no_category_at_all() -> None:
    series = pd.Series(pd.Categorical([None, None], categories=[]))
    assert infer_column(series, "x").dtype == series.dtype


@pytest.mark.parametrize(
    ("values", "dtype", "unit", "decimals"),
    [
        (["2020-01-01", None], "datetime64[s]", "day", 0),
        (["2020-01-01 12:00", None], "datetime64[ns]", "hour", 0),
        (["2020-01-01 12:01", None], "datetime64[ns]", "minute", 0),
        (["2020-01-01 12:00:00.250"], "datetime64[us]", "second", 3),
        (["2020-01-01 12:00:00.000001"], "datetime64[us]", "second", 6),
        (["2020-06-01 00:00"], "datetime64[us, Europe/Warsaw]", "day", 0),
        (["1 days", "2 days"], "timedelta64[s]", "day", 0),
        (["1 days 00:00:05"], "timedelta64[s]", "second", 0),
        ([dt.date(9999, 12, 31), dt.date(1, 1, 1), None], object, "day", 0),
        ([dt.date(2020, 1, 1), None], "date32[pyarrow]", "day", 0),
        ([pd.Timestamp(2020, 1, 1, 5).to_pydatetime(), None], "timestamp[us][pyarrow]", "hour", 0),
    ],
)
def test_dates_have_a_unit(values, dtype, unit, decimals) -> None:
    if dtype == "datetime64[us, Europe/Warsaw]":
        series = pd.Series(pd.to_datetime(values).tz_localize("Europe/Warsaw"))
    else:
        series = pd.Series(values, dtype=dtype)
    column = infer_column(series, "x", exempt=True)
    assert (column.unit, column.decimals, column.dtype) == (unit, decimals, series.dtype)


def test_codes_and_bounds_of_dates_may_be_dates() -> None:
    days = pd.Series(pd.to_datetime(["1900-01-01", "2020-01-01", "2020-01-03"]))
    unknown = pd.Timestamp("1900-01-01")
    column = infer_column(days, "x", missing={unknown: "unknown"}, bounds=(pd.Timestamp("2020-01-01"), None))
    assert column.missing == ((-25_567.0, "unknown"),)
    assert column.lower == 18_262.0
    assert "of the column's type" in refusal(days, missing={"never": "unknown"})


@pytest.mark.parametrize(
    ("values", "mend"),
    [
        ([1, 2.5, None], "pd.to_numeric"),
        ([1, 2, None], "pd.to_numeric"),
        ([Decimal(1), Decimal("2.5")], "pd.to_numeric"),
        ([2**70, 1, 2], "pd.to_numeric"),
        ([pd.Timestamp(2020, 1, 1).to_pydatetime(), None], "pd.to_datetime"),
        ([dt.timedelta(1), None], "pd.to_timedelta"),
        ([dt.time(1)], "drop=['x']"),
        (["a", 1], "drop=['x']"),
        (["a", True], "drop=['x']"),
        ([[1], [2]], "drop=['x']"),
        ([{}, {}], "drop=['x']"),
        ([b"a"], "drop=['x']"),
        ([1 + 2j], "drop=['x']"),
    ],
)
def test_objects_that_are_no_column_are_refused_with_a_mend(values, mend) -> None:
    assert mend in refusal(values, None if isinstance(values[0], complex) else object)


@pytest.mark.parametrize("dtype", ["str", object, "category", "string[pyarrow]"])
def test_identifiers_stop_with_three_ways_out(dtype) -> None:
    names = [f"person {i}" for i in range(30)]
    message = refusal(names, dtype)
    assert all(way in message for way in WAYS_OUT)
    assert "person" not in message
    assert learn(names, dtype, exempt=True).levels == ()
    assert learn(names, dtype, levels=names).levels == tuple(names)


def test_free_text_and_running_numbers_stop() -> None:
    assert all(way in refusal([f"note {i % 70}" for i in range(100)]) for way in WAYS_OUT)
    assert all(way in refusal(range(1000, 1040)) for way in WAYS_OUT)
    assert isinstance(learn([f"level {i % 60}" for i in range(600)]), CategoricalColumn)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "int64[pyarrow]"])
def test_whole_numbers_beyond_float64_are_refused(dtype) -> None:
    message = refusal([2**53 + 1, 5, 7, 7], dtype)
    assert "2^53" in message
    assert all(way in message for way in WAYS_OUT)
    assert learn([2**53 - 1, 5, 7, 7], dtype).decimals == 0


def test_infinity_is_refused() -> None:
    assert "infinite" in refusal([1.0, np.inf, 3.0])


def test_declared_codes_are_not_values() -> None:
    column = learn([-8, 1.5, 2, 3], missing={-8: "not applicable"}, spikes=[2])
    assert column.specials == (-8, 2)
    edu = infer_column(pd.Series(["lo", "dk"], dtype="category"), "x", missing={"dk": "don't know"})
    assert edu.levels == ("lo",)
    assert list(edu.dtype.categories) == ["dk", "lo"]


@pytest.mark.parametrize(
    "wishes",
    [
        {"missing": {"x": -8}},
        {"missing": {"x": "-8"}},
        {"missing": {"x": None}},
        {"missing": {"x": {"-8": "text code of a number"}}},
        {"missing": {"x": [np.nan]}},
        {"missing": ["x"]},
        {"spikes": {"x": 0}},
        {"spikes": {"x": ["0"]}},
        {"bounds": {"x": 0}},
        {"bounds": {"x": ("a", 1)}},
        {"bounds": {"x": (np.nan, 1)}},
        {"bounds": {"x": (2, 1)}},
        {"decimals": {"x": "two"}},
        {"decimals": {"x": 0.5}},
        {"levels": {"x": "abc"}},
        {"levels": {"x": [[1], [2]]}},
        {"levels": {"z": ["a"]}},
        {"spikes": {"t": [0]}},
        {"bounds": {"t": (0, 1)}},
        {"decimals": {"t": 1}},
    ],
)
def test_declarations_that_cannot_be_met_are_refused(wishes) -> None:
    table = pd.DataFrame({"x": [1.5, 2.5, 3.5], "t": ["a", "b", "a"]})
    with pytest.raises(SchemaError):
        infer_schema(rows_of(table), declared=Declarations(**wishes))


def test_blocks_do_not_change_the_schema() -> None:
    table = pd.DataFrame(
        {"x": [None, 1.5, 2.25, 3], "t": pd.Categorical([None, "b", "a", "b"]), "n": [None] * 4}
    )
    assert infer_schema(rows_of(table, 1)) == infer_schema(rows_of(table))
