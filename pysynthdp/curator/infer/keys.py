"""Numbers and texts that say whose a record is: identifiers with gaps, households, schools, waves.

Nothing here refuses a column: what is found is said, for a rank and an identifier look alike.
"""

from __future__ import annotations

import math
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.infer.column_names import named_as_key, named_as_time
from pysynthdp.design.counting import BLOCK, counted, present_numbers, without
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.units import written

__all__ = ["key_of", "key_remarks"]

KeyKind: TypeAlias = Literal["identifier", "group key"]

_MANY: Final = 20  # distinct values: fewer may be levels, or a scale
_SOME: Final = 13  # enough where the name says so
_MANY_BLOCKS: Final = 50  # of a file that is sorted by the column: fewer may be the steps of a scale
_ROWS: Final = 30
_EITHER_WAY: Final = (0.1, 0.9)  # share of steps up in a file that is not sorted by size, nor in pieces
_ALONE: Final = 0.9  # distinct values a record, from which on a column names records and not groups
_EXACT: Final = 2.0**53
CERTAIN = 10.0  # evenness from here on: by chance once in twenty thousand columns
_MIDDLE = (0.05, 0.95)  # outliers widen the range and hide how dense the rest is


def key_of(name: str, values: FloatArray) -> KeyKind | None:
    """Say whether whole numbers in row order name records, or groups of them.

    Parameters
    ----------
    name : str
        Column name.
    values : array (rows,)
        Present values without codes and spikes.

    Notes
    -----
    Privacy: reads real values; what it says is for whoever holds them.

    Values name records where nine in ten are distinct, and groups where they are fewer: if they repeat less
    often than chance would have it (:func:`_evenness`), if each fills one block of rows in a file that is not
    sorted by size, if they number fifty or more such blocks 1, 2, ... without gaps, or if the name says so. A
    name that speaks of time says the contrary.
    """
    distinct, counts = counted(values.copy())
    return _kind_of(name, distinct, counts, values)


def _kind_of(name: str, distinct: FloatArray, counts: IntArray, values: FloatArray | None) -> KeyKind | None:
    """Say it of values and their counts; of texts, which have no ``values`` in row order, by these alone."""
    n = int(counts.sum())
    if n < _ROWS or len(distinct) < _SOME or named_as_time(name):
        return None
    even = _evenness(distinct, counts) > CERTAIN
    if len(distinct) >= _ALONE * n:
        alone = named_as_key(name) and len(distinct) == n
        return "identifier" if values is not None and (even or alone) else None
    if named_as_key(name) and values is not None:
        return "group key"
    many = len(distinct) >= _MANY
    return "group key" if many and (even or (values is not None and _in_blocks(values, distinct))) else None


def _in_blocks(values: FloatArray, distinct: FloatArray) -> bool:
    """Whether each value fills one block of rows, and the blocks are not just a column sorted by size."""
    steps = np.diff(values)
    if np.count_nonzero(steps) != len(distinct) - 1:
        return False
    numbered = distinct[0] in (0.0, 1.0) and bool(np.isin(steps, (0, 1)).all())
    numbered = numbered and len(distinct) >= _MANY_BLOCKS
    up = np.count_nonzero(steps > 0) / (len(distinct) - 1)
    return bool(numbered or _EITHER_WAY[0] <= up <= _EITHER_WAY[1])


def key_remarks(series: pd.Series[Any], column: Column) -> tuple[Remark, ...]:
    """Say that a column looks like an identifier, or like a key that repeats in groups of records.

    Parameters
    ----------
    series : Series
        The column's cells.
    column : NumericColumn or CategoricalColumn
        What they were taken for; of a declared one nothing is said.

    Notes
    -----
    Privacy: reads real rows; quotes no value.
    """
    key = None if column.declared else _key_of_cells(series, column)
    if key is None:
        return ()
    what, remedy = _TOLD[key]
    quantity = "normrank" if isinstance(column, NumericColumn) else "polyreg"
    ways = {
        "units": written(id=column.name),
        "drop": Setting("drop", [column.name]),
        "serial": Setting("method", {column.name: SERIAL}),
        "modelled": Setting("method", {column.name: quantity}),
    }
    return (Remark(column.name, key, what, Words(remedy, **ways)),)


