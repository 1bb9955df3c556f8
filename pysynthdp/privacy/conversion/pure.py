"""Conversions of pure epsilon to Renyi and zCDP: entry A5; post-processing of numbers."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.domain import (
    checked_orders,
    nonnegative,
    upward,
)

__all__ = ["pure_renyi", "pure_zcdp"]


def pure_renyi(epsilon: float, orders: FloatArray | float) -> FloatArray:
    """Convert pure epsilon to its Renyi curve, tightly.

    Parameters
    ----------
    epsilon : float
        At least zero.
    orders : array (k,) or float
        Orders above one; ``inf`` is allowed.

    Returns
    -------
    array (k,)
        Renyi divergence at each order, at most epsilon.

    Raises
    ------
    PrivacyError
        Outside the domain; give epsilon >= 0 and orders > 1.

    Notes
    -----
    Privacy: post-processing. A5: tau = log[(e^(a eps) + e^(eps - a eps))/(1 + e^eps)]/(a - 1); randomised
    response attains it (Steinke 2024).

    Examples
    --------
    >>> round(float(pure_renyi(1.0, 2.0)), 6)
    0.735326
    """
    epsilon, grid = nonnegative("epsilon", epsilon), checked_orders(orders)
    finite = np.where(np.isinf(grid), 2.0, grid)
    # e^(ae) (1 + e^(e - 2ae)) / (e^e (1 + e^-e)): the exponents that could overflow are taken out.
    logs = (
        (finite - 1) * epsilon + np.log1p(np.exp(epsilon - 2 * finite * epsilon)) - np.log1p(np.exp(-epsilon))
    )
    small = _renyi_of_small_pure(epsilon, finite)
    values = np.where(finite * epsilon < 1e-3, small, logs / (finite - 1))
    return np.where(np.isinf(grid), epsilon, np.clip(values * (1 + 2.0**-50), 0.0, epsilon))


def _renyi_of_small_pure(epsilon: float, orders: FloatArray) -> FloatArray:
    """Write the ratio less one by hyperbolic functions, where the logarithms above would cancel."""
    # cosh((2a-1)e/2)/cosh(e/2) - 1 = 2 sinh(a e/2) sinh((a-1)e/2)/cosh(e/2)
    capped = np.minimum(orders * epsilon, 1.0) / 2
    rest = np.minimum((orders - 1) * epsilon, 1.0) / 2
    return np.log1p(2 * np.sinh(capped) * np.sinh(rest) / math.cosh(min(epsilon, 1.0) / 2)) / (orders - 1)


def pure_zcdp(epsilon: float) -> float:
    """Convert pure epsilon to the smallest rho of zCDP that it implies.

    Parameters
    ----------
    epsilon : float
        At least zero.

    Returns
    -------
    float
        rho = eps tanh(eps/2), better than eps^2/2.

    Raises
    ------
    PrivacyError
        Outside the domain; give epsilon >= 0.

    Notes
    -----
    Privacy: post-processing. A5 (Steinke 2024; eps^2/2 is Bun and Steinke 2016).

    Examples
    --------
    >>> round(pure_zcdp(1.0), 6)
    0.462117
    """
    epsilon = nonnegative("epsilon", epsilon)
    return upward(epsilon * math.tanh(epsilon / 2))
