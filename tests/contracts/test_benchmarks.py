"""Every study can start after a move, and stands in the README of its folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.defaults import bank

ROOT = Path(__file__).parents[2]
HOME = ROOT / "benchmarks"
FOLDERS = sorted(path for path in HOME.iterdir() if path.is_dir() and any(path.glob("*.py")))
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*.py") if path.name != "__init__.py")
ELSEWHERE = {"aim.py", "dpmm.py"}  # run by the Python of another tool
START = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_there_are_studies():
    assert len(FILES) > 25
    assert not list(HOME.glob("[!_]*.py"))  # all in folders


def test_every_study_can_be_imported():
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES if path.name not in ELSEWHERE
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", START, *names]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_folder_tells_what_is_in_it(folder):
    told = (folder / "README.md").read_text("utf-8")
    assert {path.name for path in FILES if path.parent == folder} - {"floors.py"} <= set(
        re.findall(r"`(\w+\.py)`", told)
    )
    assert f"[{folder.name}]({folder.name}/README.md)" in (HOME / "README.md").read_text("utf-8")


def test_make_bench_names_what_there_is():
    told = re.findall(r"-m (benchmarks\.[\w.]+)", (ROOT / "Makefile").read_text("utf-8"))
    assert told
    for name in told:
        assert (ROOT / (name.replace(".", "/") + ".py")).exists(), name


def test_the_bank_gives_a_copy_of_the_fitted_half_the_marks_of_the_half(tmp_path):
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    x, g = rng.normal(size=700).round(2), rng.choice(["a", "b"], 700)
    gaps = np.where(rng.random(700) < 0.1, np.nan, x + (g == "a") + rng.normal(size=700))
    pd.DataFrame({"x": x, "g": g, "y": gaps, "k": rng.integers(0, 4, 700)}).to_csv(
        tmp_path / "t.csv", index=False
    )
    (half,) = bank.halves(tmp_path)
    assert len(half.seen) == len(half.unseen) == 350
    for number in range(1, 6):
        half.seen.to_csv(tmp_path / f"t_{number}.csv", index=False)
    same = bank.scored(half, str(tmp_path), 1)
    marks = [same[name] for name in ("h1", "h2", "h3", "z", "far")]
    assert marks == pytest.approx([1, 1, 1, 0, 0], abs=1e-9)
    assert same["hp"] == pytest.approx(same["hp0"])
    assert same["overlap"] > 0.999
    for number in range(1, 6):
        alone = {name: rng.permutation(half.seen[name].to_numpy()) for name in half.seen}
        pd.DataFrame(alone).to_csv(tmp_path / f"t_{number}.csv", index=False)
    mixed = bank.scored(half, str(tmp_path), 1)
    assert mixed["h1"] == pytest.approx(1)
    assert mixed["h2"] > 1.2
    assert mixed["z"] > 3
