"""A distribution as a coarse quantile table: probabilities, values, and jumps where values are tied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray

__all__ = [
    "QuantileTable",
    "even_values",
    "group_means",
    "moved_table",
    "quantile_table",
    "table_probabilities",
    "table_values",
]

FINE = 4  # pieces of a straight piece on a scale that bends it


@dataclass(frozen=True, slots=True)
class QuantileTable:
    """A piecewise linear quantile function, flat beyond its ends.

    Parameters
    ----------
    u : array (points,)
        Non-decreasing probabilities; two equal ones mark a jump.
    q : array (points,)
        Non-decreasing values, in the target's unit.
    at : array (distinct,)
        The distinct values of q.
    mid : array (distinct,)
        For each, the probability in the middle of its mass: the mid-rank of tied values.
    """

    u: FloatArray
    q: FloatArray
    at: FloatArray
    mid: FloatArray


def quantile_table(knots: FloatArray) -> QuantileTable:
    """Turn a coarse table into a quantile function that invents no value between two spikes.

    Parameters
    ----------
    knots : array (4, groups) or (2, groups)
        Shares of the groups, and the function at the start, in the middle and at the end of each; or
        probabilities at the middle of each group, and the mean of each group.

    Returns
    -------
    QuantileTable

    Notes
    -----
    Privacy: post-processing of group means.
    Of two rows: groups with equal means are a spike. Where a spike meets the next one, the function jumps;
    where one mixed group with mean m lies between spikes a < b, it holds the share (b - m) / (b - a) of a,
    and the function jumps there.

    Examples
    --------
    >>> table = quantile_table(np.array([[0.1, 0.3, 0.5, 0.7, 0.9], [0.0, 0.0, 3.0, 4.0, 4.0]]))
    >>> table_values(table, np.array([0.44, 0.46])).tolist()
    [0.0, 4.0]
    """
    if len(knots) == 4:
        return _table_of_groups(np.asarray(knots, dtype=float))
    f, q = np.asarray(knots[0], dtype=float), np.maximum.accumulate(np.asarray(knots[1], dtype=float))
    edges = np.concatenate([[0.0], (f[1:] + f[:-1]) / 2, [1.0]])
    same = np.concatenate([[False], q[1:] == q[:-1], [False]])
    ends, begins = same[:-1] & ~same[1:], same[1:] & ~same[:-1]
    f, q, u = _jumps(f, q, edges, ends, begins)
    return _with_ranks(f, q, u)


def _table_of_groups(knots: FloatArray) -> QuantileTable:
    """Three points a group; the ends of the table stand for half a record where its group holds five."""
    shares = knots[0] / knots[0].sum()
    ends = np.cumsum(shares)
    starts = ends - shares
    u = np.stack([starts, starts + shares / 2, ends]).T.ravel()
    q = np.maximum.accumulate(knots[1:].T.ravel())
    table = _with_ranks(u, q, (u, u))
    return replace(table, mid=np.clip(table.mid, shares[0] / 10, 1 - shares[-1] / 10))


def _with_ranks(f: FloatArray, q: FloatArray, u: tuple[FloatArray, FloatArray]) -> QuantileTable:
    """Add the middle of the mass of each distinct value."""
    at, first = np.unique(q, return_index=True)
    last = np.concatenate([first[1:], [q.size]]) - 1
    low, high = u[0][first], u[1][last]
    return QuantileTable(f, q, at, (low + high) / 2)


def table_values(table: QuantileTable, u: FloatArray) -> FloatArray:
    """Values at probabilities: linear interpolation, flat beyond the end knots.

    Examples
    --------
    >>> table_values(quantile_table(np.array([[0.25, 0.75], [1.0, 2.0]])), np.array([0.0, 0.5])).tolist()
    [1.0, 1.5]
    """
    return np.interp(u, table.u, table.q)


def table_probabilities(table: QuantileTable, y: FloatArray) -> FloatArray:
    """Probabilities of values; a tied value has the middle of its mass; never 0 or 1.

    Examples
    --------
    >>> table = quantile_table(np.array([[0.125, 0.375, 0.625, 0.875], [0.0, 0.0, 1.0, 2.0]]))
    >>> table_probabilities(table, np.array([0.0, 1.0])).tolist()
    [0.25, 0.625]
    """
    return np.interp(y, table.at, table.mid)


def group_means(knots: FloatArray) -> FloatArray:
    """Means of the groups of a coarse table.

    Examples
    --------
    >>> group_means(np.array([[0.5, 0.5], [0.0, 2.0], [1.0, 2.0], [2.0, 2.0]])).tolist()
    [1.0, 2.0]
    """
    return np.asarray((knots[1] + 2 * knots[2] + knots[3]) / 4 if len(knots) == 4 else knots[1])


def even_values(knots: FloatArray, points: int = 400) -> FloatArray:
    """Values of a coarse table at evenly spaced probabilities, from low to high.

    Examples
    --------
    >>> even_values(np.array([[1.0], [0.0], [1.0], [2.0]]), 2).tolist()
    [0.5, 1.5]
    """
    return table_values(quantile_table(knots), (np.arange(points) + 0.5) / points)


def moved_table(knots: FloatArray, transform: Callable[[FloatArray], FloatArray]) -> QuantileTable:
    """Quantile function of transformed values, for an increasing transform.

    Examples
    --------
    >>> moved_table(np.array([[1.0], [0.0], [1.0], [2.0]]), lambda y: 3 * y).q.max()
    np.float64(6.0)
    """
    table = quantile_table(knots)
    within = np.arange(FINE) / FINE
    u = np.append((table.u[:-1, None] + np.diff(table.u)[:, None] * within).ravel(), table.u[-1])
    q = np.append((table.q[:-1, None] + np.diff(table.q)[:, None] * within).ravel(), table.q[-1])
    return replace(table, u=u, q=transform(q), at=transform(table.at))


def _jumps(
    f: FloatArray, q: FloatArray, edges: FloatArray, ends: BoolArray, begins: BoolArray
) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray]]:
    """Points of the function and, for each, the lower and upper end of the mass that it stands for."""
    mixed = np.zeros(f.size, dtype=bool)
    mixed[1:-1] = ends[:-2] & begins[2:]
    before, after = np.roll(q, 1), np.roll(q, -1)
    gap = np.where(mixed, after - before, 1.0)
    share = np.where(mixed, (after - q) / gap, 0.0)
    split = edges[:-1] + share * np.diff(edges)
    meets = np.zeros(f.size, dtype=bool)
    meets[:-1] = ends[:-1] & begins[1:]
    met = np.flatnonzero(meets)
    at = np.flatnonzero(mixed)
    plain = np.flatnonzero(~mixed)
    u = np.concatenate([f[plain], split[at], split[at], edges[met + 1], edges[met + 1]])
    values = np.concatenate([q[plain], before[at], after[at], q[met], q[met + 1]])
    low = np.concatenate([edges[plain], edges[at], split[at], edges[met + 1], edges[met + 1]])
    high = np.concatenate([edges[plain + 1], split[at], edges[at + 1], edges[met + 1], edges[met + 1]])
    order = np.lexsort((values, u))
    return u[order], values[order], (low[order], high[order])
