"""What a long column costs in memory while it is looked at, and that its blocks change nothing."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.scratch import Scratch, is_stored
from pysynthdp.curator import reductions
from pysynthdp.curator.infer import infer_column, key_remarks
from pysynthdp.curator.look.found import hints_of
from pysynthdp.curator.relations.declared import rows_unlike
from pysynthdp.curator.relations.lookups import coded
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.table import split_rows
from pysynthdp.design import counting
from pysynthdp.plan.derived import derived_columns
from pysynthdp.schema import Schema

N = 1_000_000


def columns(n=N):
    """Make long columns of few values, of many, and of texts."""
    rng = np.random.default_rng(1)
    return {
        "amount": pd.Series(np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2, 50, n).round(1))),
        "whole": pd.Series(rng.poisson(900, n)),
        "text": pd.Series(rng.choice([f"place {at:02}" for at in range(30)], n), dtype="str"),
    }


@pytest.mark.parametrize("name", ["amount", "whole", "text"])
def test_a_column_is_looked_at_without_being_held_often(name):
    """One array of numbers, and one that is sorted: some twenty bytes a row; texts stand where they lie."""
    series = columns()[name]
    tracemalloc.start()
    column = infer_column(series, name)
    tuple(hints_of(series, column))
    key_remarks(series, column)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < {"amount": 22, "whole": 22, "text": 14}[name] * N


@pytest.mark.parametrize("scratch", [None, Scratch()])
def test_codes_are_those_of_the_whole_column(scratch, monkeypatch):
    monkeypatch.setattr(reductions, "BLOCK", 700)
    frame = pd.DataFrame(columns(5_000))
    frame.loc[::13, "text"] = None
    schema = Schema(tuple(infer_column(frame[name], name) for name in frame))
    table = split_rows(rows_of(frame, scratch=scratch), schema)
    for column in schema:
        found, cells = coded(column, table), frame[column.name]
        assert is_stored(found.codes) == (scratch is not None)
        codes, values = pd.factorize(cells, sort=True)
        np.testing.assert_array_equal(found.codes, codes)
        assert list(found.values) == list(values)


def test_rows_that_break_a_function_are_found_in_any_block(monkeypatch):
    monkeypatch.setattr(reductions, "BLOCK", 700)
    frame = pd.DataFrame({"a": columns(5_000)["whole"] + 0.5})
    frame["b"] = 2 * frame["a"]
    frame.loc[[3, 699, 700, 4_999], "b"] += 5
    schema = Schema(tuple(infer_column(frame[name], name) for name in frame))
    (own,) = derived_columns(schema, {"b": "2 * a"}, used=())
    unlike = rows_unlike(own, schema, split_rows(rows_of(frame), schema))
    assert list(np.flatnonzero(unlike)) == [3, 699, 700, 4_999]


def test_numbers_are_counted_as_numpy_counts_them(monkeypatch):
    monkeypatch.setattr(counting, "BLOCK", 700)
    series = columns(5_000)["amount"].astype("Float64")
    numbers = counting.present_numbers(series)
    np.testing.assert_array_equal(numbers, series.dropna().to_numpy(dtype=float))
    for apart in ((), (numbers[3], numbers[700])):
        rest = counting.without(numbers.copy(), apart)
        np.testing.assert_array_equal(rest, numbers[~np.isin(numbers, apart)])
        for mine, theirs in zip(counting.counted(rest), np.unique(rest, return_counts=True), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert [len(each) for each in counting.counted(np.zeros(0))] == [0, 0]
