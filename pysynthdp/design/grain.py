"""How finely a column's values are written: digits after the point, and days to seconds for dates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.design.values import EXACT, TICKS, microseconds
from pysynthdp.schema.columns import Unit

__all__ = ["date_grain", "decimals_of", "step_of"]

_MOST = 9
_SURE = 14.0  # minus the logarithm of a chance of one in a million
_RECORDS = 50  # behind a step that is kept: by chance a coarser one would need all of them on its grid
_VALUES = 10
_CLOCK: tuple[Unit, ...] = ("hour", "minute", "second")


def decimals_of(values: FloatArray, dtype: Any, counts: IntArray | None = None) -> int | None:
    """Digits after the point that all values share but those of fewer than five records; None beyond nine.

    ``counts`` are the records of each value, one by default. A value agrees with its rounding up to four
    units in the last place of its own type: enough for arithmetic noise, and far below the digit that is
    asked about (else nothing is known, hence None).
    """
    if not len(values):
        return 0
    plain = getattr(dtype, "numpy_dtype", dtype)
    narrow = isinstance(plain, np.dtype) and plain.kind == "f"
    noise = 4 * float(np.finfo(plain if narrow else np.float64).eps) * np.abs(values)
    records = np.ones(len(values)) if counts is None else counts
    largest = _largest(noise, records)
    for digits in range(_MOST + 1):
        gap = np.abs(np.round(values, digits) - values)
        if _few(gap > 0, records):
            return digits
        if largest > 10.0**-digits / 20:
            return _of_narrow(values, plain, digits, records) if narrow else None
        if _few(gap > noise, records):
            return digits
    return None


def _of_narrow(
    values: FloatArray, dtype: np.dtype[Any], first: int, records: FloatArray | IntArray
) -> int | None:
    """Digits after which values are what their type makes of them, where so many would not be by chance."""
    own = values.astype(dtype)
    unit = float(np.median(np.spacing(np.abs(own))))
    for digits in range(first, _MOST + 1):
        chance = unit * 10.0**digits
        if chance == 0 or -np.log(chance) * len(values) < _SURE:
            return None
        if _few(np.round(values, digits).astype(dtype) != own, records):
            return digits
    return None


def _largest(noise: FloatArray, records: FloatArray | IntArray) -> float:
    """Noise that five records have at least: no record says alone that nothing is known."""
    first = max(len(noise) - FEWEST, 0)
    top = np.argpartition(noise, first)[first:]  # each has a record, so that no more are needed
    order = top[np.argsort(-noise[top])]
    place = int(np.searchsorted(np.cumsum(records[order]), FEWEST)) if records.sum() >= FEWEST else 0
    return float(noise[order[place]])


def _few(finer: BoolArray, records: FloatArray | IntArray) -> bool:
    """Whether fewer than five records are written more finely; none, where there are fewer than five."""
    behind = records[finer].sum()
    return bool(behind < FEWEST <= records.sum()) or behind == 0


def step_of(
    values: FloatArray, digits: int | None, counts: IntArray | None = None
) -> tuple[int | None, float | None, float]:
    """Find the coarsest step on which all values lie, from anywhere, but those of fewer than five records.

    Parameters
    ----------
    values : array
        Distinct values.
    digits : int or None
        Digits after the point that they share, from :func:`decimals_of`.
    counts : array, optional
        Records of each value, one by default; with fewer than fifty, or fewer than ten values on it, there is
        no step.

    Returns
    -------
    int or None, float or None, float
        Digits after the point, negative for tens and hundreds; the step where it is no power of ten but 5 or
        2.5 times one, or where no multiple of it is a value; and the offset, from 0 to below the step, of
        which multiples of the step give the values.

    Examples
    --------
    >>> grid, two = np.arange(0.0, 40.0), np.full(40, 2)
    >>> step_of(100 * grid, 0, two), step_of(0.25 * grid, 2, two), step_of(5 * grid + 17.5, 1, two)
    ((-2, None, 0.0), (2, 0.25, 0.0), (1, 5.0, 2.5))
    """
    records = np.ones(len(values), dtype=np.int64) if counts is None else counts
    if digits is None or records.sum() < _RECORDS or len(values) < _VALUES:
        return digits, None, 0.0
    largest = float(np.abs(values).max()) * 10.0**digits
    if largest >= EXACT:
        return digits, None, 0.0
    whole = np.rint(values * 10.0**digits).astype(np.int64)
    for step in _steps(int(largest)):
        rest = whole % step
        offset = int(rest[np.argmax(records)])  # of the most frequent value
        off = rest != offset
        if records[off].sum() < FEWEST and np.count_nonzero(~off) >= _VALUES:
            tens = len(str(step)) - 1
            if step == 10**tens and not offset:
                return digits - tens, None, 0.0
            return digits, step / 10.0**digits, offset / 10.0**digits
    return digits, None, 0.0


def _steps(largest: int) -> list[int]:
    """Whole numbers that are 5, 2.5 or 1 times a power of ten, from the largest down."""
    tens = [10**power for power in range(len(str(largest)))]
    return sorted({*tens, *(5 * ten for ten in tens), *(5 * ten // 2 for ten in tens[1:])}, reverse=True)


def date_grain(series: pd.Series[Any]) -> tuple[Unit, int]:
    """Take the longest unit that counts every value but those of few records, and the digits of seconds.

    Days are midnights on the column's own clock; shorter units count on the world's clock.
    """
    present = series.dropna()
    one = np.ones(len(present))
    if _few(microseconds(present, "day") % TICKS["day"] != 0, one):
        return "day", 0
    ticks = microseconds(present, "second")
    for unit in _CLOCK:
        if _few(ticks % TICKS[unit] != 0, one):
            return unit, 0
    return "second", 3 if _few(ticks % 1000 != 0, one) else 6
