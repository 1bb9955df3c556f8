"""One pandas column -> one R vector, by its facts where they still fit, else by its dtype alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from pandas.api import types

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import BridgeError
from pysynthdp.bridge import times
from pysynthdp.bridge.cells import cell_to_r
from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, RValue, RVector, character
from pysynthdp.bridge.codec.wire import Kind
from pysynthdp.bridge.facts import ColumnFacts

__all__ = ["column_to_r"]

_EPOCH: Final = dt.date(1970, 1, 1)
_NA_INTEGER64: Final = np.iinfo(np.int64).min


def column_to_r(series: pd.Series[Any], name: str, facts: ColumnFacts | None = None) -> RVector:
    """Give the R vector of a column; facts that no longer fit its values are left out."""
    if facts is not None:
        made = _BY_MEANING[facts.meaning](series, name, facts)
        if made is not None:
            return made
    return _by_dtype(series, name)


def _by_dtype(series: pd.Series[Any], name: str) -> RVector:
    """Give the R vector that the dtype alone asks for."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _factor(series, name, None)
    if types.is_datetime64_any_dtype(dtype):
        own = {"class": character(["POSIXct", "POSIXt"]), "tzone": character([_zone_name(series)])}
        return _datetime(series, ColumnFacts("double", "datetime", own))
    if types.is_timedelta64_dtype(dtype):
        return _difftime(series, "double", {"class": character(["difftime"]), "units": character(["secs"])})
    return _plain(series, name)


def _plain(series: pd.Series[Any], name: str) -> RVector:
    """Give numbers, truth values and texts."""
    dtype = series.dtype
    if types.is_bool_dtype(dtype):
        held = series.to_numpy(dtype=np.bool_, na_value=False)
        return RVector("logical", np.where(series.isna(), NA_INTEGER, held).astype(np.int32))
    if types.is_integer_dtype(dtype):
        return _integers(series, name)
    if types.is_float_dtype(dtype):
        # numpy's floats keep each NaN as it is; pandas' own have a mask, which is R's NA.
        if isinstance(dtype, np.dtype):
            return RVector("double", series.to_numpy(dtype=np.float64))
        return RVector("double", series.to_numpy(dtype=np.float64, na_value=NA_REAL))
    if types.is_complex_dtype(dtype):
        return RVector("complex", series.to_numpy(np.complex128))
    if types.is_object_dtype(dtype) or types.is_string_dtype(dtype):
        return _objects(series.to_numpy(dtype=object), series.isna().to_numpy(), name)
    raise BridgeError(
        f"column {name!r} has type {dtype}, which R has no vector for; convert it first", kind="type"
    )


def _integers(series: pd.Series[Any], name: str) -> RVector:
    """Give integers; doubles where R's 32 bits do not hold them."""
    missing = series.isna().to_numpy()
    if series.dtype.kind == "u" and bool((series.dropna() > np.iinfo(np.int64).max).any()):
        raise BridgeError(f"column {name!r} holds integers beyond 63 bits; convert it to float", kind="type")
    held = series.to_numpy(dtype=np.int64, na_value=0) if missing.any() else series.to_numpy(dtype=np.int64)
    if held.size and (held.max() > -NA_INTEGER - 1 or held.min() <= NA_INTEGER):
        return RVector("double", np.where(missing, NA_REAL, held.astype(np.float64)))
    return RVector("integer", np.where(missing, NA_INTEGER, held).astype(np.int32))


def _objects(values: AnyArray, missing: Any, name: str) -> RVector:
    """Give texts, truth values, dates or lists, whichever all objects are."""
    types_held = set(map(type, values[~missing].tolist()))
    if not types_held and len(values):
        return RVector("logical", np.full(len(values), NA_INTEGER, dtype=np.int32))
    if all(issubclass(held, str) for held in types_held):
        return RVector("character", _filled(values, missing, None))
    if types_held <= {bool, np.bool_}:
        return RVector("logical", np.where(missing, NA_INTEGER, values).astype(np.int32))
    if types_held == {dt.date}:
        days = _filled(values, missing, _EPOCH).astype("M8[D]").astype(np.float64)
        return RVector("double", np.where(missing, NA_REAL, days), {"class": character(["Date"])})
    if types_held <= {list, dict, tuple, np.ndarray, RVector}:
        return _list(values, name, {})
    found = ", ".join(sorted(held.__name__ for held in types_held))
    raise BridgeError(
        f"column {name!r} holds objects of types {found}, which R has not; convert them", kind="type"
    )


def _filled(values: AnyArray, missing: Any, filler: Any) -> AnyArray:
    """Put an object where others are missing."""
    filled = values.copy()
    filled[missing] = filler
    return filled


def _list(values: AnyArray, name: str, attributes: Mapping[str, RValue]) -> RVector:
    """Give a list column."""
    return RVector("list", tuple(cell_to_r(cell, name) for cell in values.tolist()), attributes)


def _factor(series: pd.Series[Any], name: str, facts: ColumnFacts | None) -> RVector:
    """Give a factor with the levels that the column has now, and the NA level that it had in R."""
    levels: list[str | None] = [_level(category) for category in series.cat.categories]
    if len(set(levels)) < len(levels):
        raise BridgeError(f"column {name!r} has categories that are alike as text; rename them", kind="type")
    codes = series.cat.codes.to_numpy().astype(np.int32)
    if facts is not None and facts.na_label in levels:
        levels[levels.index(facts.na_label)] = None
    elif facts is not None and facts.na_level is not None:
        at = min(facts.na_level, len(levels))
        codes = np.where(codes < 0, at, codes + (codes >= at)).astype(np.int32)
        levels.insert(at, None)
    classes = ["ordered", "factor"] if series.cat.ordered else ["factor"]
    own = facts.attributes if facts is not None else {"class": character(classes)}
    values = np.where(codes < 0, NA_INTEGER, codes + 1).astype(np.int32)
    return RVector("integer", values, {"levels": character(levels), **own})


