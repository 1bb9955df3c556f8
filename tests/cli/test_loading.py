"""Help and slips answer at once: nothing of numbers and tables is loaded for them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import get_args

import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.analysis import wrappers
from pysynthdp.cli.app import app
from pysynthdp.cli.options import FileFormat, Model
from pysynthdp.io.folder import formats

SLOW = {"numpy", "pandas", "scipy", "pyarrow", "formulaic", "statsmodels"}
COMMANDS = [command.callback.__name__ for command in app.registered_commands]
RUN = """
import json, runpy, sys
sys.argv = ["pysynthdp", *{words!r}]
try:
    runpy.run_module("pysynthdp", run_name="__main__")
except SystemExit as left:
    print(json.dumps([left.code, sorted(sys.modules)]))
"""


def run(*words):
    """Run the program in a process of its own; give its exit code and what it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(words=words)], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    return code, set(modules)


def test_the_commands_are_those_of_the_help():
    assert COMMANDS == ["look", "plan", "synth", "parameter", "pool", "verify", "diff", "compare"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ["--help"]),
        (0, ["--version"]),
        *((0, [command, "--help"]) for command in COMMANDS),
        (0, ["ledger", "--help"]),
        (0, ["ledger", "init", "--help"]),
        (2, []),
        (2, ["ledger", "shwo"]),
        (2, ["lok"]),
        (2, ["--hepl"]),
        *((2, [command, "--hepl"]) for command in COMMANDS),
        (2, ["synth", "table.csv", "--out", "r", "--format", "xls"]),
        (2, ["pool", "y ~ x", "r", "--model", "old"]),
        (2, ["plan", "table.csv", "--m", "0"]),
    ],
)
def test_help_and_slips_load_no_library_of_numbers_or_tables(code, words):
    left, modules = run(*words)
    assert left == code
    assert not SLOW & modules


def test_a_look_loads_no_formulas_and_no_optimisers(tmp_path):
    pd.DataFrame({"age": [30.5, 41, 52, 47] * 9, "sex": ["f", "m"] * 18}).to_csv(
        tmp_path / "t.csv", index=False
    )
    code, modules = run("look", str(tmp_path / "t.csv"))
    assert code == 0
    assert SLOW & modules == {"numpy", "pandas", "scipy", "pyarrow"}
    assert not {"scipy.optimize", "scipy.stats"} & modules


def test_the_choices_of_options_are_those_of_the_library():
    assert tuple(FileFormat) == get_args(formats.Format)
    assert set(Model) == set(wrappers.__all__) & set(sdp.__all__)
