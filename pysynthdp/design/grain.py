"""How finely a column's values are written: digits after the point, and days to seconds for dates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray
from pysynthdp.design.values import EXACT, TICKS, microseconds
from pysynthdp.schema.columns import Unit

__all__ = ["date_grain", "decimals_of", "step_of"]

_MOST = 9
_RECORDS = 50  # behind a step that is kept: by chance a coarser one would need all of them on its grid
_VALUES = 10
_CLOCK: tuple[Unit, ...] = ("hour", "minute", "second")


def decimals_of(values: FloatArray, dtype: Any) -> int | None:
    """Digits after the point that all values share; None when there are more than nine.

    A value agrees with its rounding up to four units in the last place of its own type: enough for
    arithmetic noise, and far below the digit that is asked about (else nothing is known, hence None).
    """
    if not len(values):
        return 0
    plain = getattr(dtype, "numpy_dtype", dtype)
    narrow = isinstance(plain, np.dtype) and plain.kind == "f"
    noise = 4 * float(np.finfo(plain if narrow else np.float64).eps) * np.abs(values)
    for digits in range(_MOST + 1):
        gap = np.abs(np.round(values, digits) - values)
        if not gap.any():
            return digits
        if noise.max() > 10.0**-digits / 20:
            return None
        if bool((gap <= noise).all()):
            return digits
    return None


def step_of(values: FloatArray, digits: int | None, records: int) -> tuple[int | None, float | None]:
    """Find the step on which all values lie: 1, 2.5 or 5 times a power of ten.

    Parameters
    ----------
    values : array
        Distinct values.
    digits : int or None
        Digits after the point that they share, from :func:`decimals_of`.
    records : int
        How many records hold them; with fewer than fifty, or fewer than ten values, there is no step.

    Returns
    -------
    int or None, float or None
        Digits after the point, negative for tens and hundreds, and the step where it is no power of ten.

    Examples
    --------
    >>> grid = np.arange(0.0, 40.0)
    >>> step_of(100 * grid, 0, 60), step_of(0.25 * grid, 2, 60), step_of(15 * grid, 0, 60)
    ((-2, None), (2, 0.25), (0, 5.0))
    """
    enough = digits is not None and records >= _RECORDS and len(values) >= _VALUES
    if digits is None or not enough or np.abs(values).max() * 10.0**digits >= EXACT:
        return digits, None
    common = int(np.gcd.reduce(np.rint(values * 10.0**digits).astype(np.int64)))
    tens = 0
    while common and common % 10 ** (tens + 1) == 0:
        tens += 1
    rest = common // 10**tens
    times = next((times for times in (25, 5) if common and rest % times == 0), 1)
    if times == 1:
        return digits - tens, None
    return digits, times * 10.0**tens / 10.0**digits


def date_grain(series: pd.Series[Any]) -> tuple[Unit, int]:
    """Take the longest unit that counts every value, and the digits after the point of seconds.

    Days are midnights on the column's own clock; shorter units count on the world's clock.
    """
    present = series.dropna()
    if bool((microseconds(present, "day") % TICKS["day"] == 0).all()):
        return "day", 0
    ticks = microseconds(present, "second")
    for unit in _CLOCK:
        if bool((ticks % TICKS[unit] == 0).all()):
            return unit, 0
    return "second", 3 if bool((ticks % 1000 == 0).all()) else 6
