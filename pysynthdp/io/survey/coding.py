"""How a column of copies becomes numbers or texts with labels, as programs for surveys hold them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.design.tagged import letters_of
from pysynthdp.schema import Column, NumericColumn, Schema
from pysynthdp.schema.labels import Kind, Labels, as_tag

__all__ = ["Absent", "Cells", "Coding", "Form", "cells_of", "codings"]

Form: TypeAlias = Literal["number", "flag", "day", "time", "duration", "text", "coded", "coded text"]
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_UNITS: Final = {"day": 86_400.0, "hour": 3_600.0, "minute": 60.0, "second": 1.0, "number": 1.0}


@dataclass(frozen=True, slots=True)
class Absent:
    """One reason for which values are missing, as the copies hold it.

    Parameters
    ----------
    value : Any
        What the copies have: a level, a number, or the name ``.a`` of a tagged NaN.
    kind : Kind
        What the file of the table called it.
    """

    value: Any
    kind: Kind


@dataclass(frozen=True, slots=True)
class Coding:
    """How one column is written.

    Parameters
    ----------
    name : str
        Of the column.
    form : str
        What its values become: numbers, seconds, days, texts, or codes of levels.
    labels : Labels
        What is said of it.
    codes : tuple of (level, code, label)
        Of levels that are coded.
    absent : tuple of Absent
        Reasons for which values are missing.
    decimals : int or None
        Digits after the point; None where any may be.
    ordered : bool
        Whether the levels are.
    unit : str
        In which the schema counts days and times.
    """

    name: str
    form: Form
    labels: Labels
    codes: tuple[tuple[Any, Any, str], ...] = ()
    absent: tuple[Absent, ...] = ()
    decimals: int | None = None
    ordered: bool = False
    unit: str = "number"

    @property
    def texts(self) -> bool:
        """Whether the file holds texts."""
        return self.form in ("text", "coded text")

    def recoded(self) -> Coding:
        """Give the levels the codes 1, 2, ..., for a format that cannot hold their own."""
        codes = tuple((level, at, label) for at, (level, _, label) in enumerate(self.codes, start=1))
        return Coding(
            self.name, "coded", self.labels, codes, self.absent, ordered=self.ordered, unit=self.unit
        )

    def value_labels(self) -> tuple[tuple[Any, str], ...]:
        """Give what codes of values mean, unused ones too."""
        if self.codes:
            return tuple((code, label) for _, code, label in self.codes if label)
        kinds = {each.kind.code for each in self.absent}
        return tuple((code, label) for code, label in self.labels.codes if code not in kinds)


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one column of a copy.

    Parameters
    ----------
    held : ndarray, shape (n,)
        Numbers, NaN where missing; or texts, empty where missing.
    kinds : ndarray of int, shape (n,)
        Position of the reason among ``coding.absent``; -1 for a value, or one that is missing without any.
    gaps, empty : bool
        Whether a text is missing for no reason, and whether one is there and empty.
    """

    held: AnyArray
    kinds: IntArray
    gaps: bool = False
    empty: bool = False


def codings(frame: pd.DataFrame, schema: Schema, *, texts: Collection[str] = ()) -> tuple[Coding, ...]:
    """Say how the columns of copies are written, by their types and the schema alone.

    Parameters
    ----------
    frame : DataFrame
        A copy.
    schema : Schema
        Of the copies.
    texts : collection of str
        Categorical columns whose levels are written as texts, such as running numbers.

    Notes
    -----
    Privacy: looks at no cell but the first of a column of Python objects.
    """
    return tuple(
        Coding(str(name), "text", schema[name].labels or Labels())
        if name in texts
        else _coding(frame[name], schema[name] if name in schema else NumericColumn(str(name)))
        for name in frame.columns
    )


