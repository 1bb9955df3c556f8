"""Between the values of a pandas column and numbers or level codes; both directions, types kept."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.remarks import few
from pysynthdp.base.words import Said, Setting, Words, r_column
from pysynthdp.design.tagged import holds_tags, missing_of, with_sentinels, with_tags
from pysynthdp.schema import CategoricalColumn, NumericColumn
from pysynthdp.schema.labels import sentinel

__all__ = [
    "EXACT",
    "LARGEST",
    "TICKS",
    "TO_NUMBERS",
    "TO_TIMES",
    "check_exact",
    "check_size",
    "from_codes",
    "from_numbers",
    "in_rows",
    "is_dated",
    "microseconds",
    "to_codes",
    "to_numbers",
]

TO_NUMBERS: Final = Said("pd.to_numeric", "a file of numbers", "as.numeric()")
TO_TIMES: Final = Said(
    "pd.to_datetime(..., utc=True)", "times written as 2024-01-31T12:00:00", "as.POSIXct()"
)
_REPAIR: Final = Said(
    ".str.encode('utf-8', 'replace').str.decode('utf-8')",
    "iconv -c -t UTF-8",
    "iconv(x, to = 'UTF-8', sub = '')",
)
EXACT = 2.0**53  # whole numbers beyond this are not exact in float64
# microseconds
TICKS = {"day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
_YEARS = (-62_135_596_800e6, 253_402_300_799e6)  # the years 1 to 9999 in microseconds
_NANOSECONDS = 9_223_285_000e6
LARGEST = 1e150  # squares of numbers beyond it, or below its inverse, leave float64


def _to_missing(name: str) -> Words:
    """Say how infinite values become missing."""
    column = r_column(name)
    in_r = f"{column}[is.infinite({column})] <- NA"
    how = Said("table.replace([np.inf, -np.inf], np.nan)", "write empty fields for them", in_r)
    return Words("make them missing: {how}", how=how)


def is_dated(dtype: Any) -> str | None:
    """Say whether a dtype holds points in time ("M"), durations ("m") or neither (None)."""
    if isinstance(dtype, pd.DatetimeTZDtype):
        return "M"
    kind = getattr(dtype, "kind", None)
    return kind if kind in ("M", "m") else None


def to_numbers(series: pd.Series[Any], column: NumericColumn) -> FloatArray:
    """Write a column as float64, NaN where missing; dates count from 1970-01-01 in the column's unit.

    Numbers in a column of days or seconds are that many of them.
    """
    if column.unit != "number" and not pd.api.types.is_numeric_dtype(series.dtype):
        return _ticks(series, column)
    if not pd.api.types.is_numeric_dtype(series.dtype) and not bool(series.isna().all()):
        raise SchemaError(
            Words("{name} is declared numeric but holds {dtype}", name=column.name, dtype=series.dtype),
            column=column.name,
            kind="type",
            remedy=Words("convert it with {convert} or declare its levels", convert=TO_NUMBERS),
        )
    numbers = _floats(series)
    check_size(numbers, column)
    if series.dtype.kind in "iu":
        check_exact(numbers, column.name)
    return with_sentinels(numbers, column.tags) if holds_tags(series) else numbers


def check_size(numbers: FloatArray, column: NumericColumn, *, modelled: bool = True) -> None:
    """Refuse infinite numbers, and, where they are modelled, others than codes too large to square.

    Raises
    ------
    SchemaError
        With how many cells there are; a few are told as few.
    """
    if max(np.fmax.reduce(numbers, initial=0.0), -np.fmin.reduce(numbers, initial=0.0)) <= LARGEST:
        return
    infinite = int(np.isinf(numbers).sum())
    if infinite:
        what = Words("{name} holds infinite values in {rows}", name=column.name, rows=in_rows(infinite))
        raise SchemaError(what, column=column.name, kind="infinite", remedy=_to_missing(column.name))
    if not modelled:
        return
    codes = np.array(column.specials, dtype=np.float64)
    large = int(((np.abs(numbers) > LARGEST) & ~np.isin(numbers, codes)).sum())
    if large:
        text = "{name} holds numbers too large to square in {rows}"
        raise SchemaError(
            Words(text, name=column.name, rows=in_rows(large)),
            column=column.name,
            kind="too large",
            remedy=Words(
                "give it in another unit, or declare a code among them in {missing}",
                missing=Setting("missing", {column.name: {...: "..."}}),
            ),
        )


def check_exact(numbers: FloatArray, name: str) -> None:
    """Refuse whole numbers that float64 does not keep apart.

    Raises
    ------
    SchemaError
        With the ways out.
    """
    if bool((np.abs(numbers) >= EXACT).any()):
        raise SchemaError(
            Words("{name} holds whole numbers beyond 2^53, which cannot be kept exact", name=name),
            column=name,
            kind="beyond 2^53",
            remedy=Words(
                "leave it out with {drop}, number the rows anew with {serial}, or declare all of them with "
                "{levels}",
                drop=Setting("drop", [name]),
                serial=Setting("method", {name: SERIAL}),
                levels=Setting("levels", {name: [...]}),
            ),
        )


def in_rows(count: int) -> str:
    """Say in how many rows something is; few stay vague."""
    return f"{few(count)} rows"


def _floats(series: pd.Series[Any]) -> FloatArray:
    """Write numbers as float64, a view where they are."""
    if series.dtype == np.float64:
        return series.to_numpy()
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def _ticks(series: pd.Series[Any], column: NumericColumn) -> FloatArray:
    """Count days or seconds from 1970-01-01, exactly to the microsecond."""
    if not is_dated(series.dtype) and pd.api.types.infer_dtype(series, skipna=True) not in ("date", "empty"):
        raise SchemaError(
            Words(
                "{name} is declared in days or seconds but holds {dtype}",
                name=column.name,
                dtype=series.dtype,
            ),
            column=column.name,
            kind="type",
            remedy=Words("convert it with {times} or {numbers}", times=TO_TIMES, numbers=TO_NUMBERS),
        )
    numbers = microseconds(series, column.unit) / TICKS[column.unit]
    numbers[series.isna().to_numpy()] = np.nan
    return np.asarray(numbers, dtype=np.float64)


def microseconds(series: pd.Series[Any], unit: str) -> IntArray:
    """Microseconds from 1970-01-01: on the own clock of a zoned time for days, in UTC for the rest."""
    if pd.api.types.is_object_dtype(series.dtype):
        times = pd.to_datetime(series)
    elif isinstance(series.dtype, pd.ArrowDtype):
        times = _from_arrow(series)
    else:
        times = series
    if isinstance(times.dtype, pd.DatetimeTZDtype):
        times = (times if unit == "day" else times.dt.tz_convert("UTC")).dt.tz_localize(None)
    return np.asarray(times.to_numpy().astype(f"{is_dated(times.dtype)}8[us]").astype(np.int64))


def _from_arrow(series: pd.Series[Any]) -> pd.Series[Any]:
    """Write Arrow dates, times and durations in numpy's types."""
    zone = _zone(series.dtype)
    if zone is not None:
        return series.astype(pd.DatetimeTZDtype("us", zone))
    return series.astype(np.dtype("m8[us]") if is_dated(series.dtype) == "m" else np.dtype("M8[us]"))


