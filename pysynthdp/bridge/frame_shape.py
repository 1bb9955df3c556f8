"""The names, columns and rows of an R data frame, checked before a cell is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge.codec import NA_INTEGER, RValue, RVector
from pysynthdp.bridge.codec.wire import MAX_INT
from pysynthdp.bridge.columns_from_r import text_index

__all__ = ["check_rows", "checked_frame", "index_of", "longest", "rows_of"]


def checked_frame(value: RValue) -> tuple[RVector, tuple[str, ...]]:
    """Give the list and the names of a data frame; refuse anything else."""
    if not isinstance(value, RVector) or value.kind != "list" or "data.frame" not in value.classes:
        raise BridgeError(
            "this R object is no data frame; in R, convert it with as.data.frame()", kind="no table"
        )
    names = tuple(name for name in value.names if name is not None)
    if len(names) != len(value):
        raise BridgeError("a column of the R data frame has no name; set names() in R", kind="no table")
    return value, names


def check_rows(rows: int) -> None:
    """Refuse more rows than R counts in a data frame, before any is copied."""
    if rows > MAX_INT:
        raise BridgeError("an R data frame holds at most 2^31 - 1 rows; split it", kind="no table")


def rows_of(frame: RVector) -> int:
    """Count the rows of a data frame by its row names and the lengths of its columns."""
    check_rows(longest(frame))
    lengths = {len(item) for item in frame.items if isinstance(item, RVector)}
    return len(index_of(frame.attributes.get("row.names"), lengths))


def longest(frame: RVector) -> int:
    """Length of the longest column."""
    return max((len(item) for item in frame.items if isinstance(item, RVector)), default=0)


def index_of(row_names: RValue, lengths: set[int]) -> pd.Index[Any]:
    """Give the index for R's row names, after checking that all columns are as long."""
    index = _index_of(row_names, lengths)
    if lengths - {len(index)}:
        raise BridgeError(
            "the columns of the R data frame differ in length; rebuild it with data.frame()", kind="no table"
        )
    return index


def _index_of(row_names: RValue, lengths: set[int]) -> pd.Index[Any]:
    """Read row names: texts, integers, or R's short form (NA, -n) for 1 .. n."""
    if not isinstance(row_names, RVector) or row_names.kind not in ("integer", "character"):
        return pd.RangeIndex(max(lengths, default=0))
    if row_names.kind == "character":
        return text_index(row_names.texts)
    numbers = row_names.array.astype(np.int64)
    if len(numbers) == 2 and numbers[0] == NA_INTEGER:
        return pd.RangeIndex(abs(int(numbers[1])))
    return pd.Index(numbers)
