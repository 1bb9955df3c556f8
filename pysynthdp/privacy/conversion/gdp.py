"""Conversions of Gaussian DP to (epsilon, delta), exact: entry A3; post-processing of numbers."""

from __future__ import annotations

import math

import numpy as np
import scipy
from scipy.special import erfcx, log_ndtr, ndtr

from pysynthdp.privacy.conversion.zcdp import zcdp_epsilon_simple
from pysynthdp.privacy.domain import (
    downward,
    nonnegative,
    positive,
    probability,
    upward,
)

__all__ = ["gdp_delta", "gdp_epsilon", "gdp_mu"]
_FAR = 1e5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def gdp_delta(mu: float, epsilon: float) -> float:
    """Convert mu-GDP to delta at epsilon, exactly.

    Parameters
    ----------
    mu : float
        Above zero: the length of the Gaussian shift in standard deviations.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        delta.

    Raises
    ------
    PrivacyError
        Outside the domain; give mu > 0 and epsilon >= 0.

    Notes
    -----
    Privacy: post-processing. A3: delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle and Wang 2018,
    Theorem 8), computed without cancellation.

    Examples
    --------
    >>> round(gdp_delta(1.0, 1.0), 6)
    0.126937
    """
    return upward(_gaussian_delta(positive("mu", mu), nonnegative("epsilon", epsilon)))


def gdp_epsilon(mu: float, delta: float) -> float:
    """Convert mu-GDP to epsilon at delta, exactly.

    Parameters
    ----------
    mu : float
        Above zero.
    delta : float
        Between zero and one.

    Returns
    -------
    float
        Smallest epsilon (rounded up) whose delta does not exceed ``delta``.

    Raises
    ------
    PrivacyError
        Outside the domain; give mu > 0 and 0 < delta < 1.

    Notes
    -----
    Privacy: post-processing. A3 inverted in epsilon (Balle and Wang 2018, Theorem 8).

    Examples
    --------
    >>> round(gdp_epsilon(1.0, 1e-6), 4)
    4.8866
    """
    mu, delta = positive("mu", mu), probability("delta", delta)
    if _gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    high = zcdp_epsilon_simple(mu * mu / 2, delta)
    if _gaussian_delta(mu, high) >= delta:
        return high
    root = scipy.optimize.brentq(
        lambda epsilon: _gaussian_delta(mu, epsilon) - delta, 0.0, high, xtol=1e-300, rtol=1e-15
    )
    return upward(upward(float(root)))


def gdp_mu(epsilon: float, delta: float) -> float:
    """Find the largest mu whose mu-GDP gives (epsilon, delta).

    Parameters
    ----------
    epsilon : float
        At least zero.
    delta : float
        Between zero and one.

    Returns
    -------
    float
        mu, rounded down.

    Raises
    ------
    PrivacyError
        Outside the domain; give epsilon >= 0 and 0 < delta < 1.

    Notes
    -----
    Privacy: post-processing. A3 inverted in mu (Balle and Wang 2018, Theorem 8).

    Examples
    --------
    >>> round(gdp_mu(1.0, 1e-6), 6)
    0.236704
    """
    epsilon, delta = nonnegative("epsilon", epsilon), probability("delta", delta)
    # At rho = mu^2/2 with eps = rho + 2 sqrt(rho L) the simple conversion holds, so this mu is allowed.
    log_inverse = -math.log(delta)
    root_rho = epsilon / (math.sqrt(log_inverse + epsilon) + math.sqrt(log_inverse)) if epsilon else 0.0
    low = max(math.sqrt(2) * root_rho, delta)  # at eps = 0, delta = 2 Phi(mu/2) - 1 < mu/2
    high = low
    while _gaussian_delta(high, epsilon) <= delta:
        low, high = high, 2 * high
    root = scipy.optimize.brentq(
        lambda mu: _gaussian_delta(mu, epsilon) - delta, low, high, xtol=1e-300, rtol=1e-15
    )
    return downward(downward(float(root)))


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """Hockey-stick divergence of N(mu, 1) from N(0, 1); arguments already checked.

    With a = mu/2 - eps/mu and b = a - mu it is phi(a) [r(-a) - r(-b)], r the Mills ratio, because
    phi(a) = e^eps phi(b). For a short shift the difference is the integral of -r'(x) = 1 - x r(x) > 0.
    """
    a = mu / 2 - epsilon / mu
    if a < -37.5:
        # phi(a) < 1e-305, where floats lose digits: a coarser bound that cannot underflow
        return 1e-305
    if mu < 1:
        return _short_shift(a, mu)
    b = -mu / 2 - epsilon / mu
    if a <= 0:
        return math.exp(-a * a / 2) / math.sqrt(2 * math.pi) * (_mills(-a) - _mills(-b))
    if mu > _FAR:
        # the second term is below 1 / mu, and floats cannot tell it from epsilon's rounding: an upper bound
        return float(ndtr(a))
    return float(ndtr(a)) - math.exp(epsilon + float(log_ndtr(b)))


def _mills(x: float) -> float:
    """(1 - Phi(x)) / phi(x)."""
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))


def _short_shift(a: float, mu: float) -> float:
    """Integrate 1 - x r(x) over [-a, -a + mu] by Gauss and Legendre; the integrand is entire."""
    x = -a + mu * (1 + _NODES) / 2
    heights = 1 - x * math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
    return math.exp(-a * a / 2) / math.sqrt(2 * math.pi) * mu / 2 * float(_WEIGHTS @ heights)