def _zone(dtype: Any) -> Any:
    """Time zone of a dtype, or None."""
    if isinstance(dtype, pd.ArrowDtype):
        return getattr(dtype.pyarrow_dtype, "tz", None)
    return getattr(dtype, "tz", None)


def from_numbers(numbers: FloatArray, absent: BoolArray, column: NumericColumn) -> pd.Series[Any]:
    """Give drawn numbers the column's dtype; ``absent`` marks missing rows."""
    dtype = column.dtype
    if column.unit != "number" and not pd.api.types.is_numeric_dtype(dtype):
        return _dated(numbers, absent, column)
    if pd.api.types.is_object_dtype(dtype):
        objects = numbers.astype(object)
        objects[absent] = None
        return pd.Series(objects, dtype=object)
    if getattr(dtype, "kind", "") in "iu" and isinstance(dtype, np.dtype):
        return pd.Series(np.rint(_within(numbers, dtype)).astype(dtype))
    if isinstance(dtype, np.dtype):
        numbers[absent] = np.nan
        return pd.Series(with_tags(numbers, column.tags) if dtype == np.float64 else numbers.astype(dtype))
    return _nullable(numbers, absent, dtype)


def _within(numbers: FloatArray, dtype: np.dtype[Any]) -> FloatArray:
    """Keep drawn numbers inside an integer type."""
    limits = np.iinfo(dtype)
    return np.clip(numbers, max(float(limits.min), -EXACT), min(float(limits.max), EXACT))


def _nullable(numbers: FloatArray, absent: BoolArray, dtype: Any) -> pd.Series[Any]:
    """Write a nullable or Arrow number type."""
    if pd.api.types.is_integer_dtype(dtype):
        base = np.dtype(getattr(dtype, "numpy_dtype", np.int64))
        whole = np.rint(_within(np.where(absent, 0.0, numbers), base)).astype(base)
        values = pd.Series(whole).astype(dtype)
    else:
        values = pd.Series(numbers).astype(dtype)
    return values.mask(absent, pd.NA) if absent.any() else values


