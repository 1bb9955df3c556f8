"""How ids of units and of their rows are written, so that copies have new ones of the same form."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.plan.unit_plan import Members, Numbering
from pysynthdp.schema.units import Units
from pysynthdp.units.places import Placed

__all__ = ["numbering_of"]

_DIGITS: Final = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)
_PLACE_DIGITS: Final = 4  # at most, of the place behind a unit's id
_MOST: Final = 3  # times the largest unit: numbers in a unit may have gaps


def numbering_of(frame: pd.DataFrame, placed: Placed, units: Units) -> Numbering:
    """Say how units and rows are numbered: prefix and width of ids, no id itself.

    Parameters
    ----------
    frame : DataFrame
        The confidential table.
    placed : Placed
        Its rows by unit.
    units : Units
        With the columns of ids.

    Notes
    -----
    Privacy: reads real ids; learned are a prefix and suffix that all share, the width that all have, and how
    ids of rows are made of those of units.
    """
    ids = frame[units.id].iloc[placed.rows]
    before, width, after = _form(ids)
    if units.member is None:
        return Numbering(before, width, after)
    rows = frame[units.member].iloc[placed.rows]
    member, digits = _of_members(ids, rows, placed)
    form = _form(rows) if member == "running" else ("", 0, "")
    return Numbering(before, width, after, member, digits, form)


def _form(ids: pd.Series[Any]) -> tuple[str, int, str]:
    """Give what stands before and after the last digits of all ids, and how many these are; 0 if not one."""
    texts = pd.Series(ids.unique()).astype(str)
    found = texts.str.extract(_DIGITS.pattern, flags=_DIGITS.flags)
    if found.isna().to_numpy().any():
        return "", 0, ""
    before, after, widths = (_alike(own) for own in (found[0], found[2], found[1].str.len()))
    return before or "", widths or 0, after or ""


def _alike(values: pd.Series[Any]) -> Any:
    """Give the one value that all are; None where they differ."""
    first = values.iloc[0]
    return first if bool((values == first).all()) else None


def _of_members(ids: pd.Series[Any], rows: pd.Series[Any], placed: Placed) -> tuple[Members, int]:
    """Say how rows are numbered: by their place, by the unit's id and the place, else running."""
    most = _MOST * int(placed.sizes.max())
    numbers = pd.to_numeric(rows, errors="coerce").to_numpy(dtype=np.float64)
    if bool(((numbers >= 1) & (numbers <= most)).all()) and _once_a_unit(placed.unit, numbers):
        return "place", 0
    texts, units = rows.astype(str), ids.astype(str)
    for digits in range(1, _PLACE_DIGITS + 1):
        behind = texts.str[-digits:]
        if bool(behind.str.isdigit().all()) and bool((texts.str[:-digits] == units).all()):
            return "unit", max(digits, len(str(int(placed.sizes.max()))))
    return "running", 0


def _once_a_unit(unit: IntArray, numbers: FloatArray) -> bool:
    """Whether no unit has a number twice."""
    return not pd.DataFrame({"unit": unit, "number": numbers}).duplicated().any()
