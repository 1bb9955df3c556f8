"""Numbers that repeat another number wherever that one is there, and have values of their own elsewhere.

A follow-up ends on the day of death of those who died: ``where(is_missing(died), end, died)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.curator.relations.arithmetic import Numbers
from pysynthdp.design.expressions import quoted

__all__ = ["copies_of", "told_apart"]

_FEWEST_ROWS = 50  # records that have the other number, and that have only this one
_EXPECTED = 10.0  # exceptions, were the two numbers independent
_MOSTLY = 0.9  # of the sample, before all rows are asked


def copies_of(name: str, others: Sequence[str], numbers: Numbers) -> Iterator[tuple[str, str]]:
    """Give the numbers that one may repeat wherever they are there, and the expression that says so.

    Parameters
    ----------
    name : str
        The number.
    others : sequence of str
        Numbers that it may repeat.
    numbers : Numbers
        A sample of the rows.

    Notes
    -----
    Privacy: reads real rows; proposes only, all rows decide.
    """
    y = numbers.columns[name]
    for other in others:
        x = numbers.columns[other]
        there = np.isfinite(x)
        same = np.count_nonzero(x[there] == y[there])
        alone = np.isfinite(y) & ~there
        if alone.any() and same >= max(_MOSTLY * np.count_nonzero(there), 1):
            yield other, f"where(is_missing({quoted(other)}), {quoted(name)}, {quoted(other)})"


def told_apart(x: FloatArray, y: FloatArray) -> bool:
    """Whether enough records have both numbers, and enough the second alone, so that equality is no accident.

    Parameters
    ----------
    x, y : array (rows,)
        The number that is repeated, and the one that repeats it; NaN where missing.
    """
    there, alone = np.isfinite(x), np.isfinite(y) & ~np.isfinite(x)
    n = int(np.count_nonzero(there))
    if min(n, int(np.count_nonzero(alone))) < _FEWEST_ROWS:
        return False
    values, of_x = np.unique(x[there], return_counts=True)
    own, of_y = np.unique(y[np.isfinite(y)], return_counts=True)
    _, left, right = np.intersect1d(values, own, return_indices=True)
    chance = float((of_x[left] / n) @ (of_y[right] / of_y.sum()))
    return n * (1 - chance) >= _EXPECTED