def _coding(series: pd.Series[Any], column: Column) -> Coding:
    """Say how one column is written."""
    labels = column.labels or Labels()
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _of_levels(series.dtype, column, labels)
    form = _form(series, column)
    shared: dict[str, Any] = {"absent": tuple(_absent(column, labels)), "decimals": _decimals(series, column)}
    return Coding(column.name, form, labels, **shared, unit=getattr(column, "unit", "number"))


def _form(series: pd.Series[Any], column: Column) -> Form:
    """Say what values of a type become."""
    of, dtype = pd.api.types, series.dtype
    dated = isinstance(column, NumericColumn) and column.unit != "number"
    if of.is_bool_dtype(dtype):
        return "flag"
    if of.is_timedelta64_dtype(dtype):
        return "duration"
    if of.is_numeric_dtype(dtype) and not dated:
        return "number"
    if of.is_datetime64_any_dtype(dtype) or dated:
        return "day" if isinstance(column, NumericColumn) and column.unit == "day" else "time"
    return "text"


def _decimals(series: pd.Series[Any], column: Column) -> int | None:
    """Count the digits after the point that values may have."""
    if pd.api.types.is_integer_dtype(series.dtype) or pd.api.types.is_bool_dtype(series.dtype):
        return 0
    declared = column.decimals if isinstance(column, NumericColumn) else None
    return None if declared is None else max(declared, 0)


def _absent(column: Column, labels: Labels) -> Iterator[Absent]:
    """Give the reasons for which values are missing, those of the file too that nothing declares."""
    known = {key: kind for kind in labels.kinds for key in (kind.tag, kind.code) if key is not None}
    said: set[Kind] = set()
    for code, label in column.missing:
        kind = known.get(code)
        if kind is None:
            kind = next((one for one in labels.kinds if one.label and one.label == str(code)), None)
        if kind is None:
            tag = as_tag(code)
            kind = Kind(tag, None if tag else code, str(label))
        said.add(kind)
        yield Absent(code, kind)
    if isinstance(column, NumericColumn):
        yield from (Absent(kind.tag or kind.code, kind) for kind in labels.kinds if kind not in said)


def _of_levels(dtype: pd.CategoricalDtype, column: Column, labels: Labels) -> Coding:
    """Say how a categorical column is written: by the codes of its file, by its numbers, or from 1 on."""
    named = labels.code_of()
    kinds = {kind.own: kind for kind in labels.kinds}
    absent = []
    for value, label in column.missing:
        kind = kinds.get(named.get(str(value)))
        absent.append(Absent(value, kind or Kind(None, None, str(label))))
    held = {each.value for each in absent}
    levels = [level for level in dtype.categories.tolist() if level not in held]
    codes = tuple(_coded(levels, dict(labels.codes), named))
    texts = bool(codes) and all(isinstance(code, str) for _, code, _ in codes)
    unused = [kind for kind in labels.kinds if kind not in {each.kind for each in absent}]
    absent += [Absent(None, kind) for kind in unused]
    ordered = bool(dtype.ordered)
    form: Form = "coded text" if texts else "coded"
    return Coding(column.name, form, labels, codes, tuple(absent), 0, ordered)


def _coded(
    levels: list[Any], texts: Mapping[Any, str], named: Mapping[str, Any]
) -> Iterator[tuple[Any, Any, str]]:
    """Give level, code and label of each level."""
    plain = [isinstance(level, Real) and not isinstance(level, bool | np.bool_) for level in levels]
    if not texts and levels and all(plain):
        yield from ((level, float(level), "") for level in levels)
        return
    own = [named.get(str(level)) for level in levels]
    alike = {type(code) is str for code in own if code is not None}
    if len(alike) != 1 or (alike == {True} and None in own):
        yield from ((level, at, str(level)) for at, level in enumerate(levels, start=1))
        return
    free = 1 + max(
        (math.floor(float(code)) for code in own if code is not None and not alike & {True}), default=0
    )
    for level, code in zip(levels, own, strict=True):
        if code is None:
            yield level, free, str(level)
            free += 1
        else:
            yield level, code, texts.get(code, str(level))


