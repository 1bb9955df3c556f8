"""A classification tree of where a row comes from, grown level by level from one histogram of all columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Growth", "leaf_shares"]

_DEPTH: Final = 30
_ROOM: Final = 4_000_000  # cells of a histogram
_GAIN: Final = 1e-9  # of Gini's index at the root


@dataclass(frozen=True, slots=True)
class Growth:
    """How far a tree grows.

    Parameters
    ----------
    leaf : int
        Rows of a leaf, at least.
    node : int
        Rows of a node that is split, at least.
    cp : float
        Complexity: a split stays where it saves that share of the root's errors for every leaf that it adds;
        0 keeps every split.
    """

    leaf: int
    node: int
    cp: float = 0.0


@dataclass(slots=True)
class _Nodes:
    """A tree under way, one entry a node."""

    counts: list[FloatArray]
    children: list[tuple[int, int] | None]


def leaf_shares(
    bins: AnyArray, sizes: IntArray, ordered: BoolArray, y: AnyArray, growth: Growth
) -> FloatArray:
    """Grow a tree and give each row the share of its leaf that is 1.

    Parameters
    ----------
    bins : array of int (columns, rows)
        Columns as bins.
    sizes : array of int (columns,)
        Bins of each.
    ordered : array of bool (columns,)
        Whether a split must keep the order of bins; else bins are put in the order of their shares of 1,
        among which the best split of two classes is (Breiman and others 1984, theorem 4.5).
    y : array of int (rows,)
        0 or 1.
    growth : Growth
        How far.

    Returns
    -------
    array (rows,)

    Notes
    -----
    Privacy: arithmetic on rows.
    """
    node = np.zeros(y.size, dtype=np.int64)
    nodes = _Nodes([np.bincount(y, minlength=2).astype(np.float64)], [None])
    frontier = [0]
    for _ in range(_DEPTH):
        frontier = [
            each for each in frontier if nodes.counts[each].sum() >= growth.node and nodes.counts[each].all()
        ]
        if not frontier:
            break
        frontier = _grow(bins, sizes, ordered, y, growth, node, nodes, frontier)
    keep = _pruned(nodes, growth.cp)
    return _shares(nodes, keep)[node]


def _grow(
    bins: AnyArray,
    sizes: IntArray,
    ordered: BoolArray,
    y: AnyArray,
    growth: Growth,
    node: IntArray,
    nodes: _Nodes,
    frontier: list[int],
) -> list[int]:
    """Split the nodes of one level; ``node`` is where each row lies, and is moved on in place."""
    width, found = int(sizes.max()), []
    step = max(1, _ROOM // (sizes.size * width * 2))
    for start in range(0, len(frontier), step):
        some = frontier[start : start + step]
        place = np.full(len(nodes.counts), -1)
        place[some] = np.arange(len(some))
        inside = np.flatnonzero(place[node] >= 0)
        at = place[node[inside]]
        cells = _histogram(bins, width, y, inside, at, len(some))
        column, left, gain = _best(cells, ordered, growth.leaf)
        least = _GAIN * nodes.counts[0].sum()
        first = np.full(len(some), -1)
        for number in np.flatnonzero(gain > least):
            first[number] = len(nodes.counts)
            below = cells[number, column[number]][left[number]].sum(axis=0)
            nodes.children[some[number]] = (first[number], first[number] + 1)
            nodes.counts += [below, nodes.counts[some[number]] - below]
            nodes.children += [None, None]
            found += [int(first[number]), int(first[number]) + 1]
        moved = first[at] >= 0
        inside, at = inside[moved], at[moved]
        goes_left = left[at, bins[column[at], inside]]
        node[inside] = first[at] + ~goes_left
    return found


def _histogram(
    bins: AnyArray, width: int, y: AnyArray, inside: IntArray, at: IntArray, size: int
) -> FloatArray:
    """Count rows by node, column, bin and class: (nodes, columns, bins, 2)."""
    p = bins.shape[0]
    found = np.empty((p, size * width * 2))
    base = at * (width * 2) + y[inside]
    for column in range(p):
        found[column] = np.bincount(
            base + 2 * bins[column, inside].astype(np.int64), minlength=size * width * 2
        )
    return np.moveaxis(found.reshape(p, size, width, 2), 0, 1)


def _best(cells: FloatArray, ordered: BoolArray, leaf: int) -> tuple[IntArray, BoolArray, FloatArray]:
    """Find each node's best split: its column, which bins go left, and what it gains in Gini's index."""
    total = cells.sum(axis=3)
    share = np.divide(cells[..., 1], total, out=np.full(total.shape, 2.0), where=total > 0)
    share[:, ordered] = np.arange(total.shape[2])
    order = np.argsort(share, axis=2, kind="stable")
    sorted_cells = np.take_along_axis(cells, order[..., None], axis=2)
    left = sorted_cells.cumsum(axis=2)
    whole = left[:, :, -1:]
    right = whole - left
    rows_left, rows_right = left.sum(axis=3), right.sum(axis=3)
    gains = _purity(left, rows_left) + _purity(right, rows_right) - _purity(whole, whole.sum(axis=3))
    gains[(rows_left < leaf) | (rows_right < leaf)] = -np.inf
    flat = gains.reshape(len(cells), -1)
    best = flat.argmax(axis=1)
    column, cut = np.divmod(best, total.shape[2])
    nodes = np.arange(len(cells))
    rank = np.empty_like(order[nodes, column])
    np.put_along_axis(rank, order[nodes, column], np.arange(total.shape[2])[None, :], axis=1)
    return column, rank <= cut[:, None], flat[nodes, best]


def _purity(counts: FloatArray, rows: FloatArray) -> FloatArray:
    """Sum of squared class counts over the rows."""
    return np.asarray(np.divide((counts**2).sum(axis=-1), rows, out=np.zeros(rows.shape), where=rows > 0))


def _pruned(nodes: _Nodes, cp: float) -> list[bool]:
    """Say which splits stay: the weakest go first while each leaf saves less than cp of the root's errors."""
    errors = np.array([counts.min() for counts in nodes.counts])
    inner = [each for each, children in enumerate(nodes.children) if children is not None]
    keep = [children is not None for children in nodes.children]
    least = cp * errors[0]
    while cp > 0:
        below, leaves = errors.copy(), np.ones(errors.size)
        for each in reversed(inner):
            children = nodes.children[each]
            if keep[each] and children is not None:
                below[each] = below[children[0]] + below[children[1]]
                leaves[each] = leaves[children[0]] + leaves[children[1]]
        saved = {each: (errors[each] - below[each]) / (leaves[each] - 1) for each in inner if keep[each]}
        weakest = min(saved, key=lambda each: saved[each], default=None)
        if weakest is None or saved[weakest] >= least:
            break
        _cut(nodes, keep, weakest)
    return keep


def _cut(nodes: _Nodes, keep: list[bool], top: int) -> None:
    """Make a node a leaf, with all below it."""
    below = [top]
    while below:
        each = below.pop()
        children = nodes.children[each]
        if keep[each] and children is not None:
            keep[each] = False
            below += children


def _shares(nodes: _Nodes, keep: list[bool]) -> FloatArray:
    """Share of 1 in the leaf that each node is, or lies in once it is cut off."""
    found = np.array([counts[1] / counts.sum() for counts in nodes.counts])
    for each, children in enumerate(nodes.children):
        if children is not None and not keep[each]:
            found[list(children)] = found[each]
    return found
