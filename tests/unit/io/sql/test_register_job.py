"""From a database to a folder: the register's job as the operators' page has it, in PostgreSQL."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import pysynthdp as sdp
from pysynthdp.cli.app import app

ROOT = Path(__file__).parents[4]
VIGNETTE = ROOT / "vignettes" / "11-night-run"
_SPEC = importlib.util.spec_from_file_location("night_tables", VIGNETTE / "tables.py")
ROWS = 3000


@pytest.fixture
def tables():
    pytest.importorskip("pyreadstat")
    found = importlib.util.module_from_spec(_SPEC)
    sys.modules[_SPEC.name] = found
    _SPEC.loader.exec_module(found)
    return found


def shell(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def register(postgres, server, tables, tmp_path, monkeypatch):
    """The folder of the job, with the text of the page; the variable names a database of 2,000 persons."""
    postgres("DROP TABLE IF EXISTS spells")
    monkeypatch.setenv("REGISTER_URL", server)
    table = tables.register(2000)
    tables.write_register(table, server.replace("postgresql:", "postgresql+psycopg:"))
    for name in ("sql", "meta"):
        shutil.copytree(VIGNETTE / name, tmp_path / name)
    for name in ("ledger", "scratch"):
        (tmp_path / name).mkdir()
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    text = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    assert "k = 1_000_000" in text
    (tmp_path / "job.toml").write_text(text.replace("k = 1_000_000", f"k = {ROWS}"), encoding="utf-8")
    limit = ("--unit", "person", "--relation", "add_remove", "--rho", "0.4", "--approval", "DRB-2026-031")
    assert (
        shell("ledger", "init", tmp_path / "ledger/register.db", "--source", "REG-2026Q1", *limit).exit_code
        == 0
    )
    return tmp_path, table


def test_the_job_of_the_register_runs_as_written_and_no_second_time(register):
    folder, table = register
    assert table["person_id"].value_counts().max() > 4  # so the limit of rows does something
    assert shell("job", "plan", folder / "job.toml").exit_code == 0
    ran = shell("job", "run", folder / "job.toml")
    assert ran.exit_code == 0, ran.output
    made = folder / "release" / "reg2026q1"
    checked = sdp.verify(made)
    assert (checked.ok, checked.exit_code) == (True, 0)
    release = sdp.SyntheticRelease.load(made)
    assert [len(copy) for copy in release] == [ROWS] * 3
    assert list(release[0].columns) == ["born", "sector", "wage", "part_time"]  # neither key is released
    assert "at most 4 rows a person: enforced by person_id" in str(release.privacy)
    (mark,) = release.privacy.ledger
    assert mark.source == "REG-2026Q1"
    shares = release[0]["sector"].value_counts(normalize=True)
    assert shares["private"] == pytest.approx(0.6, abs=0.15)
    made.rename(folder / "first")
    again = shell("job", "run", folder / "job.toml")
    assert again.exit_code == 4
    plain = json.loads(shell("ledger", "show", folder / "ledger/register.db", "--json").output)
    assert plain["sources"][0]["used"] == pytest.approx(0.25, rel=1e-3)


def test_rows_beyond_the_limit_change_nothing(register, tables, server, monkeypatch):
    """With the noise of one run, a register in which persons have more rows gives the same copies."""
    folder, table = register
    shared = ROOT / "tests" / "neighbours.py"
    spec = importlib.util.spec_from_file_location("neighbours", shared)
    neighbours = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = neighbours
    spec.loader.exec_module(neighbours)
    text = (folder / "job.toml").read_text("utf-8")
    seeded = text.replace("[gates]", "[gates]\nrules_failed = 0\n").replace(
        "m = 3", 'm = 3\nseed_file = "seed"'
    )
    (folder / "seed").write_text("a secret of enough bytes", encoding="utf-8")
    free = re.sub(r"\[budget\]\nledger.*\nsource.*\n", "", seeded)
    (folder / "job.toml").write_text(free, encoding="utf-8")

    def copies(given=None):
        with neighbours.watched(monkeypatch, given) as run:
            ran = shell("job", "run", folder / "job.toml")
        assert ran.exit_code == 0, ran.output
        made = folder / "release" / "reg2026q1"
        found = {path.name: path.read_bytes() for path in made.iterdir()}
        shutil.rmtree(folder / "release")
        return run, found

    first, before = copies()
    most = table[table.groupby("person_id").cumcount() == 3].assign(wage=20000)
    more = pd.concat([table, most.assign(row_id=len(table) + most.reset_index().index)])
    tables.write_register(more, server.replace("postgresql:", "postgresql+psycopg:"))
    second, after = copies(first)
    assert neighbours.loss(first, second) == 0
    assert before == after
