from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, SchemaError
from pysynthdp.curator.infer import infer_column
from pysynthdp.design.values import from_codes, from_numbers, to_codes, to_numbers

SERIES = {
    "float64": pd.Series([1.5, None, -3.25]),
    "float32": pd.Series([1.5, None, -3.25], dtype="float32"),
    "Float64": pd.Series([1.5, None, -3.25], dtype="Float64"),
    "arrow": pd.Series([1.5, None, -3.25], dtype="double[pyarrow]"),
    "int8": pd.Series([-128, 127, 5], dtype="int8"),
    "uint64": pd.Series([2**53 - 1, 0, 5], dtype="uint64"),
    "Int64": pd.Series([3, None, 5, 6], dtype="Int64"),
    "arrow int": pd.Series([3, None, 5, 6], dtype="int16[pyarrow]"),
    "day": pd.Series(pd.to_datetime(["1850-01-01", None, "2020-02-29"])),
    "second": pd.Series(pd.to_datetime(["1850-01-01 05:00:01", None, "2262-01-01 00:00:00"])),
    "ns": pd.Series(pd.to_datetime(["1950-01-01 05:00:01.000001", None])).astype("M8[ns]"),
    "year one": pd.Series(["0001-01-01", "9999-12-31"], dtype="M8[s]"),
    "zoned": pd.Series(
        pd.to_datetime(["2020-03-29 00:59:59", None]).tz_localize("UTC").tz_convert("Europe/Warsaw")
    ),
    "zoned days": pd.Series(pd.date_range("2020-10-20", periods=12, tz="Europe/Warsaw")),
    "midnight twice": pd.Series(pd.date_range("2020-10-28", periods=7)).dt.tz_localize(
        "America/Havana", ambiguous=np.ones(7, dtype=bool)
    ),
    "no midnight": pd.Series(pd.date_range("2020-03-05", periods=7)).dt.tz_localize(
        "America/Havana", nonexistent="shift_forward"
    ),
    "duration": pd.Series(pd.to_timedelta(["-1 days", None, "00:00:07"])),
    "dates": pd.Series([dt.date(1, 1, 1), None, dt.date(9999, 12, 31)], dtype=object),
    "arrow date": pd.Series([dt.date(2020, 1, 1), None], dtype="date32[pyarrow]"),
    "arrow time": pd.Series(
        [pd.Timestamp(2020, 1, 1, 5).to_pydatetime(), None], dtype="timestamp[us][pyarrow]"
    ),
    "arrow zoned": pd.Series(
        [pd.Timestamp(2020, 1, 1, 5).to_pydatetime(), None], dtype="timestamp[us][pyarrow]"
    ).astype("timestamp[us, tz=Europe/Warsaw][pyarrow]"),
    "arrow duration": pd.Series([dt.timedelta(5), None], dtype="duration[us][pyarrow]"),
}


@pytest.mark.parametrize("name", SERIES)
def test_numbers_and_dates_survive_the_way_there_and_back(name) -> None:
    series = SERIES[name]
    column = infer_column(series, "x")
    assert isinstance(column, NumericColumn)
    numbers = to_numbers(series, column)
    back = from_numbers(np.nan_to_num(numbers), np.isnan(numbers), column)
    pd.testing.assert_series_equal(back, series, check_exact=True)


LEVELS = {
    "text": pd.Series(["b", "a", None]),
    "object": pd.Series(["b", None, "a"], dtype=object),
    "arrow text": pd.Series(["b", "a", None], dtype="string[pyarrow]"),
    "bool": pd.Series([True, False, False]),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "arrow bool": pd.Series([True, None, False], dtype="bool[pyarrow]"),
    "object bool": pd.Series([True, None, False], dtype=object),
    "unordered": pd.Series(pd.Categorical(["z", None, "a"], categories=["z", "unused", "a"])),
    "ordered": pd.Series(pd.Categorical([2, 1, None], categories=[3, 2, 1], ordered=True)),
    "dates": pd.Series(pd.Categorical(pd.to_datetime(["2021-01-01", "2020-01-01", None]))),
    "intervals": pd.Series(pd.cut(pd.Series([1.0, 5.0, np.nan]), [0, 2, 4, 6])),
    "object categories": pd.Series(pd.Categorical(["a"], categories=pd.Index(["a", "b"], dtype=object))),
    "int8 categories": pd.Series(pd.Categorical([1], categories=pd.Index([1, 2], dtype="int8"))),
    "binary": pd.Series([0.0, 1.0, None]),
    "Int8": pd.Series([0, 1, None], dtype="Int8"),
    "nothing": pd.Series([None, None], dtype="datetime64[ns, UTC]"),
    "none": pd.Series([None, None], dtype=object),
    "empty float": pd.Series([None, None], dtype="float32"),
}


