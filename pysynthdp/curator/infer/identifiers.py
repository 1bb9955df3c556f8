"""Columns that name rows: identifiers and free text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.remarks import few
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.infer.column_names import named_as_time
from pysynthdp.curator.infer.written import strays_among, texts_of, written_as
from pysynthdp.schema import CategoricalColumn

__all__ = ["beyond_exact", "counts_rows", "identifier", "identifying_number", "not_all_numbers"]

_ROWS: Final = 30
_ROWS_WITH_GAPS: Final = 100
_YEARS: Final = (1500, 2100)
_OLDEST: Final = 130


def identifier(series: pd.Series[Any], name: str, exempt: bool) -> CategoricalColumn:
    """Refuse an identifier or free text, unless it is kept or numbered anew: then nothing is modelled."""
    if exempt:
        return CategoricalColumn(name, (), dtype=series.dtype, declared=False)
    texts = texts_of(series)
    written = written_as(texts, name)
    if strays := strays_among(texts):
        raise not_all_numbers(series, name, strays)
    if written is not None:
        raise SchemaError(
            Words("{column} {what}, most of it once", column=name, what=written.what),
            column=name,
            kind=written.kind,
            remedy=Words(
                "{remedy}, and {drop} leaves it out", remedy=written.remedy, drop=Setting("drop", [name])
            ),
        )
    raise SchemaError(
        Words("{column} looks like an identifier or free text: most of its values occur once", column=name),
        column=name,
        kind="identifier",
        remedy=_ways_out(name, "or declare its levels with {own}", own=Setting("levels", {name: [...]})),
    )


def not_all_numbers(series: pd.Series[Any], name: str, strays: Collection[str]) -> SchemaError:
    """Make the refusal of numbers with a few cells among them that are none."""
    rows = int(series.astype("string").str.strip().isin(list(strays)).sum())
    return SchemaError(
        Words("{column} holds numbers, but in {rows} rows something else", column=name, rows=few(rows)),
        column=name,
        kind="numbers as text",
        remedy=Words(
            "mend these cells, leave them empty, or leave the column out with {drop}",
            drop=Setting("drop", [name]),
        ),
    )


def identifying_number(series: pd.Series[Any], name: str, exempt: bool) -> CategoricalColumn:
    """Refuse numbers that count the rows, unless they are kept or numbered anew."""
    if exempt:
        return CategoricalColumn(name, (), dtype=series.dtype, declared=False)
    raise SchemaError(
        Words("{column} looks like an identifier: it counts the rows", column=name),
        column=name,
        kind="identifier",
        remedy=_ways_out(
            name,
            "or say that it is a quantity with {own}, or what its levels are with {levels}",
            own=Setting("method", {name: "normrank"}),
            levels=Setting("levels", {name: [...]}),
        ),
    )


def beyond_exact(name: str) -> SchemaError:
    """Make the refusal of whole numbers that float64 cannot tell apart."""
    return SchemaError(
        Words("{column} holds whole numbers beyond 2^53, which cannot be kept exact", column=name),
        column=name,
        kind="identifier",
        remedy=_ways_out(name, "or declare its levels with {own}", own=Setting("levels", {name: [...]})),
    )


def _ways_out(name: str, last: str, **parts: Setting) -> Words:
    """Name what leaves an identifier out, what numbers it anew, and what models it."""
    first = "leave it out with {drop}, number the rows anew with {serial}, "
    drop, serial = Setting("drop", [name]), Setting("method", {name: SERIAL})
    return Words(first + last, drop=drop, serial=serial, **parts)


def counts_rows(numbers: FloatArray, series: pd.Series[Any], name: str) -> bool:
    """Whether a column of a whole-number type counts the rows of its file.

    Parameters
    ----------
    numbers : array (rows,)
        Present values in row order, without codes and spikes.
    series : Series
        The column.
    name : str
        Its name: one that speaks of years, ages or time counts no rows.

    Notes
    -----
    Privacy: reads real values; the answer is learned from them.

    Thirty or more numbers count rows if each is one more than the one before it and they start at 0 or 1, or
    lie where neither years nor ages do; a hundred or more do if they rise throughout, most of them by one.
    Of 43,895 columns of 2,866 public tables that takes 144, some eight of them wrongly (counts, places).
    """
    if not pd.api.types.is_integer_dtype(series.dtype) or len(numbers) < _ROWS or named_as_time(name):
        return False
    steps = np.diff(numbers)
    if bool((steps == 1).all()):
        return numbers[0] in (0, 1) or not _may_be_years(numbers)
    return len(numbers) >= _ROWS_WITH_GAPS and bool((steps > 0).all()) and float(np.mean(steps == 1)) >= 0.5


def _may_be_years(numbers: FloatArray) -> bool:
    """Whether rising numbers may be years or ages."""
    low, high = numbers[0], numbers[-1]
    return bool((_YEARS[0] <= low and high <= _YEARS[1]) or (low >= 0 and high <= _OLDEST))
