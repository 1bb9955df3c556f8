"""From the shell a table is read onto disk; what comes out is what the table in memory gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app

ROADS = [(), ("--scratch-encrypt",)]


def call(*words):
    """Run a command."""
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path):
    """Write a table as two parts."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "score": rng.normal(size=600).round(2),
            "town": rng.choice(["Ayr", "Bute", "Cowal"], 600),
            "age": rng.integers(18, 90, 600),
            "notes": [f"free text {number}" for number in range(600)],
        }
    )
    (tmp_path / "people").mkdir()
    for number in range(2):
        frame.iloc[300 * number :][:300].to_parquet(tmp_path / "people" / f"{number}.parquet")
    return tmp_path / "people"


@pytest.mark.parametrize("how", ROADS)
def test_copies_of_a_folder_are_those_of_the_table_in_memory(how, folder, tmp_path):
    if how:
        pytest.importorskip("cryptography")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = ("--m", 1, "--seed", 1, "--drop", "notes", "--scratch", scratch, *how)
    done = call("synth", folder, "--out", tmp_path / "out", *words)
    assert done.exit_code == 0, done.output
    plain = sdp.Synthesizer(drop=["notes"], progress=False).fit(sdp.read_table(folder)).draw(1, rng=1)[0]
    made = sdp.SyntheticRelease.load(tmp_path / "out")[0]
    pd.testing.assert_frame_equal(made, plain, check_exact=True)
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("how", ROADS)
def test_look_and_plan_say_what_they_say_of_the_table_in_memory(how, folder, tmp_path):
    if how:
        pytest.importorskip("cryptography")
    (tmp_path / "plan.toml").write_text('drop = ["notes"]\n')
    shown = call("look", folder, "--plan", tmp_path / "plan.toml", *how)
    assert shown.exit_code == 0, shown.output
    frame = sdp.read_table(folder)
    assert shown.stdout.strip() == sdp.look(frame, drop=["notes"]).said("shell").strip()
    planned = call("plan", folder, "--plan", tmp_path / "plan.toml", *how)
    assert planned.exit_code == 0, planned.output
    assert str(sdp.Synthesizer(drop=["notes"]).plan(frame)) in planned.stdout


def test_look_takes_a_path(folder, tmp_path):
    shown = sdp.look(folder, drop=["notes"], scratch=tmp_path)
    assert str(shown) == str(sdp.look(sdp.read_table(folder).drop(columns="notes")))
    declared = sdp.look(folder, drop=["notes"], levels={"town": ["Ayr", "Bute", "Cowal", "Islay"]})
    assert declared.columns[1].levels == 4


def test_a_scratch_that_is_not_there_is_named_by_its_option(folder, tmp_path):
    for words in (("look", folder), ("plan", folder), ("synth", folder, "--out", tmp_path / "out")):
        done = call(*words, "--scratch", tmp_path / "none")
        assert done.exit_code == 2
        assert "--scratch" in done.stderr
        assert "is not there" in done.stderr
    assert not (tmp_path / "out").exists()


def test_parts_that_are_unlike_end_with_the_code_of_data(folder):
    pd.DataFrame({"score": ["x"]}).to_parquet(folder / "2.parquet")
    done = call("look", folder)
    assert done.exit_code == 3
    assert "has another type in" in done.stderr
    assert done.stderr.count("\n") == 1
