"""What the copies of a release hold, column by column: shares of levels, missing kinds, means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.io.survey.coding import Coding, cells_of, codings
from pysynthdp.schema import Schema

__all__ = ["MOST_ROWS", "Counted", "counted"]

MOST_ROWS: Final = 1_000_000
"""Rows that are counted: of long copies the first ones only."""
_TIMED: Final = ("day", "time")


@dataclass(slots=True)
class Counted:
    """What one column of the copies holds.

    Parameters
    ----------
    rows : int
        That were counted.
    levels : Counter
        Of levels and texts.
    kinds : Counter
        Of the labels of missing kinds.
    absent : int
        Cells that are missing for no declared reason.
    present, mean, spread : float
        Numbers, their mean, and the sum of squared distances from it.
    low, high : float
        The smallest and the largest number.
    """

    rows: int = 0
    levels: Counter[Any] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    absent: int = 0
    present: int = 0
    mean: float = 0.0
    spread: float = 0.0
    low: float = math.inf
    high: float = -math.inf
    timed: bool = False

    @property
    def deviation(self) -> float:
        """Standard deviation of the numbers."""
        if self.present < 2:
            return math.nan
        return math.sqrt(self.spread / (self.present - 1))

    def share(self, count: int) -> float:
        """Percentage of the rows."""
        return 100 * count / self.rows if self.rows else math.nan


def counted(
    blocks: Iterable[pd.DataFrame], schema: Schema, *, withheld: Iterable[str] = ()
) -> dict[str, Counted]:
    """Count blocks of copies.

    Parameters
    ----------
    blocks : iterable of DataFrame
        Rows of copies.
    schema : Schema
        Of the copies.
    withheld : iterable of str
        Columns whose levels are not published, which are left out.

    Notes
    -----
    Privacy: reads copies, which are released.
    """
    found: dict[str, Counted] = {}
    gone = set(withheld)
    for block in blocks:
        for coding in codings(block, schema):
            if coding.name not in gone:
                _add(found.setdefault(coding.name, Counted()), coding, block[coding.name])
        if next(iter(found.values()), Counted(rows=MOST_ROWS)).rows >= MOST_ROWS:
            break
    return found


def _add(counts: Counted, coding: Coding, series: pd.Series[Any]) -> None:
    """Count one column of a block."""
    cells = cells_of(coding, series)
    counts.rows += len(series)
    for at, each in enumerate(coding.absent):
        counts.kinds[each.kind.label or str(each.kind.own)] += int((cells.kinds == at).sum())
    if coding.texts or coding.form in ("coded", "flag"):
        plain = series[cells.kinds < 0]
        counts.levels.update({key: int(count) for key, count in plain.value_counts().items() if count})
        counts.absent += int(plain.isna().sum())
        return
    values = cells.held[~np.isnan(cells.held)]
    counts.absent += int((cells.kinds < 0).sum()) - len(values)
    counts.timed = coding.form in _TIMED
    if len(values):
        _merge(counts, values)
        counts.low = min(counts.low, float(values.min()))
        counts.high = max(counts.high, float(values.max()))


def _merge(counts: Counted, values: FloatArray) -> None:
    """Add numbers to mean and spread (Chan, Golub and LeVeque 1983, equation 2.1)."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
        apart, both = mean - counts.mean, counts.present + len(values)
        counts.spread += (
            float(((values - mean) ** 2).sum()) + apart * apart * counts.present * len(values) / both
        )
        counts.mean += apart * len(values) / both
    counts.present = both
