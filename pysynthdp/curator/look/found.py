"""One pass over a table's columns for what is odd about them; ``look`` shows it, a fit warns of it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.infer import key_remarks
from pysynthdp.curator.look.hints import Hint, code_hints, few_values_hints, level_hints, number_hints
from pysynthdp.curator.look.shapes import JUDGED, mass_remarks
from pysynthdp.design.rows import Rows
from pysynthdp.design.values import to_numbers
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["hints_of", "plain_numbers", "remarks_of"]

_BY_THE_FIT = ("rare levels",)  # which says it of what it modelled


def remarks_of(
    rows: Rows,
    schema: Schema,
    *,
    exempt: Iterable[str] = (),
    methods: Mapping[str, str] | None = None,
    told: Container[str] = (),
) -> tuple[Remark, ...]:
    """Say what is odd about the columns of a table that is to be fitted, in words for a log.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    schema : Schema
        Its columns as they are understood.
    exempt : iterable of str
        Columns that are not modelled.
    methods : mapping column -> str, optional
        By which model each is drawn.
    told : container of str
        Columns of which the user says something himself: whether they are keys is not asked.

    Notes
    -----
    Privacy: reads real rows, for fits without a guarantee only; no remark holds a value of them.
    """
    free = set(exempt)
    columns = [column for column in schema if column.name not in free and column.name in rows.columns]
    drawn = methods or {}
    hints = (
        hint
        for column in columns
        for hint in _safely(rows.take([column.name])[column.name], column, drawn.get(column.name))
    )
    found = [hint.remark for hint in hints if not hint.note and hint.remark.kind not in _BY_THE_FIT]
    asked = (column for column in columns if column.name not in told)
    for column in asked:
        found += key_remarks(rows.take([column.name])[column.name], column)
    return tuple(found)


def _safely(series: pd.Series[Any], column: Column, method: str | None) -> Iterable[Hint]:
    """Leave it to the fit to refuse what does not fit."""
    try:
        return tuple(hints_of(series, column, method))
    except SchemaError:
        return ()


def hints_of(series: pd.Series[Any], column: Column, method: str | None = None) -> Iterator[Hint]:
    """Say what is odd about one column, and what the model that draws it cannot hold.

    Notes
    -----
    Privacy: reads real values; ``Hint.shown`` names some.
    """
    if isinstance(column, NumericColumn):
        return _of_numbers(plain_numbers(to_numbers(series, column), column), column, method)
    return _of_levels(series, column)


def plain_numbers(numbers: FloatArray, column: NumericColumn) -> FloatArray:
    """Present values without codes and declared spikes."""
    known = column.specials[: len(column.missing)] if column.learned_spikes else column.specials
    return numbers[~np.isnan(numbers) & ~np.isin(numbers, np.array(known, dtype=np.float64))]


def _of_numbers(plain: FloatArray, column: NumericColumn, method: str | None) -> Iterator[Hint]:
    """Say what is odd about numbers."""
    dated = column.unit != "number"
    apart = np.array(column.spikes if column.learned_spikes else (), dtype=np.float64)
    distinct, counts = np.unique(plain, return_counts=True)
    judged = method in JUDGED
    hints = number_hints(column.name, distinct, counts, dated=dated, apart=apart)
    yield from (hint for hint in hints if hint.note or not judged or hint.remark.kind != "spikes")
    if not dated:
        free = ~np.isin(distinct, apart)
        fine = 0.0 if column.decimals is None else 10.0**-column.decimals
        grain = fine if column.step is None else column.step
        yield from few_values_hints(column.name, distinct[free], int(counts[free].sum()), grain)
        lost = mass_remarks(column.name, method or "", distinct[free], counts[free], grain)
        yield from map(Hint, lost)


def _of_levels(series: pd.Series[Any], column: CategoricalColumn) -> Iterator[Hint]:
    """Say what is odd about levels."""
    counts = {level: int(count) for level, count in series.value_counts().items() if count}
    codes = [counts.pop(code, 0) for code, _ in column.missing]
    yield from level_hints(column.name, counts, ordered=column.ordered)
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype):
        values = series.dropna().to_numpy(dtype=np.float64)
        yield from code_hints(column.name, values, column.specials)
    if not counts and not any(codes):
        what, drop = "no value at all: it stays missing throughout", Setting("drop", [column.name])
        yield Hint(Remark(column.name, "empty", what, Words("or leave it out with {drop}", drop=drop)))