def _level(category: Any) -> str:
    """Write a category as R would as a level."""
    if isinstance(category, bool | np.bool_):
        return "TRUE" if category else "FALSE"
    if isinstance(category, float):
        return f"{category:.15g}"
    return category if isinstance(category, str) else str(category)


def _datetime(series: pd.Series[Any], facts: ColumnFacts) -> RVector:
    """Give instants; a column without a zone is read as UTC."""
    local = series if series.dt.tz is None else series.dt.tz_convert("UTC").dt.tz_localize(None)
    stamps = local.to_numpy()
    values = times.stamps_to_seconds(stamps, facts.kind)
    kind: Kind = facts.kind if values is not None else "double"
    if values is None:
        values = times.stamps_to_seconds(stamps, "double")
    attributes = dict(facts.attributes)
    if _zone_name(series) != times.zone_of(attributes).key:
        attributes["tzone"] = character([_zone_name(series)])
    return RVector(kind, _must(values), attributes)


def _zone_name(series: pd.Series[Any]) -> str:
    """Name the zone of a column as R does; fixed offsets have no name there and are shown in UTC."""
    zone = series.dt.tz
    return getattr(zone, "key", None) or getattr(zone, "zone", None) or "UTC"


def _must(values: AnyArray | None) -> AnyArray:
    """Doubles always hold a time: only integers can fail."""
    if values is None:
        raise BridgeError("a time does not fit R's numbers; convert the column to float", kind="type")
    return values


def _difftime(series: pd.Series[Any], kind: Kind, attributes: Mapping[str, RValue]) -> RVector:
    """Give durations in the units that the attributes name."""
    units = times.units_of(attributes)
    values = times.spans_to_lengths(series.to_numpy(), kind, units)
    if values is not None:
        return RVector(kind, values, attributes)
    return RVector("double", _must(times.spans_to_lengths(series.to_numpy(), "double", units)), attributes)


def _factor_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give a factor of R's class; None if the column is no categorical or has changed its order."""
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return None
    classes = RVector("logical", np.empty(0, np.int32), facts.attributes).classes
    return _factor(series, name, facts if bool(series.cat.ordered) == ("ordered" in classes) else None)


def _date_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give days of R's storage; None if the column holds no days now."""
    del name
    if not types.is_datetime64_dtype(series.dtype):
        return None
    days = times.dates_to_days(series.to_numpy(), facts.kind)
    return None if days is None else RVector(facts.kind, days, facts.attributes)


def _day_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give declared days, with their fractions, as a Date; None if the column holds no times of no zone."""
    del name
    if not types.is_datetime64_dtype(series.dtype):
        return None
    return RVector("double", times.stamps_to_days(series.to_numpy()), facts.attributes)


def _datetime_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give instants with R's attributes; None if the column holds no instants now."""
    del name
    return _datetime(series, facts) if types.is_datetime64_any_dtype(series.dtype) else None


def _difftime_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give durations in R's units; None if the column holds no durations now."""
    del name
    is_span = types.is_timedelta64_dtype(series.dtype)
    return _difftime(series, facts.kind, facts.attributes) if is_span else None


def _integer64_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give bit64's integers in the bits of doubles; None if the column holds no integers now."""
    del name
    if not types.is_integer_dtype(series.dtype):
        return None
    held = series.to_numpy(dtype=np.int64, na_value=_NA_INTEGER64)
    return RVector("double", held.view(np.float64), facts.attributes)


def _list_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give a list column with R's attributes; None if the column holds no objects now."""
    is_object = types.is_object_dtype(series.dtype)
    return _list(series.to_numpy(), name, facts.attributes) if is_object else None


def _plain_again(series: pd.Series[Any], name: str, facts: ColumnFacts) -> RVector | None:
    """Give numbers or texts of R's storage with R's attributes; None if they are of another kind now."""
    made = _by_dtype(series, name)
    if made.attributes:
        return None
    values = _as_kind(made, facts.kind)
    return None if values is None else RVector(facts.kind, values, facts.attributes)


def _as_kind(vector: RVector, kind: Kind) -> AnyArray | None:
    """Give values in another storage if it holds them all exactly."""
    if vector.kind == kind:
        return vector.array
    if vector.kind == "logical" and kind == "character" and (vector.array == NA_INTEGER).all():
        return np.full(len(vector), None, dtype=object)
    if vector.kind == "integer" and kind == "double":
        return np.where(vector.array == NA_INTEGER, NA_REAL, vector.array)
    if vector.kind == "integer" and kind == "raw":
        fits = bool(((vector.array >= 0) & (vector.array < 256)).all())
        return vector.array.astype(np.uint8) if fits else None
    if vector.kind == "double" and kind == "integer":
        return _whole(vector.array)
    return None


def _whole(values: AnyArray) -> AnyArray | None:
    """Give doubles as integers; None if one is no whole number of 31 bits."""
    missing = np.isnan(values)
    held = np.where(missing, 0.0, values)
    if not bool(((held == np.floor(held)) & (np.abs(held) < 2**31)).all()):
        return None
    return np.where(missing, NA_INTEGER, held).astype(np.int32)


_BY_MEANING: Final[dict[str, Callable[[pd.Series[Any], str, ColumnFacts], RVector | None]]] = {
    "plain": _plain_again,
    "factor": _factor_again,
    "date": _date_again,
    "day": _day_again,
    "datetime": _datetime_again,
    "difftime": _difftime_again,
    "integer64": _integer64_again,
    "list": _list_again,
}
