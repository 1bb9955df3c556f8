"""Labelled files through the command line: looked at, planned for and synthesised by their names."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app

pyreadstat = pytest.importorskip("pyreadstat", reason="pyreadstat is not installed: pip install '.[files]'")


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def dta(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 400).astype(np.int32),
            "income": rng.choice(np.array([100.5, 230.25, 417.0, "a", np.nan], dtype=object), 400),
            "vote": rng.choice([1.0, 2.0], 400),
        }
    )
    pyreadstat.write_dta(
        frame,
        str(tmp_path / "wave.dta"),
        column_labels={"income": "Income per month"},
        variable_value_labels={"income": {"a": "refused"}, "vote": {1.0: "Yes", 2.0: "No", 3.0: "Abstained"}},
        missing_user_values={"income": ["a"]},
    )
    return tmp_path / "wave.dta"


def test_look_and_plan_take_a_labelled_file(dta):
    seen = call("look", dta)
    assert seen.exit_code == 0, seen.output
    assert "Income per month" in seen.output
    assert "refused" in seen.output
    plan = call("plan", dta)
    assert plan.exit_code == 0, plan.output
    assert "income (kind)" in plan.output


def test_copies_of_a_labelled_file_have_its_labels_and_kinds(dta, tmp_path):
    done = call("synth", dta, "--m", 2, "--seed", 1, "--out", tmp_path / "out", "--drop", "age")
    assert done.exit_code == 0, done.output
    release = sdp.SyntheticRelease.load(tmp_path / "out")
    table = sdp.read(dta)[["income", "vote"]]
    assert [column.labels for column in release.schema] == [column.labels for column in table.schema]
    assert release.schema["vote"].levels == ("Yes", "No", "Abstained")
    kinds = sdp.missing_kinds(release[0], release.schema)["income"]
    assert (kinds == "refused").mean() == pytest.approx((table.kinds("income") == "refused").mean(), abs=0.05)


def test_how_a_csv_is_written_is_no_setting_of_a_labelled_file(dta, tmp_path):
    said = call("synth", dta, "--sep", ";", "--out", tmp_path / "out")
    assert said.exit_code != 0
    assert "sep is for CSV files" in said.output


def test_a_guarantee_takes_the_codebook_of_the_plan(dta, tmp_path):
    book = {"age": {"kind": "numeric", "lower": 18, "upper": 90, "may_be_missing": "no", "fallback": 40}}
    book["vote"] = {"levels": "Yes | No | Abstained", "other": "Abstained"}
    rows = pd.DataFrame.from_dict(book, orient="index").rename_axis("name")
    rows.to_csv(tmp_path / "book.csv")
    plan = 'codebook = "book.csv"\ndrop = ["income"]\nguarantee = {name = "zcdp", rho = 20.0}\n'
    (tmp_path / "plan.toml").write_text(plan)
    done = call(
        "synth", dta, "--plan", tmp_path / "plan.toml", "--m", 1, "--seed", 1, "--out", tmp_path / "out"
    )
    assert done.exit_code == 0, done.output
    copy = sdp.SyntheticRelease.load(tmp_path / "out")[0]
    assert set(copy["vote"].dropna()) <= {"Yes", "No", "Abstained"}
    assert json.loads((tmp_path / "out" / "privacy.json").read_text())
