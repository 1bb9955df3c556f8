"""From Arrow to pandas: the one conversion, for a file in memory and for one whose columns lie on disk."""

from __future__ import annotations

import json
import warnings
from typing import Any, Final

import pandas as pd
import pyarrow as pa

__all__ = ["attributes_of", "to_frame"]

_NULLABLE: Final = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.string(): pd.StringDtype(),
    pa.large_string(): pd.StringDtype(),
}
"""Types that hang on no cell, as pandas calls them ``numpy_nullable``."""


def to_frame(table: pa.Table, *, texts: bool) -> pd.DataFrame:
    """Make a data frame as ``pandas.read_parquet`` does.

    Parameters
    ----------
    table : Table
        With what pandas wrote beside it, if it did.
    texts : bool
        Whether types must hang on no cell: a missing value then turns no integers into floats.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "make_block is deprecated")
        frame: pd.DataFrame = table.to_pandas(types_mapper=_NULLABLE.get if texts else None)
    frame.attrs.update(attributes_of(table.schema))
    return frame


def attributes_of(schema: pa.Schema) -> dict[str, Any]:
    """Read the attributes that pandas wrote beside a table."""
    found = (schema.metadata or {}).get(b"PANDAS_ATTRS")
    return dict(json.loads(found)) if found else {}
