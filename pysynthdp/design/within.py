"""Groups of rows in which a model is fitted apart, told by the codes of parts that are drawn before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import AnyArray, IntArray

__all__ = ["Within", "combinations_of"]


@dataclass(frozen=True, slots=True, repr=False)
class Within:
    """Which group of rows a combination of codes belongs to.

    Parameters
    ----------
    keys : tuple of (column, role)
        The parts whose codes tell it.
    sizes : tuple of int
        Levels of each.
    listed : array of int (combinations,)
        Numbers of the combinations that have a group, ascending.
    groups : array of int (combinations,)
        The group of each.
    other : int
        The group of every other combination.
    """

    keys: tuple[tuple[str, str], ...]
    sizes: tuple[int, ...]
    listed: IntArray
    groups: IntArray
    other: int

    def of(self, codes: Mapping[tuple[str, str], AnyArray]) -> IntArray:
        """Give the group of each row.

        Examples
        --------
        >>> own = Within((("sex", "value"),), (3,), np.array([0, 2]), np.array([0, 1]), 1)
        >>> own.of({("sex", "value"): np.array([2, 0, 1, 0])}).tolist()
        [1, 0, 1, 0]
        """
        numbers = combinations_of([codes[key] for key in self.keys], self.sizes)
        place = np.minimum(np.searchsorted(self.listed, numbers), len(self.listed) - 1)
        return np.where(self.listed[place] == numbers, self.groups[place], self.other)


def combinations_of(codes: Sequence[AnyArray], sizes: Sequence[int]) -> IntArray:
    """Give combinations of codes their numbers, the last part's codes running fastest.

    Examples
    --------
    >>> combinations_of([np.array([0, 1]), np.array([2, 0])], [2, 3]).tolist()
    [2, 3]
    """
    whole = tuple(own.astype(np.int64) for own in codes)
    return np.asarray(np.ravel_multi_index(whole, tuple(sizes)), dtype=np.int64)
