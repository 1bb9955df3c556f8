"""One pass over a table's columns for what is odd about them; ``look`` shows it, a fit warns of it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.infer import key_remarks
from pysynthdp.curator.look.hints import Hint, code_hints, few_values_hints, level_hints, number_hints
from pysynthdp.curator.spread.pieces import of_column
from pysynthdp.design.counting import counted, present_numbers, without
from pysynthdp.design.rows import Rows
from pysynthdp.design.tagged import holds_tags, tags_in
from pysynthdp.design.values import to_numbers
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["hints_of", "plain_numbers", "remarks_of"]

_BY_THE_FIT = ("rare levels",)  # which says it of what it modelled
_LOST = 0.05  # of the records: share of a value that the law leaves out, ...
_CERTAIN = 4.0  # ... and so many standard errors
_SCALES: Mapping[str, tuple[Callable[[FloatArray], FloatArray], bool]] = {  # scale; whether all below 0 is 0
    "norm": (lambda values: values, False),
    "sqrtnorm": (lambda values: np.sqrt(np.maximum(values, 0.0)), True),
    "cubertnorm": (np.cbrt, False),
}


def remarks_of(
    rows: Rows,
    schema: Schema,
    *,
    exempt: Iterable[str] = (),
    methods: Mapping[str, str] | None = None,
    told: Container[str] = (),
    massed: Container[str] = (),
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
    massed : container of str
        Columns whose model draws a value that many records have as often.

    Notes
    -----
    Privacy: reads real rows, for fits without a guarantee only; no remark holds a value of them.
    """
    free = set(exempt)
    columns = [column for column in schema if column.name not in free and column.name in rows.columns]
    drawn = methods or {}
    found: list[Remark] = []
    keys: list[Remark] = []
    for column in columns:
        name = column.name
        odd, own = of_column(rows, name, _odd, column, drawn.get(name), keyed=name not in told)
        found += (remark for remark in odd if remark.kind != "spikes" or name not in massed)
        keys += own
    return (*found, *keys)


def _odd(
    series: pd.Series[Any], column: Column, method: str | None, *, keyed: bool
) -> tuple[tuple[Remark, ...], tuple[Remark, ...]]:
    """Say what is odd about one column, in words for a log; and whether it is a key, where that is asked."""
    hints = (hint for hint in _safely(series, column, method) if not hint.note)
    odd = tuple(hint.remark for hint in hints if hint.remark.kind not in _BY_THE_FIT)
    return odd, key_remarks(series, column) if keyed else ()


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
    yield from _of_kinds(series, column)
    if isinstance(column, NumericColumn):
        yield from _of_numbers(plain_numbers(series, column), column, method)
    else:
        yield from _of_levels(series, column)


def _of_kinds(series: pd.Series[Any], column: Column) -> Iterator[Hint]:
    """Say that kinds of missing values are not declared."""
    if not holds_tags(series):
        return
    tags = [tag for tag in tags_in(series.to_numpy()) if tag not in column.tags]
    if tags:
        what = "its missing values are of kinds that are not declared, which become plain missing ones"
        yield Hint(_kinds_remark(column.name, what, ...), _kinds_remark(column.name, what, tags[0]))


def _kinds_remark(name: str, what: str, tag: Any) -> Remark:
    """Say how to declare a kind."""
    return Remark(name, "kinds", what, Words("declare {it}", it=Setting("missing", {name: {tag: "label"}})))


def plain_numbers(series: pd.Series[Any], column: NumericColumn) -> FloatArray:
    """Present values without codes and declared spikes, in an array of its own."""
    known = column.specials[: len(column.missing)] if column.learned_spikes else column.specials
    try:
        numbers = present_numbers(series, lambda block: to_numbers(block, column))
    except SchemaError:
        to_numbers(series, column)  # which tells of all rows
        raise
    return without(numbers, known)


def _of_numbers(plain: FloatArray, column: NumericColumn, method: str | None) -> Iterator[Hint]:
    """Say what is odd about numbers, an array of one's own."""
    dated = column.unit != "number"
    apart = np.array(column.spikes if column.learned_spikes else (), dtype=np.float64)
    distinct, counts = counted(plain)
    judged = method in _SCALES  # below, by the law
    hints = number_hints(column.name, distinct, counts, dated=dated, apart=apart, massed=method is None)
    yield from (hint for hint in hints if hint.note or not judged or hint.remark.kind != "spikes")
    if not dated:
        free = ~np.isin(distinct, apart)
        fine = 0.0 if column.decimals is None else 10.0**-column.decimals
        grain = fine if column.step is None else column.step
        yield from few_values_hints(column.name, distinct[free], int(counts[free].sum()), grain)
        lost = _mass_remarks(column.name, method or "", distinct[free], counts[free], grain)
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


def _mass_remarks(
    name: str, method: str, distinct: FloatArray, counts: IntArray, grain: float
) -> Iterator[Remark]:
    """Say that a normal law leaves out most of a value's records.

    Parameters
    ----------
    name, method : str
        Column, and the model that draws it.
    distinct, counts : arrays (values,)
        Present values, and how many records have each.
    grain : float
        Of which drawn values are multiples; 0 for any number.

    Notes
    -----
    Privacy: reads counts of real values; tells a rough share, and of values only whether it is zero.
    """
    if method not in _SCALES or len(distinct) < 2:
        return
    value, share = float(distinct[np.argmax(counts)]), float(counts.max() / counts.sum())
    drawn = _drawn_share(value, distinct, counts, grain, method)
    error = np.sqrt(drawn * (1 - drawn) / counts.sum())
    if share - drawn > max(_LOST, _CERTAIN * error):
        which = "0" if value == 0 else "one value"
        what = Words(
            "{share} of the values are {which}, and '{method}' draws that in {drawn} of the rows or so",
            share=f"{100 * share:.0f} %",
            which=which,
            method=method,
            drawn=f"{100 * drawn:.0f} %",
        )
        spikes = Setting("spikes", {name: [0] if value == 0 else [...]})
        other = Setting("method", {name: "normrank"})
        remedy = Words("{spikes} draws it apart, {other} keeps its share", spikes=spikes, other=other)
        yield Remark(name, "shape", what, remedy)


def _drawn_share(value: float, distinct: FloatArray, counts: IntArray, grain: float, method: str) -> float:
    """Share of a value under the normal law of the same mean and spread on the model's scale."""
    scale, floor = _SCALES[method]
    on = scale(distinct)
    mean = float(np.average(on, weights=counts))
    spread = float(np.sqrt(np.average((on - mean) ** 2, weights=counts)))
    low, high = scale(np.array([value - grain / 2, value + grain / 2]))
    if floor and value == 0:
        low = -np.inf
    return float(ndtr((high - mean) / spread) - ndtr((low - mean) / spread))
