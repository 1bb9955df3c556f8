"""One key for all ways in which a file may hold a level: a reader's guess of types then changes nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["FLAGS", "level_key", "real_part", "same_key"]

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
FLAGS = {"true": 1.0, "false": 0.0}  # what readers of files turn into booleans


def real_part(cell: Any) -> Any:
    """Take the number from a complex cell without imaginary part: one such cell makes its column complex.

    Notes
    -----
    Privacy: of one cell alone.

    Examples
    --------
    >>> real_part(2 + 0j), real_part("north")
    (2.0, 'north')
    """
    if isinstance(cell, complex | np.complexfloating) and cell.imag == 0:
        return cell.real
    return cell


def level_key(value: Any) -> Hashable:
    """Give 1, 1.0, True, "1", "01" and " 1.0" one key; other texts and things are their own.

    Notes
    -----
    Privacy: of one cell alone. Twelve digits, because readers of files differ in the last ones.

    Examples
    --------
    >>> level_key("07") == level_key(7.0), level_key("north"), level_key("True") == level_key(True)
    (True, 'north', True)
    """
    value = real_part(value)
    if isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        return _number_key(value)
    if isinstance(value, date | np.datetime64):
        return pd.Timestamp(value).isoformat()
    if isinstance(value, str):
        return _text_key(value, value.strip())
    return value  # type: ignore[no-any-return]  # what cannot be hashed raises where it is looked up


def _text_key(text: str, trimmed: str) -> Hashable:
    """Read a text as what it may stand for: a flag, a number, a time; else it is itself."""
    if trimmed.lower() in FLAGS:
        return FLAGS[trimmed.lower()]
    try:
        return _number_key(float(trimmed))
    except ValueError:
        pass
    try:
        return pd.Timestamp(trimmed).isoformat() if _DAY.match(trimmed) else text
    except ValueError:
        return text


def _number_key(value: Any) -> Hashable:
    """Round to twelve digits; a number too large for float64 is infinite like any other."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return float(f"{number:.12g}") if math.isfinite(number) else str(number)


def same_key(values: Iterable[Any]) -> tuple[Any, Any] | None:
    """Find two declared levels or codes that a file may hold in one way; None where all differ.

    Examples
    --------
    >>> same_key(["01", "2", "1"])
    ('01', '1')
    """
    seen: dict[Hashable, Any] = {}
    for value in values:
        key = level_key(value)
        if key in seen:
            return seen[key], value
        seen[key] = value
    return None