@pytest.mark.parametrize("name", LEVELS)
def test_levels_survive_the_way_there_and_back(name) -> None:
    series = LEVELS[name]
    column = infer_column(series, "x", public=True)
    assert isinstance(column, CategoricalColumn)
    back = from_codes(to_codes(series, column), column)
    pd.testing.assert_series_equal(back, series.reset_index(drop=True))
    if isinstance(series.dtype, pd.CategoricalDtype):
        assert back.cat.categories.dtype == series.cat.categories.dtype


def test_drawn_numbers_stay_inside_the_type() -> None:
    wide = np.array([-1e9, 1e9])
    none = np.zeros(2, dtype=bool)
    assert from_numbers(wide, none, NumericColumn("x", dtype="int8")).tolist() == [-128, 127]
    assert from_numbers(wide, none, NumericColumn("x", dtype="UInt8")).tolist() == [0, 255]


@pytest.mark.parametrize("values", [[1e200], [-1e200, 0.0]])
def test_numbers_that_cannot_be_squared_are_refused(values) -> None:
    with pytest.raises(SchemaError, match="another unit"):
        to_numbers(pd.Series(values), NumericColumn("x"))


def test_unlisted_levels_are_marked() -> None:
    column = CategoricalColumn("x", ["a"], missing=["dk"])
    assert to_codes(pd.Series(["a", "dk", "b", None]), column).tolist() == [0, 1, -2, -1]


@pytest.mark.parametrize(
    ("series", "column"),
    [
        (pd.Series(["a"]), NumericColumn("x")),
        (pd.Series([1.0], dtype=object), NumericColumn("x")),
        (pd.Series(["8123"]), NumericColumn("x", unit="day")),
        (
            pd.Series([pd.Timestamp(2020, 1, 1).to_pydatetime()], dtype=object),
            NumericColumn("x", unit="second"),
        ),
    ],
)
def test_values_of_another_sort_are_refused_with_a_mend(series, column) -> None:
    with pytest.raises(SchemaError, match="convert it"):
        to_numbers(series, column)


@pytest.mark.parametrize(
    "dtype",
    [
        "M8[s]",
        "M8[us]",
        "M8[ns]",
        "m8[s]",
        "m8[ns]",
        "datetime64[ns, Europe/Warsaw]",
        "datetime64[us, UTC]",
        "date32[pyarrow]",
        "timestamp[ns][pyarrow]",
        "duration[ns][pyarrow]",
        object,
    ],
)
@pytest.mark.parametrize("unit", ["day", "second"])
def test_drawn_dates_stay_inside_the_type(dtype, unit) -> None:
    column = NumericColumn("x", dtype=dtype, unit=unit)
    wild = from_numbers(np.array([-1e200, 0.0, 1e200, 0.0]), np.array([False, False, False, True]), column)
    assert wild.dtype == column.dtype
    assert wild.isna().tolist() == [False, False, False, True]
    assert wild[0] < wild[1] < wild[2]


@pytest.mark.parametrize("cells", [["a", "\udcff"], ["\udcff"] * 3])
def test_texts_that_are_no_unicode_are_refused_without_a_trace_of_them(cells) -> None:
    with pytest.raises(SchemaError, match="x holds texts that are no Unicode") as caught:
        to_codes(pd.Series(cells, dtype=object), CategoricalColumn("x", list(dict.fromkeys(cells))))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
