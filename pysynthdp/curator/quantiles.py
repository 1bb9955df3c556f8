"""A distribution as a coarse table: every knot averages several records."""

from __future__ import annotations

import numpy as np

from pysynthdp._typing import FloatArray

__all__ = ["coarse_quantiles"]


def coarse_quantiles(values: FloatArray, *, knots: int, smallest: int) -> FloatArray:
    """Return (2, k): probabilities, and means of neighbouring order statistics.

    At most ``knots`` groups of equal count and at most a tenth of the records; at each end one more knot,
    the mean of the ``smallest`` most extreme records. Fewer than 2 * ``smallest`` records give one knot,
    their mean.
    """
    ordered = np.sort(values)
    n = len(ordered)
    if n < 2 * smallest:
        return np.array([[0.5], [ordered.mean() if n else 0.0]])
    edges = np.linspace(0, n, max(1, min(knots, n // 10)) + 1).astype(np.int64)
    means = np.add.reduceat(ordered, edges[:-1]) / np.diff(edges)
    middles = (edges[:-1] + edges[1:]) / (2 * n)
    tail = smallest / (2 * n)
    probabilities = np.concatenate([[tail], middles, [1 - tail]])
    averages = np.concatenate([[ordered[:smallest].mean()], means, [ordered[-smallest:].mean()]])
    return np.stack([probabilities, np.maximum.accumulate(averages)])
