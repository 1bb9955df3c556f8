"""Conversions of Gaussian DP to (epsilon, delta), exact: entry A3; post-processing of numbers."""

from __future__ import annotations

import math

import scipy

from pysynthdp.privacy.conversion.gaussian_tradeoff import gaussian_delta
from pysynthdp.privacy.conversion.zcdp import zcdp_epsilon_simple
from pysynthdp.privacy.domain import (
    downward,
    nonnegative,
    positive,
    probability,
    upward,
)

__all__ = ["gdp_delta", "gdp_epsilon", "gdp_mu"]


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
    return upward(gaussian_delta(positive("mu", mu), nonnegative("epsilon", epsilon)))


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
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    high = zcdp_epsilon_simple(mu * mu / 2, delta)
    if gaussian_delta(mu, high) >= delta:
        return high
    root = scipy.optimize.brentq(
        lambda epsilon: gaussian_delta(mu, epsilon) - delta, 0.0, high, xtol=1e-300, rtol=1e-15
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
    while gaussian_delta(high, epsilon) <= delta:
        low, high = high, 2 * high
    root = scipy.optimize.brentq(
        lambda mu: gaussian_delta(mu, epsilon) - delta, low, high, xtol=1e-300, rtol=1e-15
    )
    return downward(downward(float(root)))
