"""Under a guarantee R's cells are read alone: an odd one is missing; no type and no neighbour changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.cells_from_r import cells_from_r, declared_facts
from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, RVector, character, named_list
from pysynthdp.bridge.facts import FrameFacts
from pysynthdp.bridge.frames import frame_to_r
from pysynthdp.design.unit_keys import unit_keys

DATE = {"class": character(["Date"])}
FRAME = {"class": character(["data.frame"])}


def time(zone: str = "UTC") -> dict:
    return {"class": character(["POSIXct", "POSIXt"]), "tzone": character([zone])}


def span(units: str) -> dict:
    return {"class": character(["difftime"]), "units": character([units])}


def doubles(*values: float, **attributes):
    return RVector("double", np.array(values, dtype=np.float64), attributes)


def frame(**columns):
    return named_list(columns, FRAME)


def numbers(vector, unit="number"):
    schema = sdp.Schema([sdp.NumericColumn("x", unit=unit)])
    return cells_from_r(frame(x=vector), schema).frame["x"]


def cells(vector, *levels):
    schema = sdp.Schema([sdp.CategoricalColumn("x", levels or ["a"])])
    return cells_from_r(frame(x=vector), schema).frame["x"]


@pytest.mark.parametrize(
    ("vector", "unit", "expected"),
    [
        (doubles(1, 7305.5, np.inf, NA_REAL, 1e7, **DATE), "day", [1, 7305.5, np.inf, np.nan, 1e7]),
        (doubles(1, -0.5, **DATE), "second", [86400, -43200]),
        (doubles(1, 2, **DATE), "hour", [24, 48]),
        (doubles(1, 2, **DATE), "number", [1, 2]),
        (RVector("integer", np.array([3, NA_INTEGER], np.int32), DATE), "day", [3, np.nan]),
        (doubles(3600, 0.5, 1e12, np.inf, **time()), "second", [3600, 0.5, 1e12, np.inf]),
        (doubles(43200, -1e300, **time()), "day", [0.5, -1e300 / 86400]),
        (doubles(0, 43200, **time("Asia/Kolkata")), "day", [5.5 / 24, 17.5 / 24]),  # on its own clock
        (doubles(0, **time("Asia/Kolkata")), "second", [0]),
        (doubles(7.5, **time("Nowhere/None")), "number", [7.5]),
        (doubles(1.5, np.nan, **span("hours")), "minute", [90, np.nan]),
        (doubles(2, **span("weeks")), "day", [14]),
        (doubles(2, **span("weeks")), "number", [2]),
        (doubles(2, **span("moons")), "day", [2]),  # of unknown units: a number
        (doubles(1, NA_REAL, np.nan, -np.inf), "day", [1, np.nan, np.nan, -np.inf]),
        (RVector("integer", np.array([1, NA_INTEGER], np.int32)), "number", [1, np.nan]),
        (RVector("logical", np.array([1, 0, NA_INTEGER], np.int32)), "number", [1, 0, np.nan]),
        (RVector("raw", np.array([0, 255], np.uint8)), "number", [0, 255]),
    ],
)
def test_numbers_are_in_the_declared_unit(vector, unit, expected):
    made = numbers(vector, unit)
    assert made.dtype == np.float64
    np.testing.assert_array_equal(made, expected)


def test_integer64_is_its_whole_number():
    held = np.array([9007199254740993, np.iinfo(np.int64).min, -5])
    made = numbers(RVector("double", held.view(np.float64), {"class": character(["integer64"])}))
    np.testing.assert_array_equal(made, [9007199254740992, np.nan, -5])


@pytest.mark.parametrize(
    ("codes", "levels", "expected"),
    [
        ([1, 3, 2, NA_INTEGER], ["a", "b", None], ["a", None, "b", None]),
        ([0, 9, -3, 1], ["a", "b"], [None, None, None, "a"]),
        ([1, 2, 3], ["a", "a", "b"], ["a", "a", "b"]),
        ([1, 2], [], [None, None]),
    ],
)
def test_a_cell_of_a_factor_is_its_level_or_missing(codes, levels, expected):
    attributes = {"levels": character(levels), "class": character(["factor"])}
    made = cells(RVector("integer", np.array(codes, np.int32), attributes))
    assert made.astype(object).where(made.notna(), None).tolist() == expected


def test_texts_that_are_no_unicode_are_texts():
    made = cells(character(["a", "\udcff", None, "a"]))
    assert isinstance(made.dtype, pd.CategoricalDtype)
    assert made.astype(object).where(made.notna(), None).tolist() == ["a", "\udcff", None, "a"]


def test_times_as_levels_are_read_alone():
    odd = doubles(7305, 7305.5, np.inf, NA_REAL, 1e7, **DATE)
    noon = pd.Timestamp("1990-01-01 12:00")
    assert cells(odd).tolist()[:2] == [pd.Timestamp("1990-01-01"), noon]
    assert cells(odd).tolist()[2::2] == [np.inf, 1e7]
    assert cells(odd).tolist()[3] is None
    assert cells(doubles(0, **time("Asia/Kolkata"))).tolist() == [
        pd.Timestamp("1970-01-01 05:30", tz="Asia/Kolkata")
    ]


def test_what_is_not_declared_or_dropped_is_not_read():
    damaged = RVector("integer", np.array([7], np.int32), {"class": character(["factor"])})
    listed = RVector("list", (None,))
    table = frame(x=doubles(1), y=damaged, z=listed)
    schema = sdp.Schema([sdp.NumericColumn("x"), sdp.NumericColumn("z")])
    made = cells_from_r(table, schema, ["z"]).frame
    assert made["y"].isna().all()
    assert made["z"].isna().all()
    with pytest.raises(BridgeError, match="column 'z' is a list"):
        cells_from_r(table, schema)
    with pytest.raises(BridgeError, match="POSIXlt"):
        cells_from_r(frame(x=RVector("list", (), {"class": character(["POSIXlt"])})), schema)


def test_rows_are_counted_without_columns_too():
    rows = RVector("integer", np.array([NA_INTEGER, -5], np.int32))
    empty = RVector("list", (), {"names": character([]), "row.names": rows, **FRAME})
    assert cells_from_r(empty, None).frame.shape == (5, 0)


def test_declared_days_are_dates_in_r_with_their_fractions():
    schema = sdp.Schema([sdp.NumericColumn("x", unit="day"), sdp.NumericColumn("y", unit="second")])
    stamps = pd.Series(pd.to_datetime(["1970-01-02 12:00", None])).astype("datetime64[us]")
    made = frame_to_r(pd.DataFrame({"x": stamps, "y": stamps}), declared_facts(schema, FrameFacts({}, FRAME)))
    day, second = made.items
    assert (day.kind, day.classes, second.classes) == ("double", ("Date",), ("POSIXct", "POSIXt"))
    np.testing.assert_array_equal(day.array, [1.5, np.nan])


def test_ids_keep_all_their_digits_also_where_a_schema_names_them():
    whole = np.array([2**53, 2**53 + 1], dtype=np.int64).view(np.float64)
    table = named_list(
        {"hid": RVector("double", whole, {"class": character(["integer64"])})},
        {"class": character(["data.frame"])},
    )
    schema = sdp.Schema([sdp.CategoricalColumn("hid", (), may_be_missing=False)])
    for known in (schema, None):
        found = unit_keys(cells_from_r(table, known, (), {"hid"}).frame["hid"])
        assert found.tolist() == [2**53, 2**53 + 1]
    assert np.isnan(cells_from_r(table, None).frame["hid"]).all()
