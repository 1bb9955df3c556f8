from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import BridgeError, PysynthdpWarning
from pysynthdp.bridge.codec import (
    NA_INTEGER,
    NA_REAL,
    ROpaque,
    RPairs,
    RVector,
    character,
    is_na_real,
    load_rds,
    loads,
    named_list,
)
from pysynthdp.bridge.frames import frame_from_r, frame_to_r, read_rds, write_rds
from pysynthdp.schema import NumericColumn, Schema

FACTOR = {"class": ("factor",)}
FRAMES = ["kinds", "kinds_no_rows", "kinds_row_numbers", "kinds_many_rows", "kinds_tibble"]


@pytest.fixture(scope="module")
def kinds(golden):
    return frame_from_r(load_rds(golden / "kinds.rds"))


def _frame(**columns):
    return named_list(columns, {"class": character(["data.frame"])})


def _factor(code, levels):
    attributes = {"levels": character(levels), "class": character(["factor"])}
    return RVector("integer", np.array([code], np.int32), attributes)


def _sent(frame, name="x", facts=None):
    made = frame_to_r(frame, facts)
    return made.items[made.names.index(name)]


@pytest.mark.parametrize("name", FRAMES)
def test_r_gets_back_the_same_frame(golden, differences, name):
    original = load_rds(golden / f"{name}.rds")
    came = frame_from_r(original)
    assert differences(frame_to_r(came.frame, came.facts), original) == []


def test_frames_of_odd_shape_come_back(golden, differences):
    shapes = load_rds(golden / "shapes.rds")
    for name, original in zip(shapes.names, shapes.items, strict=True):
        came = frame_from_r(original)
        found = differences(frame_to_r(came.frame, came.facts), original)
        # R's row names 1 .. n may be written short or long: the same to R.
        assert [text for text in found if not text.startswith("x@row.names")] == [], name


def test_numbers_are_what_r_had(kinds):
    frame = kinds.frame
    assert frame["integer"].dtype == np.int32
    assert frame["integer"].tolist() == [1, -5, 2147483647, 0]
    assert frame["integer_na"].dtype == "Int32"
    assert frame["integer_na"].tolist() == [1, pd.NA, -2147483647, pd.NA]
    assert is_na_real(frame["double"].to_numpy()).tolist() == [True, False, False, False]
    assert frame["double"].tolist()[2:] == [np.inf, -0.1]
    assert frame["logical"].tolist() == [True, False, False, True]
    assert frame["logical_na"].tolist() == [True, pd.NA, False, pd.NA]
    assert frame["logical_all_na"].isna().all()
    assert frame["integer64"].dtype == "Int64"
    assert frame["integer64"].tolist() == [9007199254740993, pd.NA, -1, 0]
    assert frame["raw"].tolist() == [0, 1, 127, 255]
    assert frame["complex"].tolist()[0] == 1 + 2j


def test_texts_are_what_r_had(kinds):
    frame = kinds.frame
    assert frame["character"].tolist() == ["a", "NA", "", "ü中😀"]
    assert frame["character_na"].isna().tolist() == [False, True, False, True]
    assert frame["character_na"].dtype == "str"
    assert frame["latin1"].tolist()[::2] == ["café", "plain"]
    assert frame["latin1"].tolist()[3] == "€ euro"


def test_factors_are_what_r_had(kinds):
    frame = kinds.frame
    assert frame["factor"].cat.categories.tolist() == ["v", "unused", "u"]
    assert frame["factor"].cat.codes.tolist() == [2, -1, 0, 2]
    assert frame["ordered"].cat.ordered
    assert frame["ordered"].cat.categories.tolist() == ["lo", "mid", "hi"]
    assert frame["factor_na_level"].isna().tolist() == [False, True, False, True]
    assert frame["factor_na_level"].cat.categories.tolist() == ["a", "b"]
    assert frame["factor_na_both"].tolist()[2:] == ["b", "NA"]
    assert frame["factor_na_both"].isna().tolist() == [False, True, False, False]


