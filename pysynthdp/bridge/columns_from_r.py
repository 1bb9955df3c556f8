"""One column of an R data frame -> one pandas array and the facts that pandas cannot hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, IntArray
from pysynthdp.base.errors import BridgeError, PysynthdpWarning
from pysynthdp.base.words import Setting, Words
from pysynthdp.bridge import times
from pysynthdp.bridge.cells import cell_from_r
from pysynthdp.bridge.codec import NA_INTEGER, RValue, RVector
from pysynthdp.bridge.facts import ColumnFacts, Meaning

__all__ = ["checked_column", "column_from_r", "is_a_list", "text_index"]

_TEXT: Final[Any] = pd.Series([], dtype="str").dtype  # object before pandas 3
_NA_INTEGER64: Final = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class RColumn:
    """The values of a column as pandas takes them, and its facts."""

    cells: Any
    facts: ColumnFacts


def column_from_r(value: RValue, name: str) -> RColumn:
    """Give a column's values and facts; what pandas would round stays as R's plain numbers."""
    vector = checked_column(value, name)
    attributes = {key: item for key, item in vector.attributes.items() if key not in ("names", "levels")}
    if "names" in vector.attributes:
        text = f"column {name!r} has names on its values; they are dropped (row names are kept)"
        warnings.warn(text, PysynthdpWarning, stacklevel=3)
    if "factor" in vector.classes and vector.kind == "integer":
        return _factor(vector, name, attributes)
    for label, meaning, kinds, convert in _CLASSES:
        if label in vector.classes and vector.kind in kinds:
            values = convert(vector)
            if values is not None:
                return RColumn(values, ColumnFacts(vector.kind, meaning, attributes))
    if "levels" in vector.attributes:
        attributes["levels"] = vector.attributes["levels"]
    meaning = "list" if vector.kind == "list" else "plain"
    return RColumn(_PLAIN[vector.kind](vector), ColumnFacts(vector.kind, meaning, attributes))


def about_column(name: str, what: str, remedy: str) -> BridgeError:
    """Make the error of a column that cannot cross."""
    words = Words("column '{name}' {what}", name=name, what=what)
    return BridgeError(words, column=name, kind="type", remedy=remedy)


def is_a_list(name: str) -> BridgeError:
    """Make the error of a list column: its cells can be anything, functions and environments too."""
    remedy = Words("make plain columns of it, or {drop}", drop=Setting("drop", [name]))
    return about_column(name, "is a list, whose cells can be anything", remedy)


def checked_column(value: RValue, name: str) -> RVector:
    """Refuse what is no column of one value a row."""
    if not isinstance(value, RVector) or value.kind == "expression":
        what = "functions, calls or environments" if value is not None else "nothing"
        raise about_column(name, f"holds {what}", "drop it in R before sending")
    if "data.frame" in value.classes or "dim" in value.attributes:
        raise about_column(name, "is itself a table or matrix", "split it into single columns in R")
    if "POSIXlt" in value.classes:
        raise about_column(name, "is of class POSIXlt", "convert it in R with as.POSIXct()")
    if value.s4:
        raise about_column(name, "is an S4 object", "convert it in R to a plain vector")
    return value


def _factor(vector: RVector, name: str, attributes: Mapping[str, RValue]) -> RColumn:
    """Give a factor as a categorical; an NA level becomes missing, or a category beside missing codes."""
    stored = vector.attributes.get("levels")
    levels = list(stored.texts) if isinstance(stored, RVector) else []
    missing = vector.array == NA_INTEGER
    codes = np.where(missing, -1, vector.array.astype(np.int64) - 1)
    if (vector.array[~missing] < 1).any() or (codes >= len(levels)).any() or len(set(levels)) < len(levels):
        raise about_column(name, "is a damaged factor", "rebuild it in R: factor(as.character(x))")
    na_level = levels.index(None) if None in levels else None
    na_label = None
    if na_level is not None and missing.any():
        na_label = _unlike(levels)
        levels[na_level] = na_label
    elif na_level is not None:
        codes = _without_level(codes, na_level)
        del levels[na_level]
    categories = text_index(levels)
    values = pd.Categorical.from_codes(codes, categories=categories, ordered="ordered" in vector.classes)
    return RColumn(values, ColumnFacts("integer", "factor", attributes, na_level, na_label))


def _unlike(levels: list[str | None]) -> str:
    """Give a name for the NA level that no other level has."""
    label = "NA"
    while label in levels:
        label += "_"
    return label


def _without_level(codes: IntArray, level: int) -> IntArray:
    """Renumber codes after one level has become missing."""
    return np.where(codes == level, -1, codes - (codes > level))


def _datetimes(vector: RVector) -> pd.DatetimeIndex | None:
    """Give instants in the zone in which R shows them."""
    stamps = times.seconds_to_stamps(vector)
    if stamps is None:
        return None
    return pd.DatetimeIndex(stamps).tz_localize("UTC").tz_convert(times.zone_of(vector.attributes))


def _integers64(vector: RVector) -> Any:
    """Give bit64's integers, which lie in the bits of doubles."""
    return _masked(vector.array.view(np.int64), _NA_INTEGER64)


def _masked(values: AnyArray, na: int) -> Any:
    """Give integers as they are, or with a mask where some are missing."""
    missing = values == na
    if not missing.any():
        return values
    return pd.arrays.IntegerArray(np.where(missing, 0, values).astype(values.dtype), missing)


def _logical(vector: RVector) -> Any:
    """Give truth values, with a mask where some are missing."""
    missing = vector.array == NA_INTEGER
    held = (vector.array != 0) & ~missing
    return pd.arrays.BooleanArray(held, missing) if missing.any() else held


def _text_array(values: AnyArray) -> Any:
    """Give texts in pandas' text type, or as objects where one of them is no Unicode."""
    try:
        return pd.array(values, dtype=_TEXT)
    except UnicodeEncodeError:
        return values


def text_index(texts: Sequence[str | None]) -> pd.Index[Any]:
    """Give texts as an index of pandas' text type, or of objects where one of them is no Unicode."""
    values = np.array(texts, dtype=object)
    held = _text_array(values)
    index: pd.Index[Any] = pd.Index(held, dtype=object if held is values else held.dtype)
    return index


def _cells(vector: RVector) -> AnyArray:
    """Give the elements of a list column as objects."""
    cells = np.empty(len(vector), dtype=object)
    cells[:] = [cell_from_r(item) for item in vector.items]
    return cells


_NUMBERS: Final = ("double", "integer")
_CLASSES: Final[tuple[tuple[str, Meaning, tuple[str, ...], Callable[[RVector], Any]], ...]] = (
    ("Date", "date", _NUMBERS, times.days_to_dates),
    ("POSIXct", "datetime", _NUMBERS, _datetimes),
    ("difftime", "difftime", _NUMBERS, times.lengths_to_spans),
    ("integer64", "integer64", ("double",), _integers64),
)
_PLAIN: Final[dict[str, Callable[[RVector], Any]]] = {
    "logical": _logical,
    "integer": lambda vector: _masked(vector.array, NA_INTEGER),
    "double": lambda vector: vector.array,
    "complex": lambda vector: vector.array,
    "raw": lambda vector: vector.array,
    "character": lambda vector: _text_array(vector.array),
    "list": _cells,
}
