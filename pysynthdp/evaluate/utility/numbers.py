"""Means, quantiles and missing kinds of columns, and how columns go together, on both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.evaluate.sides.cells import Cells
from pysynthdp.evaluate.sides.columns import Facts, levels_of, numbers_of, with_dates
from pysynthdp.evaluate.utility.counts import count_pairs

__all__ = ["QUANTILES", "Numbers", "associations", "cramers", "kinds_of", "moments", "read_numbers"]

QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
_ROWS: Final = 16_384
_MOMENTS: Final = ("column", "statistic", "confidential", "copies", "std.diff")


class Numbers:
    """Sums over the numbers of one side.

    Parameters
    ----------
    count, mean, sd : array (columns,)
        Of the values of each numeric column.
    quantiles : array (columns, 5)
        Of them.
    correlation : array (columns, columns)
        Over rows in which both have a value.
    below : callable
        Share of the values of a column up to some numbers.
    """

    __slots__ = ("below", "correlation", "count", "mean", "quantiles", "sd")

    def __init__(self, frame: pd.DataFrame, facts: Sequence[Facts], marks: FloatArray | None = None) -> None:
        numeric = [each for each in facts if each.numeric]
        p = len(numeric)
        self.count, self.mean, self.sd = np.zeros(p), np.full(p, np.nan), np.full(p, np.nan)
        self.quantiles = np.full((p, len(QUANTILES)), np.nan)
        self.below = np.full((p, len(QUANTILES)), np.nan)
        for place, each in enumerate(numeric):
            self._read(place, numbers_of(frame[each.name], each)[0], marks)
        self.correlation = _correlation(frame, numeric, self.mean, self.sd)

    def _read(self, place: int, values: FloatArray, marks: FloatArray | None) -> None:
        """Summarise one column; ``marks`` are the quantiles of the other side."""
        known = values[np.isfinite(values)]
        self.count[place] = known.size
        if known.size > 1:
            self.mean[place], self.sd[place] = known.mean(), known.std(ddof=1)
            self.quantiles[place] = np.quantile(known, QUANTILES)
            at = self.quantiles[place] if marks is None else marks[place]
            self.below[place] = _middle_shares(known, at)


def _middle_shares(known: FloatArray, at: FloatArray) -> FloatArray:
    """Share of values below each of some numbers, half of those on it."""
    ranked = np.sort(known)
    ends = np.searchsorted(ranked, at, side="left") + np.searchsorted(ranked, at, side="right")
    return np.asarray(ends / (2 * known.size))


def read_numbers(
    sides: Sequence[Any], facts: Sequence[Facts], take: Callable[[Any], pd.DataFrame]
) -> list[Numbers]:
    """Summarise the confidential table, then each copy at its quantiles."""
    real = Numbers(take(sides[0]), facts)
    return [real, *(Numbers(take(side), facts, real.quantiles) for side in sides[1:])]


def _correlation(
    frame: pd.DataFrame, numeric: Sequence[Facts], mean: FloatArray, sd: FloatArray
) -> FloatArray:
    """Correlate numbers over the rows in which both have a value, a block of rows at a time."""
    p = len(numeric)
    sums = np.zeros((4, p, p))
    middle, spread = np.nan_to_num(mean)[:, None], np.where(sd > 0, sd, 1.0)[:, None]
    for start in range(0, len(frame) if p else 0, _ROWS):
        part = frame.iloc[start : start + _ROWS]
        values = np.stack([numbers_of(part[each.name], each)[0] for each in numeric])
        there = np.isfinite(values).astype(np.float64)
        z = np.where(there > 0, (values - middle) / spread, 0.0)
        sums += [there @ there.T, z @ there.T, (z**2) @ there.T, z @ z.T]
    n, one, square, cross = sums
    n = np.where(n > 1, n, np.nan)
    scatter = square - one**2 / n
    scatter = np.where(scatter > 1e-12 * n, scatter, np.nan)
    return np.asarray((cross - one * one.T / n) / np.sqrt(scatter * scatter.T))


def moments(sides: Sequence[Numbers], facts: Sequence[Facts]) -> pd.DataFrame:
    """Hold means, standard deviations and quantiles of numbers against each other.

    Parameters
    ----------
    sides : sequence of Numbers
        The confidential side first.
    facts : sequence of Facts
        Of the columns.

    Returns
    -------
    DataFrame
        One row a column and statistic. ``std.diff`` is the difference over the standard error that a fresh
        sample of the copies' size has beside the confidential one; of a quantile it is that of the share of
        values below it.

    Notes
    -----
    Privacy: of real rows.
    """
    real, copies = sides[0], sides[1:]
    numeric = [each for each in facts if each.numeric]
    size = np.mean([side.count for side in copies], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(1 / real.count + 1 / size)
        mean = np.mean([side.mean for side in copies], axis=0)
        sd = np.mean([side.sd for side in copies], axis=0)
        quantiles = np.mean([side.quantiles for side in copies], axis=0)
        shares = np.mean([side.below for side in copies], axis=0) - real.below
        error = np.sqrt(real.below * (1 - real.below)) * spread[:, None]
        rows = [
            row
            for place, each in enumerate(numeric)
            for row in (
                (each.name, "mean", real.mean[place], mean[place],
                 (mean[place] - real.mean[place]) / (real.sd[place] * spread[place])),
                (each.name, "sd", real.sd[place], sd[place], np.nan),
                *((each.name, f"quantile {p:g}", real.quantiles[place, at], quantiles[place, at],
                   0.0 - shares[place, at] / error[place, at]) for at, p in enumerate(QUANTILES)),
            )
        ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(_MOMENTS))
    known = {each.name: each for each in numeric}
    pairs = zip(frame["column"], frame["statistic"], strict=True)
    return with_dates(frame, [None if what == "sd" else known[name] for name, what in pairs])


def kinds_of(
    frames: Sequence[Any], facts: Sequence[Facts], take: Callable[[Any], pd.DataFrame]
) -> pd.DataFrame:
    """Hold the shares of rows without a value against each other, by kind.

    Parameters
    ----------
    frames : sequence
        The confidential side first.
    facts : sequence of Facts
        Of the columns.
    take : callable
        Gives the frame of one side.

    Returns
    -------
    DataFrame
        One row a column and kind that either side has.

    Notes
    -----
    Privacy: of real rows.
    """
    sides = [_kinds(take(frame), facts) for frame in frames]
    n1, n2 = sides[0][1], float(np.mean([size for _, size in sides[1:]]))
    rows: list[tuple[Any, ...]] = []
    for place, each in enumerate(facts):
        real, copies = sides[0][0][place], np.mean([found[place] for found, _ in sides[1:]], axis=0)
        for kind, one, other in zip(each.kinds, real, copies, strict=True):
            if one or other:
                pooled = (one * n1 + other * n2) / (n1 + n2)
                error = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
                rows.append((each.name, kind, one, other, (other - one) / error if error else np.nan))
    return pd.DataFrame(rows, columns=["column", "kind", "confidential", "copies", "std.diff"])


def _kinds(frame: pd.DataFrame, facts: Sequence[Facts]) -> tuple[list[FloatArray], int]:
    """Give shares of rows of each kind, column by column."""
    found = []
    for each in facts:
        if each.numeric:
            _, kinds = numbers_of(frame[each.name], each)
            counts = np.bincount(kinds, minlength=len(each.kinds) + 1)[1:]
        else:
            counts = np.array([(levels_of(frame[each.name], each) == -1).sum()])
        found.append(counts / max(len(frame), 1))
    return found, len(frame)


def associations(
    sides: Sequence[AnyArray], cells: Sequence[Cells], numbers: Sequence[Numbers]
) -> pd.DataFrame:
    """Hold correlations of numbers, and Cramer's V of any two columns, against each other.

    Parameters
    ----------
    sides : sequence of array of int (columns, rows)
        Cells of the confidential table, then of each copy.
    cells : sequence of Cells
        Of the columns.
    numbers : sequence of Numbers
        Of the same sides.

    Returns
    -------
    DataFrame
        One row a pair and measure, largest difference first.

    Notes
    -----
    Privacy: of real rows.
    """
    names = [each.facts.name for each in cells]
    numeric = [each.facts.name for each in cells if each.facts.numeric]
    sizes = np.array([each.size for each in cells])
    rows = [
        (numeric[i], numeric[j], "correlation", numbers[0].correlation[i, j],
         np.mean([side.correlation[i, j] for side in numbers[1:]]))
        for i, j in combinations(range(len(numeric)), 2)
    ]  # fmt: skip
    found = [cramers(side, sizes) for side in sides]
    rows += [
        (names[i], names[j], "Cramer's V", found[0][i, j], np.mean([side[i, j] for side in found[1:]]))
        for i, j in combinations(range(len(names)), 2)
    ]
    frame = pd.DataFrame(rows, columns=["column 1", "column 2", "measure", "confidential", "copies"])
    frame["difference"] = frame["copies"] - frame["confidential"]
    order = np.argsort(-np.nan_to_num(frame["difference"].abs().to_numpy(dtype=np.float64)), kind="stable")
    return frame.iloc[order].reset_index(drop=True)


def cramers(side: AnyArray, sizes: IntArray) -> FloatArray:
    """Cramer's V of every two columns by their cells; NaN where one has a single cell."""
    p = sizes.size
    found = np.full((p, p), np.nan)
    for first in range(p - 1):
        others = np.arange(first + 1, p)
        counts = count_pairs(side, sizes, first, others)
        start = 0
        for other in others:
            size = int(sizes[first] * sizes[other])
            found[first, other] = _cramer(counts[start : start + size].reshape(sizes[first], sizes[other]))
            start += size
    return found


def _cramer(table: AnyArray) -> float:
    """Cramer's V of a table of counts."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    less = min(np.count_nonzero(rows), np.count_nonzero(columns)) - 1
    if less < 1:
        return float("nan")
    expected = np.outer(rows, columns) / table.sum()
    there = expected > 0
    squares = (((table - expected)[there]) ** 2 / expected[there]).sum()
    return float(np.sqrt(squares / table.sum() / less))
