"""Proportional-odds logistic regression by Newton on sums over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import RowTerms, Sums
from pysynthdp.models.fits.glm import weighted_gram
from pysynthdp.models.fits.weighting import weighted

__all__ = ["OrdinalTerms", "gap_barrier", "ordinal_probabilities", "start_thresholds"]

Block = RowTerms
State = tuple[float, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class OrdinalTerms:
    """The part of minus the log likelihood that is a sum over rows.

    Parameters
    ----------
    position : array of int (levels,)
        Place of each level code among the levels that occur.
    slopes : int
        Features; theta is slopes (the intercept's fixed at 0), then increasing thresholds.

    Notes
    -----
    Privacy: a sum over rows, answered by the curator.
    With u and l the upper and lower threshold less x'beta, log p = -log(1 + e^-u) - log(1 + e^l)
    + log(1 - e^-(u - l)). The last term depends on the thresholds only and is ``gap_barrier``; the others
    are convex and never lose digits (McCullagh 1980, JRSS B 42, 109, for the model).
    """

    position: IntArray
    slopes: int

    def __call__(self, theta: FloatArray, curvature: bool) -> Block:
        """Value, gradient and Hessian over a block."""
        beta, cuts = theta[: self.slopes], theta[self.slopes :]
        bounds = np.concatenate([[-np.inf], cuts, [np.inf]])

        def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
            place = self.position[y.astype(np.int64)]
            eta = X @ beta
            upper, lower = bounds[place + 1] - eta, bounds[place] - eta
            value = np.asarray(weighted(_softplus(-upper), w).sum() + weighted(_softplus(lower), w).sum())
            above, below = expit(-upper), expit(lower)
            gradient = np.zeros(theta.size)
            gradient[: self.slopes] = X.T @ weighted(above - below, w)
            gradient[self.slopes :] = _at_cuts(place, weighted(-above, w), weighted(below, w), cuts.size)
            if not curvature:
                return (value, gradient)
            bends = weighted(above * (1 - above), w), weighted(below * (1 - below), w)
            return (value, gradient, self._hessian(X, place, *bends))

        return block

    def _hessian(self, X: FloatArray, place: IntArray, above: FloatArray, below: FloatArray) -> FloatArray:
        """Second derivatives of the two convex terms."""
        cuts = int(self.position.max())
        size = self.slopes + cuts
        hessian = np.zeros((size, size))
        hessian[: self.slopes, : self.slopes] = weighted_gram(X, above + below)
        index = np.arange(self.slopes, size)
        hessian[index, index] = _at_cuts(place, above, below, cuts)
        levels = np.arange(cuts)[:, None]
        spread = (place == levels) * above + (place == levels + 1) * below
        hessian[self.slopes :, : self.slopes] = -spread @ X
        hessian[: self.slopes, self.slopes :] = hessian[self.slopes :, : self.slopes].T
        return hessian


def gap_barrier(counts: FloatArray, slopes: int) -> Callable[[FloatArray], State]:
    """Minus sum_k n_k log(1 - e^-(gap below level k)): infinite unless thresholds increase.

    Parameters
    ----------
    counts : array (levels that occur,)
        Rows of each level; the first and the last have no gap of their own.
    slopes : int
        Parameters before the thresholds.

    Returns
    -------
    callable theta -> (value, gradient, Hessian)

    Examples
    --------
    >>> gap_barrier(np.array([3.0, 2.0, 3.0]), 1)(np.array([0.0, 1.0, 0.5]))[0]
    inf
    """
    inner = counts[1:-1]

    def barrier(theta: FloatArray) -> State:
        gaps = np.diff(theta[slopes:])
        size = theta.size
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        if np.any(gaps <= 0):
            return np.inf, gradient, hessian
        odds = inner / np.expm1(gaps)
        gradient[slopes + 1 :] -= odds
        gradient[slopes:-1] += odds
        # e^g / (e^g - 1)^2 without overflow for wide gaps
        bend = odds / -np.expm1(-gaps)
        low = np.arange(slopes, size - 1)
        hessian[low, low] += bend
        hessian[low + 1, low + 1] += bend
        hessian[low, low + 1] -= bend
        hessian[low + 1, low] -= bend
        return -float(inner @ np.log(-np.expm1(-gaps))), gradient, hessian

    return barrier


def start_thresholds(counts: FloatArray) -> FloatArray:
    """Thresholds of the model without predictors: logits of cumulative shares.

    Examples
    --------
    >>> start_thresholds(np.array([1.0, 1.0])).tolist()
    [0.0]
    """
    below = np.cumsum(counts)[:-1]
    return np.asarray(np.log(below) - np.log(counts.sum() - below))


def ordinal_probabilities(eta: FloatArray, cuts: FloatArray) -> FloatArray:
    """Probabilities of the levels: differences of logistic distribution functions at the thresholds.

    Parameters
    ----------
    eta : array (rows,)
        Linear predictor.
    cuts : array (levels - 1,)
        Increasing thresholds.

    Returns
    -------
    array (rows, levels)

    Examples
    --------
    >>> ordinal_probabilities(np.zeros(1), np.zeros(1)).tolist()
    [[0.5, 0.5]]
    """
    below = np.ones((eta.size, cuts.size + 2))
    below[:, 0] = 0.0
    below[:, 1:-1] = expit(cuts - eta[:, None])
    return np.diff(below, axis=1)


def _softplus(x: FloatArray) -> FloatArray:
    """log(1 + e^x), also at minus infinity."""
    return np.asarray(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


def _at_cuts(place: IntArray, above: FloatArray, below: FloatArray, cuts: int) -> FloatArray:
    """Sum what rows say about the threshold above them and the one below them."""
    over = np.bincount(place, weights=above, minlength=cuts + 1)[:cuts]
    under = np.bincount(place, weights=below, minlength=cuts + 1)[1:]
    return np.asarray(over + under)