def test_times_are_what_r_had(kinds):
    frame = kinds.frame
    assert frame["date"].tolist()[::2] == [pd.Timestamp("2020-02-29"), pd.Timestamp("1900-01-01")]
    assert frame["date"].isna().tolist() == [False, True, False, False]
    assert frame["date_integer"].tolist()[2] == pd.Timestamp("1969-12-31")
    assert frame["time_utc"].tolist()[2] == pd.Timestamp("1969-12-31 23:59:59.5", tz="UTC")
    assert str(frame["time_zone"].dtype) == "datetime64[us, Europe/London]"
    assert frame["time_zone"][2] == pd.Timestamp("2020-07-01 11:00", tz="UTC")
    assert frame["time_fine"].dtype == "datetime64[ns, UTC]"
    assert frame["days"].tolist()[::2] == [pd.Timedelta(days=1), pd.Timedelta(hours=60)]
    assert frame["weeks"][2] == pd.Timedelta(days=-14)


@pytest.mark.parametrize("name", ["date_fraction", "date_infinite", "time_finer", "duration_fine"])
def test_what_pandas_would_round_stays_a_number(kinds, name):
    assert kinds.frame[name].dtype == np.float64


def test_list_cells_are_plain_values(kinds):
    cells = kinds.frame["list"].tolist()
    assert cells[0].tolist() == [1, 2]
    assert cells[0].dtype == np.int32
    assert (cells[1].tolist(), cells[2]) == (["a"], None)
    assert list(cells[3]) == ["x", "y"]


def test_facts_hold_labels_and_no_rows(kinds):
    facts = kinds.facts.columns["labelled_user_na", 0]
    assert facts.attributes["label"].texts == ("Income",)
    assert facts.attributes["na_values"].array.tolist() == [99]
    assert facts.attributes["labels"].names == ("Yes", "No", "Refused")
    assert set(kinds.facts.attributes) == {"class"}


def test_names_that_occur_twice_keep_their_own_facts(golden, differences):
    shapes = load_rds(golden / "shapes.rds")
    original = dict(zip(shapes.names, shapes.items, strict=True))["names_twice"]
    came = frame_from_r(original)
    assert came.frame.columns.tolist() == ["x", "x", ""]
    back = frame_to_r(came.frame, came.facts)
    assert differences(back.items[0], original.items[0]) == []
    assert differences(back.items[1], original.items[1]) == []


def test_facts_serve_other_rows_of_the_same_table(kinds):
    drawn = kinds.frame[["factor", "date", "days", "labelled_integer", "integer64"]].sample(
        9, replace=True, random_state=1
    )
    back = frame_to_r(drawn.reset_index(drop=True), kinds.facts)
    factor, date, days, labelled, big = back.items
    assert factor.attributes["levels"].texts == ("v", "unused", "u")
    assert date.classes == ("Date",)
    assert days.attributes["units"].texts == ("days",)
    assert "haven_labelled" in labelled.classes
    assert big.classes == ("integer64",)
    assert {len(item) for item in back.items} == {9}


def test_facts_that_no_longer_fit_are_left_out(kinds):
    frame = pd.DataFrame({
        "date": ["a", "b"], "factor": [1.5, 2.5], "labelled": ["x", None], "days": [1, 2],
        "time_zone": [True, False], "integer64": [0.5, 1.5], "list": [1.0, 2.0], "labelled_integer": [1.5, 2],
    })  # fmt: skip
    back = frame_to_r(frame, kinds.facts)
    assert [item.kind for item in back.items] == [
        "character", "double", "character", "integer", "logical", "double", "double", "double",
    ]  # fmt: skip
    assert all(not item.attributes for item in back.items)


def test_facts_change_storage_only_where_it_is_exact(kinds):
    frame = pd.DataFrame({"labelled": [1, 2], "labelled_integer": [1.0, np.nan], "raw": [1, 300]})
    labelled, integer, raw = frame_to_r(frame, kinds.facts).items
    assert (labelled.kind, labelled.attributes["label"].texts) == ("double", ("Own car?",))
    assert (integer.kind, integer.array.tolist()) == ("integer", [1, NA_INTEGER])
    assert raw.kind == "integer"


def test_a_changed_order_of_levels_is_told_to_r(kinds):
    plain = kinds.frame[["ordered"]].assign(ordered=lambda f: f["ordered"].cat.as_unordered())
    assert _sent(plain, "ordered", kinds.facts).classes == ("factor",)
    assert _sent(kinds.frame, "ordered", kinds.facts).classes == ("ordered", "factor")


