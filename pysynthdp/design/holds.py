"""What a column of unknown type holds: text, numbers, dates, or nothing; and whether it names its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.design.values import TO_NUMBERS, TO_TIMES, is_dated

__all__ = ["MANY_LEVELS", "holds", "names_rows"]

MANY_LEVELS = (
    60  # a text column with more distinct values than this, most of them rare, is an id or free text
)
_SHARE = 0.5
_FEW = 10  # with fewer rows, values that occur once say nothing
_DURATIONS: Final = Said("pd.to_timedelta", "a number of seconds", "as.difftime()")
_TIMES: Final = ("datetime", "datetime64")
_IN_ONE_ZONE: Final = Said(
    "pd.to_datetime(..., utc=True)", "times in one zone", 'as.POSIXct(..., tz = "UTC")'
)
_MENDS: Final[Mapping[str, Said]] = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), TO_NUMBERS),
    **dict.fromkeys(_TIMES, TO_TIMES),
    **dict.fromkeys(("timedelta", "timedelta64"), _DURATIONS),
}


def holds(series: pd.Series[Any], name: str, exempt: bool) -> Literal["text", "empty", "date", "number"]:
    """Sort a column by what it holds; an exempt one that cannot be modelled holds nothing."""
    if not series.notna().any():
        return "empty"
    if is_dated(series.dtype):
        return "date"
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_complex_dtype(series.dtype):
        return "number"
    found = pd.api.types.infer_dtype(series, skipna=True)
    if found in ("string", "boolean"):
        return "text"
    if found == "date":
        return "date"
    if exempt:
        return "empty"
    how = _IN_ONE_ZONE if found in _TIMES and _zones(series) > 1 else _MENDS.get(found)
    mend = Words("convert it with {how}", how=how) if how else "convert it to text, numbers or dates"
    drop = Setting("drop", [name])
    raise SchemaError(
        Words("{name} holds {found} objects", name=name, found=found),
        column=name,
        kind="type",
        remedy=Words("{mend}, or leave it out with {drop}", mend=mend, drop=drop),
    )


def _zones(series: pd.Series[Any]) -> int:
    """Count the time zones of times that are objects."""
    return len({str(getattr(value, "tzinfo", None)) for value in series.dropna()})


def names_rows(series: pd.Series[Any]) -> bool:
    """Whether most values name one row: an identifier or free text."""
    present = int(series.notna().sum())
    distinct = series.nunique()
    return present >= _FEW and (distinct == present or MANY_LEVELS < distinct > _SHARE * present)
