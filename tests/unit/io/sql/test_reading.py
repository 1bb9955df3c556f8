"""A table of a database is read as its catalogue says, in one snapshot and one order."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.scratch import Scratch
from pysynthdp.io.csv.shelf import Shelf
from pysynthdp.io.sql import kinds, reading
from pysynthdp.io.sql.reading import SQLTable, read_sql

PEOPLE = SQLTable(table="people", order_by="id", url_env="PEOPLE_URL")
COLUMNS = (
    "id integer PRIMARY KEY, big bigint, small smallint, r real, d double precision, n numeric(10,2), "
    "t text, v varchar(5), b boolean, day date, ts timestamp, m {mood}"
)
FIRST = (
    "(1, 9007199254740993, 3, 1.5, 2.25, 123.45, 'NA', '01', true, '2020-01-02', "
    "'2020-01-02 03:04:05.123456', 'happy')"
)
EXPECTED = {
    "id": "Int64", "big": "Int64", "small": "Int64", "r": "float64", "d": "float64", "n": "float64",
    "t": "str", "v": "str", "b": "boolean", "day": "datetime64[us]", "ts": "datetime64[us]",
}  # fmt: skip


@pytest.fixture
def sqlite(tmp_path, monkeypatch):
    """Run statements in a database of SQLite."""
    path = tmp_path / "people.db"
    monkeypatch.setenv("PEOPLE_URL", f"sqlite:///{path}")

    def run(*statements: str) -> None:
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    run()
    path.touch()
    return run


def read(source=PEOPLE, *, texts=False, scratch=None):
    return read_sql(source, Shelf(scratch), texts=texts)


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_types_are_those_of_the_catalogue(kind, texts, request, tmp_path):
    run = request.getfixturevalue(kind)
    if kind == "postgres":
        run("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')")
    mood = "mood" if kind == "postgres" else "text"
    run(f"CREATE TABLE people ({COLUMNS.format(mood=mood)})", "INSERT INTO people (id) VALUES (2)")
    run(f"INSERT INTO people VALUES {FIRST}")
    frame = read(texts=texts)
    assert {name: str(frame[name].dtype) for name in EXPECTED} == EXPECTED
    assert frame["id"].tolist() == [1, 2]
    first = frame.iloc[0].to_dict()
    assert first.pop("m") == "happy"
    assert first == {
        "id": 1, "big": 9007199254740993, "small": 3, "r": 1.5, "d": 2.25, "n": 123.45, "t": "NA", "v": "01",
        "b": True, "day": pd.Timestamp("2020-01-02"), "ts": pd.Timestamp("2020-01-02 03:04:05.123456"),
    }  # fmt: skip
    assert frame.iloc[1].drop("id").isna().all()
    pd.testing.assert_frame_equal(
        read(texts=texts, scratch=Scratch(tmp_path)), frame
    )  # a second time, on disk
    if kind == "postgres":
        assert frame["m"].dtype == pd.CategoricalDtype(["sad", "ok", "happy"], ordered=True)


def test_what_only_postgres_has(postgres):
    postgres(
        'CREATE TABLE "Odd" (id uuid PRIMARY KEY, "a b" timestamptz, c char(3))',
        "INSERT INTO \"Odd\" VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2020-01-01 12:00+02', 'x')",
    )
    frame = read(SQLTable(table="Odd", order_by="id", url_env="PEOPLE_URL", schema="public"))
    assert frame["a b"].tolist() == [pd.Timestamp("2020-01-01 10:00", tz="UTC")]
    assert str(frame["a b"].dtype) == "datetime64[us, UTC]"
    assert frame["id"].tolist() == ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]
    asked = SQLTable(query='SELECT c, 1.5 AS half FROM "Odd";  ', order_by="c", url_env="PEOPLE_URL")
    assert read(asked).to_dict("list") == {"c": ["x  "], "half": [1.5]}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_types_of_a_table_without_values_are_known(kind, request):
    request.getfixturevalue(kind)("CREATE TABLE people (id integer, x double precision, t text)")
    assert [str(kind) for kind in read(texts=True).dtypes] == ["Int64", "float64", "str"]
    with pytest.raises(SchemaError, match="table people has no rows"):
        read()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_rows_must_be_told_apart(kind, request):
    run = request.getfixturevalue(kind)
    run(
        "CREATE TABLE people (id integer, part integer, x integer)",
        "INSERT INTO people VALUES (1, 1, 5), (1, 2, 6)",
    )
    with pytest.raises(SchemaError, match="id does not tell all rows apart"):
        read()
    both = SQLTable(table="people", order_by=["id", "part"], url_env="PEOPLE_URL")
    assert read(both)["x"].tolist() == [5, 6]
    run("INSERT INTO people VALUES (2, NULL, 7)")
    with pytest.raises(SchemaError, match="id with part is missing in some rows"):
        read(both)
    assert len(read(both, texts=True)) == 3  # under a guarantee no cell decides


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_names_that_are_not_there(kind, request):
    run = request.getfixturevalue(kind)
    with pytest.raises(PlanError, match=r"has no (such )?table"):
        read()
    run("CREATE TABLE people (key integer)")
    with pytest.raises(PlanError, match=r"no (such )?column"):
        read()


@pytest.mark.parametrize(
    ("kind", "type_"), [("sqlite", "blob"), ("postgres", "jsonb"), ("postgres", "interval")]
)
def test_other_kinds_of_columns_are_refused_by_name(kind, type_, request):
    request.getfixturevalue(kind)(f"CREATE TABLE people (id integer PRIMARY KEY, odd {type_})")
    with pytest.raises(PlanError, match=f"column odd has type {type_}"):
        read()


@pytest.mark.parametrize(
    ("kind", "type_", "value"),
    [
        ("sqlite", "integer", "'many'"),
        ("sqlite", "integer", "1.5"),
        ("sqlite", "date", "'1 May'"),
        ("sqlite", "boolean", "7"),
        ("sqlite", "real", "'1,5'"),
        ("sqlite", "text", "x'ff'"),
        ("postgres", "date", "'infinity'"),
        ("postgres", "timestamp", "'-infinity'"),
        ("postgres", "timestamptz", "'infinity'"),
    ],
)
def test_a_cell_that_its_column_cannot_hold(kind, type_, value, request):
    run = request.getfixturevalue(kind)
    run(f"CREATE TABLE people (id integer PRIMARY KEY, x {type_})", f"INSERT INTO people VALUES (1, {value})")
    run("INSERT INTO people VALUES (2, NULL)")
    with pytest.raises(SchemaError, match="column x has cells that are not what it is declared") as caught:
        read()
    assert value.strip("'") not in str(caught.value)
    assert read(texts=True)["x"].isna().all()


@pytest.mark.usefixtures("sqlite")
def test_only_postgres_takes_a_query():
    with pytest.raises(PlanError, match="a query is read from PostgreSQL alone"):
        read(SQLTable(query="SELECT 1", order_by="id", url_env="PEOPLE_URL"))


def test_a_database_that_is_not_there_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setenv("PEOPLE_URL", f"sqlite:///{tmp_path / 'none.db'}")
    with pytest.raises(PlanError, match="there is no database where PEOPLE_URL says"):
        read()
    assert list(tmp_path.iterdir()) == []


def test_a_lost_connection_is_one_sentence(postgres, monkeypatch, tmp_path):
    postgres(
        "CREATE TABLE people AS SELECT i AS id, repeat('x', 100) AS t FROM generate_series(1, 300000) AS s(i)"
    )
    converted = reading._converted

    def lose(*args):
        postgres(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )
        return converted(*args)

    monkeypatch.setattr(reading, "_converted", lose)
    with pytest.raises(SchemaError) as caught:
        read(scratch=Scratch(tmp_path))
    assert str(caught.value) == (
        "the database that PEOPLE_URL names could not be reached, or broke off while it was read; nothing "
        "was kept; see whether it runs, and start again"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url", ["postgresql://me:geheim@/b?host=/none", "postgresql://me:geheim@[x", "geheim"]
)
def test_no_password_is_shown(url, monkeypatch):
    monkeypatch.setenv("PEOPLE_URL", url)
    with pytest.raises((PlanError, SchemaError)) as caught:
        read()
    assert "geheim" not in "".join([str(caught.value), repr(PEOPLE), repr(PEOPLE.address)])
    assert "PEOPLE_URL" in str(caught.value)


def test_a_url_in_a_program_is_refused():
    with pytest.raises(PlanError, match="must be the name of an environment variable") as caught:
        SQLTable(table="people", order_by="id", url_env="postgresql://me:geheim@host/base")
    assert "geheim" not in str(caught.value)


def test_a_variable_that_is_not_set(monkeypatch):
    monkeypatch.delenv("PEOPLE_URL", raising=False)
    with pytest.raises(PlanError, match="the environment variable PEOPLE_URL is not set"):
        read()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sql:people?order_by=id", "url_env is missing"),
        ("sql:people?url_env=A", "order_by is missing"),
        ("sql:people?order_by=id&url_env=A&scheme=b", "schema"),
        ("sql:?order_by=id&url_env=A", "one name, table or query"),
        ("sql:people?order_by=id&url_env=A&query=b", "one name, table or query"),
    ],
)
def test_a_text_that_names_none(text, words):
    with pytest.raises(PlanError, match=words):
        SQLTable.named(text)


def test_a_text_names_a_table():
    found = SQLTable.named("sql:people?order_by=id,part&url_env=PEOPLE_URL&schema=own")
    assert found == SQLTable(table="people", order_by=("id", "part"), url_env="PEOPLE_URL", schema="own")


def test_a_snapshot_does_not_see_later_rows(postgres, monkeypatch):
    postgres("CREATE TABLE people (id integer PRIMARY KEY)", "INSERT INTO people VALUES (1)")
    check = reading._check_keys

    def checked(*args):
        check(*args)
        postgres("INSERT INTO people VALUES (2)")

    monkeypatch.setattr(reading, "_check_keys", checked)
    assert read()["id"].tolist() == [1]


def test_cells_are_converted_alone():
    """The quick road for a block that fits, and the slow one, give each cell the same."""
    cells = {
        "whole": [1, None, -5],
        "real": [1.5, 2, None],
        "flag": [True, None, False],
        "text": ["a", None, ""],
    }
    odd = {"whole": "x", "real": "x", "flag": 7, "text": b"x"}
    for name, values in cells.items():
        quick = kinds.Kind(name).of(values)
        slow = kinds.Kind(name).of([*values, odd[name]])
        assert quick.to_pylist() == slow.to_pylist()[:-1] == values
        assert slow.to_pylist()[-1] is None


def test_blocks_do_not_matter(sqlite, monkeypatch):
    rng = np.random.default_rng(0)
    sqlite("CREATE TABLE people (id integer PRIMARY KEY, x real, t text)")
    for number in range(40):
        sqlite(
            f"INSERT INTO people VALUES ({number}, {rng.random() if number % 3 else 'NULL'}, 'ä{number % 4}')"
        )
    whole = read()
    monkeypatch.setattr(reading, "_BLOCK", 7)
    pd.testing.assert_frame_equal(read(), whole)
