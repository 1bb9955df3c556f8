"""How finely a column's values are written: digits after the point, and days to seconds for dates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray
from pysynthdp.design.values import TICKS, microseconds
from pysynthdp.schema.columns import Unit

__all__ = ["date_grain", "decimals_of"]

_MOST = 9
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
