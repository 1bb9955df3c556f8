"""Dates and times as files have them: ISO, with a zone, or day and month in either order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

__all__ = ["Dates", "dates_of"]

_CLOCK: Final = r"\d{2}:\d{2}(?::\d{2}(?:[.]\d{1,9})?)?"
_ISO: Final = tuple(
    re.compile(form, re.ASCII) for form in (r"\d{4}-\d{2}-\d{2}", rf"\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK}")
)
_ZONED: Final = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK} ?(Z|[+-]\d{{2}}(?::?\d{{2}})?)", re.ASCII)
_LOCAL: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?: (\d{1,2}:\d{2}(?::\d{2})?))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Dates:
    """What texts mean as dates.

    Parameters
    ----------
    times : DatetimeIndex or None
        The times; None where day and month cannot be told apart.
    form : {"iso", "zoned", "day first", "month first", "either"}
        How they are written.
    """

    times: pd.DatetimeIndex | None
    form: str


def dates_of(texts: Sequence[str], *, day_first: bool | None) -> Dates | None:
    """Read distinct texts as dates, if every one of them is a date in one and the same form.

    Parameters
    ----------
    texts : sequence of str
        Distinct cells.
    day_first : bool, optional
        Which order holds where day and month stand before the year; None: what the cells decide.

    Examples
    --------
    >>> dates_of(["27.11.2020", "01.02.2021"], day_first=None).form
    'day first'
    >>> dates_of(["01/02/2021"], day_first=None).form, dates_of(["1 May"], day_first=None)
    ('either', None)
    """
    if not texts:
        return None
    for form in _ISO:
        if form.fullmatch(texts[0]):
            return _dates(texts, "iso", format="ISO8601") if all(map(form.fullmatch, texts)) else None
    if _ZONED.fullmatch(texts[0]):
        zoned = all(map(_ZONED.fullmatch, texts))
        return _dates(texts, "zoned", format="ISO8601", utc=True) if zoned else None
    return _local(texts, day_first) if _LOCAL.fullmatch(texts[0]) else None


def _dates(texts: Sequence[str], form: str, **how: Any) -> Dates | None:
    """Parse all; None where one is no day of the calendar."""
    values = pd.DatetimeIndex(pd.to_datetime(pd.Series(texts, dtype=object), errors="coerce", **how))
    return None if values.hasnans else Dates(values, form)


def _local(texts: Sequence[str], day_first: bool | None) -> Dates | None:
    """Read day, month and year with one sign between them."""
    parts = [_LOCAL.fullmatch(text) for text in texts]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or len({part[2] for part in found}) > 1:
        return None
    first, second = (max(int(part[place]) for part in found) for place in (1, 3))
    if day_first is None:
        if first <= 12 and second <= 12:
            return Dates(None, "either")
        day_first = first > 12
    return _in_order(found, day_first=day_first)


def _in_order(parts: Sequence[re.Match[str]], *, day_first: bool) -> Dates | None:
    """Write as ISO in an order and parse."""
    day, month = (1, 3) if day_first else (3, 1)
    timed = {part[5] is not None for part in parts}
    if len(timed) > 1:
        return None
    iso = [f"{p[4]}-{int(p[month]):02d}-{int(p[day]):02d}{_clock(p[5])}" for p in parts]
    return _dates(iso, "day first" if day_first else "month first", format="ISO8601")


def _clock(text: str | None) -> str:
    """Write a time of day with two digits for its hour."""
    return "" if text is None else f" {text:>08}" if text.count(":") == 2 else f" {text:>05}"
