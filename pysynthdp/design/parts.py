"""Columns to parts and back: first whether and how a value is absent, then the value.

A column with any absence or spike has a *kind* part (a categorical: value, NA, each code, each spike) and a
*value* part that exists only where the kind is "value". Models see parts only, never a code or a missing
value. This module alone splits and rejoins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import OTHER, Facts, Setting, Words
from pysynthdp.design.dtypes import typed
from pysynthdp.design.values import LARGEST, from_codes, from_numbers, in_rows, to_codes, to_numbers
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema
from pysynthdp.schema.universe import Universe

__all__ = [
    "NEAR_STEP",
    "Part",
    "absent_columns",
    "digits_of",
    "grid_bounds",
    "join",
    "kinds_of",
    "parts_of",
    "settle",
    "split",
]

NEAR_STEP = 1e-9  # of a step: what rounding leaves


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to draw.

    Parameters
    ----------
    column : str
        The column it belongs to.
    role : {"kind", "value"}
        How a value is absent, or the value itself.
    levels : tuple of str
        Names of the levels of a categorical part; empty for a numeric one.
    ordered : bool
        Whether the levels are ordered.
    partial : bool
        Whether a value part exists only in some rows (its column has a kind part).
    gated : bool
        Whether it is drawn in the rows only in which the column is asked: how a value is absent, and levels
        where one of them stands in all other rows.
    edges : tuple of float
        Where the declared cells of a number meet, which are then its levels: see ``cells.py``.
    of : tuple of Part
        For the cells of a table: the categorical parts whose levels they are made of, the last one's turning
        fastest; it has the column of the first.
    """

    column: str
    role: Literal["kind", "value", "cells"]
    levels: tuple[str, ...] = ()
    ordered: bool = False
    partial: bool = False
    edges: tuple[float, ...] = ()
    gated: bool = False
    of: tuple[Part, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether it is a numeric value."""
        return self.role == "value" and not self.levels

    @property
    def holds_numbers(self) -> bool:
        """Whether its drawn values are numbers, whatever its features."""
        return self.numeric or bool(self.edges)

    @property
    def key(self) -> tuple[str, str]:
        """(column, role)."""
        return self.column, self.role

    @property
    def label(self) -> str:
        """Name for messages and tables."""
        if self.of:
            return ", ".join(part.label for part in self.of)
        return self.column if self.role == "value" else f"{self.column} (kind)"


def kinds_of(column: Column) -> tuple[str, ...]:
    """Name the kinds that a column's cells may have, "value" first."""
    value = () if isinstance(column, CategoricalColumn) and not column.levels else ("value",)
    missing = ("NA",) if column.may_be_missing else ()
    spikes = tuple(f"= {spike}" for spike in column.spikes) if isinstance(column, NumericColumn) else ()
    return (*value, *missing, *(label for _, label in column.missing), *spikes)


def parts_of(column: Column) -> tuple[Part, ...]:
    """List a column's parts in the order in which they are drawn."""
    if isinstance(column, CategoricalColumn) and column.absence == "level":
        return (
            Part(column.name, "value", (*map(str, column.levels), *kinds_of(column)[1:]), column.ordered),
        )
    kinds = kinds_of(column)
    several = len(kinds) > 1 or kinds[:1] != ("value",)
    gated = column.universe is not None
    kind = (Part(column.name, "kind", kinds, gated=gated),) if several else ()
    if kinds[:1] != ("value",):
        return kind
    if isinstance(column, NumericColumn):
        return (*kind, Part(column.name, "value", partial=several))
    levels = tuple(str(level) for level in column.levels)
    outside = column.universe.outside if isinstance(column.universe, Universe) else None
    limited = outside is not None and outside in column.levels
    return (*kind, Part(column.name, "value", levels, column.ordered, several, gated=limited))


def absent_columns(names: Sequence[str], schema: Schema) -> list[SchemaError]:
    """List what a table lacks of a schema."""
    mend = "drop it from the schema"
    text = "the table has no column '{name}', which the schema names"
    absent = [name for name in schema.names if name not in names]
    return [SchemaError(Words(text, name=name), column=name, kind="columns", remedy=mend) for name in absent]


def split(series: pd.Series[Any], column: Column) -> dict[tuple[str, str], AnyArray]:
    """Split a column's cells: kind codes (int16) and values (float64, or int16 level codes).

    Raises
    ------
    SchemaError
        If a cell fits neither the levels, the bounds nor the codes; no value is quoted.
    """
    if isinstance(column, NumericColumn):
        return _split_numeric(series, column)
    return _split_categorical(series, column)


def _split_numeric(series: pd.Series[Any], column: NumericColumn) -> dict[tuple[str, str], AnyArray]:
    """Numbers where there is a value; zero elsewhere."""
    numbers = _topped(to_numbers(series, column), column)
    missing = np.isnan(numbers)
    parts: dict[tuple[str, str], AnyArray] = {}
    absent = missing
    if len(kinds_of(column)) > 1:
        kind = missing.astype(np.int16)
        first = 1 + int(column.may_be_missing)
        for offset, code in enumerate(column.specials):
            kind[numbers == code] = first + offset
        absent = kind > 0
        parts[column.name, "kind"] = kind
        numbers = np.where(absent, 0.0, numbers)
    if not column.may_be_missing:
        _refuse_missing(missing, column)
    _check_missing(missing, column)
    _check_bounds(numbers, absent, column)
    parts[column.name, "value"] = numbers
    return parts


def _topped(numbers: FloatArray, column: NumericColumn) -> FloatArray:
    """Write values above a top code as it; codes stay."""
    if not column.topped or column.upper is None:
        return numbers
    codes = np.array(column.specials[: len(column.missing)], dtype=np.float64)
    return np.where((numbers > column.upper) & ~np.isin(numbers, codes), column.upper, numbers)


def _check_missing(missing: BoolArray, column: Column) -> None:
    """Refuse missing values where the copies' type has none."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub" and missing.any():
        text = "{name} has missing values in {rows}, which {dtype} cannot hold"
        raise SchemaError(
            Words(text, name=column.name, rows=in_rows(int(missing.sum())), dtype=column.dtype),
            column=column.name,
            kind="missing",
            remedy=Words("declare a type that can, such as {fact}", fact=Facts(dtype="Int64")),
        )


def _refuse_missing(missing: BoolArray, column: Column) -> None:
    """Refuse missing values where none may be."""
    if missing.any():
        raise SchemaError(
            Words("{name} has missing values in {rows}", name=column.name, rows=in_rows(int(missing.sum()))),
            column=column.name,
            kind="missing",
            remedy=Words("declare {fact}", fact=Facts(may_be_missing=True)),
        )


def _check_bounds(numbers: FloatArray, absent: BoolArray, column: NumericColumn) -> None:
    """Refuse real values beyond declared bounds."""
    low = 0 if column.lower is None else int(((numbers < column.lower) & ~absent).sum())
    high = 0 if column.upper is None else int(((numbers > column.upper) & ~absent).sum())
    if low or high:
        text = "{name} has values outside its declared bounds in {rows}"
        raise SchemaError(
            Words(text, name=column.name, rows=in_rows(low + high)),
            column=column.name,
            kind="bounds",
            remedy=Words(
                "widen the bounds or declare the codes in {missing}",
                missing=Setting("missing", {column.name: {...: "..."}}),
            ),
        )


def _split_categorical(series: pd.Series[Any], column: CategoricalColumn) -> dict[tuple[str, str], AnyArray]:
    """Level codes where there is a level; zero elsewhere."""
    codes = to_codes(series, column)
    if (codes == -2).any():
        if column.other is None:
            text = "{name} has values that are not among its levels in {rows}"
            raise SchemaError(
                Words(text, name=column.name, rows=in_rows(int((codes == -2).sum()))),
                column=column.name,
                kind="levels",
                remedy=Words(
                    "add them to the levels, or declare the level that they become with {other}",
                    other=OTHER,
                ),
            )
        codes[codes == -2] = column.levels.index(column.other)
    if not column.may_be_missing:
        _refuse_missing(codes == -1, column)
    _check_missing(codes == -1, column)
    n_levels = len(column.levels)
    if column.absence == "level":
        return {(column.name, "value"): _beside(codes, column)}
    parts: dict[tuple[str, str], AnyArray] = {}
    kinds = kinds_of(column)
    if len(kinds) > 1 or not n_levels:
        first = int(n_levels > 0)
        kind = np.where(codes < 0, first, 0)
        special = codes >= n_levels
        kind[special] = codes[special] - n_levels + first + int(column.may_be_missing)
        parts[column.name, "kind"] = kind.astype(np.int16)
        codes = np.where(kind == 0, codes, 0) if n_levels else codes
    if n_levels:
        parts[column.name, "value"] = codes.astype(np.int16)
    return parts


def _beside(codes: IntArray, column: CategoricalColumn) -> AnyArray:
    """Write absence as levels behind the others: missing, then each code."""
    n_levels, shift = len(column.levels), int(column.may_be_missing)
    special = np.where(codes >= n_levels, codes + shift, codes)
    return np.where(codes == -1, n_levels, special).astype(np.int16)


def settle(values: FloatArray, column: NumericColumn) -> FloatArray:
    """Round drawn values to the column's step and decimals, move them onto its declared bounds, in place."""
    if len(values) and max(values.max(), -values.min()) > LARGEST:
        np.clip(values, -LARGEST, LARGEST, out=values)  # what a fit to few rows may extrapolate to
    digits = digits_of(column)
    if column.step is not None:
        values -= column.offset
        np.rint(np.divide(values, column.step, out=values), out=values)
        values *= column.step
        values += column.offset
    if digits is not None:
        np.round(values, digits, out=values)
    low, high = grid_bounds(column)
    if low is not None or high is not None:
        np.clip(values, low, high, out=values)
    return values


def digits_of(column: NumericColumn) -> int | None:
    """Digits after the point that drawn values have."""
    whole = column.dtype is not None and pd.api.types.is_integer_dtype(column.dtype)
    return 0 if whole and column.decimals is None else column.decimals


def grid_bounds(column: NumericColumn) -> tuple[float | None, float | None]:
    """Smallest and largest value that a drawn number may have."""
    digits = digits_of(column)
    if column.step is not None:
        low = _on_steps(column.lower, column, math.ceil)
        high = _on_steps(column.upper, column, math.floor)
        return _rounded(low, digits), _rounded(high, digits)
    return _on_grid(column.lower, digits, math.ceil), _on_grid(column.upper, digits, math.floor)


def _on_steps(bound: float | None, column: NumericColumn, towards: Callable[[float], int]) -> float | None:
    """Move a bound inwards to a value on the column's steps; a multiple but for rounding is one."""
    if bound is None or column.step is None:
        return None
    times = (bound - column.offset) / column.step
    whole = round(times) if abs(times - round(times)) < NEAR_STEP else towards(times)
    return column.step * whole + column.offset


def _rounded(bound: float | None, digits: int | None) -> float | None:
    """Take the rounding errors of a multiple off."""
    return bound if bound is None or digits is None else round(bound, digits)


def _on_grid(bound: float | None, digits: int | None, towards: Callable[[float], int]) -> float | None:
    """Move a bound inwards to the column's digits, so that a rounded value does not cross it."""
    if bound is None or digits is None or round(bound, digits) == bound:
        return bound
    return towards(bound * 10.0**digits) / 10.0**digits


def join(parts: dict[tuple[str, str], AnyArray], column: Column) -> pd.Series[Any]:
    """Put drawn parts together as cells of the column's dtype; a public one where it is open."""
    column = typed(column, None)
    kind = parts.get((column.name, "kind"))
    value = parts.get((column.name, "value"))
    size = len(kind) if kind is not None else len(value) if value is not None else 0
    if kind is None:
        kind = np.zeros(size, dtype=np.int16)
    if isinstance(column, NumericColumn):
        return _join_numeric(kind, np.asarray(value, dtype=np.float64), column)
    return _join_categorical(kind, value, column)


def _join_numeric(kind: AnyArray, value: FloatArray, column: NumericColumn) -> pd.Series[Any]:
    """Codes and spikes at their kinds, missing at NA."""
    first = 1 + int(column.may_be_missing)
    numbers = value
    if column.specials:
        table = np.array([0.0] * first + [float(code) for code in column.specials])
        numbers = np.where(kind >= first, table[kind], value)
    absent = (kind == 1) if column.may_be_missing else np.zeros(len(kind), dtype=bool)
    return from_numbers(numbers, absent, column)


def _join_categorical(kind: AnyArray, value: AnyArray | None, column: CategoricalColumn) -> pd.Series[Any]:
    """Levels, special codes behind them, -1 at NA."""
    n_levels = len(column.levels)
    if column.absence == "level" and value is not None:
        missing = np.full(len(value), column.may_be_missing) & (value == n_levels)
        shifted = value - np.int16(column.may_be_missing)
        return from_codes(np.where(missing, -1, np.where(value > n_levels, shifted, value)), column)
    first = int(n_levels > 0)
    codes = np.zeros(len(kind), dtype=np.int64) if value is None else value.astype(np.int64)
    if column.may_be_missing:
        codes = np.where(kind == first, -1, codes)
    beyond = first + int(column.may_be_missing)
    special = (kind >= beyond) & bool(column.specials)
    return from_codes(np.where(special, n_levels + kind - beyond, codes), column)
