"""Every cell is read by itself: one odd cell changes the type of a column, never how other cells are read."""

from __future__ import annotations

import io
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.design.coerce import coerce
from pysynthdp.design.level_keys import level_key, same_key
from pysynthdp.design.values import to_numbers
from pysynthdp.privacy.guarantees.zcdp import ZCDP

N = 200
rng = np.random.default_rng(1)
AMOUNT = sdp.NumericColumn("x", lower=-1e6, upper=1e6, may_be_missing=False, fallback=0)
DAY = sdp.NumericColumn("x", lower=0, upper=40_000, unit="day", may_be_missing=False, fallback=1)
SECOND = sdp.NumericColumn("x", lower=0, upper=4e9, unit="second", may_be_missing=False, fallback=1)
TIMES = pd.Series(pd.Timestamp("2001-02-03") + pd.to_timedelta(rng.uniform(0, 1e8, N), unit="s")).dt.as_unit(
    "us"
)
DAYS = [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-07-01")]


def levels(*values):
    return sdp.CategoricalColumn("x", list(values), other=values[0], may_be_missing=False)


TYPED = {
    "floats": (AMOUNT, pd.Series(rng.normal(size=N) * 1e3)),
    "halves": (AMOUNT, pd.Series(rng.normal(size=N).astype("float32"))),
    "whole": (AMOUNT, pd.Series(rng.integers(-9, 9, N))),
    "nullable": (AMOUNT, pd.Series(rng.integers(-9, 9, N), dtype="Int64")),
    "flags": (AMOUNT, pd.Series(rng.random(N) < 0.5)),
    "arrow": (AMOUNT, pd.Series(rng.normal(size=N), dtype="double[pyarrow]")),
    "days": (DAY, TIMES.dt.floor("D")),
    "times by the day": (DAY, TIMES),
    "nanoseconds": (DAY, TIMES.dt.as_unit("ns") + pd.Timedelta(7, "ns")),
    "seconds": (SECOND, TIMES.dt.as_unit("s")),
    "zoned by the day": (DAY, TIMES.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")),
    "zoned by the second": (SECOND, TIMES.dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")),
    "date objects": (DAY, pd.Series(TIMES.dt.date, dtype=object)),
    "durations": (SECOND, TIMES - TIMES.min()),
    "arrow times": (DAY, TIMES.astype("timestamp[us][pyarrow]")),
    "text levels": (levels("a", "b", "c"), pd.Series(rng.choice(["a", "b", "c", "d"], N))),
    "number levels": (levels(1, 2, 3), pd.Series(rng.integers(1, 5, N))),
    "decimal levels": (levels(0.1, 0.2, 0.3), pd.Series(rng.choice([0.1, 0.2, 0.3, 0.7], N))),
    "nullable levels": (
        levels(1, 2, 3),
        pd.Series(rng.integers(1, 5, N), dtype="Int64").mask(rng.random(N) < 0.1),
    ),
    "nullable flags": (levels(True, False), pd.Series(rng.random(N) < 0.5, dtype="boolean")),
    "flag levels": (levels(True, False), pd.Series(rng.random(N) < 0.5)),
    "time levels": (levels(*DAYS), pd.Series(rng.choice(DAYS, N))),
    "categorical": (levels("a", "b"), pd.Series(rng.choice(["a", "b"], N), dtype="category")),
    "categorical numbers": (levels(1, 2), pd.Series(rng.choice([1, 2], N), dtype="category")),
}
ODD = {
    "text": "x",
    "none": None,
    "list": [1],
    "array": np.array([1.0]),
    "huge": 10**400,
    "no time": pd.NaT,
    "complex": np.complex128(1 + 2j),
    "time": pd.Timestamp("9999-01-01"),
    "day before month": "13/02/2020",
    "no decimal": Decimal("sNaN"),
}


class Hostile:
    """A cell whose every method raises."""

    def __float__(self) -> float:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


def read(series: pd.Series, column: sdp.NumericColumn | sdp.CategoricalColumn) -> list:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return coerce(series, column)[0].tolist()


@pytest.mark.parametrize("odd", [*ODD.values(), Hostile()], ids=[*ODD, "hostile"])
@pytest.mark.parametrize(("column", "series"), TYPED.values(), ids=TYPED)
def test_an_odd_cell_changes_no_other_cell(column, series, odd):
    mixed = pd.Series([odd, *series.astype(object)[1:]], dtype=object)
    assert read(mixed, column)[1:] == read(series, column)[1:]  # to the last bit


COMPLEX = ["floats", "halves", "whole", "number levels", "decimal levels"]


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("odd", [3 + 0j, 1 + 2j, complex("nan")], ids=str)
def test_a_complex_cell_changes_no_other_cell(name, odd):
    """A list with one complex number becomes a column of complex numbers."""
    column, series = TYPED[name]
    mixed = pd.Series([odd, *series[1:]])
    assert mixed.dtype.kind == "c"
    assert read(mixed, column)[1:] == read(series, column)[1:]


COUNTS = [0, 1, 8123, 12_000, 39_999, 2.5]
UNITS = ["day", "hour", "minute", "second"]


def counting(unit):
    return sdp.NumericColumn("x", lower=-10, upper=40_000, unit=unit, may_be_missing=False, fallback=-1)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("odd", [None, 1.5, 3 + 0j, "x", pd.Timestamp("1970-01-02"), np.inf, 10**400])
def test_numbers_among_dates_are_counts_of_the_unit_whatever_type_the_column_took(odd, unit):
    for cells in (COUNTS[:5], COUNTS, [str(count) for count in COUNTS], [Decimal(str(c)) for c in COUNTS]):
        mixed = pd.Series([odd, *cells])
        assert read(mixed, counting(unit))[1:] == [float(cell) for cell in cells]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("dtype", ["int16", "uint32", "Int64", "float32", "double[pyarrow]"])
def test_a_column_of_numbers_counts_days_or_seconds_by_the_unit(dtype, unit):
    whole = [0, 1, 8123, 12_000]
    assert read(pd.Series(whole, dtype=dtype), counting(unit)) == whole
    assert to_numbers(pd.Series(whole, dtype=dtype), counting(unit)).tolist() == whole  # as without one
    assert read(pd.Series(whole, dtype=dtype).astype(object), counting(unit)) == whole


@pytest.mark.parametrize(
    ("cell", "days"),
    [
        ("8123", 8123), (" 8123.5 ", 8123.5), ("1e3", 1000), ("2001-02-03", 11356),
        ("2001-02-03 12:00", 11356.5),
        ("", -1), ("inf", -1), ("-inf", -1), ("now", -1), ("today", -1), ("NaT", -1), ("soon", -1),
        (np.datetime64(86_400_000_000_000, "ns"), 1), (np.timedelta64(36, "h"), 1.5), (pd.Timedelta("2D"), 2),
        (pd.Period("1970-03", freq="M"), 59), (pd.NaT, -1), (np.datetime64("NaT"), -1), (True, 1),
    ],
)  # fmt: skip
def test_what_a_cell_of_a_column_of_days_means(cell, days):
    assert read(pd.Series([cell], dtype=object), counting("day")) == [days]


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "double[pyarrow]", None, "datetime64[s]"])
@pytest.mark.parametrize("guarantee", [None, ZCDP(rho=5.0)], ids=["none", "zcdp"])
def test_counted_days_are_synthesised_as_days(guarantee, dtype):
    days = 7305 + rng.integers(0, 3000, 2000)
    column = sdp.NumericColumn(
        "x", lower=0, upper=20_000, unit="day", decimals=0, dtype=dtype, may_be_missing=False, fallback=5000
    )
    settings = {"schema": sdp.Schema([column]), "guarantee": guarantee, "progress": False}
    for cells in (days, days.astype(float)):
        copy = sdp.Synthesizer(**settings).fit(pd.DataFrame({"x": cells})).draw(m=2, rng=1)[0]["x"]
        drawn = to_numbers(copy, column) if copy.dtype.kind == "M" else copy.to_numpy(dtype=float)
        assert abs(drawn.mean() - days.mean()) < 100  # read as nanoseconds: 8,800 days off


@pytest.mark.parametrize(
    "column", [AMOUNT, levels(1, 2), levels("01", "02"), levels(True, False), levels("a")]
)
@pytest.mark.parametrize(
    "cells", [["1", "2", "2"], ["01", "02", "02"], ["True", "False", "False"], ["1", "2.0", ""]]
)
def test_an_odd_cell_of_a_csv_file_changes_no_other_cell(column, cells):
    """A reader of files gives the whole column another type; each other cell still means the same."""
    plain, neighbour = (
        pd.read_csv(io.StringIO("x,y\n" + "\n".join(f"{cell},0" for cell in [*cells, last])))["x"]
        for last in (cells[0], "zz")
    )
    assert plain.dtype != neighbour.dtype
    assert read(plain, column)[:-1] == read(neighbour, column)[:-1]


DATED = [name for name, (column, _) in TYPED.items() if column in (DAY, SECOND)]


@pytest.mark.parametrize("name", DATED)
def test_dates_are_counted_as_without_a_guarantee(name):
    """Days on a zoned time's own clock: 2001-02-03 in Kolkata begins when it is still the 2nd in UTC."""
    column, series = TYPED[name]
    assert read(series, column) == to_numbers(series, column).tolist()


def test_levels_of_a_file_mean_what_the_codebook_says():
    assert read(pd.Series([1, 2]), levels("01", "02")) == ["01", "02"]
    assert read(pd.Series(["1", "02", "9"]), levels(1, 2)) == [1, 2, 1]
    assert read(pd.Series(["2020-01-01", "2021-07-01 00:00"]), levels(*DAYS)) == DAYS
    assert read(pd.Series(["nan", "inf", "x"]), levels("a", "x")) == ["a", "a", "x"]


def test_no_time_of_any_unit_wraps_around():
    far = pd.Series(np.array(["300000-01-01", "2000-01-01", "NaT"], dtype="M8[s]"))
    assert read(far, DAY) == [1.0, 10957.0, 1.0]


def test_levels_that_a_file_cannot_tell_apart_are_refused_under_a_guarantee():
    assert same_key(["1", "2"]) is None
    assert same_key([1, "one"]) is None
    assert level_key(10**400) == level_key(np.inf)
    schema = sdp.Schema([levels("1", "2", "01")])
    settings = {"method": {"x": sdp.models.Dirichlet(prior=2.0)}, "guarantee": sdp.BySampling()}
    with pytest.raises(sdp.PrivacyError, match="x: a file may hold the levels '1' and '01'"):
        sdp.Synthesizer(schema=schema, **settings).plan()


def test_bounds_between_two_decimals_are_refused_under_a_guarantee():
    column = sdp.NumericColumn("x", lower=0.2, upper=0.4, decimals=0, may_be_missing=False, fallback=0.3)
    settings = {"method": {"x": sdp.models.Gaussian(sigma=1.0)}, "guarantee": sdp.BySampling()}
    with pytest.raises(sdp.PrivacyError, match="x: no number with its decimals"):
        sdp.Synthesizer(schema=sdp.Schema([column]), **settings).plan()


@pytest.mark.parametrize("column", [DAY, SECOND])
@pytest.mark.parametrize("odd", [None, "x", pd.Timestamp("2001-02-04")])
def test_dates_are_synthesised_under_a_guarantee_whatever_a_cell_holds(column, odd):
    settings = {"method": {"x": sdp.models.Gaussian(sigma=1e6)}, "guarantee": sdp.BySampling()}
    table = pd.DataFrame({"x": pd.Series([odd, *TIMES[1:]], dtype=object)})
    fit = sdp.Synthesizer(schema=sdp.Schema([column]), **settings, progress=False).fit(table)
    assert fit.draw(m=1)[0]["x"].dtype.kind == "M"


@pytest.mark.parametrize("text", ["12:30", "5pm", "now", "today", "5 May", "May 5", "noon 7"])
def test_a_text_without_a_year_is_no_time(text):
    """It would be another time at each reading."""
    day = sdp.NumericColumn("day", lower=0, upper=20_000, unit="day", may_be_missing=True)
    assert np.isnan(coerce(pd.Series([text, "2001-02-03"], dtype=object), day)[0]).tolist() == [True, False]


@pytest.mark.parametrize(
    "text", ["2001-02-03", "3 Feb 2001", "2001-02-03 00:00", "02/03/2001", "2/3/01", "3Feb2001"]
)
def test_a_text_with_a_year_is_its_day(text):
    day = sdp.NumericColumn("day", lower=0, upper=20_000, unit="day", may_be_missing=True)
    assert coerce(pd.Series([text], dtype=object), day)[0].tolist() == [11_356.0]
