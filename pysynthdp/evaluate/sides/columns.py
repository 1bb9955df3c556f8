"""One column of either side as numbers and kinds, or as levels, whatever type a file gave it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.design.tagged import holds_tags, with_sentinels
from pysynthdp.design.values import TICKS, is_dated, microseconds
from pysynthdp.schema import Column, NumericColumn
from pysynthdp.schema.labels import as_tag, sentinel

__all__ = ["Facts", "facts_of", "levels_of", "numbers_of", "text_of", "with_dates"]

MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a column is on both sides.

    Parameters
    ----------
    name : str
        Of the column.
    numeric : bool
        Whether it holds numbers, dates or durations.
    unit : str
        In which dates and durations are counted; ``"number"`` for numbers.
    codes : tuple of (float, str)
        Numbers that are no values, or that stand for kinds such as ``.a``, and what they mean.
    levels : tuple of str
        Of a column of levels, as texts: those of the confidential table, in its order.
    ordered : bool
        Whether their order means something.
    dated : {"M", "m", ""}
        Whether numbers stand for points in time, counted from 1970-01-01, for durations, or for themselves.
    """

    name: str
    numeric: bool
    unit: str = "number"
    codes: tuple[tuple[float, str], ...] = ()
    levels: tuple[str, ...] = ()
    ordered: bool = False
    dated: str = ""

    def shown(self, value: float) -> str:
        """Write a number as a reader knows it: a point in time as a date, a duration with its unit.

        Examples
        --------
        >>> Facts("born", True, unit="day", dated="M").shown(5598.4), Facts("age", True).shown(41.5)
        ('1985-04-30', '41.5')
        """
        if self.dated != "M":
            return f"{value:g} {self.unit}s" if self.dated else f"{value:g}"
        try:
            at = datetime(1970, 1, 1) + timedelta(microseconds=round(value * TICKS[self.unit]))  # noqa: DTZ001
        except OverflowError:
            return f"{value:g}"
        return f"{at:%Y-%m-%d}" if self.unit == "day" else f"{at:%Y-%m-%d %H:%M}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the ways in which a number may be absent; the first is plainly missing."""
        return (MISSING, *(label for _, label in self.codes))

    @property
    def tags(self) -> tuple[str, ...]:
        """Kinds that are NaN in a table."""
        return tuple(label.split(":")[0] for code, label in self.codes if label.startswith("."))


def facts_of(series: pd.Series[Any], column: Column | None) -> Facts:
    """Say what a column of the confidential table is, by its schema where there is one.

    Parameters
    ----------
    series : Series
        Of the confidential table.
    column : Column, optional
        What is declared of it.

    Returns
    -------
    Facts

    Notes
    -----
    Privacy: lists the levels of real rows.
    """
    name, dtype = str(series.name), series.dtype
    plain = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    numeric = (
        isinstance(column, NumericColumn) if column is not None else plain or is_dated(dtype) is not None
    )
    if numeric:
        unit = column.unit if isinstance(column, NumericColumn) else ("day" if is_dated(dtype) else "number")
        dated = "" if unit == "number" or plain else is_dated(dtype) or "M"  # dates may be texts
        return Facts(name, True, unit=unit, codes=_codes(column), dated=dated)
    declared = (
        () if column is None else (*getattr(column, "levels", ()), *(code for code, _ in column.missing))
    )
    there = series.cat.categories if isinstance(dtype, pd.CategoricalDtype) else _found(series)
    levels = dict.fromkeys(text_of(level) for level in (*declared, *there))
    return Facts(name, False, levels=tuple(levels), ordered=bool(getattr(dtype, "ordered", False)))


def _codes(column: Column | None) -> tuple[tuple[float, str], ...]:
    """List the declared codes of a number; a kind such as .a by the number that stands for it."""
    if column is None:
        return ()
    return tuple(
        (float(sentinel(code)), f"{code}: {label}") if as_tag(code) else (float(code), label)
        for code, label in column.missing
    )


