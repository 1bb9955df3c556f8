"""``pysynthdp report``: both documents from the shell, and exit codes that a scheduler understands."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app

RNG = np.random.default_rng(1)
TABLE = pd.DataFrame({"age": RNG.integers(18, 90, 300), "sex": RNG.choice(["F", "M"], 300)})


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    TABLE.to_csv(folder / "real.csv", index=False)
    sdp.Synthesizer(progress=False).fit(TABLE).draw(m=2, rng=1).save(folder / "out")
    (folder / "own").mkdir()
    return folder


def run(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_both_documents_are_written_and_page_one_is_printed(home):
    asked = ("--board", home / "own", "--note", home, "--keys", "neighbour=sex,age", "--model", "age ~ sex")
    done = run(home / "real.csv", home / "out", *asked, "--format", "html")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("INTERNAL: Synthetic file")
    assert (home / "own" / "INTERNAL_board.html").exists()
    assert (home / "quality_note.html").exists()


def test_gates_end_a_run_with_their_code(home):
    keys = ("--keys", "neighbour=sex,age", "--target", "sex")
    done = run(home / "real.csv", home / "out", *keys, "--limit", "max_pmse_ratio_2way=0")
    assert done.exit_code == 5, done.output
    done = run(home / "real.csv", home / "out", *keys, "--limit", "max_repu_percent.neighbour=0")
    assert done.exit_code == 6, done.output
    assert run(home / "real.csv", home / "real.csv").exit_code == 6


@pytest.mark.parametrize(
    "wrong", [("--keys", "sex"), ("--limit", "max_repu_percent"), ("--purpose", "fun"), ("--limit", "most=3")]
)
def test_slips_are_one_line_and_end_with_two(home, wrong):
    done = run(home / "real.csv", home / "out", *wrong)
    assert done.exit_code == 2, done.output


def test_files_are_read_as_the_options_say_and_intervals_are_foreseen(tmp_path):
    odd = TABLE.assign(town=np.where(TABLE["sex"] == "F", "Köln", "Bonn"))
    odd.to_csv(tmp_path / "odd.csv", index=False, encoding="cp1252")
    sdp.Synthesizer(progress=False).fit(odd).draw(m=2, rng=1).save(tmp_path / "out")
    (tmp_path / "plan.toml").write_text('[method]\nage = "norm"\n')
    (tmp_path / "own").mkdir()
    asked = (tmp_path / "odd.csv", tmp_path / "out", "--model", "age ~ sex", "--board", tmp_path / "own")
    assert run(*asked).exit_code == 3
    more = ("--encoding", "cp1252", "--refit", tmp_path / "plan.toml", "--foreseen", "10")
    done = run(*asked, *more)
    assert done.exit_code == 0, done.output
    assert "if the synthesis model held" in (tmp_path / "own" / "INTERNAL_board.html").read_text("utf-8")
