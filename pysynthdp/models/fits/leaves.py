"""What the leaves of a tree hold: shares of levels or of groups of numbers, each resting on five records.

A level with fewer records in a leaf has there the share that it has in the leaves around, as many of them as
hold five such records together; sums over the table stay about as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.models.fits.tree import Tree

__all__ = ["Codes", "code_shares", "codes_of", "level_shares"]

GATE = 50  # records of a part of the tree that has none of a level, from which on that is taken as it is


@dataclass(frozen=True, slots=True)
class Codes:
    """Numbers as codes: places in a coarse table of the whole column.

    Parameters
    ----------
    knots : array (4, codes)
        The table, as :class:`~pysynthdp.models.ask.Quantiles` is answered.
    flat : array of bool (codes,)
        Codes of one value, which many records share.
    edges : array (codes - 1,)
        Between them.
    """

    knots: FloatArray
    flat: BoolArray
    edges: FloatArray

    def of(self, y: FloatArray) -> IntArray:
        """Code of each number; a heap is of its own value alone."""
        code = np.searchsorted(self.edges, y)
        heaps = np.flatnonzero(self.flat)
        if heaps.size:
            value = self.knots[2, heaps]
            near = np.clip(np.searchsorted((value[1:] + value[:-1]) / 2, y), 0, heaps.size - 1)
            code = np.where(np.isclose(value[near], y, rtol=1e-9, atol=0.0), heaps[near], code)
        return np.asarray(code, dtype=np.int64)

    def ranks(self, size: int) -> FloatArray:
        """Rank in the middle of each code, as a whole number from -size / 2 to size / 2."""
        shares = self.knots[0]
        return np.asarray(np.rint(size * (np.cumsum(shares) - shares / 2 - 0.5)))


def codes_of(knots: FloatArray) -> Codes:
    """Read a coarse table as codes.

    Examples
    --------
    >>> table = np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 5.0], [0.0, 3.0, 6.0], [0.0, 5.0, 9.0]])
    >>> codes_of(table).of(np.array([0.0, 0.1, 4.0, 7.0])).tolist()
    [0, 1, 1, 2]
    """
    _, low, middle, high = knots
    flat = low == high
    edges = (high[:-1] + low[1:]) / 2
    edges = np.where(flat[1:], middle[1:], np.where(flat[:-1], middle[:-1], edges))
    both = flat[1:] & flat[:-1]
    return Codes(knots, flat, np.where(both, (middle[1:] + middle[:-1]) / 2, edges))


def level_shares(tree: Tree, counts: FloatArray) -> FloatArray:
    """Shares of levels in each leaf, (leaves, levels); each rests on five records or is none.

    Parameters
    ----------
    tree : Tree
        Whose leaves they are.
    counts : array (leaves, levels)
        Records of each level.
    """
    sizes = counts.sum(axis=1)
    at = _pooled_at(tree, counts, sizes)
    columns = [_pooled(at[:, k], counts[:, k], sizes) for k in range(counts.shape[1])]
    return _raked(np.stack(columns, axis=1), counts.sum(axis=0), sizes)


def code_shares(tree: Tree, counts: FloatArray, codes: Codes) -> FloatArray:
    """Shares of codes of numbers in each leaf, (leaves, codes); they rest on groups of five records or more.

    Parameters
    ----------
    tree : Tree
        Whose leaves they are.
    counts : array (leaves, codes)
        Records of each code.
    codes : Codes
        What the codes are.

    Notes
    -----
    A code with five records in a leaf stands by itself. The others are put together from low to high until
    they are five, and have within such a group the shares that they have in the whole column; a rest of fewer
    than five is put together with those of the leaves around.
    """
    sizes = counts.sum(axis=1)
    alone = counts >= FEWEST
    left = np.where(alone, 0.0, counts)
    rest = left.sum(axis=1)
    few = rest < FEWEST
    at = _pooled_at(tree, np.where(few, rest, 0.0)[:, None], sizes, few[:, None])[:, 0]
    at = np.where(few, at, -1)
    shares = np.where(alone, counts, 0.0)
    margin = codes.knots[0]
    for leaf in np.flatnonzero(~few):
        shares[leaf] += _spread(left[leaf], np.where(alone[leaf], 0.0, margin))
    pooled = sizes * _pooled(at, rest, sizes)
    for node in np.unique(at[at >= 0]):
        spread = _spread(left[at == node].sum(axis=0), margin)
        shares[at == node] += pooled[at == node, None] * spread / max(spread.sum(), 1.0)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    return _raked(shares, counts.sum(axis=0), sizes)


def _raked(shares: FloatArray, total: FloatArray, sizes: FloatArray) -> FloatArray:
    """Let the leaves together have the column's own shares, and each leaf's sum to one."""
    drawn = sizes @ shares
    shares = shares * np.divide(total, drawn, out=np.zeros_like(total), where=drawn > 0)
    many = np.where(total >= FEWEST, total, 0.0)  # where no level has so many: all there are alike
    shares[shares.sum(axis=1) == 0] = many if many.any() else (total > 0).astype(np.float64)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _pooled_at(tree: Tree, counts: FloatArray, sizes: FloatArray, few: BoolArray | None = None) -> IntArray:
    """Node over whose leaves each cell's records are put together, (leaves, levels); -1 where there are none.

    A cell of five records stands alone. The others go up until they are five; those of a part of the tree
    with ``GATE`` records and none of the level stay empty, as what a gate keeps out.
    """
    leaves, parent = tree.leaves, tree.parent
    total, size = np.zeros((parent.size, counts.shape[1])), np.zeros(parent.size)
    total[leaves], size[leaves] = counts, sizes
    for node in range(parent.size - 1, 0, -1):
        total[parent[node]] += total[node]
        size[parent[node]] += size[node]
    none = (total == 0) & (size >= GATE)[:, None]
    for node in range(1, parent.size):
        none[node] |= none[parent[node]]
    few = (counts < FEWEST if few is None else few) & ~none[leaves]
    waiting = np.zeros(total.shape)
    waiting[leaves] = np.where(few, counts, 0.0)
    at = np.full(total.shape, -1, dtype=np.int64)
    for node in range(parent.size - 1, -1, -1):
        enough = waiting[node] >= FEWEST
        at[node, enough] = node
        if node:
            waiting[parent[node]] += np.where(enough, 0.0, waiting[node])
    for node in range(1, parent.size):
        at[node] = np.where(at[node] >= 0, at[node], at[parent[node]])
    alone = np.where(none[leaves], -1, leaves[:, None])
    return np.asarray(np.where(few, at[leaves], alone), dtype=np.int64)


def _pooled(at: IntArray, counts: FloatArray, sizes: FloatArray) -> FloatArray:
    """Share of a level among the records of the leaves that are put together, (leaves,)."""
    there = at >= 0
    held = np.bincount(at[there], counts[there])
    of = np.bincount(at[there], sizes[there])
    share = np.zeros(at.size)
    share[there] = held[at[there]] / of[at[there]]
    return share


def _spread(counts: FloatArray, margin: FloatArray) -> FloatArray:
    """Put neighbouring codes together until they hold five records, and spread these by the margin."""
    there = np.flatnonzero(counts)
    spread = np.zeros(counts.size)
    groups = _groups(counts, there)
    for low, high, held in _spans(groups, counts, there):
        within = margin[low : high + 1]
        if within.sum() > 0:
            spread[low : high + 1] += held * within / within.sum()
        else:
            spread[low : high + 1] += held / (high + 1 - low)
    return spread


def _groups(counts: FloatArray, there: IntArray) -> IntArray:
    """Give each code the number of its group; the last few records join the group before."""
    group, held, number = np.zeros(there.size, dtype=np.int64), 0.0, 0
    for place, code in enumerate(there):
        group[place] = number
        held += counts[code]
        if held >= FEWEST:
            held, number = 0.0, number + 1
    return np.minimum(group, max(number - 1, 0))


def _spans(group: IntArray, counts: FloatArray, there: IntArray) -> Iterator[tuple[int, int, float]]:
    """First and last code of each group, and its records.

    Groups meet halfway; the outermost end twice their mean deviation away from their mean, as numbers that
    are spread evenly do, so that no end is a record's.
    """
    held = np.bincount(group, counts[there])
    mean = np.bincount(group, counts[there] * there) / held
    reach = 2 * np.bincount(group, counts[there] * np.abs(there - mean[group])) / held
    first = there[np.searchsorted(group, np.arange(held.size))]
    last = there[np.searchsorted(group, np.arange(held.size), side="right") - 1]
    meet = (last[:-1] + first[1:]) // 2
    low = np.append(max(round(mean[0] - reach[0]), 0), meet + 1)
    high = np.append(meet, min(round(mean[-1] + reach[-1]), counts.size - 1))
    for start, stop, size in zip(low, high, held, strict=True):
        yield int(min(start, stop)), int(max(start, stop)), float(size)
