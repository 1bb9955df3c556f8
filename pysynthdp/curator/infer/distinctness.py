"""Whether values repeat less often than chance would make them: then somebody handed them out, one by one."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray

__all__ = ["CERTAIN", "evenness"]

CERTAIN = 10.0  # evenness from here on: by chance once in twenty thousand columns
_MIDDLE = (0.05, 0.95)  # outliers widen the range and hide how dense the rest is


def evenness(values: FloatArray, counts: IntArray) -> float:
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
    >>> evenness(ids, ones) > CERTAIN, evenness(1000 * ids, ones) > CERTAIN
    (True, True)
    >>> rng = np.random.default_rng(1)
    >>> evenness(*np.unique(rng.integers(0, 10**6, 1000), return_counts=True)) > CERTAIN
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
