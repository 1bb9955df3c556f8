"""Whose row it is: counts of units where several rows of a table are of one unit.

"Nothing rests on fewer than five records" speaks of households and persons, not of their rows: five members
of one household who alone have a level are one. A table that says whose its rows are is counted by these.
"""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST

__all__ = ["fewest_rows", "lowest_and_highest", "owners_of_marked", "owners_with", "rest_on_few_owners"]


def owners_with(codes: AnyArray, size: int, owner: IntArray, kind: AnyArray | None = None) -> IntArray:
    """Count the units that have each code 0, 1, ... in a row, where a kind is 0.

    Notes
    -----
    Privacy: reads real rows.

    Examples
    --------
    >>> owners_with(np.array([1, 1, 1, 0, 1]), 3, np.array([0, 0, 0, 1, 1])).tolist()
    [1, 2, 0]
    """
    there = slice(None) if kind is None else np.asarray(kind[:]) == 0
    own, whose = np.asarray(codes[:])[there].astype(np.int64), owner[there]
    most = max(size, int(own.max(initial=0)) + 1)
    return np.bincount(np.unique(whose * most + own) % most, minlength=size)


def owners_of_marked(marked: BoolArray, owner: IntArray) -> int:
    """Count the units of some rows."""
    return len(np.unique(owner[marked]))


def fewest_rows(owner: IntArray) -> int:
    """Rows that rest on five units, whichever rows these are.

    Examples
    --------
    >>> fewest_rows(np.array([0, 0, 0, 1, 2, 2]))  # four units have twelve rows at most
    13
    """
    return (FEWEST - 1) * int(np.bincount(owner).max(initial=1)) + 1


def lowest_and_highest(values: FloatArray, owner: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Give units with a value, and the lowest and the highest of each."""
    whose, place = np.unique(owner, return_inverse=True)
    low, high = np.full(len(whose), np.inf), np.full(len(whose), -np.inf)
    np.minimum.at(low, place, values)
    np.maximum.at(high, place, values)
    return place, low, high


def rest_on_few_owners(ones: FloatArray, some: FloatArray, owner: IntArray) -> tuple[BoolArray, BoolArray]:
    """Say which features rest on fewer than five units.

    Parameters
    ----------
    ones : array (rows, dummies)
        Features of 0 and 1, in the order in which they are given.
    some : array (rows, others)
        Numbers that are 0 in some rows.
    owner : array of int (rows,)
        Whose row each is, a unit's rows together.

    Returns
    -------
    array of bool (dummies,), array of bool (others,)
        Dummies that fewer than five units have, or lack, or that differ from an earlier one in the rows of so
        few; other features that are not zero in the rows of so few. Not those of none at all.

    Notes
    -----
    Privacy: reads real rows.

    Examples
    --------
    >>> whose = np.repeat(np.arange(12), 3)
    >>> twins = np.stack([np.arange(36) < 18, np.arange(36) < 24], axis=1).astype(float)  # two units apart
    >>> rest_on_few_owners(twins, np.zeros((36, 0)), whose)[0].tolist()
    [False, True]
    """
    if not len(owner):
        return np.zeros(ones.shape[1], dtype=np.bool_), np.zeros(some.shape[1], dtype=np.bool_)
    starts = np.flatnonzero(np.r_[True, np.diff(owner) != 0])
    whole = np.column_stack([np.ones(len(ones)), ones])
    differ = np.zeros((whole.shape[1], whole.shape[1]), dtype=np.int64)
    for rows in np.split(whole, starts[1:]):
        apart = rows.T @ (1.0 - rows) > 0
        differ += apart | apart.T
    have = np.count_nonzero(np.add.reduceat(whole, starts, axis=0) > 0, axis=0)
    few = ((have > 0) & (have < FEWEST)) | np.triu((differ > 0) & (differ < FEWEST), k=1).any(axis=0)
    filled = np.count_nonzero(np.add.reduceat(some != 0, starts, axis=0, dtype=np.int64), axis=0)
    return np.asarray(few[1:]), np.asarray((filled > 0) & (filled < FEWEST))
