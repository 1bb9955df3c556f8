"""Numbers and dates as a country writes them, as declared: no cell decides how another is read."""

from __future__ import annotations

import re
from typing import Any, Final

import pandas as pd

from pysynthdp.io.csv.form import Form
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["as_declared"]

_SWAPPED: Final = str.maketrans({",": ".", ".": ","})
_LOCAL: Final = re.compile(r"\s*(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?!\d)", re.ASCII)


def as_declared(frame: pd.DataFrame, schema: Schema | None, form: Form) -> pd.DataFrame:
    """Write the cells of number and date columns of a schema with points, and in ISO form.

    Parameters
    ----------
    frame : DataFrame
        Texts.
    schema : Schema, optional
        What says which columns hold numbers or dates; without it nothing changes.
    form : Form
        Its ``decimal`` and ``day_first``, as declared.

    Notes
    -----
    Privacy: each cell by itself. With a decimal comma a point is none: ``1.234`` is unreadable, not 1.234.
    """
    for column in schema or ():
        if column.name not in frame or not isinstance(column, NumericColumn):
            continue
        if column.unit == "number" and form.decimal == ",":
            frame[column.name] = frame[column.name].map(_pointed, na_action="ignore")
        if column.unit != "number" and form.day_first is not None:
            order = r"\3-\2-\1" if form.day_first else r"\3-\1-\2"
            frame[column.name] = frame[column.name].map(
                lambda cell, to=order: _iso(cell, to), na_action="ignore"
            )
    return frame


def _pointed(cell: Any) -> Any:
    """Swap comma and point."""
    return cell.translate(_SWAPPED)


def _iso(cell: Any, order: str) -> Any:
    """Put the year first, with two digits for month and day."""
    match = _LOCAL.match(cell)
    if match is None:
        return cell
    year, second, third = match.expand(order).split("-")
    return f"{year}-{int(second):02d}-{int(third):02d}{cell[match.end() :]}"
