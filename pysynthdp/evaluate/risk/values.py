"""Single values of few people in the copies: rare ones, the largest and smallest, and spikes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.evaluate.risk.coding import Coded, Files, numbers_of
from pysynthdp.evaluate.risk.intervals import binomial_tail

__all__ = ["rare_values"]

_ENDS: Final = 5  # distinct values at each end
_ALL: Final = 100.0
COLUMNS: Final = (
    "column",
    "rare",
    "found",
    "rows",
    "rows_expected",
    "rows_control",
    "ends",
    "ends_found",
    "ends_p",
    "spike_p",
)


def rare_values(files: Files, names: Sequence[str]) -> pd.DataFrame:
    """Look for values that fewer than five records have.

    Parameters
    ----------
    files : Files
        Table, copies, perhaps fresh people.
    names : sequence of str
        Columns to look at.

    Returns
    -------
    DataFrame
        Per column: ``rare`` values in the table and how many of them some copy has (``found``); per cent of
        ``rows`` of the copies with one, beside what a fresh sample would have (``rows_expected``, each record
        against all others) and what fresh people have (``rows_control``); the five largest and five smallest
        values as far as they are rare (``ends``), those that the worst copy has, and how likely as many are
        by chance; and how likely the most frequent of the rare values is, in the worst copy
        (``spike_p``, times the number of rare values).

    Notes
    -----
    Privacy: reads real rows. In n fresh rows a value of r records comes (r + 1) f(r + 1) / f(r) times, where
    f(r) values have r records (Robbins 1956; at most r + 1 times); its number is taken as geometric with this
    mean, whose tail is heavier than that of a count.
    """
    return pd.DataFrame([_row(files, name) for name in names], columns=list(COLUMNS))


def _row(files: Files, name: str) -> tuple[object, ...]:
    """Look at one column."""
    column = files.coded(name)
    held = np.bincount(column.table, minlength=column.size)
    rare = (held > 0) & (held < FEWEST)
    if column.missing >= 0:
        rare[column.missing] = False
    counts = [np.bincount(copy, minlength=column.size) for copy in column.copies]
    found = np.any([rare & (count > 0) for count in counts], axis=0)
    ends = _ends(files, name, column, rare)
    again = (held > 1) & (held <= FEWEST)
    tied = float(held[held > 1].sum() / max(held.sum(), 1))
    at_ends = [(int((count[ends] > 0).sum()), count.sum() / max(held.sum(), 1)) for count in counts]
    chances = [binomial_tail(hits, int(ends.sum()), min(tied * size, 1.0)) for hits, size in at_ends]
    return (
        name,
        int(rare.sum()),
        int(found.sum()),
        float(np.mean([_ALL * count[rare].sum() / max(count.sum(), 1) for count in counts])),
        float(_ALL * held[again].sum() / max(held.sum(), 1)),
        float(_ALL * rare[column.fresh].mean()) if column.fresh.size else np.nan,
        int(ends.sum()),
        max((hits for hits, _ in at_ends), default=0),
        min(chances) if ends.any() else np.nan,
        min((_spike(held, count, rare) for count in counts), default=np.nan) if rare.any() else np.nan,
    )


def _spike(held: IntArray, count: IntArray, rare: BoolArray) -> float:
    """Chance that one of the rare values comes as often as the most frequent one does."""
    n, k = int(held.sum()), int(count.sum())
    times = np.bincount(held, minlength=FEWEST + 2).astype(np.float64)  # values that r records have
    r = held[rare]
    again = np.minimum((r + 1) * (times[r + 1] + 1) / times[r], r + 1) * k / n
    tail: FloatArray = (again / (1 + again)) ** count[rare]
    return float(min(tail.min(initial=1.0) * rare.sum(), 1.0))


def _ends(files: Files, name: str, column: Coded, rare: BoolArray) -> BoolArray:
    """Mark the rare ones among the five largest and five smallest values of a number."""
    out = np.zeros(column.size, dtype=bool)
    values = numbers_of(name, [files.table[name]])
    if values is None:
        return out
    known = ~np.isnan(values[0])
    ordered, first = np.unique(values[0][known], return_index=True)
    if ordered.size < 2 * _ENDS:
        return out
    codes = column.table[known][first]
    out[np.concatenate([codes[:_ENDS], codes[-_ENDS:]])] = True
    return out & rare
