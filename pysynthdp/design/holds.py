"""What a column of unknown type holds: text, numbers, dates, or nothing; and whether it names its rows."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from pysynthdp.design.values import is_dated
from pysynthdp.errors import SchemaError
from pysynthdp.words import Setting, Words

__all__ = ["MANY_LEVELS", "holds", "names_rows"]

MANY_LEVELS = (
    60  # a text column with more distinct values than this, most of them rare, is an id or free text
)
_SHARE = 0.5
_FEW = 10  # with fewer rows, values that occur once say nothing
_NUMBERS = frozenset(("integer", "floating", "mixed-integer-float", "decimal"))
_TIMES = frozenset(("datetime", "datetime64"))
_SPANS = frozenset(("timedelta", "timedelta64"))


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
    raise SchemaError(
        Words("{column} holds {found} objects", column=name, found=found),
        column=name,
        kind="objects",
        remedy=Words(
            "{mend}, or leave it out with {drop}",
            mend=_mend(series, name, found),
            drop=Setting("drop", [name]),
        ),
    )


def _mend(series: pd.Series[Any], name: str, found: str) -> str:
    """Say what to type so that objects become a column."""
    if found in _NUMBERS:
        return f"df[{name!r}] = pd.to_numeric(df[{name!r}]) makes them numbers"
    if found in _TIMES:
        several = len({str(getattr(value, "tzinfo", None)) for value in series.dropna()}) > 1
        zones = ", utc=True" if several else ""
        what = "times in one zone" if several else "times"
        return f"df[{name!r}] = pd.to_datetime(df[{name!r}]{zones}) makes them {what}"
    if found in _SPANS:
        return f"df[{name!r}] = pd.to_timedelta(df[{name!r}]) makes them durations"
    return "convert it to text, numbers or dates"


def names_rows(series: pd.Series[Any]) -> bool:
    """Whether most values name one row: an identifier or free text."""
    present = int(series.notna().sum())
    distinct = series.nunique()
    return present >= _FEW and (distinct == present or MANY_LEVELS < distinct > _SHARE * present)
