"""Wherever a table lies, a fit gives what it gives of the same table in memory, to the last bit.

A new kind of source is a line of ``BACKENDS``.
"""

from __future__ import annotations

import os
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from statsmodels.datasets import anes96, fair

import pysynthdp as sdp
from pysynthdp.models import Gaussian


class Given(NamedTuple):
    """What is fitted, the same table in memory, and the settings that go with it."""

    table: Any
    frame: pd.DataFrame
    settings: dict[str, Any] = {}  # noqa: RUF012 -- never written to


def _parquet(frame: pd.DataFrame, home: Path) -> Given:
    path = home / "people.parquet"
    frame.to_parquet(path, row_group_size=250)
    return Given(path, sdp.read_table(path))


def _csv(frame: pd.DataFrame, home: Path, name: str = "people.csv") -> Given:
    path = home / name
    frame.to_csv(path, index=False)
    return Given(path, sdp.read_table(path))


def _packed(frame: pd.DataFrame, home: Path) -> Given:
    return _csv(frame, home, "people.csv.gz")


def _sqlite(frame: pd.DataFrame, home: Path) -> Given:
    pytest.importorskip("sqlalchemy")
    path = home / "people.db"
    kinds = {"i": "INTEGER", "f": "REAL", "b": "BOOLEAN"}
    columns = {name: kinds.get(dtype.kind, "TEXT") for name, dtype in frame.dtypes.items()}
    with closing(sqlite3.connect(path)) as connection:
        own = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        connection.execute(f"CREATE TABLE people (at INTEGER, {own})")
        plain = frame.astype(object).where(frame.notna(), None)
        marks = ", ".join("?" * (len(columns) + 1))
        rows = ([at, *map(str_of, row)] for at, row in enumerate(plain.itertuples(index=False)))
        connection.executemany(f"INSERT INTO people VALUES ({marks})", rows)
        connection.commit()
    os.environ["BACKEND_URL"] = f"sqlite:///{path}"
    table = sdp.SQLTable(table="people", order_by="at", url_env="BACKEND_URL")
    return Given(table, sdp.read_table(table), {"drop": ["at"]})


def str_of(cell: Any) -> Any:
    """What SQLite takes of a cell."""
    return cell if cell is None or isinstance(cell, int | float) else str(cell)


def _scratch(frame: pd.DataFrame, home: Path) -> Given:
    folder = home / "scratch"
    folder.mkdir(exist_ok=True)
    return Given(frame, frame, {"scratch": folder})


def _encrypted(make: Callable[[pd.DataFrame, Path], Given]) -> Callable[[pd.DataFrame, Path], Given]:
    def made(frame: pd.DataFrame, home: Path) -> Given:
        pytest.importorskip("cryptography")
        given = make(frame, home)
        own = {**_scratch(frame, home).settings, **given.settings, "scratch_encrypt": True}
        return given._replace(settings=own)

    return made


BACKENDS: dict[str, Callable[[pd.DataFrame, Path], Given]] = {
    "parquet": _parquet,
    "csv": _csv,
    "csv.gz": _packed,
    "sqlite": _sqlite,
    "frame, parts on disk": _scratch,
    "frame, encrypted": _encrypted(_scratch),
    "parquet, encrypted": _encrypted(_parquet),
    "csv, encrypted": _encrypted(_csv),
}


def _election() -> pd.DataFrame:
    """Few-valued answers, a text, missing cells."""
    data = anes96.load_pandas().data[["popul", "TVnews", "age", "educ", "income", "vote"]]
    data = data.assign(party=np.where(data.vote > 0, "right", "left"))
    data.loc[::7, "income"] = np.nan
    data.loc[::11, "party"] = None
    return data


def _marriages() -> pd.DataFrame:
    """Counts with zeros, one extreme value, a column of few records."""
    data = fair.load_pandas().data.iloc[:900].reset_index(drop=True)
    return data.assign(
        affairs=data.affairs.where(data.index != 3, 900.0), rare=np.where(data.index < 3, 1, 0)
    )


TABLES = {"election": _election, "marriages": _marriages}


