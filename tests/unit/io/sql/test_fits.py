"""What a table of a database gives in a fit is what the same cells give in memory."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp

PEOPLE = sdp.SQLTable(table="people", order_by="id", url_env="PEOPLE_URL")
COLUMNS = "id integer, score integer, income real, town text, flag boolean"
NAMED = "sql:people?order_by=id&url_env=PEOPLE_URL"


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A database whose rows lie in another order than that of their key."""
    rng = np.random.default_rng(0)
    path = tmp_path / "people.db"
    rows = [
        (at, at % 5, round(float(rng.normal(50, 9)), 1), "abc"[at % 3], None if at % 7 else at % 2)
        for at in rng.permutation(400).tolist()
    ]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE people ({COLUMNS})")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()
    monkeypatch.setenv("PEOPLE_URL", f"sqlite:///{path}")
    return path


def synthesizer(**more):
    return sdp.Synthesizer(drop=["id"], workers=1, progress=False, **more)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("given", [PEOPLE, NAMED])
def test_a_fit_from_a_database_is_that_of_its_table(given, tmp_path):
    frame = sdp.read_table(given)
    assert frame["id"].tolist() == list(range(400))
    own, other = (synthesizer(scratch=tmp_path).fit(table).draw(m=2, rng=1) for table in (frame, given))
    for one, two in zip(own, other, strict=True):
        pd.testing.assert_frame_equal(one, two)
    assert str(synthesizer().plan(given)) == str(synthesizer().plan(frame))


SCHEMA = sdp.Schema(
    [
        sdp.NumericColumn("income", lower=0, upper=100),
        sdp.CategoricalColumn("town", ["a", "b", "c"], other="c"),
        sdp.CategoricalColumn("flag", [False, True], other=False),
    ]
)


def guaranteed():
    guarantee = sdp.ByNoise(sdp.ZCDP(1.0), testing=True)
    return sdp.Synthesizer(schema=SCHEMA, guarantee=guarantee, drop=["id", "score"], progress=False)


def told():
    """What leaves the house beside the copies themselves."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fitted = guaranteed().fit(PEOPLE, noise_seed=1)
        release = fitted.draw(m=1, rng=1)
    said = [str(one.message) for one in heard]
    return (
        said,
        str(fitted.plan),
        str(release.privacy),
        str(replace(release.tags, details={})),
        str(release[0].dtypes),
    )


NEIGHBOURS = (
    "UPDATE people SET id = NULL, income = NULL, town = NULL, flag = NULL WHERE id = 3",
    "UPDATE people SET income = 'x', flag = 7, town = x'ff' WHERE id = 3",
    "UPDATE people SET id = 4 WHERE id = 3",
    "UPDATE people SET income = 9e999, town = 'new' WHERE id = 3",
)


@pytest.mark.parametrize("change", NEIGHBOURS)
def test_under_a_guarantee_no_cell_is_told(people, change):
    before = told()
    with closing(sqlite3.connect(people)) as connection:
        connection.execute(change)
        connection.commit()
    assert told() == before


def test_the_shell_takes_the_text(people, tmp_path):
    call = [
        sys.executable,
        "-m",
        "pysynthdp",
        "synth",
        NAMED,
        "--out",
        str(tmp_path / "out"),
        "--m",
        "1",
        "--drop",
        "id",
    ]
    run = subprocess.run(call, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "people.db" not in run.stdout + run.stderr
    assert people.parent.joinpath("out", "release.json").exists()


def test_the_shell_says_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("PEOPLE_URL", "postgresql://me:geheim@/base?host=/none")
    call = [sys.executable, "-m", "pysynthdp", "synth", NAMED, "--out", str(tmp_path / "out")]
    run = subprocess.run(call, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "geheim" not in run.stdout + run.stderr
    assert not tmp_path.joinpath("out").exists()
