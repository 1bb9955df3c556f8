"""A codebook in CSV or TOML gives the schema that its author meant."""

from __future__ import annotations

import pandas as pd
import pytest

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.schema.codebook import write_codebook

MEANT = Schema(
    [
        NumericColumn("income", lower=0, upper=1e6, decimals=2, missing={-8: "not asked", -9: "no = answer"}),
        NumericColumn(
            "wage", spikes=[0, 450.5], may_be_missing=False, fallback=10, dtype="int64", decimals=0
        ),
        NumericColumn("born", lower=-10_000, upper=20_000, unit="day", decimals=0, dtype="datetime64[us]"),
        CategoricalColumn("sex", ["F", "M"], other="F", may_be_missing=False),
        CategoricalColumn("edu", ["low | none", "mid = 2", "back\\slash"], ordered=True),
        CategoricalColumn("code", [1, 2, 5], missing={-8: "not asked"}, dtype="int64", may_be_missing=False),
        CategoricalColumn("ever", [False, True], dtype="boolean"),
        CategoricalColumn("digits", ["01", "2"], dtype="str"),
        CategoricalColumn("levels of numbers", [1, 2.5]),
    ]
)
TOML = """
[columns.income]
lower = 0
upper = 1e6
decimals = 2
missing = {"-8" = "not asked", "-9" = "no = answer"}

[columns.wage]
spikes = [0, 450.5]
may_be_missing = false
fallback = 10
type = "int64"
decimals = 0

[columns.born]
kind = "date"
lower = -10000
upper = 20000
unit = "day"
decimals = 0
type = "datetime64[us]"

[columns.sex]
levels = ["F", "M"]
other = "F"
may_be_missing = false

[columns.edu]
levels = ["low | none", "mid = 2", 'back\\slash']
ordered = true

[columns.code]
levels = [1, 2, 5]
missing = {-8 = "not asked"}
type = "int64"
may_be_missing = false

[columns.ever]
levels = [false, true]
type = "boolean"

[columns.digits]
levels = ["01", "2"]
type = "str"

[columns."levels of numbers"]
levels = [1, 2.5]
"""


def test_written_codebook_reads_back(tmp_path):
    assert Schema.from_codebook(write_codebook(MEANT, tmp_path / "codebook.csv")) == MEANT


def test_toml_codebook(tmp_path):
    path = tmp_path / "codebook.toml"
    path.write_text(TOML)
    assert Schema.from_codebook(path) == MEANT


def test_codebook_by_hand(tmp_path):
    path = tmp_path / "codebook.csv"
    path.write_text("name,levels,lower,missing\nage,,0,-8|-9 = refused\nsex,F|M,,\n", encoding="utf-8-sig")
    schema = Schema.from_codebook(path)
    assert schema["age"] == NumericColumn("age", lower=0, missing=[(-8, "-8"), (-9, "refused")])
    assert schema["sex"] == CategoricalColumn("sex", ["F", "M"])
    assert schema.declared


def test_inferred_facts_do_not_become_declared_by_a_round_trip(tmp_path):
    schema = Schema([CategoricalColumn("sex", ["F", "M"], declared=False)])
    assert not Schema.from_codebook(write_codebook(schema, tmp_path / "codebook.csv")).declared


def test_times_as_levels(tmp_path):
    schema = Schema([CategoricalColumn("when", [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-06-01")])])
    read = Schema.from_codebook(write_codebook(schema, tmp_path / "c.csv"))
    assert read["when"].levels == schema["when"].levels


def test_serial_levels_and_real_columns(tmp_path):
    schema = Schema([CategoricalColumn("id", ["zyx1", "zyx2"], other="zyx1"), NumericColumn("age")])
    path = write_codebook(schema, tmp_path / "c.csv", methods={"id": "serial"}, real=["age"])
    assert "zyx" not in path.read_text()
    assert path.read_text().splitlines()[2].endswith("REAL,,")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[columns.a]\nlowr = 1", ["a", "lowr", "did you mean 'lower'"]),
        ("[colums.a]\nlower = 1", ["colums", "columns"]),
        ("[columns.a]\nlower = 'x'", ["a", "lower must be a number"]),
        ("[columns.a]\nlower = true", ["a", "lower must be a number"]),
        ("[columns.a]\nlevels = 'x'", ["a", "levels must be a list"]),
        ("[columns.a]\nlevels = ['x']\nlower = 1", ["a", "categorical", "lower"]),
        ("[columns.a]\nordered = true", ["a", "numeric", "ordered"]),
        ("[columns.a]\nkind = 'colour'", ["a", "kind"]),
        ("[columns.a]\nlevels = ['x']\nordered = 'perhaps'", ["a", "ordered must be yes or no"]),
        ("[columns.a]\nlevels = ['x']\nvalues = 'colour'", ["a", "values must be"]),
        ("[columns.a]\ndecimals = 1.5", ["a", "decimals"]),
        ("[columns.a]\nmissing = 3", ["a", "missing must be a list"]),
        ("[columns.a]\nlower = 2\nupper = 1", ["a", "lower lies above upper"]),
        ("x = ", ["not TOML"]),
        ("", ["no column"]),
    ],
)
def test_toml_errors_name_the_column_and_the_mend(text, names, tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.from_codebook(path)
    assert all(name in str(caught.value) for name in names), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["name,kin\na,numeric\n", "name\na,b\n", "name\na\na\n", 'name\n"a\n', "name,lower\n,1\n"]
)
def test_csv_errors_are_typed(text, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(text)
    with pytest.raises(SchemaError):
        Schema.from_codebook(path)


def test_files_that_are_no_codebook(tmp_path):
    with pytest.raises(SchemaError):
        Schema.from_codebook(tmp_path / "c.xlsx")
    for name in ("none.csv", "none.toml"):
        with pytest.raises(PlanError, match=f"there is no codebook .*{name}"):
            Schema.from_codebook(tmp_path / name)


@pytest.mark.parametrize("text", ['[[columns]]\nname = "z"\n', "columns = 3\n", "[columns]\nz = 3\n"])
def test_a_codebook_of_another_shape_is_refused_as_such(tmp_path, text):
    file = tmp_path / "codebook.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match=r"\[columns\.income\]"):
        Schema.from_codebook(file)