@pytest.fixture(params=BACKENDS)
def make(request, monkeypatch) -> Callable[[pd.DataFrame, Path], Given]:
    """A backend, whose blocks are small, so that there are several."""
    monkeypatch.setattr("pysynthdp.curator.rows.frame.BLOCK", 300)
    monkeypatch.setattr("pysynthdp.io.sources.sealed.BLOCK", 300)
    monkeypatch.setenv("BACKEND_URL", "")
    return BACKENDS[request.param]


def fitted(table: Any, **settings: Any) -> tuple[sdp.FittedSynthesizer, list[str]]:
    """A fit, and what was said."""
    seed = {"noise_seed": 5} if isinstance(settings.get("guarantee"), sdp.ByNoise) else {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = sdp.Synthesizer(progress=False, workers=1, **settings).fit(table, **seed)
    return found, [str(each.message) for each in heard]


def same_copies(one: sdp.FittedSynthesizer, other: sdp.FittedSynthesizer) -> None:
    """Compare copies to the last bit."""
    for left, right in zip(one.draw(m=2, rng=1), other.draw(m=2, rng=1), strict=True):
        pd.testing.assert_frame_equal(left, right, check_exact=True)


def in_memory(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings without those that say where things lie."""
    return {name: value for name, value in settings.items() if not name.startswith("scratch")}


@pytest.mark.parametrize("name", TABLES)
def test_copies_and_remarks_are_those_of_memory(make, name, tmp_path):
    given = make(TABLES[name](), tmp_path)
    own, said = fitted(given.table, **given.settings)
    other, there = fitted(given.frame, **in_memory(given.settings))
    assert said == there
    assert own.schema == other.schema
    same_copies(own, other)
    assert not list((tmp_path / "scratch").glob("*"))


def declared(frame: pd.DataFrame, road: str) -> sdp.Schema:
    """Bounds and levels that anybody knows."""
    age = sdp.NumericColumn("age", lower=17, upper=97, decimals=None, may_be_missing=False, fallback=50)
    party = sdp.CategoricalColumn("party", ["left", "right"], other="left", may_be_missing=False)
    columns = {"age": age, "party": party, "at": sdp.NumericColumn("at", lower=0, upper=1000, fallback=0)}
    return sdp.Schema([columns[name] for name in frame.columns if road == "noise" or name == "age"])


GUARANTEES = {
    "noise": {"guarantee": sdp.ByNoise(sdp.ZCDP(2.0), testing=True)},
    "sampling": {"guarantee": sdp.BySampling(), "method": {"age": Gaussian(sigma=15.0)}},
}


@pytest.mark.parametrize("road", GUARANTEES)
def test_under_a_guarantee_too(make, road, tmp_path):
    given = make(
        _election()[["age", "party"]].assign(party=lambda frame: frame.party.fillna("left")), tmp_path
    )
    settings = {**given.settings, **GUARANTEES[road], "schema": declared(given.frame, road)}
    if road == "sampling":
        settings["drop"] = [name for name in given.frame.columns if name != "age"]
    own, _ = fitted(given.table, **settings)
    other, _ = fitted(given.frame, **in_memory(settings))
    same_copies(own, other)


@pytest.mark.parametrize("name", [name for name in BACKENDS if name.startswith(("parquet", "csv"))])
def test_the_mark_of_synthetic_files_is_no_column(name, tmp_path):
    given = BACKENDS[name](_election()[["age", "educ", "vote"]].assign(_synthetic=1), tmp_path)
    assert "_synthetic" not in fitted(given.table, **given.settings)[0].schema.names


def _infinite(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(age=frame.age.astype(float).where(frame.index % 9 > 0, np.inf))


def _constant_keys(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(who=[f"person {at}" for at in range(len(frame))])


@pytest.mark.parametrize("spoil", [_infinite, _constant_keys])
def test_what_memory_refuses_is_refused_in_the_same_words(make, spoil, tmp_path):
    given = make(spoil(_election()), tmp_path)
    with pytest.raises(sdp.PysynthdpError) as there:
        fitted(given.frame, **in_memory(given.settings))
    with pytest.raises(sdp.PysynthdpError) as here:
        fitted(given.table, **given.settings)
    assert (type(here.value), str(here.value)) == (type(there.value), str(there.value))