def _dated(numbers: FloatArray, absent: BoolArray, column: NumericColumn) -> pd.Series[Any]:
    """Write points in time or durations in the column's dtype."""
    dtype = column.dtype
    kind = is_dated(dtype) or "M"
    low, high = _span(dtype, kind)
    micro = np.rint(np.clip(np.where(absent, 0.0, numbers) * TICKS[column.unit], low, high)).astype(np.int64)
    times = micro.astype(f"{kind}8[us]")
    times[absent] = np.array("NaT", dtype=times.dtype)
    series = pd.Series(times)
    zone = _zone(dtype)
    if zone is not None and column.unit == "day":
        early = np.ones(len(series), dtype=bool)  # of the two midnights that a clock may show, the first
        return series.dt.tz_localize(zone, ambiguous=early, nonexistent="shift_forward").astype(dtype)
    if zone is not None:
        return series.dt.tz_localize("UTC").dt.tz_convert(zone).astype(dtype)
    if pd.api.types.is_object_dtype(dtype):
        return pd.Series(_days(series), dtype=object)
    return series.astype(dtype)


def _span(dtype: Any, kind: str) -> tuple[float, float]:
    """Microseconds that a dtype can hold; times from year 1 to 9999."""
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        unit = np.datetime_data(dtype)[0]
    else:
        unit = getattr(getattr(dtype, "pyarrow_dtype", dtype), "unit", "us")
    if unit == "ns":
        return -_NANOSECONDS, _NANOSECONDS
    if kind == "m":
        return -9.2e18, 9.2e18
    margin = 0.0 if _zone(dtype) is None else TICKS["day"]
    return _YEARS[0] + margin, _YEARS[1] - margin


def _days(series: pd.Series[Any]) -> list[date | None]:
    """Write datetime.date objects."""
    return [None if pd.isna(value) else value.date() for value in series]


def to_codes(series: pd.Series[Any], column: CategoricalColumn) -> IntArray:
    """Write levels, then special codes, as 0, 1, ...; -1 where missing, -2 where the value is unlisted."""
    values = (*column.levels, *column.specials)
    if isinstance(series.dtype, pd.CategoricalDtype):
        raw = _recode(series, values)
    else:
        try:
            raw = _look_up(series, values)
        except UnicodeEncodeError:  # its message quotes the character
            raise SchemaError(
                Words("{name} holds texts that are no Unicode", name=column.name),
                column=column.name,
                kind="encoding",
                remedy=Words(
                    "read the file in its own encoding, or repair them with {repair}", repair=_REPAIR
                ),
            ) from None
        except TypeError:  # cells that cannot be looked up, such as lists
            raise SchemaError(
                Words("{name} holds mixed objects", name=column.name),
                column=column.name,
                kind="type",
                remedy=Words(
                    "convert it to text, numbers or dates, or leave it out with {drop}",
                    drop=Setting("drop", [column.name]),
                ),
            ) from None
    raw[(raw < 0) & series.notna().to_numpy()] = -2
    if column.tags and holds_tags(series):
        _mark_kinds(raw, series, column)
    return raw


def _mark_kinds(raw: IntArray, series: pd.Series[Any], column: CategoricalColumn) -> None:
    """Write the places of missing kinds, which are NaN among numbers, in place."""
    for place, code in enumerate(column.specials, start=len(column.levels)):
        if code in column.tags:
            raw[missing_of(series, code)] = place


def _recode(series: pd.Series[Any], values: tuple[Any, ...]) -> IntArray:
    """Map a categorical's own codes to positions in ``values``."""
    positions = {value: index for index, value in enumerate(values)}
    table = np.array([positions.get(value, -1) for value in series.cat.categories] + [-1], dtype=np.int64)
    return np.asarray(table[series.cat.codes.to_numpy()], dtype=np.int64)


def _look_up(series: pd.Series[Any], values: tuple[Any, ...]) -> IntArray:
    """Map plain values to positions in ``values``."""
    if not values:
        return np.full(len(series), -1, dtype=np.int64)
    index = pd.Index(values)
    plain = series
    if pd.api.types.is_bool_dtype(series.dtype) and series.dtype != bool:
        plain = series.astype(object)
    return np.asarray(index.get_indexer(pd.Index(plain)), dtype=np.int64)


def from_codes(codes: IntArray, column: CategoricalColumn) -> pd.Series[Any]:
    """Give level codes (-1 for missing) the column's dtype."""
    values = (*column.levels, *column.specials)
    if column.tags and column.dtype == np.float64:
        numbers = [sentinel(value) if value in column.tags else value for value in (*values, np.nan)]
        return pd.Series(with_tags(np.array(numbers, dtype=np.float64), column.tags)[codes])
    if isinstance(column.dtype, pd.CategoricalDtype):
        positions = column.dtype.categories.get_indexer(pd.Index(values)) if values else np.zeros(0, int)
        table = np.append(np.asarray(positions, dtype=np.int64), -1)
        return pd.Series(pd.Categorical.from_codes(table[codes], dtype=column.dtype))
    missing: Any = (
        None if column.dtype == object else (np.nan if isinstance(column.dtype, np.dtype) else pd.NA)
    )
    if not (codes < 0).any():
        levels: pd.Series[Any] = pd.Series(list(values), dtype=column.dtype)
        return levels.iloc[codes].reset_index(drop=True)
    cells = pd.Series([*values, missing], dtype=object)
    return cells.iloc[codes].reset_index(drop=True).astype(column.dtype)
