from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app

RNG = np.random.default_rng(1)
TABLE = pd.DataFrame({"age": RNG.integers(18, 90, 300), "sex": RNG.choice(["F", "M"], 300)})


@pytest.fixture
def home(tmp_path):
    TABLE.to_csv(tmp_path / "real.csv", index=False)
    TABLE.to_csv(tmp_path / "copy.csv", index=False)
    sdp.Synthesizer(progress=False).fit(TABLE).draw(m=2, rng=1).save(tmp_path / "out")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["compare", *map(str, words)])


def test_page_one_is_printed_and_files_say_internal(home):
    done = run(home / "real.csv", home / "out", "--model", "age ~ sex", "--save", home)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("INTERNAL: copies against the confidential table")
    assert "age ~ sex" in done.output
    assert "ALARM" not in done.output
    assert (home / "INTERNAL_evaluation.html").exists()
    assert (home / "INTERNAL_evaluation_two-way.csv").exists()


def test_files_of_another_tool_are_taken_and_the_original_is_told(home):
    done = run(home / "real.csv", home / "copy.csv", home / "copy.csv", "--by", "sex")
    assert done.exit_code == 0, done.output
    assert "ALARM" in done.output


def test_slips_are_one_line(home):
    done = run(home / "real.csv", home / "out", "--save", home / "out")
    assert done.exit_code != 0
    done = run(home / "out", home / "real.csv")
    assert done.exit_code == 2


def test_intervals_are_foreseen_by_the_plan_of_the_release(home):
    (home / "plan.toml").write_text('[method]\nage = "norm"\n')
    done = run(
        home / "real.csv",
        home / "out",
        "--model",
        "age ~ sex",
        "--refit",
        home / "plan.toml",
        "--foreseen",
        "10",
    )
    assert done.exit_code == 0, done.output
    assert "\nif the synthesis model held" in done.output
    assert run(home / "real.csv", home / "out", "--foreseen", "10").exit_code == 2


def test_a_table_is_read_as_the_options_say(home):
    odd = TABLE.assign(town=np.where(TABLE["sex"] == "F", "Köln", "Bonn"))
    for name in ("odd.csv", "odd copy.csv"):
        odd.to_csv(home / name, index=False, encoding="cp1252", sep="|")
    assert run(home / "odd.csv", home / "odd copy.csv").exit_code == 3
    done = run(home / "odd.csv", home / "odd copy.csv", "--encoding", "cp1252", "--sep", "|", "--save", home)
    assert done.exit_code == 0, done.output
    assert "Köln" in (home / "INTERNAL_evaluation_subgroups.csv").read_text("utf-8")
