"""Jobs under a guarantee on neighbouring tables: with the same noise nothing tells them apart."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

from typer.testing import CliRunner

from pysynthdp.cli.app import app

ROOT = Path(__file__).parents[1]


def module(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


jobs, neighbours = module("job_places"), module("neighbours")
ROWS = ["F,20,NO,-8", "M,30,YES,5", "F,41,YES,10"] * 60
CLOCK = ("time", "run", "seconds", "memory_mb", "source", "sha256", "bytes")


def observed(folder, rows, monkeypatch, given):
    """Everything that somebody sees of a run but clocks: codes, screen, log, files."""
    folder.mkdir()
    (folder / "people.csv").write_text("\n".join(["sex,age,smoke,cigarettes", *rows, ""]), encoding="utf-8")
    (folder / "codebook.toml").write_text(jobs.CODEBOOK, encoding="utf-8")
    (folder / "seed").write_text("a secret of enough bytes", encoding="utf-8")
    text = jobs.NOISED.replace("[sample]", '[sample]\nseed_file = "seed"')
    text = text.replace('[budget]\nledger = "people.db"\nsource = "REG"\n', "").replace("n = 300", "n = 180")
    place = jobs.Place(folder, text)
    place.write()
    monkeypatch.chdir(folder)
    with neighbours.watched(monkeypatch, given) as run:
        ran = CliRunner().invoke(app, ["job", "run", "job.toml"])
        plan = CliRunner().invoke(app, ["job", "plan", "job.toml"])
    lines = [json.loads(line) for line in place.places.log.read_text("utf-8").splitlines()]
    told = [{key: value for key, value in line.items() if key not in CLOCK} for line in lines]
    files = {path.name: path.read_bytes() for path in place.places.folder.iterdir()}
    screen = [line.partition(" (")[0] for line in ran.output.splitlines()]
    return run, (ran.exit_code, plan.output, screen, told, files)


def test_nothing_tells_neighbours_apart(tmp_path, monkeypatch):
    first, before = observed(tmp_path / "a", ROWS, monkeypatch, None)
    for number, cell in enumerate(("M,99,,", "Q,1e9,?,x", ",,,")):
        other = [*ROWS[:7], cell, *ROWS[8:]]
        second, after = observed(tmp_path / f"b{number}", other, monkeypatch, first)
        assert before == after
        assert float(neighbours.loss(first, second)) <= 2.0
    assert before[0] == 0
