"""Infer a column of numbers: with few distinct values it is categorical, with a heavy value it has a spike.

A scale of a few steps, or a mass at zero, is no sample of a continuous law: a regression on ranks or a normal
model would bend every relation with it. Both facts are learned only where many records stand behind them;
what a spike is says :mod:`pysynthdp.infer.spikes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray, IntArray
from pysynthdp.design.grain import decimals_of, step_of
from pysynthdp.design.values import EXACT, check_exact, check_size
from pysynthdp.infer.identifiers import identifier
from pysynthdp.infer.spikes import learned_spikes
from pysynthdp.queries import FEWEST
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn

__all__ = ["FEW_VALUES", "Codes", "NumberFacts", "infer_number"]

FEW_VALUES = 12  # at most this many distinct values are levels
_ROWS_A_LEVEL = 10  # on average, for values to be levels
Codes: TypeAlias = Mapping[Any, str] | Iterable[Any]


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """What the user declares of a number column, whether a method for numbers draws it, or it is released."""

    missing: Codes = ()
    spikes: tuple[float, ...] | None = None
    bounds: tuple[Any, Any] = (None, None)
    decimals: int | None = None
    as_number: bool = False
    released: bool = False


def infer_number(series: pd.Series[Any], name: str, facts: NumberFacts, *, exempt: bool) -> Column:
    """Take a number column as levels, or as numbers with the spikes that are declared or plain to see."""
    absent = bool(series.isna().any())
    spikes = facts.spikes or ()
    draft = NumericColumn(
        name,
        facts.bounds[0],
        facts.bounds[1],
        facts.decimals,
        facts.missing,
        spikes,
        absent,
        series.dtype,
        declared=False,
    )
    numbers = _plain(series, draft, modelled=not facts.released)
    beyond = _whole_type(series) and bool((np.abs(numbers) >= EXACT).any())
    if _is_running_number(numbers, series) or (beyond and exempt):
        return identifier(series, name, exempt)
    if beyond:
        return _beyond(series, numbers, draft, facts)
    distinct, counts = np.unique(numbers, return_counts=True)
    if _is_levels(distinct, counts, facts):
        own = tuple(_native(value, series.dtype) for value in distinct)
        return CategoricalColumn(name, own, False, None, facts.missing, absent, series.dtype, False)
    return _with_learned(draft, distinct, counts, facts)


def _beyond(
    series: pd.Series[Any], numbers: FloatArray, draft: NumericColumn, facts: NumberFacts
) -> CategoricalColumn:
    """Take whole numbers beyond 2^53 as levels, which are exact, where they are few; else refuse them."""
    counts = series.value_counts()
    own = counts[~counts.index.isin(draft.specials)]
    if not _is_levels(np.asarray(own.index, dtype=np.float64), np.asarray(own, dtype=np.int64), facts):
        check_exact(numbers, draft.name)
    values = tuple(sorted(int(value) for value in own.index))
    absent = draft.may_be_missing
    return CategoricalColumn(draft.name, values, False, None, facts.missing, absent, series.dtype, False)


def _is_levels(distinct: FloatArray, counts: IntArray, facts: NumberFacts) -> bool:
    """Whether few distinct values, each with enough records, make the column categorical."""
    if facts.as_number or facts.spikes or len(distinct) > FEW_VALUES or not _inside(distinct, facts.bounds):
        return False
    enough = counts.min(initial=FEWEST) >= FEWEST
    if len(distinct) <= 2:
        return tuple(facts.bounds) == (None, None) and bool(enough or np.isin(distinct, (0, 1, 2)).all())
    return bool(enough) and counts.sum() >= _ROWS_A_LEVEL * len(distinct)


def _inside(distinct: FloatArray, bounds: tuple[Any, ...]) -> bool:
    """Whether all values lie within declared bounds; if not, the split refuses them by name."""
    low, high = bounds
    return bool((low is None or (distinct >= low).all()) and (high is None or (distinct <= high).all()))


def _with_learned(
    draft: NumericColumn, distinct: FloatArray, counts: IntArray, facts: NumberFacts
) -> NumericColumn:
    """Add what is learned: decimals and steps, and spikes where none are declared."""
    decimals, step = facts.decimals, None
    if decimals is None and counts.sum() < FEWEST and not facts.released:
        decimals = 0  # how finely they are written would be theirs alone, and no copy has them
    elif decimals is None:
        decimals, step = step_of(distinct, decimals_of(distinct, draft.dtype, counts), counts)
    several = len(distinct) > 2 or counts.min(initial=FEWEST) < FEWEST  # two levels would be just that
    learn = facts.spikes is None and not facts.as_number and len(distinct) > 1 and several
    heavy = distinct[learned_spikes(distinct, counts)] if learn else distinct[:0]
    spikes = tuple(_native(value, draft.dtype) for value in heavy)
    shown = draft.spikes or spikes
    return replace(draft, decimals=decimals, step=step, spikes=shown, learned_spikes=bool(spikes))


def _plain(series: pd.Series[Any], draft: NumericColumn, *, modelled: bool) -> FloatArray:
    """Present numbers without codes and spikes."""
    values = series.dropna()
    numbers = values.to_numpy(dtype=np.float64)
    check_size(numbers, draft, modelled=modelled)
    return numbers[~np.isin(numbers, np.array(draft.specials, dtype=np.float64))]


def _whole_type(series: pd.Series[Any]) -> bool:
    """Whether a column's type is of whole numbers."""
    return pd.api.types.is_integer_dtype(series.dtype) or series.dtype == np.dtype(object)


def _is_running_number(numbers: FloatArray, series: pd.Series[Any]) -> bool:
    """Whether a column counts the rows: whole, distinct, rising by one."""
    whole = pd.api.types.is_integer_dtype(series.dtype)
    return whole and len(numbers) >= 30 and bool((np.diff(numbers) == 1).all())


def _native(value: float, dtype: Any) -> int | float:
    """Write a level as the Python number that a person would type."""
    return (
        int(value) if float(value).is_integer() and not pd.api.types.is_float_dtype(dtype) else float(value)
    )
