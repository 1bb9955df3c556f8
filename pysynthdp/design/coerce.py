"""Make any column fit its schema without a word: under a formal guarantee no cell may raise or be named.

Each cell is read by itself, whatever the other cells and the type of the column are, so that one record of a
neighbour cannot change how the others are read: a text that got among numbers turns the whole column into
texts, and these must then mean what the numbers did. Unreadable numbers become the declared fallback, numbers
beyond the bounds move onto them, unlisted levels become ``other``. Which cells were changed so is told beside
them, cell by cell too, so that rows with such cells can be counted. A cell that holds nothing, or nothing
readable, is missing where missing values are declared, and not counted.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Collection
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.design.level_keys import FLAGS, level_key, real_part
from pysynthdp.design.tagged import holds_tags, missing_of, tags_in, with_sentinels
from pysynthdp.design.values import TICKS, is_dated
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.labels import as_tag, sentinel

__all__ = ["coerce", "coerced_numbers"]

_UNLISTED = -2  # place of a cell that is no level
_NO_TIME = np.iinfo(np.int64).min  # how numpy writes NaT
_LARGEST_STEPS = {"s": 9e12, "ms": 9e15}  # steps coarser than a microsecond, as many as fit in 64 bits
_CLOCK = re.compile(r"\d{1,2}:\d\d\S*")
_DATED = re.compile(r"\d{4}|\d+\D+\d+\D+\d+|\d+\W*[A-Za-z]{3,}\W*\d+")  # with a year
_COUNTED = {"M": "datetime64[us]", "m": "timedelta64[us]"}


def coerce(series: pd.Series[Any], column: Column) -> tuple[pd.Series[Any], BoolArray]:
    """Return a column that fits, and which cells were changed; never raises and never warns for a cell."""
    if isinstance(column, NumericColumn):
        numbers, changed = coerced_numbers(series, column)
        return pd.Series(numbers), changed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning about one cell would tell of it
        return _listed(series, column)


def coerced_numbers(series: pd.Series[Any], column: NumericColumn) -> tuple[FloatArray, BoolArray]:
    """Return the numbers of a column that fits, in its unit, and which were changed.

    The numbers may be the series' own: never change them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning about one cell would tell of it
        return _bounded(_readable(series, column), column)


def _readable(series: pd.Series[Any], column: NumericColumn) -> FloatArray:
    """Numbers in the column's unit, NaN where a cell holds none; cells of one type are read at once."""
    if _is_plain_number(series):  # in a column of days or seconds too: they are counted from 1970-01-01
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return with_sentinels(numbers, column.tags) if holds_tags(series) else numbers
    if column.tags:
        return _each(series, lambda cell: _kind_or_number(cell, column))
    if column.unit == "number":
        return _each(series, _number)
    if is_dated(series.dtype) and isinstance(series.dtype, np.dtype):
        return _in_unit(_counted(series.to_numpy()), column.unit)
    return _each(series, lambda cell: _count(cell, column.unit))


def _is_plain_number(series: pd.Series[Any]) -> bool:
    """Whether all cells are real numbers by their type."""
    return pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_complex_dtype(series.dtype)


def _each(series: pd.Series[Any], read: Callable[[Any], float]) -> FloatArray:
    """Read one cell after the other."""
    return np.fromiter(map(read, series.astype(object)), dtype=np.float64, count=len(series))


def _kind_or_number(cell: Any, column: NumericColumn) -> float:
    """Read one cell, which may be a declared kind, as a text or as NaN with its letter."""
    tag = as_tag(cell.strip()) if isinstance(cell, str) else None
    if isinstance(cell, float) and math.isnan(cell):
        tag = next(iter(tags_in(np.array([cell]))), None)
    if tag in column.tags:
        return sentinel(tag)
    return _number(cell) if column.unit == "number" else _count(cell, column.unit)


def _number(cell: Any) -> float:
    """Read one cell; NaN where it is no real number."""
    try:
        flag = FLAGS.get(cell.strip().lower()) if isinstance(cell, str) else None
        return float(real_part(cell)) if flag is None else flag
    except Exception:  # noqa: BLE001  # a cell may be of any class, and none may raise
        return np.nan


def _count(cell: Any, unit: str) -> float:
    """Count one cell of a column of days or seconds: a number is that many, a time is counted.

    A text is read as a number first, so that numerals of a file mean what the numbers in a frame do.
    """
    try:
        if isinstance(cell, date | timedelta | np.datetime64 | np.timedelta64 | pd.Period):
            return float(_in_unit(_microseconds(cell, unit), unit)[0])
        number = _number(cell)
        if not math.isnan(number) or not isinstance(cell, str) or not _DATED.search(_CLOCK.sub("", cell)):
            return number  # "now", "12:30" or "5 May" would be another time at each reading
        return float(_in_unit(_microseconds(cell, unit), unit)[0])
    except Exception:  # noqa: BLE001  # a cell may be of any class, and none may raise
        return np.nan


