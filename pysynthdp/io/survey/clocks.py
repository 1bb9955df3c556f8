"""Days and seconds as SPSS, Stata and SAS count them: numbers that their formats make dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray

__all__ = ["Clock", "clock_of"]

_DAY: Final = 86_400_000_000  # microseconds
_SPAN: Final = (-62_135_596_800_000_000, 253_402_300_799_999_999)  # the years 1 to 9999
_SPSS: Final = -141_428 * _DAY  # 14 October 1582
_SIXTY: Final = -3_653 * _DAY  # 1 January 1960
_SPSS_DAYS: Final = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR")
_SPSS_TIMES: Final = ("DATETIME", "YMDHMS")
_SAS_DAYS: Final = (
    "DATE", "DAY", "DDMMYY", "DDMMYYB", "DDMMYYC", "DDMMYYD", "DDMMYYN", "DDMMYYP", "DDMMYYS", "MMDDYY",
    "MMDDYYB", "MMDDYYC", "MMDDYYD", "MMDDYYN", "MMDDYYP", "MMDDYYS", "YYMMDD", "YYMMDDB", "YYMMDDC",
    "YYMMDDD", "YYMMDDN", "YYMMDDP", "YYMMDDS", "MONYY", "MMYY", "YYMM", "YYMON", "YYQ", "JULIAN", "JULDAY",
    "WORDDATE", "WORDDATX", "WEEKDATE", "WEEKDATX", "WEEKDAY", "DOWNAME", "MONTH", "MONNAME", "QTR", "YEAR",
    "E8601DA", "B8601DA", "IS8601DA", "NLDATE", "DTDATE", "EURDFDE", "EURDFDD", "MINGUO", "NENGO",
)  # fmt: skip
_SAS_TIMES: Final = (
    "DATETIME", "DATEAMPM", "MDYAMPM", "E8601DT", "B8601DT", "E8601DZ", "B8601DZ", "IS8601DT", "NLDATM",
    "EURDFDT", "TOD",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clock:
    """How a variable counts time.

    Parameters
    ----------
    origin : int
        Microseconds from 1970 to what it counts from.
    tick : int
        Microseconds that it counts.
    unit : {"day", "second"}
        Of the column that it becomes.
    """

    origin: int
    tick: int
    unit: Literal["day", "second"]

    def times(self, numbers: FloatArray) -> pd.Series[Any]:
        """Give points in time; what lies outside the years 1 to 9999 is missing, as it is no date anywhere.

        Examples
        --------
        >>> str(Clock(0, 86_400_000_000, "day").times(np.array([1.0]))[0])
        '1970-01-02 00:00:00'
        """
        counted = numbers * self.tick + self.origin
        held = (counted >= _SPAN[0]) & (counted <= _SPAN[1])
        micro = np.rint(np.where(held, counted, 0.0)).astype(np.int64)
        return pd.Series(np.where(held, micro, np.iinfo(np.int64).min).view("datetime64[us]"))

    def counted(self, numbers: FloatArray) -> FloatArray:
        """Give days or seconds from 1970, for columns that stay numbers."""
        return (numbers * self.tick + self.origin) / (_DAY if self.unit == "day" else 1_000_000)


def clock_of(source: str, form: str | None) -> Clock | None:
    """Find the clock of a format; None where its numbers are no dates, durations and periods too.

    Examples
    --------
    >>> clock_of("stata", "%tdCCYY").unit, clock_of("spss", "DATETIME20").unit, clock_of("sas", "BEST12")
    ('day', 'second', None)
    """
    if not form:
        return None
    if source == "stata":
        return _stata(form)
    name = re.match(r"[A-Z]*(8601)?[A-Z]*", form.upper())
    own = name[0] if name else ""
    if own in (_SPSS_DAYS if source == "spss" else _SAS_DAYS):
        return Clock(_SPSS, 1_000_000, "day") if source == "spss" else Clock(_SIXTY, _DAY, "day")
    timed = own in (_SPSS_TIMES if source == "spss" else _SAS_TIMES)
    return Clock(_SPSS if source == "spss" else _SIXTY, 1_000_000, "second") if timed else None


def _stata(form: str) -> Clock | None:
    """Find the clock of a format of Stata."""
    found = re.match(r"%-?(t[dc]|d)", form)  # %tC counts leap seconds, which no other calendar does
    if found is None:
        return None
    return Clock(_SIXTY, _DAY, "day") if found[1] in ("td", "d") else Clock(_SIXTY, 1000, "second")