def _found(series: pd.Series[Any]) -> Iterable[Any]:
    """Give the distinct values of a column, sorted where they can be."""
    values = pd.unique(series.dropna())
    try:
        return list(np.sort(np.asarray(values)))
    except TypeError:
        return sorted(values, key=str)


def text_of(level: Any) -> str:
    """Write a level as the text by which both sides know it: 1, 1.0 and ``"1"`` are one.

    Examples
    --------
    >>> [text_of(level) for level in (1, 1.0, "1", True, 0.5)]
    ['1', '1', '1', 'True', '0.5']
    """
    if isinstance(level, float | np.floating) and float(level).is_integer():
        return str(int(level))
    return str(level)


def with_dates(frame: pd.DataFrame, of: Sequence[Facts | None]) -> pd.DataFrame:
    """Put dates beside the numbers that stand for them, where a table has such rows.

    Parameters
    ----------
    frame : DataFrame
        With columns ``confidential`` and ``copies``.
    of : sequence of Facts or None
        For each row the column whose values its numbers are; None where they are something else.

    Returns
    -------
    DataFrame
        The same, or with ``confidential date`` and ``copies date`` too.

    Notes
    -----
    Privacy: rewrites numbers of real rows.
    """
    if not any(each is not None and each.dated == "M" for each in of):
        return frame
    sides = {
        f"{side} date": [
            each.shown(value) if each is not None and each.dated == "M" and np.isfinite(value) else ""
            for each, value in zip(of, frame[side].tolist(), strict=True)
        ]
        for side in ("confidential", "copies")
    }
    return frame.assign(**sides)


def numbers_of(series: pd.Series[Any], facts: Facts) -> tuple[FloatArray, AnyArray]:
    """Read a column of numbers: values, NaN where there is none, and why not.

    Parameters
    ----------
    series : Series
        Of either side.
    facts : Facts
        Of the column.

    Returns
    -------
    array (rows,), array of int8 (rows,)
        Values, and 0 for a value, or 1 plus the place in ``facts.kinds``. Texts that are no numbers, and
        infinite ones, are missing.

    Notes
    -----
    Privacy: reads rows as they are.
    """
    numbers = _floats(series, facts)
    values = np.where(np.isfinite(numbers), numbers, np.nan)
    kinds = np.isnan(values).astype(np.int8)
    for place, (code, _) in enumerate(facts.codes, start=2):
        held = values == code
        kinds[held] = place
        values[held] = np.nan
    return values, kinds


def _floats(series: pd.Series[Any], facts: Facts) -> FloatArray:
    """Write cells as float64, dates in their unit."""
    dtype = series.dtype
    if is_dated(dtype):
        numbers = microseconds(series, facts.unit) / TICKS.get(facts.unit, TICKS["day"])
        return np.where(series.isna().to_numpy(), np.nan, numbers)
    if pd.api.types.is_numeric_dtype(dtype):
        found = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return with_sentinels(found, facts.tags) if facts.tags and holds_tags(series) else found
    cells = series.astype(object)
    if facts.unit != "number":
        times = pd.Series(pd.to_datetime(cells, errors="coerce"))
        return _floats(times, facts) if is_dated(times.dtype) else np.full(len(series), np.nan)
    return np.asarray(pd.to_numeric(cells, errors="coerce"), dtype=np.float64)


def levels_of(series: pd.Series[Any], facts: Facts) -> IntArray:
    """Read a column of levels: places in ``facts.levels``, -1 where missing, -2 where it is none of them.

    Parameters
    ----------
    series : Series
        Of either side.
    facts : Facts
        Of the column.

    Returns
    -------
    array of int (rows,)

    Notes
    -----
    Privacy: reads rows as they are.
    """
    places = {level: place for place, level in enumerate(facts.levels)}
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, values = series.cat.codes.to_numpy(), series.cat.categories
    else:
        codes, values = pd.factorize(series, use_na_sentinel=True)
    table = np.array([*(places.get(text_of(value), -2) for value in values), -1], dtype=np.int64)
    return table[codes]
