"""Numbers and dates that are stored as texts: what they look like, and what to type to read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from pysynthdp.base.words import Said, Setting, Words, r_column

__all__ = ["Written", "strays_among", "texts_of", "written_as"]

_FEW: Final = 12  # whole numbers in so few texts may well be labels of levels
_NUMERAL: Final = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?\.\d+")
_LABEL: Final = re.compile(r"\d+")
_THOUSANDS: Final = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,3})(?:\.\d+)?")
_EXACT_DIGITS: Final = 18  # whole numbers that are longer may not fit into 64 bits
_COMMA: Final = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?|[+-]?\d+(?:,\d+)?")
_SIGNED: Final = re.compile(r"[$£€]?\s*[+-]?\d+(?:\.\d+)?\s*[%$£€]?")
_CLOCK: Final = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_ISO: Final = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}|{_CLOCK}")
_ZONED: Final = re.compile(rf"{_CLOCK}\s?(?:Z|[+-]\d{{2}}:?\d{{2}})")
_DAY: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})[./-](\d{4}|\d{2})")


@dataclass(frozen=True, slots=True)
class Written:
    """What a column of texts holds in truth.

    Parameters
    ----------
    kind : str
        ``"numbers as text"`` or ``"dates as text"``.
    what : str
        How they are written; quotes no value.
    remedy : Words
        What to type to read them.
    """

    kind: str
    what: str
    remedy: Words


def written_as(texts: Sequence[str], name: str) -> Written | None:
    """Say whether all texts are numbers, or dates, and how to read them as such.

    Parameters
    ----------
    texts : sequence of str
        Distinct texts of a column; fewer than three tell nothing.
    name : str
        Column name.

    Notes
    -----
    Privacy: reads real values and quotes none.

    Digits with leading zeros are taken for texts, as codes and postcodes are, and so are whole numbers that
    are too long for 64 bits.

    Examples
    --------
    >>> written_as(["1,200", "35,000", "7,100"], "wage").what
    'holds numbers with commas between thousands, written as text'
    >>> written_as(["27.11.2020", "01.02.2021", "05.06.2021"], "day").remedy.said("r")
    'data$day <- as.Date(data$day, format = "%d.%m.%Y") makes them dates'
    """
    cells = [text.strip() for text in texts if text.strip()]
    if len(cells) < 3 or any(cell.isdecimal() and len(cell) > _EXACT_DIGITS for cell in cells):
        return None
    if all(map(_NUMERAL.fullmatch, cells)):
        few = len(cells) <= _FEW and all(map(_LABEL.fullmatch, cells))
        return (
            None
            if few
            else _number(name, "", "pd.to_numeric({})", "as.numeric(as.character({}))", _AS_NUMBERS)
        )
    for pattern, kind in ((_THOUSANDS, _thousands), (_COMMA, _comma), (_SIGNED, _signed)):
        if all(map(pattern.fullmatch, cells)) and not all(map(_LABEL.fullmatch, cells)):
            return kind(name)
    return _dates(cells, name)


def strays_among(texts: Sequence[str]) -> list[str]:
    """Find the few texts that are no numbers where nearly all are.

    Examples
    --------
    >>> strays_among([*map(str, range(30)), "abc"]), strays_among(["a", "1"])
    (['abc'], [])
    """
    cells = [text.strip() for text in texts if text.strip()]
    others = [cell for cell in cells if not _NUMERAL.fullmatch(cell)]
    return others if len(others) * _ONE_IN < len(cells) else []


_ONE_IN: Final = 20
_AS_NUMBERS: Final = "storing them as numbers in the file"


def _number(name: str, how: str, python: str, r: str, shell: str | Setting) -> Written:
    """Name a way of writing numbers."""
    remedy = _typed(name, python, r, shell, "makes them numbers")
    return Written("numbers as text", f"holds numbers {how}written as text", remedy)


def _typed(name: str, python: str, r: str, shell: str | Setting, does: str) -> Words:
    """Write what to type in each dialect; ``{}`` stands for the column."""
    own, theirs = f"df[{name!r}]", r_column(name)
    shown = shell.said("shell") if isinstance(shell, Setting) else shell
    typed = Said(f"{own} = {python.replace('{}', own)}", shown, f"{theirs} <- {r.replace('{}', theirs)}")
    return Words("{typed} {does}", typed=typed, does=does)


def _thousands(name: str) -> Written:
    """Commas between thousands."""
    python, r = "pd.to_numeric({}.str.replace(',', ''))", 'as.numeric(gsub(",", "", {}))'
    how = "with commas between thousands, "
    return _number(name, how, python, r, "writing them without the commas in the file")


def _comma(name: str) -> Written:
    """Decimal commas, with or without points between thousands."""
    python = "pd.to_numeric({}.str.replace('.', '').str.replace(',', '.'))"
    r = 'as.numeric(sub(",", ".", gsub(".", "", {}, fixed = TRUE), fixed = TRUE))'
    return _number(name, "with a decimal comma, ", python, r, Setting("decimal", ","))


def _signed(name: str) -> Written:
    """Signs of currencies and per cent."""
    python = "pd.to_numeric({}.str.replace(r'[^0-9.+-]', '', regex=True))"
    r = 'as.numeric(gsub("[^0-9.+-]", "", {}))'
    return _number(name, "with a sign such as %, ", python, r, "writing them without the sign in the file")


def _dates(cells: Sequence[str], name: str) -> Written | None:
    """Dates and times, with the order of day and month where it shows."""
    if all(map(_ISO.fullmatch, cells)):
        r = 'as.POSIXct(sub("T", " ", {}), tz = "UTC")' if any(":" in c for c in cells) else "as.Date({})"
        return _date(name, "", "pd.to_datetime({})", r, "storing them as dates in the file")
    if all(map(_ZONED.fullmatch, cells)):
        python, r = (
            "pd.to_datetime({}, utc=True)",
            'as.POSIXct({}, tz = "UTC", format = "%Y-%m-%dT%H:%M:%OS%z")',
        )
        return _date(
            name, "with a time zone, ", python, r, "writing them in one zone and without it in the file"
        )
    found = [_DAY.fullmatch(cell) for cell in cells]
    days = [match for match in found if match is not None]
    if len(days) < len(cells) or len({match[2] for match in days}) > 1:
        return None
    return _day_first(days, name)


def _day_first(days: Sequence[re.Match[str]], name: str) -> Written:
    """Dates whose day, or month, comes first."""
    sep, year = days[0][2], "%Y" if len(days[0][4]) == 4 else "%y"
    month_first = any(int(match[3]) > 12 for match in days)
    form = sep.join(("%m", "%d", year) if month_first else ("%d", "%m", year))
    how = "with the month first, " if month_first else "with the day first, "
    python, r = f"pd.to_datetime({{}}, format='{form}')", f'as.Date({{}}, format = "{form}")'
    return _date(name, how, python, r, "writing them year first (2024-05-01) in the file")


def _date(name: str, how: str, python: str, r: str, shell: str) -> Written:
    """Name a way of writing dates."""
    return Written(
        "dates as text",
        f"holds dates {how}written as text",
        _typed(name, python, r, shell, "makes them dates"),
    )


def texts_of(series: pd.Series[Any]) -> list[str]:
    """Distinct texts of a column; none where it holds anything else."""
    found = list(series.dropna().unique())
    return found if all(isinstance(value, str) for value in found) else []
