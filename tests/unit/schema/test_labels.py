"""Labels of a variable: distinct codes, texts of their own, and the way to files and back."""

from __future__ import annotations

import json
import math

import pytest

from pysynthdp.base.errors import SchemaError
from pysynthdp.schema import CategoricalColumn, Kind, Labels, NumericColumn, Schema
from pysynthdp.schema.codebook import write_codebook
from pysynthdp.schema.labels import TAGS, sentinel, tag_of
from pysynthdp.schema.plain import from_plain, to_plain

LABELLED = Schema(
    [
        NumericColumn(
            "income",
            decimals=0,
            missing={".a": "refused", ".B": "don't know"},
            labels=Labels(
                "Income, per | month",
                {0: "none = 0"},
                (Kind(".a", -8, "refused"), Kind(".b", None, "")),
                (-math.inf, -1.5),
                "scale",
                8,
                "F8.2",
                "spss",
            ),
        ),
        CategoricalColumn(
            "smoke",
            ["Yes", "No"],
            missing=["not asked"],
            labels=Labels("Smokes?", {1: "Yes", 2: "No"}, (Kind(None, -9, "not asked"),), (97, 99)),
        ),
        CategoricalColumn(
            "code", ["a", "b"], labels=Labels(codes={"1": "a", '"x': "b", "": "c", "| =": "d"})
        ),
        NumericColumn("age"),
    ]
)


def test_schema_files_keep_labels() -> None:
    assert from_plain(json.loads(json.dumps(to_plain(LABELLED)))) == LABELLED
    assert LABELLED["income"].missing == ((".a", "refused"), (".b", "don't know"))


def test_codebooks_keep_labels(tmp_path) -> None:
    path = write_codebook(LABELLED, tmp_path / "codebook.csv")
    read = Schema.from_codebook(path)
    assert read == LABELLED
    assert [column.labels for column in read] == [column.labels for column in LABELLED]


def test_codebooks_without_labels_have_no_heads_for_them(tmp_path) -> None:
    path = write_codebook(LABELLED.without(["income", "smoke", "code"]), tmp_path / "codebook.csv")
    assert "measure" not in path.read_text().splitlines()[0]


def test_toml_says_labels(tmp_path) -> None:
    path = tmp_path / "codebook.toml"
    path.write_text(
        '[columns.income]\nlabel = "Income"\nkinds = [[".a", -8, "refused"]]\nmissing = {".a" = "refused"}\n'
        'missing_range = ["lowest", -1]\ncodes = {"0" = "none"}\nwidth = 8\n'
    )
    column = Schema.from_codebook(path)["income"]
    kinds = (Kind(".a", -8, "refused"),)
    assert column.labels == Labels("Income", {0: "none"}, kinds, (-math.inf, -1), width=8)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("x,1 = a | 1 = b,,", "two labels"),
        ("x,1,.a = refused,", "a tag, a code and a label"),
        ("x,1 = a,.q9 = 1 = refused,", ".a to .z"),
        ("x,1 = a,.a = 1 = refused,", "two labels"),
        ("x,1 = a,,1", "two numbers"),
        ("x,1 = a,,9 | 1", "above"),
        ("x,1 = a,,a | b", "number"),
    ],
)
def test_codebooks_that_contradict_themselves_are_refused(tmp_path, entry, words) -> None:
    path = tmp_path / "codebook.csv"
    path.write_text(f"name,codes,kinds,missing_range\n{entry}\n")
    with pytest.raises(SchemaError, match=words):
        Schema.from_codebook(path)


@pytest.mark.parametrize(
    "given",
    [
        {"codes": ((1, "a"), (1, "b"))},
        {"codes": {1: "a"}, "kinds": (Kind(".a", 1),)},
        {"kinds": (Kind(".a", 1), Kind(".a", 2))},
        {"kinds": (Kind("a", 1),)},
        {"measure": "ratio"},
        {"source": "excel"},
        {"missing_range": (2, 1)},
    ],
)
def test_labels_that_cannot_be_are_refused(given) -> None:
    with pytest.raises(SchemaError):
        Labels(**given)


def test_texts_are_distinct_whatever_the_labels() -> None:
    codes = {1: "Yes", 2: "Yes", 3: "", 4: "2 Yes", "5": " "}
    texts = Labels(codes=codes, kinds=(Kind(".a", None, "Yes"),)).texts()
    assert list(texts) == [*codes, ".a"]
    assert len(set(texts.values())) == 6
    assert texts[1] == "1 Yes"
    assert texts[".a"] == ".a Yes"
    twins = Labels(codes={"1": "x y", "1 x": "y", "a": "1 x y"})
    assert len(set(twins.texts().values())) == 3
    assert twins.code_of() == {text: code for code, text in twins.texts().items()}


def test_sentinels_are_numbers_of_no_table() -> None:
    numbers = [sentinel(tag) for tag in TAGS]
    assert len(set(numbers)) == len(TAGS) == 27
    assert all(math.isfinite(number) and number > 1e308 / 2 for number in numbers)
    assert [tag_of(number) for number in numbers] == list(TAGS)
    assert tag_of(1e308) is None
    assert tag_of(math.nan) is None


def test_kinds_need_a_type_that_holds_them() -> None:
    assert NumericColumn("income", missing={".A": "refused"}, dtype="float64").tags == (".a",)
    with pytest.raises(SchemaError, match="float64"):
        NumericColumn("income", missing={".a": "refused"}, dtype="Int64")
    with pytest.raises(SchemaError, match="twice"):
        NumericColumn("income", missing=[".a", ".A"])
