"""Two tables are compared in structure: nothing for a default synthesis, each difference made on purpose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.schema.labels import Kind, Labels

N = 300
SMOKES = Labels("Smokes?", {1: "Yes", 2: "No", 3: "Never"}, (Kind(".a", -8, "refused"),), width=8)


@dataclass
class Given:
    """A table with what its file says of it."""

    frame: pd.DataFrame
    schema: sdp.Schema


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "age": rng.integers(18, 90, N),
        "smoke": pd.Categorical(rng.choice(["Yes", "No"], N), ["Yes", "No", "Never"]),
        "edu": pd.Categorical(rng.choice(["low", "high"], N), ["low", "high"], ordered=True),
        "income": rng.gamma(3, 900, N),
        "works": pd.array(rng.random(N) < 0.4, dtype="boolean"),
        "town": rng.choice(["Bergen", "Narvik"], N),
        "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, N), unit="D"),
    })  # fmt: skip
    frame.loc[rng.random(N) < 0.2, ["works", "income"]] = pd.NA
    return frame


@pytest.fixture(scope="module")
def release(table) -> sdp.SyntheticRelease:
    return sdp.synthesize(table, m=2, rng=1, levels={"smoke": ["Yes", "No", "Never"]})


@pytest.fixture
def given(table) -> Given:
    columns = [
        sdp.NumericColumn("age", missing={}, labels=Labels("Age in years", measure="scale")),
        sdp.CategoricalColumn("smoke", ["Yes", "No", "Never"], labels=SMOKES),
    ]
    return Given(table[["age", "smoke"]], sdp.Schema(columns))


def found(a, b) -> list[tuple[str, str]]:
    return [(one.column, one.what) for one in sdp.structure_diff(a, b)]


def test_a_default_synthesis_has_the_structure_of_its_table(table, release, tmp_path):
    folder = release.save(tmp_path / "r")
    for other in (release, release[0], sdp.SyntheticRelease.open(folder), folder, str(folder)):
        diff = sdp.structure_diff(table, other)
        assert diff.empty, diff
        assert not diff
        assert len(diff) == 0


@pytest.mark.parametrize(
    ("change", "want"),
    [
        (lambda t: t.astype({"age": "float64"}), [("age", "type")]),
        (lambda t: t.astype({"age": "int32"}), [("age", "type")]),
        (lambda t: t.rename(columns={"age": "AGE"}), [("age", "column"), ("AGE", "column")]),
        (lambda t: t[["smoke", "age", *t.columns[2:]]], [("", "order")]),
        (lambda t: t.assign(smoke=t["smoke"].cat.remove_unused_categories()), [("smoke", "levels")]),
        (lambda t: t.assign(smoke=t["smoke"].cat.as_ordered()), [("smoke", "ordered")]),
        (lambda t: t.assign(edu=t["edu"].cat.reorder_categories(["high", "low"])), [("edu", "levels")]),
        (lambda t: t.assign(town=t["town"].astype("category")), [("town", "type")]),
        (lambda t: t.drop(columns="day"), [("day", "column")]),
        (lambda t: t.assign(_synthetic=1), []),
    ],
)
def test_each_difference_is_listed(table, change, want):
    assert found(table, change(table.copy())) == want
    assert sorted(what for _, what in found(change(table.copy()), table)) == sorted(w for _, w in want)


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        (replace(SMOKES, label="Does the person smoke?"), ["label"]),
        (replace(SMOKES, codes={1: "Yes", 2: "No", 4: "Never"}), ["value labels"]),
        (replace(SMOKES, kinds=(Kind(".a", -9, "refused"),)), ["missing kinds"]),
        (replace(SMOKES, missing_range=(-9, -8)), ["missing range"]),
        (replace(SMOKES, measure="nominal", width=9, format="F8.2"), ["measure", "format", "width"]),
        (None, ["label", "value labels", "missing kinds", "width"]),
    ],
)
def test_labels_are_compared_between_tables_that_have_them(given, labels, want):
    other = Given(given.frame, given.schema.amend("smoke", labels=labels))
    assert found(given, other) == [("smoke", what) for what in want]
    assert found(given, given) == []


def test_widths_and_formats_of_another_program_are_no_difference(given):
    of_stata = replace(SMOKES, source="stata", format="%9.0g", width=9, measure="nominal")
    other = Given(given.frame, given.schema.amend("smoke", labels=of_stata))
    assert found(given, other) == []
    wider = Given(given.frame, given.schema.amend("smoke", labels=replace(of_stata, width=10)))
    assert found(other, wider) == [("smoke", "width")]


def test_a_missing_kind_that_is_declared_is_compared(given):
    other = Given(given.frame, given.schema.amend("age", missing={-8: "refused"}))
    diff = sdp.structure_diff(given, other)
    assert [(one.column, one.what, one.second) for one in diff] == [("age", "missing kinds", "-8 refused")]


def test_what_a_data_frame_cannot_say_is_said_and_not_counted(given):
    diff = sdp.structure_diff(given, given.frame)
    assert diff.empty
    assert "holds no labels" in str(diff)


def test_files_are_compared_by_kinds_of_types(table, release, tmp_path):
    release[0].to_parquet(tmp_path / "a.parquet")
    table.astype({"age": "int32"}).to_parquet(tmp_path / "b.parquet")
    assert found(tmp_path / "a.parquet", tmp_path / "b.parquet") == []
    assert found(table, tmp_path / "b.parquet") == []
    table.astype({"age": "str"}).to_parquet(tmp_path / "c.parquet")
    assert found(tmp_path / "a.parquet", tmp_path / "c.parquet") == [("age", "type")]


def test_no_table_is_an_error():
    with pytest.raises(sdp.PlanError, match="neither a table nor a release"):
        sdp.structure_diff(pd.DataFrame({"a": [1]}), 3)


def test_the_command_says_it_by_its_code(table, tmp_path):
    table.to_parquet(tmp_path / "a.parquet")
    table.drop(columns="age").to_parquet(tmp_path / "b.parquet")
    run = CliRunner().invoke(app, ["diff", str(tmp_path / "a.parquet"), str(tmp_path / "a.parquet")])
    assert run.exit_code == 0
    assert "none" in run.stdout
    run = CliRunner().invoke(app, ["diff", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])
    assert run.exit_code == 14
    assert "age" in run.stdout


def test_labels_of_a_file_are_compared_by_code_in_whatever_order_it_has_them(tmp_path):
    """The labels of missing codes among them; files of copies have those behind the others."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"q": rng.choice([-8.0, 1.0, 2.0, 9.0], N), "town": rng.choice(["a", "b"], N)})
    labels = {"q": {9.0: "dk", -8.0: "na", 2.0: "two", 1.0: "one"}, "town": {"b": "Bonn", "a": "Aachen"}}
    pyreadstat.write_sav(
        frame, tmp_path / "wave.sav", variable_value_labels=labels, missing_ranges={"q": [-8.0, 9.0]}
    )
    release = sdp.synthesize(sdp.read(tmp_path / "wave.sav"), m=1, rng=1, progress=False)
    release.save(tmp_path / "out", formats=("csv", "sav"))
    assert found(tmp_path / "wave.sav", tmp_path / "out" / "synthetic_1.sav") == []
    labels["q"][2.0] = "too"
    pyreadstat.write_sav(
        frame, tmp_path / "other.sav", variable_value_labels=labels, missing_ranges={"q": [-8.0, 9.0]}
    )
    assert ("q", "value labels") in found(tmp_path / "other.sav", tmp_path / "out" / "synthetic_1.sav")
