"""Copies go into a database with what is said of them, whole or not at all."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, ReleaseError, SchemaError
from pysynthdp.io.sql import writing

FRAME = pd.DataFrame(
    {
        "x": [1.5, 2.5, None, 4.0] * 30,
        "n": pd.array([1, None, 3, 4] * 30, dtype="Int64"),
        "town": pd.Categorical(["a", "b", "b", None] * 30, categories=["b", "a"], ordered=True),
        "ok": [True, False, False, True] * 30,
        "day": pd.to_datetime(["2020-01-01", "2021-02-03", None, "2020-05-05"] * 30),
        "Odd name": ["ä", "ö", "ä", "ö"] * 30,
    }
)
COPIES = sdp.SQLTable(table="copies", order_by=["copy_number"], url_env="COPIES_URL")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "out"
    return sdp.Synthesizer(workers=1, progress=False).fit(FRAME).draw_to(path, m=3, rng=1)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, tmp_path, monkeypatch):
    """Ask an empty database; nothing of it but a variable is known."""
    if request.param == "postgres":
        run = request.getfixturevalue("postgres")
        monkeypatch.setenv("COPIES_URL", request.getfixturevalue("server"))
        return run.ask
    path = tmp_path / "copies.db"
    path.touch()
    monkeypatch.setenv("COPIES_URL", f"sqlite:///{path}")

    def ask(query):
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute(query).fetchall()
            connection.commit()
            return rows

    return ask


def tables(ask):
    system = "sqlite_master" if ask.__name__ == "ask" else "pg_tables WHERE schemaname = 'public'"
    return ask(f"SELECT * FROM {system}")


def test_copies_and_statement_are_there(database, folder):
    release = sdp.SyntheticRelease.open(folder)
    release.to_sql("copies", url_env="COPIES_URL")
    names = ", ".join(f'"{name}"' for name in ("copy_number", *FRAME.columns))
    rows = database(f"SELECT {names} FROM copies ORDER BY copy_number")
    assert [sum(row[0] == number for row in rows) for number in (1, 2, 3)] == [120] * 3
    for number, copy in enumerate(release, start=1):
        frame = copy.read()
        own = [row[1:] for row in rows if row[0] == number]
        there = pd.DataFrame(own, columns=FRAME.columns)
        for name in ("x", "n", "town", "Odd name"):
            assert sorted(there[name].dropna()) == sorted(frame[name].dropna().tolist())
        assert sorted(map(bool, there["ok"])) == sorted(frame["ok"])
        assert sorted(pd.to_datetime(there["day"]).dropna()) == sorted(frame["day"].dropna())
    told = dict(database("SELECT file, content FROM copies_release"))
    assert json.loads(told["release.json"])["m"] == 3
    assert json.loads(told["privacy.json"]) == release.privacy.to_dict()
    assert set(told) == {"release.json", "privacy.json", "schema.json", "codebook.csv", "README.txt"}


@pytest.mark.parametrize("taken", ["copies", "copies_release"])
def test_a_table_that_exists_is_refused(database, folder, taken):
    database(f"CREATE TABLE {taken} (x integer)")
    with pytest.raises((ReleaseError, PlanError), match="already"):
        sdp.SyntheticRelease.open(folder).to_sql("copies", url_env="COPIES_URL")
    assert len(tables(database)) == 1
    assert database(f"SELECT count(*) FROM {taken}")[0][0] == 0


def test_a_fault_midway_leaves_nothing(database, folder, monkeypatch):
    blocks = writing._blocks

    def torn(*args):
        yield next(blocks(*args))
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_blocks", torn)
    with pytest.raises(KeyboardInterrupt):
        sdp.SyntheticRelease.open(folder).to_sql("copies", url_env="COPIES_URL")
    assert tables(database) == []


def test_a_lost_connection_leaves_nothing(postgres, server, folder, monkeypatch):
    monkeypatch.setenv("COPIES_URL", server)
    blocks = writing._blocks

    def lost(*args):
        for block in blocks(*args):
            yield block
            postgres.kill()

    monkeypatch.setattr(writing, "_blocks", lost)
    with pytest.raises(SchemaError, match="broke off while it was written to") as caught:
        sdp.SyntheticRelease.open(folder).to_sql("copies", url_env="COPIES_URL")
    assert "COPIES_URL" in str(caught.value)
    assert postgres.ask("SELECT * FROM pg_tables WHERE schemaname = 'public'") == []
    sdp.SyntheticRelease.load(folder)  # what was paid for is still there


def test_a_changed_file_is_refused(database, tmp_path):
    path = sdp.Synthesizer(workers=1, progress=False).fit(FRAME).draw_to(tmp_path / "out", m=2, rng=1)
    release = sdp.SyntheticRelease.open(path)
    with (path / "synthetic_2.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ReleaseError):
        release.to_sql("copies", url_env="COPIES_URL")
    assert tables(database) == []


def test_a_column_that_numbers_copies_is_refused(tmp_path):
    frame = FRAME[["x"]].assign(copy_number=[1.0, 2.0, 3.5, 4.5] * 30)
    path = sdp.Synthesizer(workers=1, progress=False).fit(frame).draw_to(tmp_path / "out", m=1, rng=1)
    with pytest.raises(ReleaseError, match="have a column copy_number"):
        sdp.SyntheticRelease.open(path).to_sql("copies", url_env="COPIES_URL")


@pytest.mark.parametrize("name", ["", "x" * 41])
def test_a_name_that_a_database_would_cut_is_refused(name):
    with pytest.raises(PlanError, match="1 to 40 bytes"):
        writing.SQLTarget(name, "COPIES_URL")
