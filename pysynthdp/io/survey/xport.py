"""Where cells of a transport file of SAS lie: pyreadstat neither writes nor reads its special missing values.

A number is eight bytes; one that is missing is a sign, ``.`` or a letter, and seven zeros (SAS Institute,
Record Layout of a SAS Version 8 or 9 Data Set in SAS Transport Format).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = ["Layout", "layout_of", "letters_in"]

_RECORD: Final = 80  # bytes
_ROWS: Final = re.compile(rb"HEADER RECORD\*{7}OBS(?:V8)? *HEADER RECORD!{7}")
_NAMESTR: Final = 140


@dataclass(frozen=True, slots=True)
class Layout:
    """Where cells lie.

    Parameters
    ----------
    head : int
        Bytes before the first row.
    starts : tuple of int
        Where each column begins in a row.
    numbers : tuple of bool
        Whether each column holds numbers.
    width : int
        Bytes of a row.
    """

    head: int
    starts: tuple[int, ...]
    numbers: tuple[bool, ...]
    width: int


def layout_of(data: Any) -> Layout | None:
    """Read where cells lie; None where that is not found."""
    size = min(len(data), 1 << 16)
    while True:
        head = bytes(data[:size])
        found = _ROWS.search(head)
        if found is not None:
            return _layout(head, found.start() + _RECORD)
        if size >= len(data):
            return None
        size = min(len(data), 2 * size)


def _layout(head: bytes, rows: int) -> Layout | None:
    """Read the entries of the columns."""
    named = re.search(rb"HEADER RECORD\*{7}NAM(?:ESTR|STV8)", head)
    if named is None:
        return None
    at = named.start() + _RECORD
    count = int(head[at - _RECORD + 54 : at - _RECORD + 58])
    entries = [head[at + one * _NAMESTR : at + (one + 1) * _NAMESTR] for one in range(count)]
    kinds = [struct.unpack(">H", entry[:2])[0] for entry in entries]
    widths = [struct.unpack(">H", entry[4:6])[0] for entry in entries]
    starts = [struct.unpack(">I", entry[84:88])[0] for entry in entries]
    width = max(start + size for start, size in zip(starts, widths, strict=True))
    whole = tuple(kind == 1 and size == 8 for kind, size in zip(kinds, widths, strict=True))
    return Layout(rows, tuple(starts), whole, width)


def letters_in(path: Path, rows: int) -> list[Any]:
    """Give, column by column, the letter of each special missing value, small and empty where there is none.

    Notes
    -----
    Privacy: reads real rows.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r")
    layout = layout_of(data)
    if layout is None:
        return []
    ends = layout.head + rows * layout.width
    table = np.asarray(data[layout.head : ends]).reshape(rows, layout.width)
    return [
        _letters(table[:, start : start + 8]) if number else None
        for start, number in zip(layout.starts, layout.numbers, strict=True)
    ]


def _letters(cells: Any) -> Any:
    """Find the letters of one column."""
    first = cells[:, 0]
    lettered = ((first >= ord("A")) & (first <= ord("Z"))) | (first == ord("_"))
    special = lettered & ~cells[:, 1:].any(axis=1)
    if not special.any():
        return None
    found = np.full(len(first), "", dtype="<U1")
    found[special] = [chr(one).lower() for one in first[special]]
    return found
