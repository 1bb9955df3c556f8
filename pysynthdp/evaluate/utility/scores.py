"""How far apart two tables of counts are, beside how far a fresh sample of the same size would be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray

__all__ = ["Scores", "scores"]


@dataclass(frozen=True, slots=True)
class Scores:
    """Of each of several tables.

    Parameters
    ----------
    ratio : array (tables,)
        Squared differences of cell counts over their expectation for a fresh sample, which thus scores 1; NaN
        where a side is empty or all rows lie in one cell.
    moved : array (tables,)
        Share of the rows of a copy that lie in other cells than those of the confidential table would.
    chance : array (tables,)
        That share, expected of a fresh sample.
    df : array (tables,)
        Cells that either side has, less one.
    """

    ratio: FloatArray
    moved: FloatArray
    chance: FloatArray
    df: FloatArray


def scores(real: AnyArray, copy: AnyArray, starts: IntArray) -> Scores:
    """Score several tables, their cells one after the other.

    Parameters
    ----------
    real, copy : array (cells,)
        Counts on both sides.
    starts : array of int (tables,)
        Where each table begins.

    Returns
    -------
    Scores

    Notes
    -----
    Privacy: arithmetic on counts.
    With r = n2/n1, c = n2/N and t = o + s, the sum of (s - r o)^2 / (c t) is that of Voas and Williamson
    (2001). Given the totals t of cells, two samples of one population expect (1 + r) df N/(N - 1) of it, and
    of abs(s - c t) in a cell the mean deviation of a binomial count, 2 v (1 - c) P(S = v), v = floor(c t) + 1
    (de Moivre). synthpop's S_pMSE takes the confidential table as fixed: it is (1 + r) times this ratio.

    Examples
    --------
    >>> found = scores(np.array([60, 40]), np.array([40, 60]), np.array([0]))
    >>> found.ratio.round(2).tolist(), found.moved.round(2).tolist()
    ([7.96], [0.2])
    """
    o, s = real.astype(np.float64), copy.astype(np.float64)
    lengths = np.diff(np.append(starts, o.size))
    n1, n2 = np.add.reduceat(o, starts), np.add.reduceat(s, starts)
    known = (n1 > 0) & (n2 > 0)
    n1, n2 = np.where(known, n1, 1.0), np.where(known, n2, 1.0)
    r, c = (np.repeat(each, lengths) for each in (n2 / n1, n2 / (n1 + n2)))
    t = o + s
    apart = s - r * o
    apart[np.abs(apart) < 1e-12 * (s + r * o)] = 0.0
    there = t > 0
    squares = np.divide(apart**2, c * t, out=np.zeros_like(t), where=there)
    df = np.add.reduceat(there.astype(np.float64), starts) - 1
    known &= df > 0
    total = n1 + n2
    expected = np.where(known, df, 1.0) * (1 + n2 / n1) * total / (total - 1)
    ratio = np.add.reduceat(squares, starts) / expected
    moved = np.add.reduceat(np.abs(apart), starts) / (2 * n2)
    chance = np.add.reduceat(_deviation(t, c) * (1 + r), starts) / (2 * n2)
    ratio, moved, chance = (np.where(known, each, np.nan) for each in (ratio, moved, chance))
    return Scores(ratio, moved, chance, df)


def _deviation(t: FloatArray, c: FloatArray) -> FloatArray:
    """Mean absolute deviation of a binomial count of t with chance c."""
    found = np.sqrt(2 / np.pi * t * c * (1 - c))
    small = np.flatnonzero((t > 0) & (t < 20))
    if small.size:
        found[small] = _exact(t[small], c[small])
    return np.asarray(found)


def _exact(t: FloatArray, c: FloatArray) -> FloatArray:
    """Compute the same for small counts; many cells share count and chance."""
    if np.ptp(c) < 1e-15:
        counts, back = np.unique(t, return_inverse=True)
        return _moivre(counts, np.full(counts.size, c[0]))[back]
    return _moivre(t, c)


def _moivre(t: FloatArray, c: FloatArray) -> FloatArray:
    """2 v (1 - c) C(t, v) c^v (1 - c)^(t - v), v = floor(c t) + 1."""
    v = np.minimum(np.floor(c * t) + 1, t)
    log = gammaln(t + 1) - gammaln(v + 1) - gammaln(t - v + 1) + v * np.log(c) + (t - v) * np.log1p(-c)
    return np.asarray(2 * v * (1 - c) * np.exp(log))
