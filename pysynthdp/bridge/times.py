"""Dates, times and durations: R's counts of days and seconds <-> numpy's, exact or not at all."""

from __future__ import annotations

import zoneinfo
from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, RValue, RVector, is_na_real
from pysynthdp.bridge.codec.values import texts_of
from pysynthdp.bridge.codec.wire import Kind
from pysynthdp.schema.columns import Unit

__all__ = [  # for frames alone
    "dates_to_days",
    "days_to_dates",
    "in_unit",
    "is_time",
    "lengths_to_spans",
    "seconds_to_stamps",
    "spans_to_lengths",
    "stamp_of",
    "stamps_to_days",
    "stamps_to_seconds",
    "units_of",
    "zone_of",
]

Masked: TypeAlias = tuple[AnyArray, BoolArray]
"""Numbers as float64 with 0 where they are missing, and where that is."""

_DAY: Final = 86400
_FIRST, _LAST = -719162, 2932896  # 0001-01-01 and 9999-12-31, in days since 1970-01-01
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS_OF: Final = {"secs": 1, "mins": 60, "hours": 3600, "days": _DAY, "weeks": 7 * _DAY}
_SECONDS_IN: Final[dict[str, int]] = {"day": _DAY, "hour": 3600, "minute": 60, "second": 1}
_INT64: Final = 9.2e18


def days_to_dates(vector: RVector) -> AnyArray | None:
    """Give R's days since 1970 as datetime64[s]; None if a value is no whole day of the years 1 to 9999."""
    counts = _counts(vector)
    if counts is None:
        return None
    days, missing = counts
    if not (_all_within(days, _FIRST, _LAST) and bool((days == np.floor(days)).all())):
        return None
    return _with_gaps((days.astype(np.int64) * _DAY).view("M8[s]"), missing)


def dates_to_days(stamps: AnyArray, kind: Kind) -> AnyArray | None:
    """Give datetime64 as R's days since 1970; None if a value is not midnight."""
    missing = np.isnat(stamps)
    days = stamps.astype("M8[D]")
    if not bool(((days == stamps) | missing).all()):
        return None
    counts = np.where(missing, 0, days.astype(np.int64)).astype(np.float64)
    return _numbers(counts, missing, kind)


def stamps_to_days(stamps: AnyArray) -> FloatArray:
    """Give datetime64 as days since 1970, with fractions."""
    ticks, missing, per = _ticks(stamps)
    return np.where(missing, NA_REAL, _seconds(ticks, per * _DAY))


def seconds_to_stamps(vector: RVector) -> AnyArray | None:
    """Give R's seconds since 1970 as datetime64[us], or [ns] where needed; None if neither is exact."""
    counts = _counts(vector)
    if counts is None:
        return None
    seconds, missing = counts
    if not _all_within(seconds, _FIRST * _DAY, np.nextafter((_LAST + 1) * _DAY, 0)):
        return None
    whole = np.floor(seconds)
    for unit in ("us", "ns"):
        per = _PER_SECOND[unit]
        if bool((np.abs(whole) < _INT64 / per).all()):
            ticks = whole.astype(np.int64) * per + np.rint((seconds - whole) * per).astype(np.int64)
            if bool((_seconds(ticks, per) == seconds).all()):
                return _with_gaps(ticks.view(f"M8[{unit}]"), missing)
    return None


def stamps_to_seconds(stamps: AnyArray, kind: Kind) -> AnyArray | None:
    """Give datetime64 as R's seconds since 1970; None if integers are asked for and do not hold them."""
    ticks, missing, per = _ticks(stamps)
    return _numbers(_seconds(ticks, per), missing, kind)


def lengths_to_spans(vector: RVector) -> AnyArray | None:
    """Give an R difftime as timedelta64[us], or [ns] where that is needed; None if neither is exact."""
    counts = _counts(vector)
    size = _SECONDS_OF.get(units_of(vector.attributes))
    if counts is None or size is None:
        return None
    lengths, missing = counts
    for unit in ("us", "ns"):
        per = _PER_SECOND[unit] * size
        if bool((np.abs(lengths) < _INT64 / per).all()):
            ticks = np.rint(lengths * per).astype(np.int64)
            if bool((ticks / per == lengths).all()):
                return _with_gaps(ticks.view(f"m8[{unit}]"), missing)
    return None


def spans_to_lengths(spans: AnyArray, kind: Kind, units: str) -> AnyArray | None:
    """Give timedelta64 in R's units; None if integers are asked for and do not hold them."""
    ticks, missing, per = _ticks(spans)
    return _numbers(ticks / (per * _SECONDS_OF[units]), missing, kind)


def units_of(attributes: Mapping[str, RValue]) -> str:
    """Give the units of an R difftime; empty when they are missing or not known."""
    texts = texts_of(attributes.get("units"))
    return texts[0] if len(texts) == 1 and texts[0] in _SECONDS_OF else ""


