"""A column's present numbers and how often each occurs, in one array: a long column is not held twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray

__all__ = ["BLOCK", "counted", "present_numbers", "without"]

BLOCK = 2**17  # rows converted at a time


def present_numbers(
    series: pd.Series[Any], read: Callable[[pd.Series[Any]], FloatArray] | None = None
) -> FloatArray:
    """Give the numbers of a column that are there, in row order, in an array of its own.

    Parameters
    ----------
    series : Series
        The cells.
    read : callable, optional
        Gives the numbers of some rows, NaN where missing; their values as they are by default.

    Examples
    --------
    >>> present_numbers(pd.Series([3, None, 1], dtype="Int64"))
    array([3., 1.])
    """
    found, n = np.empty(len(series)), 0
    for start in range(0, len(series), BLOCK):
        block = series.iloc[start : start + BLOCK]
        own = block.dropna().to_numpy(dtype=np.float64) if read is None else read(block)
        own = own if read is None else own[~np.isnan(own)]
        found[n : n + len(own)] = own
        n += len(own)
    return found[:n]


def without(numbers: FloatArray, apart: Sequence[float] | FloatArray) -> FloatArray:
    """Take some values out of an array of one's own, whose other values move up.

    Examples
    --------
    >>> without(np.array([1.0, -9.0, 2.0]), [-9])
    array([1., 2.])
    """
    values, n = np.array(apart, dtype=np.float64), 0
    if not len(values):
        return numbers
    for start in range(0, len(numbers), BLOCK):
        block = numbers[start : start + BLOCK]
        own = block[~np.isin(block, values)]
        numbers[n : n + len(own)] = own
        n += len(own)
    return numbers[:n]


def counted(numbers: FloatArray) -> tuple[FloatArray, IntArray]:
    """Give the distinct numbers, increasing, and how often each occurs, as ``numpy.unique`` does.

    Parameters
    ----------
    numbers : array (n,)
        Of one's own, none missing; it is sorted in place.

    Examples
    --------
    >>> counted(np.array([2.0, 1.0, 2.0]))
    (array([1., 2.]), array([1, 2]))
    """
    numbers.sort()
    first = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return numbers[starts], np.diff(starts, append=len(numbers))
