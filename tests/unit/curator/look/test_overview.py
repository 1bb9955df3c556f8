"""``look`` shows how each column is understood, and names a mend for what is odd."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import SchemaError
from pysynthdp.curator.look import look

N = 400


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def _warnings(values, **declared):
    (column,) = look(pd.DataFrame({"x": values}), **declared).columns
    return " / ".join([*column.warnings, *(note.sentence for note in column.notes)])


def test_kinds_types_levels_and_shares(rng):
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "wage": np.where(np.arange(N) < 40, -8, np.where(np.arange(N) < 100, 0, rng.normal(900, 99, N))),
            "sex": pd.Series(["F", "M", None, "F"] * 100),
            "edu": pd.Categorical(["low", "high"] * 200, ["low", "mid", "high"], ordered=True),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9999, N), unit="D"),
            "took": pd.to_timedelta(rng.integers(0, 9999, N), unit="s"),
            "none": [np.nan] * N,
            "ever": [True, False] * 200,
        }
    )
    seen = look(frame, missing={"wage": {-8: "no job"}}, spikes={"wage": [0]})
    kinds = ["numeric", "numeric", "binary", "ordered", "date", "duration", "empty", "binary"]
    assert [column.kind for column in seen.columns] == kinds
    assert seen.columns[1].missing == (("no job", 0.1),)
    assert seen.columns[1].spikes == (("0", 0.15),)
    assert seen.columns[2].missing == (("NA", 0.25),)
    assert seen.columns[3].levels == 2
    assert seen.columns[6].missing == (("NA", 1.0),)
    table = seen.to_frame()
    assert list(table.index) == list(frame.columns)
    assert table.loc["wage", "missing"] == {"no job": 0.1}
    assert table.loc["age", "decimals"] == 0
    assert "confidential" in str(seen)
    assert "<table>" in seen._repr_html_()


@pytest.mark.parametrize("code", [-8, -9, -1, -99, 99, 999, 9999])
def test_undeclared_codes_are_suggested_and_declared_ones_are_not(code, rng):
    values = np.where(rng.random(N) < 0.1, code, rng.integers(0, 60, N))
    assert f"missing={{'x': {{{code}: '...'}}}}" in _warnings(values)
    assert "codes" not in _warnings(values, missing={"x": [code]})


@pytest.mark.parametrize(
    "values",
    [np.arange(60, 105), np.arange(-20, 21), np.arange(0, 12_000, 3), np.array([95, 96, 97, 98, 99] * 9)],
)
def test_plain_numbers_are_not_codes(values):
    assert "codes" not in _warnings(np.tile(values, 10))


def test_spikes_and_heaps(rng):
    wage = np.where(rng.random(N) < 0.3, 0, rng.gamma(3, 700, N).round(2))
    assert "spikes={'x': [0]}" in _warnings(wage)
    assert "spikes" not in _warnings(wage, spikes={"x": [0]})
    heaped = np.where(rng.random(N) < 0.8, 100 * rng.integers(5, 60, N), rng.integers(500, 6000, N))
    assert "multiples of 100" in _warnings(heaped)
    assert "decimals={'x': -2}" in _warnings(heaped)
    assert _warnings(rng.integers(500, 6000, N)) == ""
    assert _warnings(rng.normal(size=N)) == ""


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"id{i}" for i in range(N)], ["drop=['x']", "serial", "levels"]),
        (list(range(N)), ["drop=['x']", "serial"]),
        (["a"] * N, ["constant", "drop=['x']"]),
        ([7] * N, ["constant"]),
        (["a"] * (N - 2) + ["b"] * 2, ["nearly constant", "fewer than 5", "merge"]),
        (["1.5", "2", "-3"] * 100, ["numbers written as text", "pd.to_numeric"]),
        (["2020-01-01", "2020-01-02", "2021-01-02"] * 100, ["dates written as text", "pd.to_datetime"]),
        (["yes", "no", "-8"] * 100, ["looks like a missing code", "'-8': '...'"]),
        ([f"l{i % 70}" for i in range(700)], ["70 levels", "group"]),
        ([None] * N, ["no value at all", "drop=['x']"]),
        ([1, "a", 2.5] * 100, ["drop=['x']"]),
        ([1.0, np.inf] * 100, ["infinite"]),
        ([1 + 2j] * N, ["drop=['x']"]),
        ([[1], [2]] * 100, ["drop=['x']"]),
        ([2**60 + 7 * i for i in range(N)], ["drop=['x']"]),
    ],
)
def test_oddities_have_a_mend_and_never_raise(values, words):
    found = _warnings(values)
    assert all(word in found for word in words), found


def test_other_columns_are_shown_beside_an_identifier():
    frame = pd.DataFrame({"id": [f"id{i}" for i in range(N)], "sex": ["F", "M"] * 200})
    seen = look(frame)
    assert [column.kind for column in seen.columns] == ["identifier", "binary"]
    assert "id: id looks" in str(seen)


def test_declarations_for_no_column_and_equal_names():
    frame = pd.DataFrame({"a": [1.5, 2.5]})
    with pytest.raises(SchemaError, match="'b', which is no column"):
        look(frame, missing={"b": [-8]})
    with pytest.raises(SchemaError, match="two columns"):
        look(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize("frame", [pd.DataFrame(), pd.DataFrame({"a": []}), pd.DataFrame({"a": [1.0]})])
def test_tiny_tables(frame):
    seen = look(frame)
    assert len(seen.to_frame()) == frame.shape[1]
    assert str(seen)


def test_the_table_is_not_changed(rng):
    frame = pd.DataFrame({"x": rng.normal(size=30), "g": pd.Categorical(["a", "b", None] * 10)})
    before = frame.copy()
    look(frame, missing={"g": ["c"]})
    pd.testing.assert_frame_equal(frame, before)


def test_codes_that_are_kept_apart_are_said_to_be(rng):
    months = np.where(rng.random(N) < 0.3, -8, np.where(rng.random(N) < 0.5, 0, rng.integers(1, 40, N)))
    found = _warnings(months)
    assert "{-8: '...'}}, else they are kept apart" in found
    assert "are 0; kept apart; to declare it: spikes={'x': [0]}" in found
    few = np.where(np.arange(N) % 20 == 0, -8, rng.integers(0, 40, N))
    assert "else they are drawn as numbers" in _warnings(few)


def test_suggested_spikes_are_exact(rng):
    values = np.where(rng.random(N) < 0.3, np.log(0.1), rng.normal(size=N))
    assert f"spikes={{'x': [{float(np.log(0.1))!r}]}}" in _warnings(values)


def test_exempt_identifiers_are_shown_without_a_warning():
    seen = look(pd.DataFrame({"id": [f"id{i}" for i in range(N)]}), exempt=["id"])
    assert seen.columns[0].kind == "identifier"
    assert seen.columns[0].warnings == ()
