from __future__ import annotations

import pandas as pd
import pytest

from pysynthdp import SchemaError
from pysynthdp.curator.rows.frame import FrameRows

TABLE = pd.DataFrame({"a": range(7), "b": list("abcdefg")}, index=[3, 3, 1, 0, 9, 8, 8])


@pytest.mark.parametrize("block_rows", [None, 1, 3, 7, 100])
def test_blocks_are_all_rows_in_order(block_rows) -> None:
    found = FrameRows(TABLE, block_rows).fold(lambda block: block["a"].tolist(), lambda a, b: a + b)
    assert found == list(range(7))


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        (["a", "a"], "two columns are called 'a'"),
        (["a", 1], "not text"),
        (["a", None], "not text"),
        (pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")]), "several levels of names"),
    ],
)
def test_names_that_cannot_be_used_are_refused(columns, rule) -> None:
    with pytest.raises(SchemaError, match=rule):
        FrameRows(TABLE.set_axis(columns, axis=1))


@pytest.mark.parametrize("block_rows", [0, -1])
def test_blocks_have_rows(block_rows) -> None:
    with pytest.raises(SchemaError, match="block_rows"):
        FrameRows(TABLE, block_rows)


def test_only_frames() -> None:
    with pytest.raises(SchemaError, match="DataFrame"):
        FrameRows([1, 2])


def test_no_value_in_the_repr() -> None:
    assert "abcdefg" not in repr(FrameRows(TABLE))
