"""Conversions of zCDP to (epsilon, delta): entries A1 and A2; post-processing of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy

from pysynthdp.privacy.domain import (
    nonnegative,
    positive,
    probability,
    upward,
)

__all__ = ["zcdp_delta", "zcdp_epsilon", "zcdp_epsilon_simple"]


def zcdp_epsilon_simple(rho: float, delta: float) -> float:
    """Convert rho-zCDP to epsilon by the textbook formula; correct, never tight.

    Parameters
    ----------
    rho : float
        Above zero.
    delta : float
        Between zero and one.

    Returns
    -------
    float
        epsilon.

    Raises
    ------
    PrivacyError
        Outside the domain; give rho > 0 and 0 < delta < 1.

    Notes
    -----
    Privacy: post-processing. A1: eps = rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016, Prop. 1.3).

    Examples
    --------
    >>> round(zcdp_epsilon_simple(0.5, 1e-6), 4)
    5.7565
    """
    rho, delta = positive("rho", rho), probability("delta", delta)
    return upward(rho + 2 * math.sqrt(-rho * math.log(delta)))


def _least(function: Callable[[float], float]) -> float:
    """Minimise over log(order - 1); every point gives a valid bound, so a poor one only costs tightness."""
    found = scipy.optimize.minimize_scalar(
        function, bounds=(-30.0, 60.0), method="bounded", options={"xatol": 1e-12}
    )
    return float(found.fun)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Convert rho-zCDP to epsilon at delta, by the best order.

    Parameters
    ----------
    rho : float
        Above zero.
    delta : float
        Between zero and one.

    Returns
    -------
    float
        epsilon, at least zero, never above :func:`zcdp_epsilon_simple`.

    Raises
    ------
    PrivacyError
        Outside the domain; give rho > 0 and 0 < delta < 1.

    Notes
    -----
    Privacy: post-processing. A2: eps = inf over a > 1 of a rho + log(1 - 1/a) - (log delta + log a)/(a - 1)
    (Canonne, Kamath and Steinke 2020, Prop. 12 and Cor. 13).

    Examples
    --------
    >>> round(zcdp_epsilon(0.5, 1e-6), 4)
    5.2215
    """
    rho, delta = positive("rho", rho), probability("delta", delta)
    log_delta = math.log(delta)

    def at(t: float) -> float:
        x = math.exp(t)
        return (1 + x) * rho - math.log1p(math.exp(-t)) - (log_delta + math.log1p(x)) / x

    return min(max(0.0, upward(_least(at))), zcdp_epsilon_simple(rho, delta))


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Convert rho-zCDP to delta at epsilon, by the best order.

    Parameters
    ----------
    rho : float
        Above zero.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        delta, at most one.

    Raises
    ------
    PrivacyError
        Outside the domain; give rho > 0 and epsilon >= 0.

    Notes
    -----
    Privacy: post-processing. A2: delta = inf over a > 1 of exp((a-1)(a rho - eps)) (1 - 1/a)^(a-1) / a
    (Canonne, Kamath and Steinke 2020, Prop. 12).

    Examples
    --------
    >>> round(zcdp_delta(0.5, 3.0), 7)
    0.0051432
    """
    rho, epsilon = positive("rho", rho), nonnegative("epsilon", epsilon)

    def at(t: float) -> float:
        x = math.exp(t)
        return x * ((1 + x) * rho - epsilon - math.log1p(math.exp(-t))) - math.log1p(x)

    return min(1.0, upward(math.exp(min(0.0, _least(at)))))
