"""Columns of labelled files as haven gives them to R, and back: codes, labels, kinds of missing values.

A category becomes the code that the file has for it, a missing kind of SPSS the code that its file declares
missing, one of Stata or SAS a tagged NA. The same columns read from R are categories and tags again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, RValue, RVector, character
from pysynthdp.bridge.codec.wire import Kind as RKind
from pysynthdp.bridge.frames import frame_from_r, frame_to_r
from pysynthdp.design.tagged import letters_of, tagged
from pysynthdp.design.values import from_codes
from pysynthdp.io.survey.coding import Absent, Cells, Coding, cells_of, codings
from pysynthdp.schema import CategoricalColumn, Column, Schema
from pysynthdp.schema.labels import Labels

__all__ = ["has_codes", "labelled_from_r", "labelled_to_r"]

_DAY: Final = 86_400.0
_SMALL: Final = 4  # bytes of R's integers
_USUAL: Final = 8  # columns in which SPSS shows a number where nobody says otherwise; haven leaves it out


def labelled_to_r(frame: pd.DataFrame, schema: Schema, *, factors: bool = False) -> RVector:
    """Turn a pandas frame into an R data frame whose labelled columns are as haven reads them.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    schema : Schema
        What is said of the columns.
    factors : bool
        Whether categories that are labels of codes become factors.

    Returns
    -------
    RVector
        A list of class ``data.frame``; columns without labels are as :func:`frame_to_r` gives them.

    Notes
    -----
    Privacy: every value of the frame is passed on, and all labels.
    """
    plain = frame_to_r(frame)
    items = (
        _column(frame[name], schema[name], item, factors=factors) if _is_said(name, schema) else item
        for name, item in zip(frame.columns, plain.items, strict=True)
    )
    return replace(plain, values=tuple(items))


def labelled_from_r(value: RVector, schema: Schema) -> pd.DataFrame:
    """Turn what :func:`labelled_to_r` made into the pandas frame that it was made of."""
    frame = frame_from_r(value).frame
    for name, item in zip(frame.columns, value.items, strict=True):
        if isinstance(item, RVector) and _is_said(name, schema):
            frame[name] = _cells(frame[name], item, schema[name])
    return frame


def has_codes(column: Column) -> bool:
    """Whether the categories of a column are labels of codes, which R's column then holds."""
    categories = isinstance(column, CategoricalColumn) and isinstance(column.dtype, pd.CategoricalDtype)
    return categories and column.labels is not None and bool(column.labels.codes)


def _is_said(name: str, schema: Schema) -> bool:
    """Whether a file said something of a column."""
    return name in schema and schema[name].labels not in (None, Labels())


def _column(series: pd.Series[Any], column: Column, plain: RValue, *, factors: bool) -> RValue:
    """Give a column as haven reads it."""
    (coding,) = codings(series.to_frame(), Schema([column]))
    if not isinstance(plain, RVector):
        return plain
    levels = coding.form in ("coded", "coded text") and (factors or not has_codes(column))
    if levels or coding.form in ("flag", "duration"):
        return replace(plain, attributes={**_said(coding.labels), **plain.attributes})
    cells = cells_of(coding, series)
    if coding.form in ("day", "time"):
        return _of_times(coding, cells)
    values = _texts(coding, cells) if coding.texts else _numbers(coding, cells)
    kind: RKind = "character" if coding.texts else "double"
    size = getattr(series.dtype, "itemsize", 0)
    if pd.api.types.is_integer_dtype(series.dtype) and size == _SMALL:
        kind, values = "integer", np.where(np.isnan(values), NA_INTEGER, values).astype(np.int32)
    return RVector(kind, values, _attributes(coding, kind))


def _numbers(coding: Coding, cells: Cells) -> FloatArray:
    """Put each kind's code, or its tagged NA, where a value is missing."""
    values = np.where(np.isnan(cells.held), NA_REAL, cells.held)
    if not coding.absent:
        return np.asarray(values)
    signs = np.array([NA_REAL if each.kind.code is None else float(each.kind.code) for each in coding.absent])
    tags = [each.kind.code is None and each.kind.tag is not None for each in coding.absent]
    signs[tags] = tagged(each.kind.tag or "" for each, own in zip(coding.absent, tags, strict=True) if own)
    there = cells.kinds >= 0
    values[there] = signs[cells.kinds[there]]
    return values


def _texts(coding: Coding, cells: Cells) -> AnyArray:
    """Put each kind's code where a text is missing, and NA for no reason."""
    values = cells.held.astype(object)
    values[(values == "") & (cells.kinds < 0)] = None
    for at, each in enumerate(coding.absent):
        values[cells.kinds == at] = None if each.kind.code is None else str(each.kind.code)
    return values


def _of_times(coding: Coding, cells: Cells) -> RVector:
    """Give a Date, or an instant in UTC, with tagged NAs."""
    days = coding.form == "day"
    values = _numbers(coding, Cells(cells.held / (_DAY if days else 1.0), cells.kinds))
    own = {"class": character(["Date"])}
    if not days:
        own = {"class": character(["POSIXct", "POSIXt"]), "tzone": character(["UTC"])}
    return RVector("double", values, {**_said(coding.labels), **own})


