"""Which values of a number column stand for something else than a quantity, and are drawn apart.

A value is a spike where it is a zero or a usual missing code at an end of the range, at least 0.5 % and 20
records hold it, and it is three times as frequent as any other value within an interquartile range of it.
All other values that many records share, however many (whole numbers among a few with decimals, thousands
among incomes, a legal wage), are drawn as numbers: the model of numbers keeps their shares.
"""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray

__all__ = ["END_COUNT", "END_SHARE", "HIGH_CODES", "LOW_CODES", "learned_spikes", "stand_out"]

END_SHARE = 0.005
END_COUNT = 20
TIMES = 3  # as frequent as any neighbour
_GAPS = 4  # median distances of neighbouring values: nearer ones are neighbours, however narrow the rest
LOW_CODES = tuple(range(-1, -10, -1)) + tuple(
    -int(f"{'9' * nines}{last}") for nines in (1, 2, 3) for last in "9876"
)
HIGH_CODES = tuple(int(f"{'9' * nines}{last}") for nines in (1, 2, 3, 4) for last in "6789")


def learned_spikes(distinct: FloatArray, counts: IntArray) -> BoolArray:
    """Find the values that are drawn apart.

    Parameters
    ----------
    distinct : array (values,)
        Increasing.
    counts : array (values,)
        Records at each.

    Returns
    -------
    array of bool (values,)

    Notes
    -----
    Privacy: reads counts of real values; each value found has twenty or more records.

    Examples
    --------
    >>> values, counts = np.array([0.0, *range(1, 41)]), np.array([30, *[20] * 40])
    >>> bool(learned_spikes(values, counts).any())  # 0 is not three times as frequent as the others
    False
    >>> values[learned_spikes(values, np.array([70, *[20] * 40]))]
    array([0.])
    """
    total = counts.sum()
    ends = _at_ends(distinct) & (counts >= max(END_SHARE * total, END_COUNT))
    return stand_out(distinct, counts, ends, apart=ends)


def stand_out(
    distinct: FloatArray, counts: IntArray, candidates: BoolArray, *, apart: BoolArray
) -> BoolArray:
    """Which candidates are three times as frequent as every other value near them.

    Parameters
    ----------
    distinct, counts : arrays (values,)
        Increasing values, and records at each.
    candidates : array of bool (values,)
        Those to judge.
    apart : array of bool (values,)
        Those that are nobody's neighbours, such as codes.

    Notes
    -----
    Privacy: arithmetic on counts of real values.
    """
    found = np.zeros(len(distinct), dtype=bool)
    if not candidates.any():
        return found
    gap = float(np.median(np.diff(distinct))) if len(distinct) > 1 else 0.0
    for place in np.flatnonzero(candidates):
        others = ~apart
        others[place] = False
        reach = max(_quarters(distinct[others], counts[others]), _GAPS * gap)
        near = others & (np.abs(distinct - distinct[place]) <= reach)
        found[place] = counts[place] >= TIMES * counts[near].max(initial=0)
    return found


def _at_ends(distinct: FloatArray) -> BoolArray:
    """Zeros and codes with nothing but zeros and codes beyond them."""
    low, high = {0, *LOW_CODES}, {0, *HIGH_CODES}
    first = next((place for place, value in enumerate(distinct) if value not in low), len(distinct))
    last = next((place for place, value in enumerate(distinct[::-1]) if value not in high), len(distinct))
    ends = np.zeros(len(distinct), dtype=bool)
    if first + last < len(distinct):
        ends[:first] = True
        ends[len(distinct) - last :] = True
    return ends


def _quarters(distinct: FloatArray, counts: IntArray) -> float:
    """Interquartile range of counted values."""
    if not len(distinct):
        return 0.0
    places = np.searchsorted(np.cumsum(counts) / counts.sum(), (0.25, 0.75))
    low, high = distinct[np.minimum(places, len(distinct) - 1)]
    return float(high - low)
