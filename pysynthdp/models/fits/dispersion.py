"""The posterior of a negative binomial's dispersion: from its likelihood on a grid, zero included."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from scipy.special import gammaln

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.counts import count_mean
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.weighting import weighted

__all__ = ["ask_dispersion"]

STEPS = 2.0 ** np.arange(-2, 17)
LARGEST = 1e3
DROP = 14.0  # log likelihood below the best at which nothing is left: exp(-14) is a millionth
POINTS = 48


def ask_dispersion(beta: FloatArray, alpha: float, n: int) -> Generator[RowSum, Answer, FloatArray]:
    """Ask for the posterior of alpha at fitted coefficients.

    Parameters
    ----------
    beta : array (features,)
        Coefficients of log mu.
    alpha : float
        The estimate; 0 where counts vary no more than a Poisson law says.
    n : int
        Rows.

    Returns
    -------
    array (2, points)
        Values of alpha, increasing from 0 or more, and the distribution function there.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    The prior is uniform on alpha / (1 + alpha), the uniform shrinkage prior (Christiansen and Morris 1997,
    JASA 92, 618). It is proper, so that neither counts without overdispersion, where log alpha has no lower
    end, nor a handful of events leave the posterior open. Coefficients are held: their expected information
    with alpha is 0. A look at a wide grid, on long tables at every s-th row, then a fine one over what is
    left, on all.
    """
    square = float((yield RowSum(_squares(beta))).value[0])
    width = np.sqrt(2 / max(square, 1e-6))  # the standard error of alpha at 0
    wide = np.concatenate([alpha - width * STEPS[::-1], [alpha], alpha + width * STEPS])
    wide = np.unique(np.clip(wide, 0.0, LARGEST))
    every = stride(n)
    coarse = every * (yield RowSum(_likelihoods(beta, wide), every)).value[0]
    # a subsample has its own mode: the fit's is known, so only how fast the likelihood falls is read off
    left = np.flatnonzero(coarse >= coarse.max() - DROP * every)
    low, high = wide[max(left[0] - 1, 0)], wide[min(left[-1] + 1, wide.size - 1)]
    shares = np.linspace(low / (1 + low), high / (1 + high), POINTS)
    fine = shares / (1 - shares)
    value = (yield RowSum(_likelihoods(beta, fine))).value[0]
    density = np.exp(value - value.max())
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return np.stack([fine, mass / mass[-1]])


def _squares(beta: FloatArray) -> RowTerms:
    """Sum of squared means."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        return (np.asarray(np.sum(weighted(count_mean(X @ beta) ** 2, w))),)

    return block


def _likelihoods(beta: FloatArray, alphas: FloatArray) -> RowTerms:
    """Log likelihood at each alpha, up to a constant, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        mean = count_mean(X @ beta)
        levels, counts = _tallied(y, w)
        return (np.array([_likelihood(alpha, mean, y, w, levels, counts) for alpha in alphas]),)

    return block


def _tallied(y: FloatArray, w: FloatArray | None) -> tuple[FloatArray, IntArray | FloatArray]:
    """Count rows at each value, or add their weights."""
    if w is None:
        return np.unique(y, return_counts=True)
    levels, place = np.unique(y, return_inverse=True)
    return levels, np.bincount(place, w, levels.size)


def _likelihood(
    alpha: float,
    mean: FloatArray,
    y: FloatArray,
    w: FloatArray | None,
    levels: FloatArray,
    counts: IntArray | FloatArray,
) -> float:
    """Sum of log Gamma(y + r) / Gamma(r) + y log alpha - (y + r) log(1 + alpha mu), r = 1 / alpha."""
    if alpha < 1e-7:
        return -float(weighted(mean, w).sum())
    r = 1 / alpha
    rising = gammaln(levels + r) - gammaln(r) + levels * np.log(alpha)
    return float(counts @ rising - np.sum(weighted((y + r) * np.log1p(alpha * mean), w)))
