"""The distribution of a number that is computed in whole units: groups of units, and where they meet."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.remarks import FEWEST

__all__ = ["margin_of"]

_MOST, _EACH = 20, 60  # groups, and units in each
_ABOVE = 1e-9  # of a mean: a value that many share stays below it, however it was computed


def margin_of(y: FloatArray) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Part units into groups of about equal count by a number.

    Parameters
    ----------
    y : array (units,)
        The number of each; missing ones are left out.

    Returns
    -------
    edges : tuple of float
        Where groups meet, each a mean of five units that are neighbours.
    counts : tuple of int
        Units in each group, one more. Both are empty for fewer than two groups.

    Notes
    -----
    Privacy: reads real units; not under a guarantee.

    Examples
    --------
    >>> margin_of(np.arange(120.0))
    ((60.00000006,), (61, 59))
    """
    y = np.sort(y[np.isfinite(y)])
    groups = min(_MOST, len(y) // _EACH)
    if groups < 2:
        return (), ()
    middle = np.arange(1, groups) * len(y) // groups
    near = middle[:, None] + np.arange(FEWEST) - FEWEST // 2
    edges: list[float] = []
    counts: list[int] = []
    means = y[near].mean(axis=1)
    for edge in np.unique(means + _ABOVE * np.maximum(1.0, np.abs(means))).tolist():
        below = int(np.searchsorted(y, edge, side="right"))
        if min(below - sum(counts), len(y) - below) >= FEWEST:
            edges.append(edge)
            counts.append(below - sum(counts))
    return (tuple(edges), (*counts, len(y) - sum(counts))) if edges else ((), ())
