"""A distribution as a coarse quantile table: probabilities, values, and jumps where values are tied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pysynthdp._typing import BoolArray, FloatArray

__all__ = ["QuantileTable", "quantile_table", "table_probabilities", "table_values"]


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
    """Turn averaged order statistics into a quantile function that invents no value between two spikes.

    Parameters
    ----------
    knots : array (2, groups)
        Probabilities at the middle of each group, and the mean of each group.

    Returns
    -------
    QuantileTable

    Notes
    -----
    Privacy: post-processing of group means.
    Groups with equal means are a spike. Where a spike meets the next one, the function jumps; where one mixed
    group with mean m lies between spikes a < b, it holds the share (b - m) / (b - a) of a, and the function
    jumps there.

    Examples
    --------
    >>> table = quantile_table(np.array([[0.1, 0.3, 0.5, 0.7, 0.9], [0.0, 0.0, 3.0, 4.0, 4.0]]))
    >>> table_values(table, np.array([0.44, 0.46])).tolist()
    [0.0, 4.0]
    """
    f, q = np.asarray(knots[0], dtype=float), np.maximum.accumulate(np.asarray(knots[1], dtype=float))
    edges = np.concatenate([[0.0], (f[1:] + f[:-1]) / 2, [1.0]])
    same = np.concatenate([[False], q[1:] == q[:-1], [False]])
    ends, begins = same[:-1] & ~same[1:], same[1:] & ~same[:-1]
    f, q, u = _jumps(f, q, edges, ends, begins)
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
