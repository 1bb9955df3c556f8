"""Files as they come, through the command line: options, the same keys in the plan, and what is said."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app
from pysynthdp.io.plans.plan_file import read_plan, read_reading

CODEBOOK = """
[columns.amount]
lower = 0
upper = 100
fallback = 50
may_be_missing = false
[columns.g]
levels = ["ü", "b"]
other = "b"
"""
GUARANTEE = 'codebook = "book.toml"\nguarantee = {name = "zcdp", rho = 50.0}\n'
PARAMETERS = 'codebook = "book.toml"\n[[parameters]]\ncolumn = "amount"\nhow = "laplace"\nepsilon = 1.0\n'


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def german(tmp_path):
    """As Excel in Germany writes it."""
    rng = np.random.default_rng(4)
    rows = [
        f"{rng.choice(['01067', '50667', '10115'])};{rng.normal(50, 9):.2f};{rng.choice(['ü', 'b'])}".replace(
            ".", ","
        )
        for _ in range(300)
    ]
    path = tmp_path / "survey.csv"
    path.write_bytes("\r\n".join(["plz;amount;g", *rows, ""]).encode("cp1252"))
    (tmp_path / "book.toml").write_text(CODEBOOK, encoding="utf-8")
    return path


OPTIONS = ("--sep", ";", "--decimal", ",", "--encoding", "cp1252", "--text", "plz")
KEYS = 'sep = ";"\ndecimal = ","\nencoding = "cp1252"\ntext = ["plz"]\n'


@pytest.mark.parametrize("declared", ["options", "plan"])
def test_a_german_file_is_declared_by_options_or_in_the_plan(german, tmp_path, declared):
    (tmp_path / "plan.toml").write_text(KEYS)
    how = OPTIONS if declared == "options" else ("--plan", tmp_path / "plan.toml")
    seen = call("look", german, *how)
    assert seen.exit_code == 0, seen.output
    assert "pysynthdp: warning" not in seen.output
    done = call("synth", german, *how, "--m", 1, "--seed", 1, "--out", tmp_path / "o")
    assert done.exit_code == 0, done.output
    copy = sdp.SyntheticRelease.load(tmp_path / "o")[0]
    assert set(copy["plz"]) == {"01067", "50667", "10115"}
    assert set(copy["g"]) == {"ü", "b"}
    assert 40 < copy["amount"].mean() < 60


@pytest.mark.filterwarnings("always::pysynthdp.base.errors.PysynthdpWarning")
def test_what_is_not_declared_is_found_and_said_once_each(german):
    undeclared = call("look", german)
    assert undeclared.exit_code == 3
    assert "--encoding cp1252" in undeclared.output
    found = call("look", german, "--encoding", "cp1252")
    assert found.exit_code == 0
    said = [line for line in found.output.splitlines() if "pysynthdp: warning" in line]
    assert len([line for line in said if "--sep ';' and --decimal , declare it" in line]) == 1
    assert len([line for line in said if "plz: its numbers have leading zeros" in line]) == 1
    assert not any(value in line for line in said for value in ("01067", "50667"))


def test_an_option_wins_over_the_plan(german, tmp_path):
    (tmp_path / "plan.toml").write_text(KEYS.replace(";", "|"))
    other = call("look", german, "--plan", tmp_path / "plan.toml")
    assert (other.exit_code, "--sep ';'" in other.output) == (3, True)
    seen = call("look", german, "--plan", tmp_path / "plan.toml", "--sep", ";")
    assert seen.exit_code == 0


def test_under_a_guarantee_the_form_is_declared_or_refused(german, tmp_path):
    (tmp_path / "plan.toml").write_text(GUARANTEE + 'drop = ["plz"]\n')
    bare = call("synth", german, "--plan", tmp_path / "plan.toml", "--out", tmp_path / "o")
    assert bare.exit_code == 3
    assert "--sep ';'" in bare.output
    done = call(
        "synth", german, "--plan", tmp_path / "plan.toml", *OPTIONS, "--m", 1, "--out", tmp_path / "o"
    )
    assert done.exit_code == 0, done.output + repr(done.exception)
    copy = sdp.SyntheticRelease.load(tmp_path / "o")[0]
    assert 40 < copy["amount"].mean() < 60
    assert 0.3 < (copy["g"] == "ü").mean() < 0.7


def test_a_parameter_is_released_from_a_german_file(german, tmp_path):
    (tmp_path / "ask.toml").write_text(KEYS + PARAMETERS)
    done = call("parameter", german, "--plan", tmp_path / "ask.toml", "--out", tmp_path / "s.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "s.json").read_text("utf-8"))


def test_the_keys_of_a_plan_are_no_settings(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(KEYS + 'day_first = true\ndrop = ["id"]\n')
    assert read_plan(plan) == {"drop": ["id"]}
    assert read_reading(plan) == {
        "sep": ";", "decimal": ",", "encoding": "cp1252", "text": ["plz"], "day_first": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seperator = ';'\n", "unknown key"),
        ("encodng = 'utf-8'\n", "did you mean 'encoding'"),
        ("sep = 1\n", "sep must be a text"),
        ("text = 'plz'\n", "text must be a list"),
        ("decimal = ';'\n", "decimal must be"),
        ("day_first = 'yes'\n", "day_first must be true or false"),
    ],
)
def test_slips_in_the_keys_are_exit_code_2(german, tmp_path, text, words):
    (tmp_path / "plan.toml").write_text(text)
    done = call("look", german, "--plan", tmp_path / "plan.toml")
    assert done.exit_code == 2
    assert words in done.output


def test_levels_in_the_plan_steer_the_reading(tmp_path):
    rows = [f"{('NA', 'DE', 'FR')[i % 3]},{('01', '02', '10')[i % 3]},{i % 7}" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["land,region,x", *rows]))
    (tmp_path / "p.toml").write_text('[levels]\nland = ["NA", "DE", "FR"]\nregion = ["01", "02", "10"]\n')
    done = call(
        "synth",
        tmp_path / "t.csv",
        "--plan",
        tmp_path / "p.toml",
        "--m",
        1,
        "--seed",
        1,
        "--out",
        tmp_path / "o",
    )
    assert done.exit_code == 0, done.output
    copy = sdp.SyntheticRelease.load(tmp_path / "o")[0]
    assert (copy["land"] == "NA").mean() > 0.15
    assert set(copy["region"]) == {"01", "02", "10"}


@pytest.mark.parametrize("content", ["a,b\n", ""])
def test_a_file_without_rows_is_exit_code_3(tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    for command in (("look",), ("synth", "--out", tmp_path / "o")):
        assert call(command[0], tmp_path / "t.csv", *command[1:]).exit_code == 3


def test_our_own_csv_is_read_by_the_command_line(tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({
        "land": rng.choice(["NA", "None", "null", ""], 300),
        "works": pd.array(rng.random(300) < 0.5, dtype="boolean"),
        "x": rng.normal(size=300),
    })  # fmt: skip
    table.loc[rng.random(300) < 0.2, ["land", "works"]] = pd.NA
    release = sdp.Synthesizer(progress=False).fit(table).draw(m=1, rng=1)
    file = release.save(tmp_path / "r", format="csv") / "synthetic_1.csv"
    seen = call("look", file)
    assert seen.exit_code == 0
    assert re.search(r"land +categorical +str +4 ", seen.output)
    assert "pysynthdp: warning" not in seen.output


def test_why_numbers_are_texts_is_said_once(tmp_path):
    rows = "\n".join(f'"{1 + i % 9}",{i % 7},{"ab"[i % 2]}' for i in range(120))
    (tmp_path / "t.csv").write_text(f"wave,x,sex\n{rows}\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["synth", str(tmp_path / "t.csv"), "--out", str(tmp_path / "o")])
    said = [line for line in result.stderr.splitlines() if "warning: wave" in line]
    assert len(said) == 1, result.stderr
    assert "stand in quotes" in said[0]