def zone_of(attributes: Mapping[str, RValue]) -> zoneinfo.ZoneInfo:
    """Give the zone in which R shows instants; UTC for the session's or an unknown one."""
    texts = texts_of(attributes.get("tzone"))
    name = texts[0] if texts and texts[0] else "UTC"
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return zoneinfo.ZoneInfo("UTC")


def is_time(vector: RVector) -> bool:
    """Whether R's class says that the numbers count days, seconds or a difftime's units."""
    return bool({"Date", "POSIXct"} & set(vector.classes)) or _length_of(vector) is not None


def in_unit(vector: RVector, numbers: FloatArray, unit: Unit) -> FloatArray:
    """Give R's numbers of a time in a declared unit, each alone: days of POSIXct by its own clock."""
    if unit == "number":
        return numbers
    if "Date" in vector.classes:
        size = _DAY
    elif "POSIXct" in vector.classes:
        size, numbers = 1, _local(numbers, zone_of(vector.attributes)) if unit == "day" else numbers
    else:
        size = _length_of(vector) or 1
    with np.errstate(over="ignore"):
        return numbers if size == _SECONDS_IN[unit] else numbers * size / _SECONDS_IN[unit]


def stamp_of(vector: RVector, number: float) -> pd.Timestamp | float:
    """Give one time of a Date or POSIXct; R's number where it is infinite or beyond the years 1 to 9999."""
    size = _DAY if "Date" in vector.classes else 1 if "POSIXct" in vector.classes else None
    if size is None or not _FIRST * _DAY <= number * size < _LAST * _DAY:
        return number
    stamp = pd.Timestamp(round(number * size * _PER_SECOND["us"]), unit="us")
    return stamp if size == _DAY else stamp.tz_localize("UTC").tz_convert(zone_of(vector.attributes))


def _length_of(vector: RVector) -> int | None:
    """Give the seconds of a difftime's units; None if it is none, or its units are not known."""
    return _SECONDS_OF.get(units_of(vector.attributes)) if "difftime" in vector.classes else None


def _local(seconds: FloatArray, zone: zoneinfo.ZoneInfo) -> FloatArray:
    """Move seconds to the clock of a zone, which is not known beyond the years 1 to 9999."""
    known = (seconds > (_FIRST + 2) * _DAY) & (seconds < (_LAST - 2) * _DAY)
    whole = np.floor(np.where(known, seconds, 0.0)).astype(np.int64)
    there = pd.DatetimeIndex(whole.view("M8[s]")).tz_localize("UTC").tz_convert(zone).tz_localize(None)
    offset = there.to_numpy().astype("M8[s]").astype(np.int64) - whole
    return np.where(known, seconds + offset, seconds)


def _counts(vector: RVector) -> Masked | None:
    """Give the numbers of an R vector; None if a NaN is not NA or a value is infinite."""
    if vector.kind == "integer":
        missing = vector.array == NA_INTEGER
        return np.where(missing, 0, vector.array).astype(np.float64), missing
    missing = np.isnan(vector.array)
    if np.isinf(vector.array).any() or not is_na_real(vector.array[missing]).all():
        return None
    return np.where(missing, 0.0, vector.array), missing


def _all_within(values: FloatArray, low: float, high: float) -> bool:
    """Whether no value lies outside; two passes and no memory."""
    return not values.size or bool(values.min() >= low and values.max() <= high)


def _with_gaps(stamps: AnyArray, missing: BoolArray) -> AnyArray:
    """Put NaT where R has NA."""
    stamps[missing] = np.array("NaT", dtype=stamps.dtype)
    return stamps


def _ticks(stamps: AnyArray) -> tuple[IntArray, BoolArray, int]:
    """Give the integers behind datetime64 or timedelta64, where they are missing, how many make a second."""
    missing = np.isnat(stamps)
    unit = np.datetime_data(stamps.dtype)[0]
    if unit not in _PER_SECOND:
        stamps, unit = stamps.astype(f"{stamps.dtype.kind}8[s]"), "s"
    return np.where(missing, 0, stamps.view(np.int64)), missing, _PER_SECOND[unit]


def _seconds(ticks: IntArray, per: int) -> FloatArray:
    """Divide without rounding the whole seconds: they may fill a double beside a fraction."""
    whole, rest = np.divmod(ticks, per)
    return np.asarray(whole + rest / per, dtype=np.float64)


def _numbers(values: FloatArray, missing: BoolArray, kind: Kind) -> AnyArray | None:
    """Give numbers in R's storage with NA; None if integers do not hold them."""
    if kind != "integer":
        return np.where(missing, NA_REAL, values)
    if not bool(((values == np.floor(values)) & (np.abs(values) < 2**31)).all()):
        return None
    return np.where(missing, NA_INTEGER, values).astype(np.int32)