def _in_unit(counted: IntArray, unit: str) -> FloatArray:
    """Whole microseconds as days to seconds; NaN where there is no time."""
    return np.where(counted == _NO_TIME, np.nan, counted / TICKS[unit])


def _counted(times: Any) -> IntArray:
    """Whole microseconds of numpy times; those that 64 bits cannot hold count as none."""
    whole = times.astype(_COUNTED[times.dtype.kind]).astype(np.int64)
    most = _LARGEST_STEPS.get(np.datetime_data(times.dtype)[0])
    if most is None:
        return np.asarray(whole)
    return np.where(np.abs(times.astype(np.int64).astype(np.float64)) <= most, whole, _NO_TIME)


def _microseconds(cell: Any, unit: str) -> IntArray:
    """Count one time as a whole column of its type is counted: days on its own clock, else in UTC."""
    if isinstance(cell, timedelta | np.timedelta64):
        return _counted(np.array([pd.Timedelta(cell).to_timedelta64()]))
    stamp = pd.Timestamp(cell.start_time if isinstance(cell, pd.Period) else cell)
    if stamp.tz is not None:
        stamp = (stamp if unit == "day" else stamp.tz_convert("UTC")).tz_localize(None)
    return _counted(np.array([stamp.to_datetime64()]))


def _bounded(numbers: FloatArray, column: NumericColumn) -> tuple[FloatArray, BoolArray]:
    """Bounds for values, codes and spikes as they are, the fallback for what has no value."""
    low = -np.inf if column.lower is None else column.lower
    high = np.inf if column.upper is None else column.upper
    if len(numbers) and math.isfinite(high - low) and low <= numbers.min() and numbers.max() <= high:
        none = np.zeros(len(numbers), dtype=np.bool_)
        return numbers, none  # the same, without a look at each; a minimum over NaN is NaN
    special = np.isin(numbers, np.array(column.specials, dtype=np.float64))
    fallback = np.nan if column.may_be_missing or column.fallback is None else column.fallback
    plain = np.where(np.isfinite(numbers), numbers, fallback)
    outside = np.isnan(numbers) if math.isfinite(fallback) else np.zeros(len(numbers), dtype=np.bool_)
    outside |= (numbers < low) | (numbers > high) | np.isinf(numbers)
    return np.where(special, numbers, np.clip(plain, low, high)), outside & ~special


def _listed(series: pd.Series[Any], column: CategoricalColumn) -> tuple[pd.Series[Any], BoolArray]:
    """Levels and codes as they are, ``other`` for all else; missing stays where it may."""
    values = (*column.levels, *column.specials)
    positions = {level_key(value): index for index, value in enumerate(values)}
    absent = -1 if column.may_be_missing else _UNLISTED
    cells, places = _distinct(series)
    codes = (_position(cell, positions, absent, column.tags) for cell in cells)
    table = np.fromiter(codes, dtype=np.int64, count=len(cells))
    found = _with_kinds(table if places is None else np.append(table, absent)[places], series, column)
    unlisted = found == _UNLISTED
    found = np.where(unlisted, positions[level_key(column.other)], found)
    fitting = pd.Categorical.from_codes(found, categories=pd.Index(values, dtype=object))
    return pd.Series(fitting), unlisted


def _with_kinds(found: IntArray, series: pd.Series[Any], column: CategoricalColumn) -> IntArray:
    """Put missing kinds, which are NaN among numbers, at their places."""
    if not column.tags or not holds_tags(series):
        return found
    made = found.copy()
    for place, code in enumerate(column.specials, start=len(column.levels)):
        if code in column.tags:
            made[missing_of(series, code)] = place
    return made


def _distinct(series: pd.Series[Any]) -> tuple[pd.Series[Any], IntArray | None]:
    """Distinct cells and where they stand (-1: missing) for types that allow it; else all cells."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Series(dtype.categories).astype(object), series.cat.codes.to_numpy().astype(np.int64)
    other = isinstance(dtype, pd.ArrowDtype | pd.SparseDtype)
    if isinstance(dtype, pd.StringDtype) or (getattr(dtype, "kind", "O") in "biuf" and not other):
        places, values = pd.factorize(series)
        return pd.Series(values).astype(object), places.astype(np.int64)
    return series.astype(object), None


def _position(cell: Any, positions: dict[Any, int], absent: int, tags: Collection[str]) -> int:
    """Place of one cell among the levels; a declared kind may be NaN with its letter."""
    try:
        if tags and isinstance(cell, float) and math.isnan(cell):
            found = (positions[level_key(tag)] for tag in tags_in(np.array([cell])) if tag in tags)
            return next(found, absent)
        if pd.api.types.is_scalar(cell) and pd.isna(cell):
            return absent
        return positions.get(level_key(cell), _UNLISTED)
    except Exception:  # noqa: BLE001  # a cell may be of any class, and none may raise
        return _UNLISTED
