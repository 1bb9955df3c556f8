"""The shape of a number: ranges to count rows in, and a quantile function from the noisy counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from pysynthdp.base.arrays import FloatArray
from pysynthdp.protection.noise.moments.design import Span

__all__ = ["Margin", "margin_of", "nearest_shares", "range_edges"]

WIDE = 3.0  # standard deviations on either side of the noisy mean that ranges cover
KNOTS = 256
NARROWEST = 0.02  # spread, in units of the hint, that ranges are never narrower than


@dataclass(frozen=True, slots=True, repr=False)
class Margin:
    """Noisy counts of one number in ranges.

    Parameters
    ----------
    edges : array (ranges + 1,)
        In units of the hint; the first and last are the declared bounds.
    counts : array (ranges,)
        Noisy numbers of rows.
    mean, sd : float
        Noisy mean and spread that the ranges were laid around.
    """

    edges: FloatArray
    counts: FloatArray
    mean: float
    sd: float

    @property
    def knots(self) -> FloatArray:
        """Probabilities and values of the quantile function."""
        return margin_of(self.counts, self.edges, self.mean, self.sd)


def range_edges(span: Span, mean: float, sd: float, ranges: int) -> tuple[FloatArray, float, float]:
    """Lay ranges of equal width around a noisy mean; the outer two reach to the declared bounds.

    Returns
    -------
    array (ranges + 1,), float, float
        Edges, and the mean and spread as they were used: inside the bounds whatever the noise says.

    Notes
    -----
    Privacy: post-processing of noised answers and declared bounds.

    Examples
    --------
    >>> range_edges(Span(0, -10.0, 10.0), 0.0, 1.0, 6)[0].tolist()
    [-10.0, -2.0, -1.0, 0.0, 1.0, 2.0, 10.0]
    """
    width = span.high - span.low
    sd = min(max(sd, NARROWEST), width) if np.isfinite(sd) else width / 6
    mean = min(max(mean, span.low), span.high) if np.isfinite(mean) else span.low + width / 2
    edges = np.linspace(max(span.low, mean - WIDE * sd), min(span.high, mean + WIDE * sd), ranges + 1)
    edges[0], edges[-1] = span.low, span.high
    return edges, mean, sd


def margin_of(counts: FloatArray, edges: FloatArray, mean: float, sd: float) -> FloatArray:
    """Turn noisy counts into a quantile function that is normal within each range.

    Parameters
    ----------
    counts : array (ranges,)
        Noisy numbers of rows; may be negative.
    edges : array (ranges + 1,)
        Of the ranges.
    mean, sd : float
        Of the normal law that is cut into the ranges.

    Returns
    -------
    array (2, 256)
        Probabilities at the middle of equal groups, and values.

    Notes
    -----
    Privacy: post-processing. Counts are first moved to the nearest with none below zero and the same sum.
    Exact counts of a normal number give that normal law, whatever the ranges.

    Examples
    --------
    >>> margin_of(np.array([0.0, 4.0]), np.array([0.0, 1.0, 2.0]), 1.0, 1.0)[1].min() >= 1.0
    np.True_
    """
    shares = nearest_shares(counts)
    below = np.concatenate([[0.0], np.cumsum(shares)])
    normal = ndtr((edges - mean) / sd)
    u = (np.arange(KNOTS) + 0.5) / KNOTS
    at = np.minimum(np.searchsorted(below[1:], u, side="left"), len(shares) - 1)
    part = (u - below[at]) / np.maximum(shares[at], 1e-12)
    inside = normal[at] + np.clip(part, 0.0, 1.0) * (normal[at + 1] - normal[at])
    values = np.clip(mean + sd * ndtri(np.clip(inside, 1e-15, 1 - 1e-15)), edges[at], edges[at + 1])
    return np.stack([u, np.maximum.accumulate(values)])


def nearest_shares(counts: FloatArray) -> FloatArray:
    """Shares above zero that sum to one and lie nearest to the counts over their sum, in least squares.

    Examples
    --------
    >>> nearest_shares(np.array([6.0, 6.0, -2.0])).tolist()
    [0.5, 0.5, 0.0]
    """
    total = float(counts.sum())
    if total <= 0:
        return np.full(len(counts), 1 / len(counts))
    shares = counts / total
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    kept = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(shares - excess[kept], 0.0))
