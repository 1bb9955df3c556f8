"""Numbers that are sums of earlier ones stay that when extremes are moved."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pysynthdp import Synthesizer
from pysynthdp.curator.extremes import drawn_in
from pysynthdp.curator.functions import linear_functions
from pysynthdp.curator.table import PartTable
from pysynthdp.design.parts import Part
from pysynthdp.schema import NumericColumn, Schema


def table_of(**columns):
    n = len(next(iter(columns.values())))
    parts = tuple(Part(name, "value") for name in columns)
    arrays = {part.key: np.asarray(columns[part.column], float) for part in parts}
    return PartTable(n, arrays), parts, Schema(tuple(map(NumericColumn, columns)))


def test_a_total_and_a_mirrored_number_follow() -> None:
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.normal(8, 1, 500)), np.exp(rng.normal(7, 1, 500))
    table, parts, schema = table_of(a=a, b=b, total=a + b, back=2020 - a)
    assert [function.part.column for function in linear_functions(table, parts)] == ["total", "back"]
    after = drawn_in(table, parts, schema)[0].parts
    assert (after["a", "value"] != a).any()
    np.testing.assert_allclose(after["a", "value"] + after["b", "value"], after["total", "value"], rtol=1e-9)
    np.testing.assert_allclose(2020 - after["a", "value"], after["back", "value"], rtol=1e-9)


def test_one_row_that_breaks_the_sum_is_no_function_where_it_is_extreme() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=500)
    twice = 2 * a
    twice[3] = 40.0
    table, parts, schema = table_of(a=a, twice=twice)
    assert linear_functions(table, parts) == ()
    assert drawn_in(table, parts, schema)[0].parts["twice", "value"].max() < 20


def test_more_numbers_than_rows_are_no_functions() -> None:
    rng = np.random.default_rng(3)
    table, parts, _ = table_of(**{f"x{i}": rng.normal(size=30) for i in range(60)})
    assert linear_functions(table, parts) == ()


def test_copies_keep_a_total_to_the_unit() -> None:
    """Moving each column's extremes by themselves left a residual of hundreds in every copy."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"a": np.exp(rng.normal(8, 1, 2000)).round(), "b": np.exp(rng.normal(7, 1, 2000)).round()}
    )
    frame["total"] = frame["a"] + frame["b"]
    copy = Synthesizer(progress=False, method={"total": "norm"}).fit(frame).draw(m=1, rng=1)[0]
    assert (copy["total"] - copy["a"] - copy["b"]).abs().max() < 1
