"""What a batch operator needs: exit codes, one log, one JSON object, and no data in any of them."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.base.errors import (
    CombiningRuleError,
    FitError,
    PlanError,
    PrivacyError,
    ReleaseError,
    SchemaError,
)
from pysynthdp.cli.app import app
from pysynthdp.cli.exit_codes import Exit, WarnedError, exit_of
from pysynthdp.io.plans.plan_file import KEYS

N = 300
GUARANTEED = """
codebook = "codebook.csv"
[guarantee]
name = "zcdp"
rho = 2.0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Codes, rare levels of a name that must not be told, a constant."""
    rng = np.random.default_rng(6)
    town = rng.choice(["Aberdeen", "Bergen"], N).astype(object)
    town[:3] = "Xanadu"
    wage = np.where(rng.random(N) < 0.13, -8, rng.gamma(3, 900, N).round(0))
    pd.DataFrame({"wage": wage, "town": town, "one": "x", "age": rng.integers(18, 90, N)}).to_csv(
        tmp_path / "t.csv", index=False
    )
    return tmp_path / "t.csv"


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    rng = np.random.default_rng(7)
    pd.DataFrame({"x": rng.normal(size=N).round(3), "g": rng.choice(["a", "b"], N)}).to_csv(
        tmp_path / "c.csv", index=False
    )
    return tmp_path / "c.csv"


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def shell(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "pysynthdp", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_a_piped_run_says_stages_and_warnings_and_no_value(file, tmp_path):
    done = shell("synth", file, "--out", tmp_path / "r", "--m", 2)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert all(line.startswith("pysynthdp: ") for line in lines)
    assert re.search(
        r"^pysynthdp: read t\.csv: 300 rows, 4 columns \(\d+\.\d s\)$", done.stderr, re.MULTILINE
    )
    warned = [line for line in lines if line.startswith("pysynthdp: warning: ")]
    assert [line.split(": ")[2] for line in warned] == ["wage", "town", "one"]
    assert "--drop one" in done.stderr
    assert "--rare merge" in done.stderr
    said = (done.stderr + done.stdout).replace(str(tmp_path), "")
    assert not re.search("-8|Xanadu|Bergen", said)


def test_merged_levels_are_counted(file, tmp_path):
    done = shell("synth", file, "--out", tmp_path / "r", "--m", 1, "--rare", "merge")
    assert "pysynthdp: merged rare levels, and how many: town (1)" in done.stderr
    assert "Xanadu" not in done.stderr + done.stdout


@pytest.mark.parametrize("extra", [[], ["--stream"]])
def test_strict_writes_nothing_once_something_was_warned_of(file, clean, extra, tmp_path):
    done = call("synth", file, "--out", tmp_path / "r", "--strict", *extra)
    assert done.exit_code == 9
    assert done.stdout == ""
    assert "stopped by --strict after 3 warnings; nothing is written" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "c.csv"}
    assert call("synth", clean, "--out", tmp_path / "r", "--strict", *extra).exit_code == 0


def test_quiet_keeps_warnings_only(file, tmp_path):
    done = call("synth", file, "--out", tmp_path / "r", "--quiet", "--m", 1)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert all(line.startswith("pysynthdp: warning: ") for line in done.stderr.splitlines())
    assert done.stderr.count("\n") == 3


def test_json_is_one_object_with_everything_and_no_level(file, tmp_path):
    done = shell("synth", file, "--out", tmp_path / "r", "--json", "--m", 2)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert set(told) == {"folder", "files", "statement", "warnings", "seconds"}
    assert set(told["seconds"]) == {"read", "fit", "draw"}
    assert {one["name"] for one in told["files"]} == {path.name for path in (tmp_path / "r").iterdir()}
    assert all(len(one["sha256"]) == 64 for one in told["files"] if one["name"] != "release.json")
    assert [(one["column"], one["kind"]) for one in told["warnings"]] == [
        ("wage", "codes"), ("town", "rare levels"), ("one", "constant")
    ]  # fmt: skip
    assert all(set(one) == {"column", "kind", "what", "remedy"} for one in told["warnings"])
    assert told["statement"]["status"] == "none"
    assert not re.search("Xanadu|Bergen", done.stdout)
    pooled = json.loads(
        call("pool", "wage ~ age", tmp_path / "r", "--rule", "partial", "--model", "ols", "--json").stdout
    )
    assert [term["term"] for term in pooled["terms"]] == ["Intercept", "age"]
    planned = json.loads(call("plan", file, "--json").stdout)
    assert "steps" in planned


def test_json_errors_are_an_object_on_stderr(file, tmp_path):
    (tmp_path / "p.toml").write_text("[bounds]\nage = [0, 30]")
    done = shell("synth", file, "--out", tmp_path / "r", "--plan", tmp_path / "p.toml", "--json")
    assert (done.returncode, done.stdout) == (3, "")
    error = json.loads(done.stderr)["error"]
    assert error["exit_code"] == 3
    assert "age" in error["message"]
    assert set(error["faults"][0]) == {"column", "kind", "what", "remedy"}


def test_under_a_guarantee_no_line_depends_on_a_record(clean, tmp_path):
    (tmp_path / "codebook.csv").write_text(
        "name,levels,lower,upper,decimals,other,fallback,may_be_missing\n"
        "x,,-5,5,3,,0,false\ng,a|b,,,,a,,false\n"
    )
    (tmp_path / "p.toml").write_text(GUARANTEED)
    done = call("synth", clean, "--out", tmp_path / "r", "--plan", tmp_path / "p.toml", "--m", 2)
    assert done.exit_code == 0, done.output
    lines = done.stderr.splitlines()
    assert lines[:3] == ["pysynthdp: read c.csv", "pysynthdp: fit 2 columns", "pysynthdp: draw 2 copies"]
    assert str(N) not in done.stderr
    told = call("synth", clean, "--out", tmp_path / "s", "--plan", tmp_path / "p.toml", "--m", 2, "--json")
    assert json.loads(told.stdout)["seconds"] == {}


@pytest.mark.parametrize("command", ["look", "plan", "synth"])
def test_a_head_without_rows_is_data_that_do_not_fit(command, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n")
    extra = ["--out", tmp_path / "r"] if command == "synth" else []
    done = call(command, tmp_path / "t.csv", *extra)
    assert done.exit_code == 3
    assert "no rows" in done.stderr


def test_pool_says_that_its_arguments_are_swapped(clean, tmp_path):
    call("synth", clean, "--out", tmp_path / "r", "--m", 2)
    done = call("pool", tmp_path / "r", "x ~ g")
    assert done.exit_code == 2
    assert "the formula comes first, then the folder" in done.stderr
    for formula in ("x ~ g +", "x ~ nothing", "x ~ log(", "class ~ x"):
        assert call("pool", formula, tmp_path / "r").exit_code == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PlanError("x"), 2),
        (PrivacyError("x"), 2),
        (PrivacyError("x", kind="budget"), 4),
        (ReleaseError("x"), 2),
        (CombiningRuleError("x"), 2),
        (SchemaError("x"), 3),
        (FitError("x"), 3),
        (WarnedError("x"), 9),
        (MemoryError(), 8),
        (OSError(errno.ENOSPC, "full"), 8),
        (OSError(errno.EIO, "broken"), 1),
        (RuntimeError("x"), 1),
    ],
)
def test_every_error_has_its_code(error, code):
    assert exit_of(error) == code
    assert exit_of(FitError("x"), fits=Exit.MISUSE) == 2


def test_a_full_disk_behind_our_own_error_is_still_a_full_disk():
    error = ReleaseError("r cannot be written")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert exit_of(error) == 8


def test_memory_that_ends_is_told_in_a_line(file, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise MemoryError

    monkeypatch.setattr("pysynthdp.synthesizer.table_file.rows_of_file", broken)
    monkeypatch.chdir(tmp_path)
    done = call("look", file)
    assert done.exit_code == 8
    assert "out of memory" in done.stderr
    assert not list(tmp_path.glob("pysynthdp-error-*"))


def test_a_reader_that_goes_away_is_no_error(file):
    with subprocess.Popen(
        [sys.executable, "-m", "pysynthdp", "look", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 0
    assert said == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["typer", "pandas"])
def test_a_signal_while_the_program_loads_is_told(number, module, file):
    code = (
        "import sys, os, signal, contextlib, importlib.abc\n"
        "class Slow(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            with contextlib.suppress(BaseException):\n"  # as where the import system tidies up
        f"                os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Slow())\n"
        f"sys.argv = ['pysynthdp', 'look', {str(file)!r}]\n"
        "import pysynthdp.__main__ as program\n"
        "program.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 75
    assert done.stderr.startswith(f"pysynthdp: stopped by {number.name}; nothing is written")
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_below_stdout_is_told(file):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pysynthdp", "look", str(file)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 8
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be removed")
def test_a_report_that_cannot_be_written_is_said(file, monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()  # where nobody can write, not even root
    monkeypatch.setattr("pysynthdp.synthesizer.table_file.rows_of_file", lambda *_, **__: 1 / 0)
    assert "no report could be written" in call("look", file).stderr


def test_the_readme_and_the_help_list_every_code():
    readme = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (\d+) \| (.+) \|$", readme, re.MULTILINE))
    assert table == {str(code.value): code.meaning for code in Exit}
    shown = call("--help").output
    assert all(f"{code.value:>3}  {code.meaning}" in shown for code in Exit)


def test_every_key_of_a_plan_is_explained():
    assert all(KEYS.values())
    shown = call("plan", "--keys")
    assert shown.exit_code == 0
    assert [line.split()[0] for line in shown.output.splitlines()] == list(KEYS)


def test_the_shell_words_of_look_are_the_shells(file):
    shown = " ".join(call("look", file).output.split())
    assert 'missing = { wage = { -8 = "..." } } in the plan' in shown
    assert "--drop one" in shown
    assert str(sdp.look(pd.read_csv(file))) != shown
