"""How programs without this package read a CSV copy, such that no text becomes anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Final

import numpy as np

from pysynthdp.io.csv.cells import WORDS
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["has_empty_text", "is_flag", "kinds_of_numbers", "pandas_call", "r_call"]

_FLAGS: Final = ("t", "f", "true", "false", "inf", "infinity", "-inf", "+inf")
_LIKE_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d|\.\d|0[xX])")


def pandas_call(file: str, schema: Schema, withheld: Collection[str] = (), *, dates: bool = True) -> str:
    """Write the call of ``pandas.read_csv``, without ``pandas.``.

    Parameters
    ----------
    file : str
        A file's name in quotes, or a variable.
    schema : Schema
        Of the copies.
    withheld : collection of str
        Columns whose levels are not published.
    dates : bool
        Whether days and times are read as such.

    Examples
    --------
    >>> pandas_call('"t.csv"', Schema([CategoricalColumn("plz", ["01067", "50667"])]))
    'read_csv("t.csv", dtype={"plz": str}, keep_default_na=False, na_values=[""])'
    """
    texts = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: str" for name in _texts(schema, withheld))
    timed = [column.name for column in schema if dates and _is_time(column)]
    parts = [
        file,
        *([f"dtype={{{texts}}}"] if texts else []),
        *([f"parse_dates={json.dumps(timed, ensure_ascii=False)}"] if timed else []),
        "keep_default_na=False",
        f"na_values={_absent(schema)}",
    ]
    return f"read_csv({', '.join(parts)})"


def r_call(file: str, schema: Schema, withheld: Collection[str] = (), *, dates: bool = True) -> str:
    """Write the call of ``read.csv``; parameters as of :func:`pandas_call`.

    Examples
    --------
    >>> r_call('"t.csv"', Schema([CategoricalColumn("plz", ["01067", "50667"])]))
    'read.csv("t.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8", \
colClasses = c("plz" = "character"))'
    """
    kinds = dict.fromkeys(_texts(schema, withheld), "character")
    kinds |= {
        column.name: "logical" for column in schema if is_flag(column)
    }  # true and false, as in the file
    kinds |= {column.name: "Date" for column in schema if dates and _is_day(column)}
    named = ", ".join(f'{json.dumps(name, ensure_ascii=False)} = "{kind}"' for name, kind in kinds.items())
    classes = f", colClasses = c({named})" if named else ""
    absent = ", ".join(f'"{word}"' for word in ("", *_kinds(schema)))
    absent = f"c({absent})" if _kinds(schema) else absent
    return f'read.csv({file}, check.names = FALSE, na.strings = {absent}, encoding = "UTF-8"{classes})'


def _absent(schema: Schema) -> str:
    """Write the words that mean a missing value to pandas."""
    return json.dumps(["", *_kinds(schema)])


def _kinds(schema: Schema) -> list[str]:
    """List the missing kinds of numbers, but for those that a text column has as its levels."""
    found = dict.fromkeys(tag for column in schema for tag in kinds_of_numbers(column))
    named = [column for column in schema if isinstance(column, CategoricalColumn)]
    levels = {level for column in named if not kinds_of_numbers(column) for level in column.levels}
    return [tag for tag in found if tag not in levels]


def kinds_of_numbers(column: Column) -> tuple[str, ...]:
    """List the missing kinds that a CSV has among the numbers of a column, such as ``.a``.

    Examples
    --------
    >>> kinds_of_numbers(NumericColumn("income", missing={".a": "refused", -8: "not asked"}))
    ('.a',)
    """
    return column.tags if isinstance(column, NumericColumn) or column.dtype == np.float64 else ()


def has_empty_text(schema: Schema) -> bool:
    """Whether a column has the empty text among its levels, which these calls take for missing."""
    return any(isinstance(column, CategoricalColumn) and "" in column.levels for column in schema)


def _texts(schema: Schema, withheld: Collection[str]) -> list[str]:
    """List text columns that a reader would take for something else."""
    named = [column for column in schema if isinstance(column, CategoricalColumn)]
    return [
        column.name
        for column in named
        if all(isinstance(level, str) for level in column.levels)
        and (column.name in withheld or any(map(_misleads, map(str, column.levels))))
    ]


def _misleads(level: str) -> bool:
    """Whether a text looks like a number, a flag or a missing value."""
    return bool(_LIKE_NUMBER.match(level)) or level.strip().lower() in _FLAGS or level in WORDS[1:]


def is_flag(column: object) -> bool:
    """Whether the copies hold flags here."""
    levels = column.levels if isinstance(column, CategoricalColumn) else ()
    return bool(levels) and all(isinstance(level, bool) for level in levels)


def _is_time(column: object) -> bool:
    """Whether the copies hold days or times here."""
    if not isinstance(column, NumericColumn) or column.unit == "number":
        return False
    return any(kind in str(column.dtype) for kind in ("date", "timestamp", "object"))


def _is_day(column: object) -> bool:
    """Whether the copies hold days here."""
    return isinstance(column, NumericColumn) and column.unit == "day" and _is_time(column)
