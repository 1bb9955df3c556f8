"""Sums of clamped numbers in whole steps: exact in any order of the rows, as a sensitivity proof needs."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import RowTerms, Sums
from pysynthdp.models.fits.weighting import whole_weights

__all__ = ["STEPS", "clamped_sum", "whole_sum"]

STEPS = 2**40  # steps of the public range that one record's number is rounded to, record by record
_HALF = 2**20


def clamped_sum(lower: float, upper: float) -> RowTerms:
    """Make the row sum of a target in steps of the range, as two int64 words.

    Parameters
    ----------
    lower, upper : float
        Public range; each number is clamped to it and counts 0 to 2^40 steps from its lower end.

    Returns
    -------
    callable (X, y) -> (high, low)
        The sum is ``high * 2^20 + low`` steps; :func:`whole_sum` joins them.

    Notes
    -----
    Privacy: a row adds between 0 and 2^40 steps, and whole numbers add without rounding, so replacing a row
    moves the sum by at most 2^40 steps: the sensitivity of the mean is (upper - lower)/n exactly. A sum of
    floats has no such bound (Casacuberta et al. 2022).

    Examples
    --------
    >>> whole_sum(clamped_sum(0.0, 1.0)(np.ones((3, 1)), np.array([0.5, 1.0, 7.0]))) / STEPS
    2.5
    """
    width = upper - lower

    def of(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001  # the target alone is summed
        steps = np.rint(np.clip((y - lower) / width, 0.0, 1.0) * STEPS).astype(np.int64)
        whole_weights(w, "a sum of clamped numbers")
        return _words(steps, None if w is None else w.astype(np.int64))

    return of


def _words(steps: IntArray, w: IntArray | None) -> Sums:
    """Sum high and low words apart, so that int64 holds the sum of any table."""
    high, low = steps // _HALF, steps % _HALF
    if w is not None:
        high, low = high * w, low * w
    return (np.asarray(high.sum()), np.asarray(low.sum()))


def whole_sum(words: Sums) -> int:
    """Join the two words of an answered :func:`clamped_sum` to one whole number of steps."""
    high, low = (int(word) for word in words)
    return high * _HALF + low
