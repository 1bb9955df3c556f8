"""Between single values or column types and plain JSON values; every type comes back as it was."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from pysynthdp.base.errors import SchemaError

__all__ = [
    "arrow_type_from_plain",
    "arrow_type_to_plain",
    "dtype_from_plain",
    "dtype_to_plain",
    "value_from_plain",
    "value_to_plain",
]

_ZONED = re.compile(r"^timestamp\[(\w+), tz=(.+)\]$")
_DECIMAL = re.compile(r"^decimal128\((\d+), (-?\d+)\)$")


def value_to_plain(value: Any) -> Any:
    """Write a level, code or spike as a JSON value; times, durations and intervals as one-key objects.

    Raises
    ------
    SchemaError
        For a type that no file of ours can hold; convert the column to text, numbers or times.

    Examples
    --------
    >>> value_to_plain(pd.Timestamp("2024-05-01"))["time"]
    '2024-05-01T00:00:00'
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    if isinstance(plain, datetime):
        time = pd.Timestamp(plain)
        return {"time": time.isoformat(), "unit": time.unit}
    if isinstance(plain, date):
        return {"date": plain.isoformat()}
    if isinstance(plain, timedelta):
        length = pd.Timedelta(plain)
        return {"duration": length.isoformat(), "unit": length.unit}
    if isinstance(plain, pd.Interval):
        ends = [value_to_plain(plain.left), value_to_plain(plain.right)]
        return {"interval": ends, "closed": plain.closed}
    raise SchemaError(
        f"a level of type {type(plain).__name__} cannot be written; "
        "convert the column to text, numbers or times",
        kind="folder",
    )


def value_from_plain(plain: Any) -> Any:
    """Read what :func:`value_to_plain` wrote."""
    if not isinstance(plain, dict):
        return plain
    if "time" in plain:
        return pd.Timestamp(plain["time"]).as_unit(plain["unit"])
    if "date" in plain:
        return date.fromisoformat(plain["date"])
    if "duration" in plain:
        return pd.Timedelta(plain["duration"]).as_unit(plain["unit"])
    if "interval" in plain:
        left, right = (value_from_plain(end) for end in plain["interval"])
        return pd.Interval(left, right, closed=plain["closed"])
    raise SchemaError(
        f"a value with the keys {', '.join(plain)} is not known; was the file edited?", kind="folder"
    )


def dtype_to_plain(dtype: Any) -> Any:
    """Write a pandas dtype: its name, or an object where the name does not say all; None stays open."""
    if dtype is None:
        return None
    if isinstance(dtype, pd.CategoricalDtype):
        return _category_to_plain(dtype)
    if isinstance(dtype, pd.StringDtype):
        missing = "NA" if dtype.na_value is pd.NA else "nan"
        return {"name": "string", "storage": dtype.storage, "missing": missing}
    if isinstance(dtype, pd.ArrowDtype):
        return {"name": "arrow", "type": arrow_type_to_plain(dtype.pyarrow_dtype)}
    return str(dtype)


def _category_to_plain(dtype: pd.CategoricalDtype) -> dict[str, Any]:
    """Write a categorical with its categories in order, unused ones too."""
    plain: dict[str, Any] = {"name": "category", "ordered": bool(dtype.ordered), "categories": None}
    if dtype.categories is not None:
        plain["categories"] = [value_to_plain(value) for value in dtype.categories]
        plain["values"] = dtype_to_plain(dtype.categories.dtype)
    return plain


def dtype_from_plain(plain: Any) -> Any:
    """Read what :func:`dtype_to_plain` wrote."""
    if plain is None:
        return None
    if isinstance(plain, str):
        return pd.api.types.pandas_dtype(plain)
    if plain["name"] == "string":
        return pd.StringDtype(plain["storage"], na_value=pd.NA if plain["missing"] == "NA" else np.nan)
    if plain["name"] == "arrow":
        return pd.ArrowDtype(arrow_type_from_plain(plain["type"]))
    if plain["categories"] is None:
        return pd.CategoricalDtype(None, ordered=plain["ordered"])
    values = [value_from_plain(value) for value in plain["categories"]]
    return pd.CategoricalDtype(
        pd.Index(values, dtype=dtype_from_plain(plain["values"])), ordered=plain["ordered"]
    )


def arrow_type_to_plain(kind: pa.DataType) -> str:
    """Write an Arrow type by its own name."""
    return str(kind)


def arrow_type_from_plain(plain: str) -> pa.DataType:
    """Read an Arrow type from its name.

    Examples
    --------
    >>> arrow_type_from_plain("timestamp[us, tz=UTC]")
    TimestampType(timestamp[us, tz=UTC])
    """
    zoned, decimal = _ZONED.match(plain), _DECIMAL.match(plain)
    if zoned:
        return pa.timestamp(zoned[1], zoned[2])
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    try:
        return pa.type_for_alias(plain)
    except ValueError as error:
        raise SchemaError(
            f"the type {plain} cannot be kept in a file; convert the column first", kind="folder"
        ) from error
