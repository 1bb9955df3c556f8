"""Bend a normal regression to a given margin without bending its regression on the features.

A draw is Q(F(s + e)) with s = x'gamma, e standard normal, F the distribution of s + e over the rows and Q
the quantile function of the margin. Whatever gamma is, the margin is Q's. Gamma is chosen so that the
least-squares regression of the draw on the features is the given one: E[x Q(F(s + e))] = E[x x'beta]. Rank
regressions choose it by the correlation of ranks instead, and then bend straight relations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pysynthdp._typing import FloatArray
from pysynthdp.numerics.latent import REACH, SPACING, index_mass, latent_cdf, smoothed
from pysynthdp.numerics.linear import LinearFit
from pysynthdp.numerics.quantile_table import quantile_table

__all__ = ["CLOSE", "FARTHEST", "LEAST_SLOPE", "ROUNDS", "Bent", "bend"]

ROUNDS = 20
CLOSE = 1e-3  # of the residual spread, in the regression on the features: far below a standard error
FARTHEST = 30.0  # spread of s over that of e; a number that is nearly a function of others goes no further
LEAST_SLOPE = 1e-3


@dataclass(frozen=True, slots=True)
class Bent:
    """A latent regression and the tables that lead to values.

    Parameters
    ----------
    gamma : array (features,)
        Latent coefficients; the latent residual has unit spread.
    knots : array (2, knots)
        Probabilities and values of the margin, moved to the regression's mean and spread.
    grid, cdf : array (points,)
        Distribution of the latent draws over the rows.
    """

    gamma: FloatArray
    knots: FloatArray
    grid: FloatArray
    cdf: FloatArray


def bend(fit: LinearFit, X: FloatArray, knots: FloatArray, *, start: FloatArray | None = None) -> Bent:
    """Find the latent regression whose draws have a margin and a least-squares regression.

    Parameters
    ----------
    fit : LinearFit
        The regression on the features: coefficients and residual spread, above zero.
    X : array (rows, features)
        Rows that stand for the distribution of the features, intercept first.
    knots : array (2, knots)
        Probabilities at the middle of equal groups, and values: the shape of the margin. It is moved and
        stretched to the mean and spread that the regression implies.
    start : array (features,), optional
        Latent coefficients of a nearby problem.

    Returns
    -------
    Bent

    Notes
    -----
    Privacy: post-processing of its arguments.
    Expectations over e are convolutions on a grid, so only the rows of X are random. Newton steps with one
    slope, E[h'(s)] for h(s) = E[Q(F(s + e))]: exact for normal s, by Stein's lemma.

    Examples
    --------
    >>> X = np.column_stack([np.ones(2_000), np.random.default_rng(1).standard_normal(2_000)])
    >>> fit = LinearFit(np.array([1.0, 0.5]), 1.0, 1_998.0, np.zeros((2, 0)), ())
    >>> u = (np.arange(200) + 0.5) / 200
    >>> bent = bend(fit, X, np.stack([u, -np.log1p(-u)]))
    >>> bool(bent.gamma[1] > 0.5)
    True
    """
    wanted = X @ fit.beta
    spread = float(np.sqrt(wanted.var() + fit.sigma**2))
    values = knots[1] - knots[1].mean()
    moved = np.stack([knots[0], wanted.mean() + values * (spread / max(float(values.std()), 1e-12))])
    table = quantile_table(moved)
    inverse = np.linalg.pinv(X.T @ X, rcond=1e-10, hermitian=True)
    gamma = fit.beta / fit.sigma if start is None else start
    for _ in range(ROUNDS):
        gamma = _within_reach(gamma, X)
        index = X @ gamma
        grid, cdf = _on_grid(index)
        expected, slopes = smoothed(table, cdf)
        missing = inverse @ (X.T @ (wanted - np.interp(index, grid, expected)))
        if np.std(X @ missing) < CLOSE * fit.sigma:
            break
        slope = float(np.interp(index, grid, slopes).mean())
        gamma = gamma + missing / max(slope, LEAST_SLOPE * spread)
    gamma = _within_reach(gamma, X)
    return Bent(gamma, moved, *_on_grid(X @ gamma))


def _within_reach(gamma: FloatArray, X: FloatArray) -> FloatArray:
    """Shrink latent coefficients whose index would leave nothing to the residual."""
    spread = float(np.std(X @ gamma))
    return gamma if spread <= FARTHEST else gamma * (FARTHEST / spread)


def _on_grid(index: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lay a grid around the indices of some rows: its points, and the latent distribution there."""
    low = float(index.min()) - REACH
    points = int(np.ceil((float(index.max()) + REACH - low) / SPACING)) + 2
    return low + SPACING * np.arange(points, dtype=np.float64), latent_cdf(index_mass(index, low, points))