_ALIKE: Final = "looks like an identifier: its values hardly ever repeat, and those of a quantity would"
_WAYS: Final = "{drop} leaves it out, {serial} numbers the rows anew, and {modelled} says that it is none"
_TOLD: Final[dict[KeyKind, tuple[str, str]]] = {
    "identifier": (
        f"{_ALIKE}; drawn as numbers, identifiers of the copies repeat and may be those of real records",
        _WAYS,
    ),
    "group key": (
        "looks like the key of groups of records, such as households or schools; copies keep no such groups",
        f"{{units}} draws groups as wholes, {_WAYS}",
    ),
}


def _key_of_cells(series: pd.Series[Any], column: Column) -> KeyKind | None:
    """Ask it of texts and of whole numbers; an identifier that is mostly missing is none."""
    if isinstance(column, CategoricalColumn):
        counts = _text_counts(series, column)
        return _kind_of(column.name, np.arange(float(len(counts))), counts, None)
    values = _whole(series, column)
    key = None if values is None else key_of(column.name, values)
    return None if values is None or (key == "identifier" and len(values) < _ALONE * len(series)) else key


def _text_counts(series: pd.Series[Any], column: CategoricalColumn) -> IntArray:
    """Count the texts of a column that occur, in their order; none of anything else, nor of too few."""
    texts = all(isinstance(level, str) for level in column.levels)
    if column.ordered or not texts or len(column.levels) < _SOME:
        return np.zeros(0, dtype=np.int64)
    counts = series.value_counts().reindex(sorted(column.levels)).fillna(0).to_numpy(dtype=np.int64)
    return np.asarray(counts[counts > 0])


def _whole(series: pd.Series[Any], column: NumericColumn) -> FloatArray | None:
    """Present whole numbers without codes and spikes, in row order; None of others, and of dates."""
    if column.unit != "number" or not pd.api.types.is_numeric_dtype(series.dtype):
        return None
    plain = without(present_numbers(series), column.specials)
    blocks = (plain[start : start + BLOCK] for start in range(0, len(plain), BLOCK))
    fits = all((np.abs(own) < _EXACT).all() and (own == np.rint(own)).all() for own in blocks)
    return plain if fits else None


def _evenness(values: FloatArray, counts: IntArray) -> float:
    """Say how clearly values repeat less often than independent draws would.

    Parameters
    ----------
    values : array (values,)
        Distinct whole numbers, increasing.
    counts : array (values,)
        Records at each.

    Returns
    -------
    float
        Minus the logarithm of a bound on the chance of so few repeats; 0 where there are enough of them.

    Notes
    -----
    Privacy: arithmetic on counts of real values.

    Of n independent draws from any law on a range of w numbers, E = n (n - 1) / (2 w) pairs or more are equal
    on average, fewest under the uniform law (the birthday problem), and the chance of p pairs or fewer is at
    most exp(-(E - p + p log(p / E))) (Chernoff's bound of a Poisson number). Incomes, weights and dates of a
    thousand people in a wide range do not reach it; identifiers with gaps and balanced panels do.

    Examples
    --------
    >>> ids, ones = np.arange(1.0, 400.0, 2.0), np.ones(200, dtype=np.int64)
    >>> _evenness(ids, ones) > CERTAIN, _evenness(1000 * ids, ones) > CERTAIN
    (True, True)
    >>> rng = np.random.default_rng(1)
    >>> _evenness(*np.unique(rng.integers(0, 10**6, 1000), return_counts=True)) > CERTAIN
    False
    """
    step = np.gcd.reduce(np.diff(values).astype(np.int64)) if len(values) > 1 else 1
    low, high = np.searchsorted(np.cumsum(counts), np.multiply(_MIDDLE, counts.sum()))
    middle = slice(int(low), int(high) + 1)
    return max(_deficit(values, counts, float(step)), _deficit(values[middle], counts[middle], float(step)))


def _deficit(values: FloatArray, counts: IntArray, step: float) -> float:
    """Say the same of one range."""
    if len(values) < 2:
        return 0.0
    n, width = float(counts.sum()), float(values[-1] - values[0]) / step + 1
    expected = n * (n - 1) / (2 * width)
    pairs = float((counts * (counts - 1.0)).sum() / 2)
    if pairs >= expected:
        return 0.0
    return expected - pairs + (pairs * math.log(pairs / expected) if pairs else 0.0)