def _said(labels: Labels) -> dict[str, RValue]:
    """Give the label and the format of a column."""
    found: dict[str, RValue] = {"label": character([labels.label])} if labels.label else {}
    if labels.format and labels.source:
        found[f"format.{labels.source}"] = character([labels.format])
    form = labels.format or ""
    texts = form[1:].isdigit() and form.startswith("A")  # of which the width in bytes is known alone
    if labels.source == "spss" and form and not texts and labels.width not in (None, _USUAL):
        found["display_width"] = RVector("integer", np.array([labels.width], dtype=np.int32))
    return found


def _attributes(coding: Coding, kind: RKind) -> dict[str, RValue]:
    """Give haven's attributes in haven's order."""
    labels = coding.labels
    own, said, span = list(_named(coding)), _said(labels), labels.missing_range
    codes = [each.kind.code for each in coding.absent if each.kind.code is not None]
    if not own and span is None and not codes:
        return said
    alone = [code for code in codes if span is None or not (span[0] <= code <= span[1])]
    found: dict[str, RValue] = {"label": said["label"]} if "label" in said else {}
    if alone:
        found["na_values"] = _vector(kind, alone)
    if span is not None:
        found["na_range"] = RVector("double", np.array(span, dtype=np.float64))
    classes = {"class": character(["haven_labelled", "vctrs_vctr", kind])}
    if codes or span is not None:
        classes = {"class": character(["haven_labelled_spss", "haven_labelled", "vctrs_vctr", kind])}
        found |= {**classes, **said}
    found |= {**said, **classes}
    if own:
        held = _vector(kind, [code for code, _ in own])
        found["labels"] = replace(held, attributes={"names": character([text for _, text in own])})
    return found


def _named(coding: Coding) -> Iterator[tuple[Any, str]]:
    """Give codes with their labels: of values, then of missing kinds, a tag for one that has no code."""
    yield from coding.value_labels()
    for each in coding.absent:
        if each.kind.label and (each.kind.code is not None or each.kind.tag is not None):
            yield (each.kind.tag if each.kind.code is None else each.kind.code), each.kind.label


def _vector(kind: RKind, codes: list[Any]) -> RVector:
    """Make a vector of codes, of the type of its column."""
    if kind == "character":
        return character([str(code) for code in codes])
    letters = [isinstance(code, str) for code in codes]
    numbers = np.array(
        [np.nan if letter else float(code) for code, letter in zip(codes, letters, strict=True)]
    )
    if kind == "integer":
        return RVector("integer", numbers.astype(np.int32))
    numbers[letters] = tagged(code for code, letter in zip(codes, letters, strict=True) if letter)
    return RVector("double", numbers)


def _cells(series: pd.Series[Any], item: RVector, column: Column) -> pd.Series[Any]:
    """Give the cells of one column as the schema has them."""
    if has_codes(column) and "factor" not in item.classes and isinstance(column, CategoricalColumn):
        return _categories(item, column).set_axis(series.index)
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return series if column.dtype is None else _without_zone(series).astype(column.dtype)
    if not pd.api.types.is_numeric_dtype(series.dtype):
        return series
    (coding,) = codings(series.to_frame(), Schema([column]))
    codes = {each.kind.code: each for each in coding.absent if each.kind.code is not None}
    values = series.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    for code, each in codes.items():
        if isinstance(each.value, str):
            values[values == float(code)] = tagged([each.value])[0]
    back = pd.Series(values, index=series.index)
    whole = column.dtype is not None and pd.api.types.is_integer_dtype(column.dtype)
    return back.astype(column.dtype) if whole else back


def _without_zone(series: pd.Series[Any]) -> pd.Series[Any]:
    """Take the zone off instants in UTC."""
    return series if series.dt.tz is None else series.dt.tz_convert("UTC").dt.tz_localize(None)


def _categories(item: RVector, column: CategoricalColumn) -> pd.Series[Any]:
    """Look the category of each code up."""
    empty = from_codes(np.zeros(0, dtype=np.int64), column)
    (coding,) = codings(empty.to_frame(column.name), Schema([column]))
    places = {level: at for at, level in enumerate((*column.levels, *column.specials))}
    table = {code: places[level] for level, code, _ in coding.codes if level in places}
    table |= {key: places[each.value] for each in coding.absent if (key := _key(each)) is not None
              and each.value in places}  # fmt: skip
    if item.kind == "character":
        found = [table.get(text, -1) for text in item.texts]
    else:
        numbers = (
            np.where(item.array == NA_INTEGER, np.nan, item.array) if item.kind == "integer" else item.array
        )
        letters = letters_of(np.asarray(numbers, dtype=np.float64))
        keys = (f".{chr(letter)}" if letter else number
                for letter, number in zip(letters.tolist(), numbers.tolist(), strict=True))  # fmt: skip
        found = [table.get(key, -1) for key in keys]
    return from_codes(np.array(found, dtype=np.int64), column)


def _key(absent: Absent) -> Any:
    """Say how R holds a missing kind: by its code, else by its tag."""
    return absent.kind.tag if absent.kind.code is None else absent.kind.code
