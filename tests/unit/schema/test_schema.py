from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, Schema, SchemaError


@pytest.mark.parametrize(
    "settings",
    [
        {"lower": "0"},
        {"lower": float("nan")},
        {"upper": float("inf")},
        {"lower": 1, "upper": 0},
        {"lower": True},
        {"decimals": 1.5},
        {"unit": "week"},
        {"dtype": "no such type"},
        {"missing": {"x": "text"}},
        {"missing": 5},
        {"missing": [[1]]},
        {"spikes": ["0"]},
        {"spikes": "0"},
        {"missing": [0], "spikes": [0]},
    ],
)
def test_impossible_numeric_columns_are_refused(settings) -> None:
    with pytest.raises(SchemaError, match="income"):
        NumericColumn("income", **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"levels": 5},
        {"levels": "abc"},
        {"levels": [["a"]]},
        {"levels": ["a", "a"]},
        {"levels": [1, True]},
        {"levels": ["a", None]},
        {"levels": ["a", np.nan]},
        {"levels": ["a"], "missing": ["a"]},
        {"levels": ["a"], "other": "b"},
        {"levels": ["a"], "dtype": "int64"},
        {"levels": [1.5], "dtype": "int64"},
        {"levels": [300], "dtype": "int8"},
        {"levels": range(40_000)},
    ],
)
def test_impossible_categorical_columns_are_refused(settings) -> None:
    with pytest.raises(SchemaError, match="sex"):
        CategoricalColumn("sex", **settings)


def test_names_are_text() -> None:
    with pytest.raises(SchemaError, match="text"):
        NumericColumn(3)


def test_codes_have_labels() -> None:
    assert NumericColumn("x", missing={-8: "none"}, spikes=[0]).specials == (-8, 0)
    assert NumericColumn("x", missing=[-8]).missing == ((-8, "-8"),)


def test_category_dtype_holds_levels_and_codes() -> None:
    column = CategoricalColumn("edu", ["lo", "hi"], ordered=True, missing=["dk"], dtype="category")
    assert column.dtype == pd.CategoricalDtype(["lo", "hi", "dk"], ordered=True)
    assert CategoricalColumn("n", [1, 2], dtype="Int8").dtype == pd.Int8Dtype()


def test_schema_looks_up_amends_and_drops() -> None:
    schema = Schema([NumericColumn("age", 0, 120), CategoricalColumn("sex", ["F", "M"])])
    assert schema.names == ("age", "sex")
    assert schema.amend("age", upper=99)["age"].upper == 99
    assert schema.without(["age"]).names == ("sex",)
    assert schema.declared
    with pytest.raises(SchemaError, match="no column 'q'"):
        schema["q"]
    with pytest.raises(SchemaError, match="'age'; rename"):
        Schema([NumericColumn("age"), NumericColumn("age")])


def test_the_table_shows_declared_bounds_only() -> None:
    text = str(Schema([NumericColumn("age", 17, 93), NumericColumn("wage", declared=False)]))
    assert "17 to 93" in text
    assert "inferred" in text