def test_a_changed_zone_is_told_to_r(kinds):
    moved = kinds.frame[["time_zone"]].assign(time_zone=lambda f: f["time_zone"].dt.tz_convert("Asia/Tokyo"))
    sent, kept = _sent(moved, "time_zone", kinds.facts), _sent(kinds.frame, "time_zone", kinds.facts)
    assert sent.attributes["tzone"].texts == ("Asia/Tokyo",)
    assert sent.array.tobytes() == kept.array.tobytes()


@pytest.mark.parametrize(
    ("column", "kind", "values", "attributes"),
    [
        (pd.Series([1, 2]), "integer", [1, 2], {}),
        (pd.Series([1, None], dtype="Int64"), "integer", [1, NA_INTEGER], {}),
        (pd.Series([2**31, -1]), "double", [2.0**31, -1.0], {}),
        (pd.Series([NA_INTEGER, 1]), "double", [-(2.0**31), 1.0], {}),
        (pd.Series([True, False]), "logical", [1, 0], {}),
        (pd.Series([True, None], dtype="boolean"), "logical", [1, NA_INTEGER], {}),
        (pd.Series([True, None], dtype=object), "logical", [1, NA_INTEGER], {}),
        (pd.Series(["a", None]), "character", ["a", None], {}),
        (pd.Series(["a", pd.NA], dtype="string"), "character", ["a", None], {}),
        (pd.Series([None, None], dtype=object), "logical", [NA_INTEGER, NA_INTEGER], {}),
        (pd.Series([1.5, 2.0], dtype="float32"), "double", [1.5, 2.0], {}),
        (pd.Series([1, 2], dtype="uint8"), "integer", [1, 2], {}),
        (pd.Series([1, 2], dtype="int64[pyarrow]"), "integer", [1, 2], {}),
        (pd.Series(["b", None], dtype="category"), "integer", [1, NA_INTEGER], FACTOR | {"levels": ("b",)}),
        (pd.Series([3, 1], dtype="category"), "integer", [2, 1], FACTOR | {"levels": ("1", "3")}),
        (pd.Series([dt.date(1970, 1, 3), dt.date(1969, 1, 1)]), "double", [2, -365], {"class": ("Date",)}),
        (
            pd.Series(pd.to_datetime(["1970-01-01", "1970-01-02"])),
            "double",
            [0, 86400],
            {"class": ("POSIXct", "POSIXt"), "tzone": ("UTC",)},
        ),
        (
            pd.Series(pd.to_datetime(["1970-01-01", "1970-01-02"])).dt.tz_localize("Asia/Tokyo"),
            "double",
            [-32400, 54000],
            {"class": ("POSIXct", "POSIXt"), "tzone": ("Asia/Tokyo",)},
        ),
        (
            pd.Series(pd.to_timedelta(["1s", "2min"])),
            "double",
            [1, 120],
            {"class": ("difftime",), "units": ("secs",)},
        ),
    ],
)  # fmt: skip
def test_pandas_columns_without_facts(column, kind, values, attributes):
    sent = _sent(pd.DataFrame({"x": column}))
    assert sent.kind == kind
    assert sent.array.tolist() == values
    assert {name: value.texts for name, value in sent.attributes.items()} == attributes


def test_missing_numbers_of_pandas_are_r_na():
    sent = _sent(pd.DataFrame({"x": pd.array([1.5, None], dtype="Float64")}))
    assert is_na_real(sent.array).tolist() == [False, True]
    assert sent.array[0] == 1.5
    assert np.array([NA_REAL]).view(np.uint64)[0] == 0x7FF00000000007A2


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([Decimal(1), Decimal(2)]),
        pd.Series(pd.period_range("2020", periods=2, freq="M")),
        pd.Series([1, "a"], dtype=object),
        pd.Series(np.array([2**63, 1], dtype=np.uint64)),
        pd.Series([[1, object()], [2]]),
        pd.Series([[ROpaque("function")], None]),
        pd.Series(pd.Categorical([1, "1"])),
    ],
)
def test_columns_without_an_r_vector_are_named(column):
    with pytest.raises(BridgeError, match="column 'salary'"):
        frame_to_r(pd.DataFrame({"salary": column}))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (None, "holds nothing"),
        (ROpaque("function"), "drop it in R"),
        (RPairs(()), "drop it in R"),
        (RVector("double", np.zeros(4), {"dim": RVector("double", np.array([2.0, 2.0]))}), "matrix"),
        (_frame(y=character(["a"])), "table or matrix"),
        (RVector("list", (), {"class": character(["POSIXlt", "POSIXt"])}), "as.POSIXct"),
        (RVector("double", np.zeros(1), {}, s4=True), "S4"),
        (_factor(3, ["a"]), "damaged factor"),
        (_factor(0, ["a"]), "damaged factor"),
        (_factor(1, ["a", "a"]), "damaged factor"),
    ],
)  # fmt: skip
def test_r_columns_without_a_pandas_column_are_named(column, message):
    with pytest.raises(BridgeError, match=f"column 'salary'.*{message}"):
        frame_from_r(_frame(salary=column))


