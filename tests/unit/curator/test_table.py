from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import CategoricalColumn, NumericColumn, Schema, SchemaError
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.table import scales_of, split_rows
from pysynthdp.design.parts import parts_of

SCHEMA = Schema([NumericColumn("x", missing=[-8]), CategoricalColumn("g", ["a", "b"])])
TABLE = pd.DataFrame({"g": ["a", "b", None, "a"], "x": [1.0, -8.0, None, 3.0], "more": 1})


@pytest.mark.parametrize("block_rows", [None, 1, 3])
def test_parts_do_not_depend_on_blocks(block_rows) -> None:
    table = split_rows(rows_of(TABLE, block_rows), SCHEMA)
    assert {key: values.tolist() for key, values in table.parts.items()} == {
        ("x", "kind"): [0, 2, 1, 0],
        ("x", "value"): [1.0, 0.0, 0.0, 3.0],
        ("g", "kind"): [0, 0, 1, 0],
        ("g", "value"): [0, 1, 0, 0],
    }
    assert "3.0" not in repr(table)


def test_an_absent_column_is_named() -> None:
    with pytest.raises(SchemaError, match="no column 'g'"):
        split_rows(rows_of(TABLE[["x"]]), SCHEMA)


def scale_of(values: list[float], column: NumericColumn):
    schema = Schema([column])
    rows = rows_of(pd.DataFrame({"x": values}))
    return scales_of(split_rows(rows, schema), parts_of(column), schema)["x", "value"]


def test_scales_come_from_values_or_from_declared_bounds() -> None:
    learned = scale_of([1.0, -8.0, np.nan, 3.0], NumericColumn("x", missing=[-8]))
    assert (learned.centre, learned.width) == (2.0, 1.0)
    declared = scale_of([1.0, 3.0], NumericColumn("x", 0, 8))
    assert (declared.centre, declared.width) == (4.0, 2.0)
    constant = scale_of([5.0, 5.0], NumericColumn("x"))
    assert (constant.centre, constant.width) == (5.0, 1.0)


def test_numbers_too_small_to_square_are_refused() -> None:
    with pytest.raises(SchemaError, match="another unit"):
        scale_of([1e-300, 2e-300], NumericColumn("x"))
    assert scale_of([0.0, 0.0], NumericColumn("x")).width == 1.0
