"""The largest divergence over the number of ones, with a certificate instead of a full scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.conversion.rdp import rdp_delta

__all__ = ["FINITE", "certified_maximum"]

FINITE: Final[FloatArray] = ORDERS[:-1]


def certified_maximum(
    n: int,
    *,
    exact: Callable[[FloatArray], FloatArray],
    curve: Callable[[float], FloatArray],
    epsilon: float,
    first: int,
    most: int,
) -> float:
    """Find the maximum over n1 = 1..n of a delta that is bounded by a Renyi curve convex in n1.

    Parameters
    ----------
    n : int
        Number of records.
    exact : callable array (k,) -> array (k,)
        The delta at each n1.
    curve : callable n1 -> array (200,)
        Bound on the Renyi divergence at n1 on the finite grid orders; its exponential is convex in n1.
    epsilon : float
        Where delta is wanted.
    first, most : int
        Records looked at from either end, at the start and at most.

    Returns
    -------
    float
        The maximum; where ``most`` does not settle it, the proved bound on the middle, which is larger.

    Notes
    -----
    Privacy: arithmetic on public constants. F3: a function convex in n1 is largest at the ends of the middle.
    """
    width, seen, best = 0, first, 0.0
    while True:
        seen = min(seen, (n + 1) // 2)
        best = max(best, float(exact(_both_ends(n, width, seen)).max()))
        if 2 * seen >= n:
            return best
        middle = np.maximum(curve(seen + 1.0), curve(float(n - seen)))
        bound = rdp_delta(FINITE, middle, epsilon)
        if bound <= best or seen >= most:
            return max(best, bound) if bound > best else best
        width, seen = seen, 2 * seen


def _both_ends(n: int, done: int, upto: int) -> FloatArray:
    """Numbers of ones not yet looked at, within ``upto`` of either end."""
    low = np.arange(done + 1, upto + 1, dtype=np.float64)
    high = np.arange(n - upto + 1, n - done + 1, dtype=np.float64)
    return np.unique(np.concatenate([low, high]))
