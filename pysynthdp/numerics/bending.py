"""Bend a normal regression to a given margin without bending its regression on the features.

A draw is Q(F(s + e)) with s = x'gamma, e standard normal, F the distribution of s + e over the rows and Q
the quantile function of the margin. Whatever gamma is, the margin is Q's. Gamma is chosen so that the
least-squares regression of the draw on the features is the given one: E[x Q(F(s + e))] = E[x x'beta]. Rank
regressions choose it by the correlation of ranks instead, and then bend straight relations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from pysynthdp._typing import FloatArray
from pysynthdp.numerics.linear import LinearFit
from pysynthdp.numerics.quantile_table import QuantileTable, quantile_table, table_values

__all__ = ["Bent", "bend"]

ROUNDS = 20
CLOSE = 1e-3  # of the residual spread, in the regression on the features: far below a standard error
SPACING = 0.125
REACH = 6.0
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
        latent = _Latent.of(X @ gamma)
        smooth, slope = latent.smoothed(table)
        missing = inverse @ (X.T @ (wanted - smooth))
        if np.std(X @ missing) < CLOSE * fit.sigma:
            break
        gamma = gamma + missing / max(slope, LEAST_SLOPE * spread)
    gamma = _within_reach(gamma, X)
    latent = _Latent.of(X @ gamma)
    return Bent(gamma, moved, latent.grid, latent.cdf)


def _within_reach(gamma: FloatArray, X: FloatArray) -> FloatArray:
    """Shrink latent coefficients whose index would leave nothing to the residual."""
    spread = float(np.std(X @ gamma))
    return gamma if spread <= FARTHEST else gamma * (FARTHEST / spread)


@dataclass(frozen=True, slots=True)
class _Latent:
    """The index of each row, and the distribution of index plus residual on a grid."""

    index: FloatArray
    grid: FloatArray
    cdf: FloatArray

    @classmethod
    def of(cls, index: FloatArray) -> _Latent:
        """Spread every row's mass over two grid points, then over the residual's law."""
        low = float(index.min()) - REACH
        points = int(np.ceil((float(index.max()) + REACH - low) / SPACING)) + 2
        grid = low + SPACING * np.arange(points, dtype=np.float64)
        place, rest = np.divmod((index - low) / SPACING, 1.0)
        at = place.astype(np.int64)
        mass = np.bincount(at, 1.0 - rest, points) + np.bincount(at + 1, rest, points)[:points]
        density = np.convolve(mass / len(index), _kernel(), mode="same")
        middle = np.cumsum(density) - density / 2
        cdf = np.clip(middle / density.sum(), 0.0, 1.0)
        cdf[0], cdf[-1] = 0.0, 1.0
        return cls(index, grid, cdf)

    def smoothed(self, table: QuantileTable) -> tuple[FloatArray, float]:
        """Take the expected draw of each row, and its mean slope in the index."""
        kernel = _kernel()
        wide = np.pad(table_values(table, self.cdf), len(kernel) // 2, mode="edge")
        expected = np.convolve(wide, kernel, mode="valid")
        slopes = np.gradient(expected, SPACING)
        slope = float(np.interp(self.index, self.grid, slopes).mean())
        return np.interp(self.index, self.grid, expected), slope


def _kernel() -> FloatArray:
    """Mass of a standard normal in grid cells."""
    half = int(REACH / SPACING)
    edges = SPACING * (np.arange(-half, half + 2) - 0.5)
    mass = np.diff(ndtr(edges))
    return np.asarray(mass / mass.sum())