def test_r_objects_that_are_no_frames_are_refused():
    for value in (None, character(["a"]), named_list({"x": character(["a"])})):
        with pytest.raises(BridgeError, match="no data frame"):
            frame_from_r(value)
    with pytest.raises(BridgeError, match="differ in length"):
        frame_from_r(_frame(x=character(["a"]), y=character(["a", "b"])))


def test_names_on_values_are_dropped_with_a_warning():
    with pytest.warns(PysynthdpWarning, match="column 'x' has names"):
        came = frame_from_r(_frame(x=character(["a"], {"names": character(["row"])})))
    assert came.facts.columns["x", 0].attributes == {}


@pytest.mark.parametrize(
    ("index", "values"),
    [
        (pd.RangeIndex(2), [NA_INTEGER, -2]),
        (pd.Index([3, 7]), [3, 7]),
        (pd.RangeIndex(5, 7), [5, 6]),
        (pd.Index(["a", "b"]), ["a", "b"]),
    ],
)
def test_an_index_becomes_row_names(index, values):
    sent = frame_to_r(pd.DataFrame({"x": [1, 2]}, index=index))
    assert sent.attributes["row.names"].array.tolist() == values


@pytest.mark.parametrize("index", [["a", "a"], ["a", None], [1.5, 2], pd.to_datetime(["2020", "2021"])])
def test_an_index_that_is_no_row_name_is_refused(index):
    with pytest.raises(BridgeError, match="reset_index"):
        frame_to_r(pd.DataFrame({"x": [1, 2]}, index=pd.Index(index)))


def test_a_table_of_several_header_rows_is_refused():
    with pytest.raises(BridgeError, match="several levels"):
        frame_to_r(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])))


@pytest.mark.filterwarnings("ignore:the tagged missing values")
@pytest.mark.filterwarnings("ignore:.*the whole column is read otherwise")
def test_a_file_goes_there_and_back(tmp_path, golden, differences):
    came = read_rds(golden / "kinds.rds")
    write_rds(came.frame, tmp_path / "x.rds", facts=came.facts)
    assert differences(load_rds(tmp_path / "x.rds"), load_rds(golden / "kinds.rds")) == []


@pytest.mark.filterwarnings("ignore:the tagged missing values")
def test_a_file_whose_times_stay_numbers_is_read_with_a_warning_or_by_a_schema(golden):
    with pytest.warns(
        PysynthdpWarning, match="'factor_na_both', .*'date_fraction', .*the whole column is read"
    ):
        read_rds(golden / "kinds.rds")
    declared = [NumericColumn(name, unit="day") for name in ("date", "date_fraction", "date_infinite")]
    came = read_rds(golden / "kinds.rds", schema=Schema(declared)).frame
    assert {str(came[column.name].dtype) for column in declared} == {"float64"}
    assert came["date"].tolist()[::2] == [18321.0, -25567.0]
    assert came["integer"].isna().all()  # not declared, so not read


def test_an_edited_frame_does_not_change_the_object_read(golden):
    stream = (golden / "kinds_v3_xdr.bin").read_bytes()
    value = loads(stream)
    came = frame_from_r(value)
    came.frame.loc[0, "integer"] = 77
    came.frame.loc[0, "double"] = 77
    assert value.items[value.names.index("integer")].array[0] == 1
    assert np.isnan(value.items[value.names.index("double")].array[0])
