"""A schema comes back from JSON with every field, and never shows what was not declared."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import SchemaError
from pysynthdp.curator.infer import infer_schema
from pysynthdp.curator.rows import rows_of
from pysynthdp.schema import CategoricalColumn, Labels, NumericColumn, Schema
from pysynthdp.schema.plain import from_plain, to_plain
from pysynthdp.schema.plain_values import value_from_plain, value_to_plain

FULL = Schema(
    [
        NumericColumn(
            "age",
            lower=0,
            upper=120,
            decimals=0,
            dtype="int64",
            may_be_missing=False,
            fallback=40,
            topped=True,
            universe=("sex == 'F'", -8),
            missing={-8: "not asked"},
            labels=Labels("Age", {120: "or older"}),
        ),
        NumericColumn(
            "wage", lower=-1.5, missing={-8: "no job", -9: "refused"}, spikes=[0.0], declared=False
        ),
        NumericColumn("born", upper=20_000, dtype="datetime64[us]", unit="day", decimals=0),
        NumericColumn("count", dtype="Int64", decimals=0),
        CategoricalColumn(
            "sex",
            ["F", "M"],
            other="F",
            missing={"?": "refused"},
            labels=Labels(measure="nominal"),
            universe="born > 0",
        ),
        CategoricalColumn("edu", ["low", "high"], ordered=True, categories=("low", "none", "high")),
        CategoricalColumn("ever", [False, True], dtype="boolean", absence="level"),
        CategoricalColumn("code", [1, 2, 5], dtype="int64", may_be_missing=False),
        CategoricalColumn("when", [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-06-01")]),
        CategoricalColumn("empty", [], dtype="str", declared=False),
    ]
)


def test_schema_survives_json():
    back = from_plain(json.loads(json.dumps(to_plain(FULL), allow_nan=False)))
    assert back == FULL
    for ours, theirs in zip(back, FULL, strict=True):
        assert ours.dtype == theirs.dtype
        values = [getattr(column, "levels", column.missing) for column in (ours, theirs)]
        assert [type(value) for value in values[0]] == [type(value) for value in values[1]]


@pytest.mark.parametrize("index", [0, 4])
def test_every_field_of_a_column_is_written(index):
    names = {item.name for item in fields(FULL.columns[index])}
    assert names <= set(to_plain(FULL)["columns"][index])


def test_inferred_schema_writes_no_bound_of_the_data():
    frame = pd.DataFrame({"wage": np.linspace(-91_823.75, 77_123.25, 99)})
    plain = json.dumps(to_plain(infer_schema(rows_of(frame))))
    assert "91823" not in plain
    assert "77123" not in plain


def test_levels_of_serial_columns_are_withheld():
    schema = Schema([CategoricalColumn("id", ["zyx1", "zyx2"], other="zyx1", categories=("zyx1", "zyx2"))])
    plain = to_plain(schema, methods={"id": "serial"})
    assert "zyx" not in json.dumps(plain)
    assert from_plain(plain).names == ("id",)


def test_real_columns_and_methods_are_noted():
    columns = to_plain(FULL, methods={"age": "norm"}, real=["sex"])["columns"]
    assert columns[0]["method"] == "norm"
    assert [column["name"] for column in columns if not column["synthetic"]] == ["sex"]


@pytest.mark.parametrize("change", [{"schema_version": 2}, {"columns": [{"name": "a"}]}, {"columns": None}])
def test_other_files_are_refused(change):
    with pytest.raises(SchemaError):
        from_plain({**to_plain(FULL), **change})


def test_values_of_unknown_type_are_refused_by_type_only():
    with pytest.raises(SchemaError, match="complex") as caught:
        value_to_plain(1234 + 1j)
    assert "1234" not in str(caught.value)
    with pytest.raises(SchemaError, match="unit"):
        value_from_plain({"unit": 1})
