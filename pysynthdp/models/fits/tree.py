"""A binary tree grown from sums over rows: histograms in, splits out.

Thresholds lie on a fixed grid of standardised features, each at the roundest point of its gap, so none is a
record's own value, nor halfway between two records' values, but by chance. Between two that a feature offers
lie five records or more, and a split leaves ``LEAF`` on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums

__all__ = ["LEAF", "RANKS", "Score", "Tree", "ask_tree", "leaf_of"]

LEAF = 20  # records in a leaf, at least
LONG = 50_000  # rows, about, on which splits are looked for: a systematic subsample of longer tables
BINS = 256  # of a feature, at most; each with FEWEST records or more
DEPTH = 30
LEAST_GAIN = 1e-8  # of the spread at the root: the complexity parameter of synthpop's trees
ROOM = 2_000_000  # entries of the histograms of one round, at most
RANKS = 2**16  # ranks are whole numbers, so that sums of them are exact in any order
_MIDDLE = 265
_GRID = 0.5 * np.sinh(
    np.arange(-_MIDDLE, _MIDDLE + 1) / 50
)  # steps of a hundredth of a deviation in the middle


@dataclass(frozen=True, slots=True)
class Tree:
    """Splits, one entry a node; children have larger numbers than their node.

    Parameters
    ----------
    feature : array of int (nodes,)
        Column of X that a node asks; -1 at a leaf.
    threshold : array (nodes,)
        Rows above it go right; 0 at a leaf.
    left, right : array of int (nodes,)
        Children; -1 at a leaf.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray

    @property
    def leaves(self) -> IntArray:
        """The nodes that are leaves, in order."""
        return np.flatnonzero(self.feature < 0)

    @property
    def parent(self) -> IntArray:
        """Parent of each node; -1 of the root."""
        parent = np.full(self.feature.size, -1, dtype=np.int64)
        inner = np.flatnonzero(self.feature >= 0)
        parent[self.left[inner]] = parent[self.right[inner]] = inner
        return parent


@dataclass(frozen=True, slots=True)
class Score:
    """What splits should tell apart: levels by Gini's index, numbers by the variance of their ranks.

    Parameters
    ----------
    of : callable y -> array (rows,)
        Level codes; or ranks as whole numbers.
    levels : int
        Number of levels; 0 for ranks.
    """

    of: Callable[[FloatArray], FloatArray]
    levels: int

    @property
    def width(self) -> int:
        """Entries of a cell of a histogram: counts of levels, or count and sum of ranks."""
        return self.levels or 2

    @property
    def unit(self) -> float:
        """Spread of a row, about: gains are measured by it."""
        return 1.0 if self.levels else RANKS**2 / 12

    def cells(self, where: IntArray, size: int, z: FloatArray, w: FloatArray | None) -> FloatArray:
        """Histogram (size, width) of rows that lie in the cells ``where``."""
        if self.levels:
            joint = where * self.levels + z.astype(np.int64)
            return np.bincount(joint, w, size * self.levels).reshape(size, self.levels).astype(np.float64)
        weighted = z if w is None else z * w
        return np.stack([np.bincount(where, w, size), np.bincount(where, weighted, size)], axis=1)

    def parts(self, cells: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows of each cell, and its sums of scores (..., scores)."""
        return (cells.sum(axis=-1), cells) if self.levels else (cells[..., 0], cells[..., 1:])


@dataclass(slots=True)
class _Growing:
    """A tree under way: lists of what :class:`Tree` holds, and the depth of each node."""

    feature: list[int] = field(default_factory=lambda: [-1])
    threshold: list[float] = field(default_factory=lambda: [0.0])
    left: list[int] = field(default_factory=lambda: [-1])
    right: list[int] = field(default_factory=lambda: [-1])
    depth: list[int] = field(default_factory=lambda: [0])

    @property
    def tree(self) -> Tree:
        """What has grown so far."""
        whole = [np.array(each, dtype=np.int64) for each in (self.feature, self.left, self.right)]
        return Tree(whole[0], np.array(self.threshold), whole[1], whole[2])

    def split(self, node: int, feature: int, threshold: float) -> tuple[int, int]:
        """Give a node two children."""
        first = len(self.feature)
        self.feature[node], self.threshold[node] = feature, threshold
        self.left[node], self.right[node] = first, first + 1
        self.feature += [-1, -1]
        self.threshold += [0.0, 0.0]
        self.left += [-1, -1]
        self.right += [-1, -1]
        self.depth += [self.depth[node] + 1] * 2
        return first, first + 1


def leaf_of(tree: Tree, X: FloatArray) -> IntArray:
    """Give the node of the leaf that each row of X falls into.

    Examples
    --------
    >>> left, right = np.array([1, -1, -1]), np.array([2, -1, -1])
    >>> tree = Tree(np.array([0, -1, -1]), np.array([0.5, 0.0, 0.0]), left, right)
    >>> leaf_of(tree, np.array([[0.0], [1.0]])).tolist()
    [1, 2]
    """
    node = np.zeros(len(X), dtype=np.int64)
    moving = np.arange(len(X))
    while moving.size:
        moving = moving[tree.feature[node[moving]] >= 0]
        at = node[moving]
        above = X[moving, tree.feature[at]] > tree.threshold[at]
        node[moving] = np.where(above, tree.right[at], tree.left[at])
    return node


def ask_tree(score: Score, dummies: Sequence[bool], n: int) -> Generator[RowSum, Answer, Tree]:
    """Grow a tree, level by level, by rounds of histograms.

    Parameters
    ----------
    score : Score
        Of the target.
    dummies : sequence of bool (features,)
        Which features are 0 or 1; the first feature is the intercept.
    n : int
        Rows; of more than ``LONG`` a systematic subsample is asked.

    Returns
    -------
    Tree

    Notes
    -----
    Privacy: sums over rows; every split has ``LEAF`` records or more on either side, and its threshold is a
    point of a fixed grid.
    Breiman, Friedman, Olshen and Stone (1984), "Classification and regression trees".
    """
    every = max(1, n // LONG)
    answer = yield RowSum(_grid_terms(len(dummies)), every=every)
    edges = [_edges(counts, dummy=dummy) for counts, dummy in zip(answer.value[0], dummies, strict=True)]
    grown, frontier = _Growing(), [0]
    size = max(1, ROOM // (sum(each.size + 1 for each in edges) * score.width))
    least = LEAST_GAIN * (n / every) * score.unit
    while frontier and any(each.size for each in edges):
        nodes, frontier = frontier[:size], frontier[size:]
        answer = yield RowSum(_round_terms(grown.tree, nodes, edges, score), every=every)
        for node, best in zip(nodes, _best_splits(answer.value, edges, score, least), strict=True):
            if best is not None and grown.depth[node] < DEPTH:
                children = grown.split(node, best[0], float(edges[best[0]][best[1]]))
                frontier += [child for child, held in zip(children, best[2], strict=True) if held >= 2 * LEAF]
    return grown.tree


def _grid_terms(features: int) -> RowTerms:
    """Make the term of a row block: how many rows lie in each cell of the grid, by feature."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        cells = [
            np.bincount(np.searchsorted(_GRID, X[:, j]), w, _GRID.size + 1).astype(np.float64)
            for j in range(features)
        ]
        return (np.array(cells),)

    return block


