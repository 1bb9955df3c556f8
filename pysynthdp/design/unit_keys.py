"""Whose row it is: one key for all ways in which a file may hold an identifier, read cell by cell."""

from __future__ import annotations

import re
from collections.abc import Hashable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, IntArray
from pysynthdp.design.level_keys import real_part

__all__ = ["places_in_unit", "unit_codes", "unit_key", "unit_keys"]

_MOST_DIGITS = 4_000  # of an id; longer ones take hours to write out
_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}(\.0*)?")  # Python reads no longer number


def unit_key(cell: Any) -> Hashable:
    """Give 7, 7.0, "7", "07" and " 7.0" one key; other texts are their own; None for what is no key.

    Notes
    -----
    Privacy: of one cell alone. Whole numbers are taken with all their digits, since identifiers may be long.
    Things that are no text, number, time or UUID are no key: nothing says when two of them are the same.

    Examples
    --------
    >>> unit_key("007") == unit_key(7.0), unit_key("b-12"), unit_key(float("nan")), unit_key([7])
    (True, 'b-12', None, None)
    """
    try:
        value = real_part(cell)
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, str):
            return _text_key(value.strip())
        if not pd.api.types.is_scalar(value) and not isinstance(value, UUID):
            return None
        return None if pd.isna(value) else _plain_key(value)
    except Exception:  # noqa: BLE001  # a cell may be of any class, and none may raise
        return None


def _text_key(text: str) -> Hashable:
    """Read a text as the whole number that it may stand for; blanks are no key."""
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else text or None


def _plain_key(value: Any) -> Hashable:
    """Take the key of a number, a time or a UUID."""
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return int(value)
    if isinstance(value, Decimal) and abs(value.adjusted()) > _MOST_DIGITS:
        return None
    if isinstance(value, float | np.floating | Decimal):
        return int(value) if value == int(value) else str(float(value))  # infinity raises, and is no key
    if isinstance(value, date | np.datetime64):
        return pd.Timestamp(value).isoformat()
    return str(value) if isinstance(value, UUID) else None


def unit_keys(series: pd.Series[Any]) -> AnyArray:
    """Keys of a column's cells, None for no key.

    Notes
    -----
    Privacy: passes confidential cells through, each read by itself.
    """
    keys = np.empty(len(series), dtype=object)
    keys[:] = [unit_key(cell) for cell in series.astype(object)]
    return keys


def unit_codes(keys: AnyArray) -> IntArray:
    """Count the units through, in the order of their first rows; rows without a key get -1.

    Examples
    --------
    >>> unit_codes(np.array([7, None, 7, None, "A"], dtype=object)).tolist()
    [0, -1, 0, -1, 1]
    """
    numbers: dict[Hashable, int] = {None: -1}
    codes = (numbers.setdefault(key, len(numbers) - 1) for key in keys)
    return np.fromiter(codes, dtype=np.int64, count=len(keys))


def places_in_unit(codes: IntArray) -> IntArray:
    """Place of each row among the rows of its unit, from 0, in row order.

    Parameters
    ----------
    codes : array (n,)
        As :func:`unit_codes` gives them; rows without a key stand together.

    Returns
    -------
    array (n,)

    Notes
    -----
    Privacy: passes confidential rows through. The place of a row depends on the rows of its own unit only.

    Examples
    --------
    >>> places_in_unit(np.array([0, -1, 0, 0, -1, 1])).tolist()
    [0, 0, 1, 2, 1, 0]
    """
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes + 1)
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes)) - np.repeat(firsts, sizes)
    return places
