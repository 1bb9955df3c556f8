"""``pysynthdp risk`` says what the call in Python says, and keeps it INTERNAL."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("risk")
    rng = np.random.default_rng(1)
    both = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 120),
            "age": rng.integers(20, 60, 120),
            "ill": rng.choice(["no", "yes"], 120),
        }
    )
    both.iloc[:80].to_csv(folder / "table.csv", index=False)
    both.iloc[80:].to_csv(folder / "fresh.csv", index=False)
    both.iloc[:80].to_csv(folder / "same.csv", index=False)
    sdp.synthesize(sdp.read_table(str(folder / "table.csv")), m=2, rng=1).save(folder / "out")
    return folder


def run(*args):
    return CliRunner().invoke(app, ["risk", *map(str, args)])


def test_it_prints_page_one_and_writes_internal_files(home, tmp_path):
    done = run(
        *(home / "table.csv", home / "out", "--keys", "neighbour=sex,age", "--target", "ill"),
        *("--known-by-all", "ill=no", "--ngroups", "age=5", "--holdout", home / "fresh.csv"),
        *("--log", tmp_path, "--save", tmp_path),
    )
    assert done.exit_code == 0, done.output
    assert done.output.startswith("INTERNAL: disclosure risk")
    assert "evaluations of this table so far" in done.output
    assert all(path.name.startswith("INTERNAL") for path in tmp_path.iterdir())
    assert (tmp_path / "INTERNAL_risk_identity.csv").exists()


def test_a_copy_of_the_table_fails(home):
    done = run(home / "table.csv", home / "same.csv", "--keys", "sex,age")
    assert "FAILS" in done.output
    assert "--target" in done.output, "what to type is worded for a shell"


@pytest.mark.parametrize(
    ("more", "says"),
    [(("--keys", "k=sez"), "did you mean 'sex'"), (("--keys", "sex", "--ngroups", "age"), "--ngroups")],
)
def test_slips_are_one_line(home, more, says):
    done = run(home / "table.csv", home / "out", *more)
    assert done.exit_code in (2, 3)
    assert says in done.output


def test_files_are_read_as_the_options_say(home, tmp_path):
    odd = pd.read_csv(home / "table.csv").assign(ill=["Köln", "Bonn"] * 40)
    for name in ("odd.csv", "odd copy.csv"):
        odd.to_csv(tmp_path / name, index=False, encoding="cp1252")
    asked = (
        tmp_path / "odd.csv",
        tmp_path / "odd copy.csv",
        "--keys",
        "sex,age",
        "--known-by-all",
        "ill=Köln",
    )
    assert run(*asked, "--target", "ill").exit_code == 3
    assert run(*asked, "--target", "ill", "--encoding", "cp1252").exit_code == 0
