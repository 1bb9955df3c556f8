"""Levels that fewer than five records have, put together: what models see in place of the levels.

A coefficient of such a level would be the rest of its records. So a model is fitted to groups of levels, as
features and as targets, and a drawn group is split into its levels by their shares, whatever the predictors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pysynthdp._typing import AnyArray, FloatArray, IntArray
from pysynthdp.remarks import FEWEST

__all__ = ["LevelGroups", "group_levels"]


@dataclass(frozen=True, slots=True, repr=False)
class LevelGroups:
    """Which levels a model sees as one, and how a drawn group is split.

    Parameters
    ----------
    codes : array of int (levels,)
        Group of each level; groups are numbered by their first level.
    weights : array (levels,)
        Records of each level, or a draw of its share.

    Notes
    -----
    Privacy: holds how many records a level has, and nothing else about them.
    """

    codes: IntArray
    weights: FloatArray

    @property
    def size(self) -> int:
        """Number of groups."""
        return int(self.codes.max()) + 1

    @property
    def n_rare(self) -> int:
        """Levels with fewer than five records, but not none; of a fit, not of drawn shares."""
        return int(np.count_nonzero((self.weights > 0) & (self.weights < FEWEST)))

    def split(self, groups: FloatArray, points: FloatArray) -> FloatArray:
        """Give a level for each drawn group.

        Parameters
        ----------
        groups : array (rows,)
            Group codes.
        points : array (rows,)
            Uniform on [0, 1), independent of the groups.

        Examples
        --------
        >>> groups = LevelGroups(np.array([0, 1, 1]), np.array([9.0, 1.0, 4.0]))
        >>> groups.split(np.array([0.0, 1.0, 1.0]), np.array([0.5, 0.1, 0.3])).tolist()
        [0.0, 1.0, 2.0]
        """
        order = np.argsort(self.codes, kind="stable")
        upto = np.cumsum(self.weights[order])
        total = np.bincount(self.codes, self.weights, self.size)
        before = np.cumsum(total) - total
        there = np.flatnonzero(self.weights[order] > 0)
        last = np.zeros(self.size, dtype=np.int64)
        last[self.codes[order[there]]] = there  # of several, the last
        at = groups.astype(np.int64)
        place = np.searchsorted(upto, before[at] + points * total[at], side="right")
        return order[np.minimum(place, last[at])].astype(np.float64)  # sums may round past an end

    def redrawn(self, rng: np.random.Generator) -> Self:
        """Draw the shares inside groups from their Dirichlet posterior."""
        return replace(self, weights=rng.standard_gamma(self.weights))


def group_levels(counts: AnyArray, *, ordered: bool) -> LevelGroups | None:
    """Put levels of fewer than five records together; None where there are none.

    Parameters
    ----------
    counts : array (levels,)
        Records of each level; a level of none stays by itself, there being nothing to protect.
    ordered : bool
        Neighbours are put together, from the first level on; else all rare levels, and with them the rarest
        of the others while they have fewer than five records still.

    Notes
    -----
    Privacy: arithmetic on counts.

    Examples
    --------
    >>> group_levels(np.array([40, 2, 60, 3]), ordered=False).codes.tolist()
    [0, 1, 2, 1]
    >>> group_levels(np.array([40, 2, 60, 3]), ordered=True).codes.tolist()
    [0, 1, 1, 1]
    """
    if not np.any((counts > 0) & (counts < FEWEST)):
        return None
    own = _neighbours(counts) if ordered else _rarest(counts)
    _, first, codes = np.unique(own, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return LevelGroups(rank[codes].astype(np.int64), np.asarray(counts, dtype=np.float64))


def _rarest(counts: AnyArray) -> IntArray:
    """Give every rare level the same label."""
    labels = np.arange(len(counts))
    ascending = np.argsort(counts, kind="stable")
    ascending = ascending[counts[ascending] > 0]
    upto = np.cumsum(counts[ascending])
    rare = int(np.count_nonzero(counts[ascending] < FEWEST))
    enough = int(np.searchsorted(upto, FEWEST)) + 1
    together = ascending[: max(rare, enough)]
    labels[together] = together.min()
    return labels


def _neighbours(counts: AnyArray) -> IntArray:
    """Label runs of levels that have five records together; a rest joins the run before it."""
    labels = np.zeros(len(counts), dtype=np.int64)
    run, records = 0, 0
    for level, count in enumerate(counts.tolist()):
        labels[level] = run
        records += count
        if records >= FEWEST:
            run, records = run + 1, 0
    labels[labels == run] = max(run - 1, 0) if records else run
    return labels