def cells_of(coding: Coding, series: pd.Series[Any]) -> Cells:
    """Turn the cells of a column into numbers or texts, and say why values are missing."""
    if coding.form in ("coded", "coded text"):
        return _of_categories(coding, series)
    if coding.form == "text":
        return _of_texts(coding, series)
    values = _numbers(coding, series)
    timed = coding.form in ("day", "time")
    unit = _UNITS[coding.unit] if timed else 1.0
    counts = timed and pd.api.types.is_numeric_dtype(series.dtype)  # in the unit, not in seconds
    held, kinds = _without_kinds(coding, values, 1.0 if counts else unit)
    return Cells(held * unit if counts else held, kinds)


def _of_categories(coding: Coding, series: pd.Series[Any]) -> Cells:
    """Look codes up by category."""
    places = series.cat.codes.to_numpy()
    categories = series.cat.categories.tolist()
    codes = {level: code for level, code, _ in coding.codes}
    reasons = {each.value: at for at, each in enumerate(coding.absent) if each.value is not None}
    fill: Any = "" if coding.texts else math.nan
    table = [codes.get(level, fill) for level in categories] + [fill]
    kinds = np.array([reasons.get(level, -1) for level in categories] + [-1], dtype=np.int64)
    values = np.array(table, dtype=object if coding.texts else np.float64)[places]
    gaps = bool((places < 0).any())
    return Cells(values, kinds[places], gaps)


def _of_texts(coding: Coding, series: pd.Series[Any]) -> Cells:
    """Write every value as a text; a missing one is empty."""
    missing = series.isna().to_numpy()
    values = series.astype(object).where(~missing, "").map(str).to_numpy(dtype=object, copy=True)
    kinds = np.full(len(values), -1, dtype=np.int64)
    for at, each in enumerate(coding.absent):
        kinds[(values == str(each.value)) & ~missing] = at
    empty = bool((values[~missing] == "").any())
    values[kinds >= 0] = ""
    return Cells(values, kinds, bool(missing.any()), empty)


def _numbers(coding: Coding, series: pd.Series[Any]) -> FloatArray:
    """Give numbers: of times the seconds since 1970, of durations the seconds."""
    if coding.form in ("day", "time") and not pd.api.types.is_numeric_dtype(series.dtype):
        return _seconds(series)
    if coding.form == "duration":
        return np.asarray(series.dt.total_seconds(), dtype=np.float64)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiub":
        return np.array(series.to_numpy(), dtype=np.float64)  # bits of a NaN too
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=math.nan), dtype=np.float64).copy()


def _seconds(series: pd.Series[Any]) -> FloatArray:
    """Count seconds since 1970 in UTC."""
    times = series
    if not pd.api.types.is_datetime64_any_dtype(times.dtype):
        times = pd.Series(pd.array(series.to_numpy(dtype="datetime64[us]"), dtype="datetime64[us]"))
    if times.dt.tz is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    plain = times.to_numpy(dtype=None if isinstance(times.dtype, np.dtype) else "datetime64[us]")
    per = _PER_SECOND[np.datetime_data(plain.dtype)[0]]
    counted = plain.astype(np.int64)
    whole, part = counted // per, counted % per
    return np.where(np.isnat(plain), math.nan, whole + part / per)


def _without_kinds(coding: Coding, values: FloatArray, unit: float) -> tuple[FloatArray, IntArray]:
    """Take codes and tags out of numbers, and say which there were."""
    kinds = np.full(len(values), -1, dtype=np.int64)
    letters = letters_of(values)
    for at, each in enumerate(coding.absent):
        tag = as_tag(each.value)
        if tag is not None:
            kinds[np.isin(letters, [ord(tag[1]), ord(tag[1].upper())])] = at
        elif isinstance(each.value, Real):
            kinds[values == float(each.value) * unit] = at
    values = np.where(kinds >= 0, math.nan, values)
    values[np.isnan(values)] = math.nan  # tags that nothing declares
    return values, kinds
