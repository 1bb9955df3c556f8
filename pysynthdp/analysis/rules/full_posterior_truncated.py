"""The posterior behind T_f, cut off where a negative variance would arise."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    DRAWN,
    FLAT,
    INDEPENDENT,
    NO_SUBSAMPLE,
    ONE_NOISY_RELEASE,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import FloatArray

__all__ = ["FullPosteriorTruncated"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(240)
_HALVINGS = 120


@RULES.register
class FullPosteriorTruncated(Rule):
    """A mixture of normals: X, the variance of one copy's estimate, is uncertain and larger than ubar.

    (m - 1) b/X is chi-square with m - 1 degrees of freedom, cut off so that X > ubar; given X the population
    value is normal around qbar with variance (X - ubar) + X/m. There is no single T and no df.
    """

    name = "full_posterior_truncated"
    formula = "mixture of (X - ubar) + X/m over X > ubar"
    source = "Idea of Si and Reiter (2011), Journal of Statistical Theory and Practice 5; form derived here"
    right_when = (
        "As for T_f with fewer than 20 copies: the variance of a copy's estimate is drawn from what b says, "
        "and never below ubar, so there is no negative variance."
    )
    needs = ("between",)
    wald = "wald_full_reiter2005"
    lr = "lr_full_reiter2005"
    conditions = (
        INDEPENDENT,
        TWO_COPIES,
        ONE_NOISY_RELEASE,
        ALL_SYNTHETIC,
        SOME_SYNTHETIC,
        DRAWN,
        FLAT,
        NO_SUBSAMPLE,
    )

    def variance(self, sums: Sums) -> FloatArray:
        """None: the reference is a mixture."""
        return np.full_like(sums.ubar, np.nan)

    def df(self, sums: Sums) -> FloatArray:
        """None: the reference is a mixture."""
        return np.full_like(sums.ubar, np.nan)

    def interval(self, sums: Sums, level: float) -> FloatArray:
        """Half-width of the central interval, by quadrature and bisection."""
        weights, scale = _mixture(sums)
        low, high = np.zeros_like(sums.ubar), 40.0 * scale.max(axis=0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            outside = _tail(weights, scale, middle) > 1 - level
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        return np.asarray(np.where(sums.between > 0, (low + high) / 2, np.nan), dtype=np.float64)

    def pvalue(self, sums: Sums, distance: FloatArray) -> FloatArray:
        """Two-sided tail probability under the mixture."""
        weights, scale = _mixture(sums)
        tail = _tail(weights, scale, np.abs(distance))
        return np.asarray(np.where(sums.between > 0, tail, np.nan), dtype=np.float64)

    def undefined(self, sums: Sums) -> str:
        """Say what there is instead of a variance."""
        del sums
        return f"{self.name} has no single variance: read its intervals and p-values, not standard errors"


def _mixture(sums: Sums) -> tuple[FloatArray, FloatArray]:
    """Weights and standard deviations (nodes, ...) of the normals, by Gauss-Legendre in the root of y.

    With y = (m - 1) b/X = top s^2 the integrand is smooth in s on (0, 1): the density contributes s^(m - 2).
    """
    from scipy import stats  # slow to import: only where it is used

    m, shape = sums.m, (-1,) + (1,) * np.ndim(sums.ubar)
    top = np.minimum((m - 1) * sums.between / sums.ubar, stats.chi2.isf(1e-18, m - 1))
    s = ((_NODES + 1) / 2).reshape(shape)
    y = top * s**2
    density = _WEIGHTS.reshape(shape) * s ** (m - 2) * np.exp(-y / 2)
    X = (m - 1) * sums.between / y
    scale = np.sqrt(np.maximum(X - sums.ubar, 0) + X / m)
    return density / density.sum(axis=0), scale


def _tail(weights: FloatArray, scale: FloatArray, distance: FloatArray) -> FloatArray:
    """P(|Z| > distance) under the mixture."""
    from scipy import stats  # slow to import: only where it is used

    return np.asarray((weights * 2 * stats.norm.sf(distance / scale)).sum(axis=0), dtype=np.float64)
