"""Dates and times as files have them: ISO, with a zone, or day and month in either order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import pandas as pd

__all__ = ["Dates", "dates_of"]

_CLOCK: Final = r"\d{2}:\d{2}(?::\d{2}(?:[.]\d{1,9})?)?"
_ISO: Final = tuple(
    re.compile(form, re.ASCII) for form in (r"\d{4}-\d{2}-\d{2}", rf"\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK}")
)
_ZONED: Final = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK} ?(Z|[+-]\d{{2}}(?::?\d{{2}})?)", re.ASCII)
_LOCAL: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?: (\d{1,2}:\d{2}(?::\d{2})?))?", re.ASCII)
_WITH_YEAR_FIRST: Final = (*((form, "iso") for form in _ISO), (_ZONED, "zoned"))
Unit = Literal["s", "ms", "us", "ns"]
_UNITS: Final = get_args(Unit)  # the coarsest first


@dataclass(frozen=True, slots=True)
class Dates:
    """What the texts of a column mean as dates.

    Parameters
    ----------
    form : {"iso", "zoned", "day first", "month first", "either"}
        How they are written; either: day and month cannot be told apart.
    unit : str
        The finest step that any of them needs, as numpy names it.
    """

    form: str
    unit: Unit = "s"

    def times(self, texts: Sequence[str]) -> pd.DatetimeIndex:
        """Read some of them."""
        found = _parsed(texts, self.form)
        if found is None:  # all were read before
            msg = "these are other texts"
            raise ValueError(msg)
        return found.as_unit(self.unit)


def dates_of(texts: Callable[[], Iterable[Sequence[str]]], *, day_first: bool | None) -> Dates | None:
    """Tell how dates are written, if every text is a date in one and the same form.

    Parameters
    ----------
    texts : function
        Gives distinct cells, block by block; called anew for each look at all of them.
    day_first : bool, optional
        Which order holds where day and month stand before the year; None: what the cells decide.

    Examples
    --------
    >>> dates_of(lambda: [["27.11.2020"], ["01.02.2021"]], day_first=None).form
    'day first'
    >>> dates_of(lambda: [["01/02/2021"]], day_first=None).form, dates_of(lambda: [["1 May"]], day_first=None)
    ('either', None)
    """
    first = next((block[0] for block in texts() if block), None)
    if first is None:
        return None
    for pattern, form in _WITH_YEAR_FIRST:
        if pattern.fullmatch(first):
            whole = all(all(map(pattern.fullmatch, block)) for block in texts())
            return _known(texts, form) if whole else None
    found = _order(texts(), day_first) if _LOCAL.fullmatch(first) else None
    return Dates(found) if found == "either" else None if found is None else _known(texts, found)


def _known(texts: Callable[[], Iterable[Sequence[str]]], form: str) -> Dates | None:
    """See that all are days of the calendar, and how finely they are written."""
    units: set[Unit] = set()
    for block in texts():
        times = _parsed(block, form)
        if times is None:
            return None
        units |= {times.unit} if len(times) else set()
    finest = max(units, key=_UNITS.index)
    try:  # the years of a coarse unit may not fit into a fine one
        for block in texts():
            if len(units) > 1:
                Dates(form, finest).times(block)
    except pd.errors.OutOfBoundsDatetime:
        return None
    return Dates(form, finest)


def _parsed(texts: Sequence[str], form: str) -> pd.DatetimeIndex | None:
    """Read texts; None where one is no day of the calendar."""
    plain = texts if form in ("iso", "zoned") else _in_order(texts, day_first=form == "day first")
    how: dict[str, Any] = {"utc": True} if form == "zoned" else {}
    parsed = pd.to_datetime(pd.Series(plain, dtype=object), errors="coerce", format="ISO8601", **how)
    values = pd.DatetimeIndex(parsed)
    return None if values.hasnans else values


def _order(blocks: Iterable[Sequence[str]], day_first: bool | None) -> str | None:
    """See which order holds for day, month and year with one sign between them; None where there is none."""
    largest, signs, timed = [0, 0], set(), set()
    for block in blocks:
        for part in map(_LOCAL.fullmatch, block):
            if part is None:
                return None
            largest = [max(largest[0], int(part[1])), max(largest[1], int(part[3]))]
            signs.add(part[2])
            timed.add(part[5] is not None)
    if len(signs) > 1:
        return None
    if day_first is None and max(largest) <= 12:
        return "either"
    if len(timed) > 1:
        return None
    first = largest[0] > 12 if day_first is None else day_first
    return "day first" if first else "month first"


def _in_order(texts: Sequence[str], *, day_first: bool) -> list[str]:
    """Write as ISO."""
    day, month = (1, 3) if day_first else (3, 1)
    parts = [part for part in map(_LOCAL.fullmatch, texts) if part is not None]
    return [f"{p[4]}-{int(p[month]):02d}-{int(p[day]):02d}{_clock(p[5])}" for p in parts]


def _clock(text: str | None) -> str:
    """Write a time of day with two digits for its hour."""
    return "" if text is None else f" {text:>08}" if text.count(":") == 2 else f" {text:>05}"
