"""Conversions of Renyi curves to (epsilon, delta): entry A4; post-processing of numbers."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.domain import (
    checked_orders,
    nonnegative,
    order,
    probability,
    upward,
)

__all__ = [
    "rdp_delta",
    "rdp_epsilon",
    "rdp_epsilon_mironov",
]


def rdp_epsilon_mironov(alpha: float, tau: float, delta: float) -> float:
    """Convert one Renyi order to epsilon by Mironov's formula; correct, never tight.

    Parameters
    ----------
    alpha : float
        Order, above one.
    tau : float
        Renyi divergence at that order, at least zero.
    delta : float
        Between zero and one.

    Returns
    -------
    float
        epsilon.

    Raises
    ------
    PrivacyError
        Outside the domain; give alpha > 1, tau >= 0 and 0 < delta < 1.

    Notes
    -----
    Privacy: post-processing. A4: eps = tau + ln(1/delta)/(alpha - 1) (Mironov 2017, Prop. 3).

    Examples
    --------
    >>> round(rdp_epsilon_mironov(2.0, 1.0, 1e-5), 4)
    12.5129
    """
    alpha, tau, delta = order(alpha), nonnegative("tau", tau), probability("delta", delta)
    return upward(tau - math.log(delta) / (alpha - 1))


def _curve(orders: FloatArray | float, taus: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Check a curve and drop the orders where nothing is bounded."""
    grid, values = checked_orders(orders), np.asarray(taus, dtype=np.float64)
    nonnegative("every tau", float(np.min(np.where(np.isposinf(values), 0.0, values))))
    grid, values = np.broadcast_arrays(grid, values)
    known = np.isfinite(values)
    return grid[known], values[known]


def rdp_epsilon(orders: FloatArray | float, taus: FloatArray | float, delta: float) -> float:
    """Convert a Renyi curve to epsilon at delta, by its best order.

    Parameters
    ----------
    orders : array (k,) or float
        Orders above one; ``inf`` is allowed.
    taus : array (k,) or float
        Renyi divergences; ``inf`` where there is no bound.
    delta : float
        Between zero and one.

    Returns
    -------
    float
        epsilon, at least zero; ``inf`` if no order has a bound.

    Raises
    ------
    PrivacyError
        Outside the domain; give orders > 1, taus >= 0 and 0 < delta < 1.

    Notes
    -----
    Privacy: post-processing. A4: eps = min of tau + log(1 - 1/a) - (log delta + log a)/(a - 1) (Canonne,
    Kamath and Steinke 2020; Asoodeh et al. 2021). The order ``inf`` is pure epsilon.

    Examples
    --------
    >>> round(rdp_epsilon(2.0, 1.0, 1e-5), 4)
    11.1266
    """
    delta = probability("delta", delta)
    grid, values = _curve(orders, taus)
    finite = np.isfinite(grid)
    x = grid[finite] - 1
    found = values[finite] - np.log1p(1 / x) - (math.log(delta) + np.log1p(x)) / x
    pure = values[~finite]
    return max(0.0, upward(float(min([np.inf, *found, *pure]))))


def rdp_delta(orders: FloatArray | float, taus: FloatArray | float, epsilon: float) -> float:
    """Convert a Renyi curve to delta at epsilon, by its best order.

    Parameters
    ----------
    orders : array (k,) or float
        Orders above one; ``inf`` is allowed.
    taus : array (k,) or float
        Renyi divergences; ``inf`` where there is no bound.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        delta, at most one.

    Raises
    ------
    PrivacyError
        Outside the domain; give orders > 1, taus >= 0 and epsilon >= 0.

    Notes
    -----
    Privacy: post-processing. A4: delta = min of exp((a-1)(tau - eps)) (1 - 1/a)^(a-1) / a (Canonne, Kamath
    and Steinke 2020, Prop. 12); zero where pure epsilon holds.

    Examples
    --------
    >>> round(rdp_delta(2.0, 1.0, 5.0), 8)
    0.00457891
    """
    epsilon = nonnegative("epsilon", epsilon)
    grid, values = _curve(orders, taus)
    finite = np.isfinite(grid)
    if bool(np.any(values[~finite] <= epsilon)):
        return 0.0
    x = grid[finite] - 1
    logs = x * (values[finite] - epsilon - np.log1p(1 / x)) - np.log1p(x)
    return min(1.0, upward(math.exp(min([0.0, *logs]))))
