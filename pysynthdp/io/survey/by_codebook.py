"""A table read by its codebook: cells that are codes, labels or missing kinds become what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import PysynthdpError, SchemaError, together
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import OTHER, Words
from pysynthdp.design.level_keys import level_key
from pysynthdp.design.tagged import holds_tags, letters_of, missing_of, tagged
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema
from pysynthdp.schema.labels import as_tag

__all__ = ["described", "of_kinds", "open_column"]

_BESIDE: Final = ("label", "measure", "width", "format", "source")


def of_kinds(book: Schema | None) -> list[str]:
    """List the number columns among whose cells a file may have the names of missing kinds."""
    columns = book or ()
    return [column.name for column in columns if isinstance(column, NumericColumn) and column.tags] + [
        column.name
        for column in columns
        if isinstance(column, CategoricalColumn) and column.tags and column.dtype == np.float64
    ]


def open_column(series: pd.Series[Any], name: str) -> Column:
    """Make a column of which nothing is said."""
    dtype = series.dtype
    plain = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    if plain or pd.api.types.is_datetime64_any_dtype(dtype):
        return NumericColumn(name, unit="number" if plain else "day", declared=False, dtype=dtype)
    shown = None if isinstance(dtype, pd.CategoricalDtype) else dtype
    return CategoricalColumn(name, (), declared=False, dtype=shown)


def described(
    frame: pd.DataFrame, schema: Schema, book: Schema, *, public: bool
) -> tuple[pd.DataFrame, Schema, tuple[Remark, ...]]:
    """Take what a codebook says of columns before what the file says, and turn their cells into that.

    Parameters
    ----------
    frame, schema : DataFrame and Schema
        As the file was read.
    book : Schema
        Of a codebook; columns that the frame lacks are left out.
    public : bool
        Whether no cell may decide anything, so that those that do not fit stay as they are.

    Raises
    ------
    SchemaError
        Of each column whose cells are not what the codebook says; no value is quoted.

    Notes
    -----
    Privacy: reads real rows.
    """
    cells, columns = {}, []
    faults: list[PysynthdpError] = []
    remarks: list[Remark] = []
    for said in schema:
        cells[said.name], column = frame[said.name], said
        if said.name in book:
            column = _joined(book[said.name], said)
            try:
                cells[said.name] = _cells(_as_stored(frame[said.name], said, column), column, public, remarks)
            except SchemaError as fault:
                faults.append(fault)
        columns.append(column)
    if faults:
        raise together(faults)
    return pd.DataFrame(cells, index=frame.index), Schema(tuple(columns)), tuple(remarks)


def _joined(own: Column, said: Column) -> Column:
    """Put what the file says beside what its codebook says, which counts first."""
    labels = own.labels
    if labels is None or said.labels is None:
        return replace(own, labels=labels or said.labels, missing=own.missing or _kinds_alike(own, said))
    silent = not (own.missing or labels.kinds)
    source = said.labels if silent else labels
    kinds, span = source.kinds, source.missing_range
    facts: dict[str, Any] = {name: getattr(labels, name) or getattr(said.labels, name) for name in _BESIDE}
    absent = {kind.code for kind in kinds}
    codes = tuple(pair for pair in labels.codes or said.labels.codes if pair[0] not in absent)
    joined = replace(labels, codes=codes, kinds=kinds, missing_range=span, **facts)
    return replace(own, labels=joined, missing=_kinds_alike(own, said) if silent else own.missing)


def _kinds_alike(own: Column, said: Column) -> Any:
    """Give the missing kinds of the file, where its codebook is silent and takes the column for the same."""
    return said.missing if type(own) is type(said) else ()


def _as_stored(series: pd.Series[Any], said: Column, column: Column) -> pd.Series[Any]:
    """Give the file's own codes again, where its codebook says what they mean.

    Raises
    ------
    SchemaError
        If the file has codes of missing values that the codebook does not list.
    """
    labels = said.labels
    if labels is None or column.labels is None or column.labels.kinds == labels.kinds:
        return series
    if isinstance(said, CategoricalColumn) and column.labels.codes and said.levels:
        return series.astype(object).map(labels.code_of(), na_action="ignore")
    coded = {kind.tag: kind.code for kind in labels.kinds if kind.code is not None}
    if not coded or not holds_tags(series):
        return series
    known = {kind.code for kind in column.labels.kinds} | {code for code, _ in column.missing}
    if set(coded.values()) - known:
        what = "codes of missing values that its codebook does not list"
        raise _unlike(column, what, "add them to its kinds, or leave kinds out")
    numbers = series.to_numpy().copy()
    for tag, code in coded.items():
        numbers[missing_of(series, str(tag))] = code
    return pd.Series(numbers, index=series.index)


def _cells(series: pd.Series[Any], column: Column, public: bool, remarks: list[Remark]) -> pd.Series[Any]:
    """Turn the cells of a column into what is declared."""
    if isinstance(column, NumericColumn) or (column.tags and column.dtype == np.float64):
        return _numbers(series, column, public)
    found = series.astype(object).where(series.notna(), None)
    named = _named(column)
    coded = {key for key, (_, is_code) in named.items() if is_code}
    keys = found.map(level_key, na_action="ignore")
    there = set(keys.dropna())
    if not public and there & coded and there & (named.keys() - coded):
        what = "it has codes and labels beside one another, and both are taken for the labels"
        remarks.append(Remark(column.name, "labels", what, "write one of both in the file"))
    made = keys.map({key: value for key, (value, _) in named.items()})
    unlisted = made.isna() & found.notna()
    if unlisted.any() and not public and column.levels:
        if column.other is None:
            mend = Words("add them, or declare {it}", it=OTHER)
            raise _unlike(column, "values that the codebook does not list", mend)
        made = made.where(~unlisted, column.other)
    cells = made.where(~unlisted | made.notna(), found)
    return cells.astype(object) if public else _as_type(cells, column)


def _named(column: CategoricalColumn) -> dict[Any, tuple[Any, bool]]:
    """Give each level, and each code with a label, the level that it means, and whether it is a code."""
    named = {level_key(value): (value, False) for value in (*column.levels, *column.specials)}
    texts = column.labels.texts() if column.labels else {}
    for code, text in texts.items():
        own = named.get(level_key(text), (None, False))[0]
        if own is None:
            continue
        if named.get(level_key(code), (own, False))[0] != own:
            raise _unlike(column, "a code that is also the label of another code", "rename that label")
        named.setdefault(level_key(code), (own, True))
    return named


def _as_type(cells: pd.Series[Any], column: CategoricalColumn) -> pd.Series[Any]:
    """Give categories, or the declared type."""
    if column.dtype is None or isinstance(column.dtype, pd.CategoricalDtype):
        whole = column.dtype or pd.CategoricalDtype([*column.levels, *column.specials], column.ordered)
        return cells.astype(whole) if column.levels else cells
    return cells.astype(column.dtype)


def _numbers(series: pd.Series[Any], column: Column, public: bool) -> pd.Series[Any]:
    """Turn cells into numbers, the names and codes of missing kinds into NaN with their letters."""
    if not column.tags:
        return _retyped(series, column, public)
    numbers, places = _read_kinds(series, column, public)
    kinds = column.labels.kinds if column.labels else ()
    codes = {kind.code: kind.tag for kind in kinds if kind.code is not None}
    for code, tag in codes.items():
        if tag in column.tags:
            places[numbers == code] = column.tags.index(tag)
    return pd.Series(np.where(places >= 0, tagged(column.tags)[places], numbers), index=series.index)


def _read_kinds(series: pd.Series[Any], column: Column, public: bool) -> tuple[Any, Any]:
    """Read numbers, and which kind each cell is of (-1: none)."""
    places = np.full(len(series), -1, dtype=np.int64)
    if pd.api.types.is_numeric_dtype(series.dtype):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        letters = letters_of(numbers) if holds_tags(series) else np.zeros(len(series), dtype=np.uint8)
        for at, tag in enumerate(column.tags):
            places[letters == ord(tag[1])] = at
        return numbers, places
    texts = series.astype(object)
    for at, tag in enumerate(column.tags):
        places[(texts.map(as_tag, na_action="ignore") == tag).to_numpy(dtype=np.bool_)] = at
    plain = texts.where(pd.Series(places < 0, index=series.index), None)
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64)
    stray = np.isnan(numbers) & plain.notna().to_numpy() & (plain != "").to_numpy()
    if not public and stray.any():
        raise _unlike(column, "cells that are neither numbers nor its missing kinds", "add the kinds")
    return numbers, places


def _retyped(series: pd.Series[Any], column: Column, public: bool) -> pd.Series[Any]:
    """Give cells the declared type, if they can have it."""
    if column.dtype is None or public or series.dtype == column.dtype:
        return series
    try:
        return series.astype(column.dtype)
    except (TypeError, ValueError, OverflowError):
        kind = Words("cells that are no {dtype}", dtype=column.dtype)
        raise _unlike(column, kind, "correct its type in the codebook") from None


def _unlike(column: Column, what: str, mend: str) -> SchemaError:
    """Say that a file does not hold what its codebook says."""
    words = Words("{name} holds {what}", name=column.name, what=what)
    return SchemaError(words, column=column.name, kind="codebook", remedy=mend)
