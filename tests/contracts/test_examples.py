"""The demonstration runs, runs again over its own output, and never removes anything else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pysynthdp as sdp

SCRIPT = Path(__file__).parents[2] / "examples" / "first_release.py"


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(SCRIPT), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> tuple[Path, str]:
    """A release folder, made twice, and what the second run printed."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    assert run(folder).returncode == 0
    again = run(folder)
    assert (again.returncode, again.stderr) == (0, "")
    return folder, again.stdout


def test_it_writes_five_copies_a_statement_and_a_codebook(shown):
    folder, _ = shown
    assert len(list(folder.glob("synthetic_*.parquet"))) == 5
    assert {"privacy.json", "codebook.csv", "release.json"} <= {path.name for path in folder.iterdir()}
    release = sdp.SyntheticRelease.load(folder)
    assert (release.m, release.n_syn, len(release[0].columns)) == (5, 944, 11)


@pytest.mark.parametrize("column", ["popul", "PID", "vote", "logpopul"])
def test_it_prints_what_was_understood_of_each_column(shown, column):
    assert column in shown[1].split("2. Fit once")[0]


def test_it_prints_the_card_and_the_pooled_table_beside_the_confidential_one(shown):
    printed = shown[1]
    assert "Privacy statement: no formal guarantee" in printed
    assert "partial_size_adjusted" in printed
    assert "INTERNAL: pooled against confidential Logit" in printed


def test_it_leaves_a_folder_that_is_not_a_release_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("ten years")
    refused = run(tmp_path)
    assert refused.returncode == 1
    assert "is not a release" in refused.stderr
    assert (tmp_path / "thesis.txt").exists()