def _edges(counts: FloatArray, *, dummy: bool) -> FloatArray:
    """Thresholds that a feature offers: about as many rows between any two, in gaps where there are any."""
    if dummy:
        return np.array([0.5])
    there = np.flatnonzero(counts)
    wanted = max(counts.sum() / BINS, FEWEST)
    found, held, rest = [], 0.0, counts.sum()
    for cell, after in pairwise(there):
        held, rest = held + counts[cell], rest - counts[cell]
        if held >= wanted and rest >= LEAF:
            found.append(_GRID[_roundest(int(cell), int(after) - 1)])
            held = 0.0
    return np.array(found)


def _roundest(low: int, high: int) -> int:
    """Of the grid's points from one to another, take that which the largest power of two divides."""
    low, high, step = low - _MIDDLE, high - _MIDDLE, 2 * _MIDDLE
    step = 1 << step.bit_length()
    while high // step * step < low:
        step //= 2
    return high // step * step + _MIDDLE


def _round_terms(tree: Tree, nodes: Sequence[int], edges: Sequence[FloatArray], score: Score) -> RowTerms:
    """Make the terms of a row block: for each feature a histogram (nodes, bins, width)."""
    place = np.full(tree.feature.size, -1, dtype=np.int64)
    place[list(nodes)] = np.arange(len(nodes))

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        node = place[leaf_of(tree, X)]
        inside = np.flatnonzero(node >= 0)
        node, z, own = node[inside], score.of(y[inside]), None if w is None else w[inside]
        found = []
        for j, thresholds in enumerate(edges):
            bins = thresholds.size + 1
            if bins == 1:
                continue
            where = node * bins + np.searchsorted(thresholds, X[inside, j])
            cells = score.cells(where, len(nodes) * bins, z, own)
            found.append(cells.reshape(len(nodes), bins, score.width))
        return tuple(found)

    return block


Best = tuple[int, int, tuple[float, float]]


def _best_splits(
    histograms: Sums, edges: Sequence[FloatArray], score: Score, least: float
) -> list[Best | None]:
    """Feature, place among its thresholds, and rows on either side of each node's best split."""
    offered = [j for j, thresholds in enumerate(edges) if thresholds.size]
    tried = [_gains(cells, score) for cells in histograms]
    best = np.array([gains.max(axis=1) for gains, _, _ in tried])
    found: list[Best | None] = []
    for node, which in enumerate(best.argmax(axis=0)):
        gains, low, high = tried[which]
        at = int(gains[node].argmax())
        good = gains[node, at] > least
        found.append((offered[which], at, (low[node, at], high[node, at])) if good else None)
    return found


def _gains(cells: FloatArray, score: Score) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Squares that each threshold gains (nodes, thresholds), and the rows on either side."""
    rows, sums = score.parts(cells)
    low, below = rows.cumsum(axis=1), sums.cumsum(axis=1)
    n, total = low[:, -1:], below[:, -1:]
    low, below = low[:, :-1], below[:, :-1]
    high, above = n - low, total - below
    valid: BoolArray = (low >= LEAF) & (high >= LEAF)
    gains = _square(below) / np.maximum(low, 1) + _square(above) / np.maximum(high, 1)
    gains = gains - _square(total) / np.maximum(n, 1)
    return np.where(valid, gains, -np.inf), low, high


def _square(sums: FloatArray) -> FloatArray:
    """Squared length of the sums of each cell."""
    return np.asarray((sums**2).sum(axis=-1))
