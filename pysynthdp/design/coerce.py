"""Make any column fit its schema without a word: under a formal guarantee no cell may raise or be named.

Each cell is treated the same whatever the other cells are: unreadable numbers become the declared fallback,
numbers beyond the bounds move onto them, unlisted levels become ``other``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray
from pysynthdp.design.values import is_dated, to_numbers
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn

__all__ = ["coerce"]

_TICKS = {"day": 86_400.0, "second": 1.0}


def coerce(series: pd.Series[Any], column: Column) -> pd.Series[Any]:
    """Return a column that fits; never raises for a cell."""
    if isinstance(column, NumericColumn):
        return pd.Series(_bounded(_readable(series, column), column))
    return _listed(series, column)


def _readable(series: pd.Series[Any], column: NumericColumn) -> FloatArray:
    """Numbers in the column's unit, NaN where a cell holds none."""
    if column.unit == "number" and _is_plain_number(series):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.unit != "number" and is_dated(series.dtype):
        return to_numbers(series, column)
    cells = (_number(cell, column) for cell in series.astype(object))
    return np.fromiter(cells, dtype=np.float64, count=len(series))


def _is_plain_number(series: pd.Series[Any]) -> bool:
    """Whether all cells are real numbers by their type."""
    return pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_complex_dtype(series.dtype)


def _number(cell: Any, column: NumericColumn) -> float:
    """Read one cell of a column of mixed types; NaN where it is no number, date or duration."""
    try:
        if column.unit == "number":
            return float(cell)
        if isinstance(cell, (pd.Timedelta, np.timedelta64)):
            return float(pd.Timedelta(cell).total_seconds()) / _TICKS[column.unit]
        return float(pd.Timestamp(cell).timestamp()) / _TICKS[column.unit]
    except (TypeError, ValueError, OverflowError, AttributeError):
        return np.nan


def _bounded(numbers: FloatArray, column: NumericColumn) -> FloatArray:
    """Bounds for values, codes and spikes as they are, the fallback for what has no value."""
    special = np.isin(numbers, np.array(column.specials, dtype=np.float64))
    fallback = np.nan if column.may_be_missing or column.fallback is None else column.fallback
    plain = np.where(np.isfinite(numbers), numbers, fallback)
    low = -np.inf if column.lower is None else column.lower
    high = np.inf if column.upper is None else column.upper
    return np.where(special, numbers, np.clip(plain, low, high))


def _listed(series: pd.Series[Any], column: CategoricalColumn) -> pd.Series[Any]:
    """Levels and codes as they are, ``other`` for all else; missing stays where it may."""
    values = (*column.levels, *column.specials)
    positions = {value: index for index, value in enumerate(values)}
    other = positions[column.other]
    absent = -1 if column.may_be_missing else other
    cells = series.astype(object)
    codes = (_position(cell, positions, other, absent) for cell in cells)
    table = np.fromiter(codes, dtype=np.int64, count=len(series))
    index = pd.Index(values, dtype=object)
    return pd.Series(pd.Categorical.from_codes(table, categories=index))


def _position(cell: Any, positions: dict[Any, int], other: int, absent: int) -> int:
    """Place of one cell among the levels."""
    try:
        found = positions.get(cell)
    except TypeError:  # a list, or a tuple that holds one
        return other
    if found is not None:
        return found
    return absent if pd.api.types.is_scalar(cell) and pd.isna(cell) else other
