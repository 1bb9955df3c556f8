"""Missing kinds of numbers: NaN with a letter in its payload, the bits of haven's ``tagged_na()``.

pandas, numpy and R take every such cell for missing, so means and regressions are right. Here alone the
letters are read and written. While a column is modelled a kind is a number beyond all others, see
:func:`pysynthdp.schema.labels.sentinel`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema
from pysynthdp.schema.labels import TAGS, as_tag, sentinel

__all__ = [
    "absent_of",
    "holds_tags",
    "is_code",
    "letters_of",
    "missing_kinds",
    "missing_of",
    "tagged",
    "tagged_nan",
    "tags_in",
    "with_sentinels",
    "with_tags",
]

_NA: Final = np.uint64(0x7FF0_0000_0000_07A2)  # NA of R
_FIXED: Final = np.uint64(0x7FF7_FF00_FFFF_FFFF)  # all but the sign, what makes it quiet, and the letter
_AT: Final = np.uint64(32)  # bits below the letter
_BYTE: Final = np.uint64(0xFF)


def letters_of(numbers: AnyArray) -> npt.NDArray[np.uint8]:
    """Give the letter of each missing kind, as a byte; 0 for values and for plain missing ones.

    Examples
    --------
    >>> letters_of(np.array([1.0, np.nan, tagged_nan(".b")])).tolist()
    [0, 0, 98]
    """
    found = np.zeros(len(numbers), dtype=np.uint8)
    absent = np.flatnonzero(np.isnan(numbers))
    bits = np.ascontiguousarray(numbers[absent], dtype=np.float64).view(np.uint64)
    letters = ((bits >> _AT) & _BYTE).astype(np.uint8)
    found[absent] = np.where((bits & _FIXED) == _NA, letters, 0)
    return found


def tagged_nan(tag: str) -> float:
    """Give the NaN of a kind such as ``.a``."""
    return float(tagged([tag])[0])


def tagged(tags: Iterable[str]) -> FloatArray:
    """Give the NaN of each of several kinds; write them by arrays, where no bit is lost."""
    bits = np.array([ord(tag[1]) for tag in tags], dtype=np.uint64)
    return ((bits << _AT) | _NA).view(np.float64)


def tags_in(numbers: AnyArray) -> tuple[str, ...]:
    """List the kinds that are there, ``.a`` first.

    Notes
    -----
    Privacy: reads cells.
    """
    there = {f".{chr(letter)}".lower() for letter in np.unique(letters_of(numbers)) if letter}
    return tuple(tag for tag in TAGS if tag in there)


def holds_tags(series: pd.Series[Any]) -> bool:
    """Whether a column's type can hold missing kinds."""
    return bool(series.dtype == np.float64)


def with_sentinels(numbers: FloatArray, tags: Collection[str]) -> FloatArray:
    """Write kinds as the numbers that stand for them; other kinds stay missing. A copy where any are."""
    letters = letters_of(numbers) if tags else np.zeros(0, dtype=np.uint8)
    if not letters.any():
        return numbers
    made = numbers.copy()
    for tag in tags:
        made[_is(letters, tag)] = sentinel(tag)
    return made


def with_tags(numbers: FloatArray, tags: Collection[str]) -> FloatArray:
    """Write the numbers that stand for kinds as missing ones, in place."""
    for tag in tags:
        numbers.view(np.uint64)[numbers == sentinel(tag)] = tagged([tag]).view(np.uint64)[0]
    return numbers


def missing_of(series: pd.Series[Any], tag: str) -> BoolArray:
    """Mark the cells of one kind."""
    if not holds_tags(series):
        return np.zeros(len(series), dtype=np.bool_)
    return _is(letters_of(series.to_numpy()), tag)


def _is(letters: npt.NDArray[np.uint8], tag: str) -> BoolArray:
    """Mark a letter, small or capital."""
    return np.isin(letters, [ord(tag[1]), ord(tag[1].upper())])


def absent_of(series: pd.Series[Any], codes: Collection[Any]) -> pd.Series[Any]:
    """Mark the cells that are missing for none of the declared kinds."""
    absent = series.isna()
    for tag in filter(None, map(as_tag, codes)) if holds_tags(series) else ():
        absent &= ~missing_of(series, tag)
    return absent


def missing_kinds(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Say of every cell for which declared reason it has no value.

    Parameters
    ----------
    frame : DataFrame
        A table.
    schema : Schema
        That declares ``missing`` codes or kinds of its columns.

    Returns
    -------
    DataFrame
        Of categories, the labels of the reasons, for the columns that have any; NaN where there is a value,
        or where it is missing for no declared reason.

    Notes
    -----
    Privacy: as the frame.

    Examples
    --------
    >>> column = NumericColumn("income", missing={".a": "refused"})
    >>> frame = pd.DataFrame({"income": np.append([1.0, np.nan], tagged([".a"]))})
    >>> missing_kinds(frame, Schema([column]))["income"].tolist()
    [nan, nan, 'refused']
    """
    named = [column for column in schema if column.missing and column.name in frame.columns]
    return pd.DataFrame(
        {column.name: _kinds(frame[column.name], column) for column in named}, index=frame.index
    )


def _kinds(series: pd.Series[Any], column: Column) -> pd.Series[Any]:
    """Give the reasons of one column as categories."""
    codes = np.full(len(series), -1, dtype=np.int64)
    labels = list(dict.fromkeys(label for _, label in column.missing))
    for code, label in column.missing:
        codes[is_code(series, column, code)] = labels.index(label)
    categories = pd.CategoricalDtype(labels)
    return pd.Series(pd.Categorical.from_codes(codes, dtype=categories), index=series.index)


def is_code(series: pd.Series[Any], column: NumericColumn | CategoricalColumn, code: Any) -> BoolArray:
    """Mark the cells that hold a declared code or kind."""
    if holds_tags(series) and code in column.tags:
        return missing_of(series, code)
    return np.asarray((series == code).fillna(False), dtype=np.bool_)
