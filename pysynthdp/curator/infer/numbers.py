"""Infer a column of numbers: with few distinct values it is categorical, with a heavy value it has a spike.

A scale of a few steps, or a mass at zero, is no sample of a continuous law: a regression on ranks or a normal
model would bend every relation with it, and draw steps that there are none of. Both facts are learned only
where many records stand behind them; values of a few records are then put to neighbours of more
(:mod:`pysynthdp.curator.infer.rare`);
what a spike is says :mod:`pysynthdp.curator.infer.spikes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import FEWEST
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.infer.identifiers import beyond_exact, counts_rows, identifying_number
from pysynthdp.curator.infer.spikes import learned_spikes
from pysynthdp.design.counting import counted, present_numbers, without
from pysynthdp.design.grain import decimals_of, step_of
from pysynthdp.design.tagged import absent_of
from pysynthdp.design.values import EXACT, check_size
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.declarations import Codes

__all__ = ["FEW_VALUES", "Drawn", "NumberFacts", "infer_number"]

FEW_VALUES = 12  # at most this many distinct values are levels
_ROWS_A_LEVEL = 10  # on average, for values to be levels
_RARE_SHARE = 0.05  # of the records may have values of fewer than five: they count as their neighbours
Drawn: TypeAlias = Literal["number", "levels", "ordered"]
"""What the method draws that a user names for a column, if it draws one kind only."""


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """What the user declares of a number column, what the method draws, and whether it is released."""

    missing: Codes = ()
    spikes: tuple[float, ...] | None = None
    bounds: tuple[Any, Any] = (None, None)
    decimals: int | None = None
    drawn: Drawn | None = None
    named: bool = False
    released: bool = False

    @property
    def said(self) -> bool:
        """Whether the user says that it is a quantity, or by which method to draw it."""
        declared = self.missing or self.spikes or self.decimals is not None
        return bool(self.named or declared or tuple(self.bounds) != (None, None))


def infer_number(series: pd.Series[Any], name: str, facts: NumberFacts, *, exempt: bool) -> Column:
    """Take a number column as levels, or as numbers with the spikes that are declared or plain to see."""
    tags = NumericColumn(name, missing=facts.missing).tags
    absent = bool(absent_of(series, tags).any())
    spikes = facts.spikes or ()
    draft = NumericColumn(
        name,
        facts.bounds[0],
        facts.bounds[1],
        facts.decimals,
        facts.missing,
        spikes,
        absent,
        np.float64 if tags else series.dtype,
        declared=False,
    )
    whole = _beyond(series, draft)
    if whole is not None:
        return _beyond_exact(whole, series, draft, facts, exempt=exempt)
    numbers = _plain(series, draft, modelled=not facts.released)
    if (exempt or not facts.said) and counts_rows(numbers, series, name):
        return identifying_number(series, name, exempt)
    distinct, counts = counted(numbers)
    del numbers  # as long as the column
    if facts.drawn in ("levels", "ordered"):
        _check_levels(distinct, counts, name)
    elif not _is_levels(distinct, counts, facts):
        return _with_learned(draft, distinct, counts, facts)
    own = tuple(_native(value, series.dtype) for value in distinct)
    return _levels(draft, own, facts)


def _levels(draft: NumericColumn, own: tuple[Any, ...], facts: NumberFacts) -> CategoricalColumn:
    """Take numbers as levels, in their order if the method draws an order."""
    ordered, absent = facts.drawn == "ordered", draft.may_be_missing
    return CategoricalColumn(draft.name, own, ordered, None, draft.missing, absent, draft.dtype, False)


def _check_levels(distinct: FloatArray, counts: IntArray, name: str) -> None:
    """Refuse numbers as levels where most of them name one record."""
    n = int(counts.sum())
    if len(distinct) > FEW_VALUES and 2 * len(distinct) > n:
        raise SchemaError(
            Words("{column} has too many different numbers to be drawn as levels", column=name),
            column=name,
            kind="method",
            remedy=Words(
                "draw it as a number with {number}, or cut() it into groups",
                number=Setting("method", {name: "normrank"}),
            ),
        )


def _beyond(series: pd.Series[Any], draft: NumericColumn) -> pd.Series[Any] | None:
    """Present whole numbers, exact, where some lie beyond what float64 can tell apart."""
    if not _whole_type(series):
        return None
    numbers = present_numbers(series)
    if max(numbers.max(initial=0.0), -numbers.min(initial=0.0)) < EXACT:
        return None
    present = series.dropna()
    special = np.isin(numbers, np.array(draft.specials, dtype=np.float64))
    return present[~special] if bool((np.abs(numbers[~special]) >= EXACT).any()) else None


def _beyond_exact(
    whole: pd.Series[Any], series: pd.Series[Any], draft: NumericColumn, facts: NumberFacts, *, exempt: bool
) -> Column:
    """Take numbers beyond 2^53 as levels, where there are few of them; else only as identifiers."""
    if exempt:
        return identifying_number(series, draft.name, exempt)
    counts = whole.value_counts(sort=False).sort_index()
    distinct, sizes = counts.index.to_numpy(np.float64), np.asarray(counts, dtype=np.int64)
    if _is_levels(distinct, sizes, facts) or facts.drawn in ("levels", "ordered"):
        _check_levels(distinct, sizes, draft.name)
        return _levels(draft, tuple(map(int, counts.index)), facts)
    raise beyond_exact(draft.name)


def _is_levels(distinct: FloatArray, counts: IntArray, facts: NumberFacts) -> bool:
    """Whether few distinct values, each with enough records, make the column categorical."""
    if facts.drawn == "number" or facts.spikes or not _inside(distinct, facts):
        return False
    if len(distinct) > FEW_VALUES:
        return False
    enough = counts.min(initial=FEWEST) >= FEWEST
    if len(distinct) <= 2:
        return tuple(facts.bounds) == (None, None) and bool(enough or np.isin(distinct, (0, 1, 2)).all())
    often = counts >= FEWEST
    scale = np.count_nonzero(often) > 2 and counts[~often].sum() <= _RARE_SHARE * counts.sum()
    return bool(enough or scale) and counts.sum() >= _ROWS_A_LEVEL * np.count_nonzero(often)


def _inside(distinct: FloatArray, facts: NumberFacts) -> bool:
    """Whether all values keep declared bounds (if not, the split refuses them by name) and decimals."""
    low, high = facts.bounds
    if facts.decimals is not None and (np.round(distinct, facts.decimals) != distinct).any():
        return False
    return bool((low is None or (distinct >= low).all()) and (high is None or (distinct <= high).all()))


def _with_learned(
    draft: NumericColumn, distinct: FloatArray, counts: IntArray, facts: NumberFacts
) -> NumericColumn:
    """Add what is learned: decimals and steps, and spikes where none are declared."""
    decimals, step, offset = facts.decimals, None, 0.0
    if decimals is None and counts.sum() < FEWEST and not facts.released:
        decimals = 0  # how finely they are written would be theirs alone, and no copy has them
    elif decimals is None:
        decimals, step, offset = step_of(distinct, decimals_of(distinct, draft.dtype, counts), counts)
    several = len(distinct) > 2 or counts.min(initial=FEWEST) < FEWEST  # two levels would be just that
    learn = facts.spikes is None and facts.drawn != "number" and len(distinct) > 1 and several
    heavy = distinct[learned_spikes(distinct, counts)] if learn else distinct[:0]
    spikes = tuple(_native(value, draft.dtype) for value in heavy)
    shown = draft.spikes or spikes
    return replace(
        draft, decimals=decimals, step=step, offset=offset, spikes=shown, learned_spikes=bool(spikes)
    )


def _plain(series: pd.Series[Any], draft: NumericColumn, *, modelled: bool) -> FloatArray:
    """Present numbers without codes and spikes."""
    numbers = present_numbers(series)
    check_size(numbers, draft, modelled=modelled)
    return without(numbers, draft.specials)


def _whole_type(series: pd.Series[Any]) -> bool:
    """Whether a column's type is of whole numbers."""
    return pd.api.types.is_integer_dtype(series.dtype) or series.dtype == np.dtype(object)


def _native(value: float, dtype: Any) -> int | float:
    """Write a level as the Python number that a person would type."""
    return (
        int(value) if float(value).is_integer() and not pd.api.types.is_float_dtype(dtype) else float(value)
    )
