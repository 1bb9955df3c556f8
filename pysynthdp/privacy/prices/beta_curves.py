"""Renyi curve of a Beta posterior and of the draws given its parameter: entry F8."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import checked_orders, count, order, positive
from pysynthdp.privacy.prices.log_gamma import log_beta_binomial, log_rising

__all__ = ["beta_binomial_renyi", "beta_renyi", "parameter_renyi"]

_ROUNDING = 2.0**-46


def beta_renyi(a: float, b: float, *, orders: FloatArray | float) -> FloatArray:
    """Compute the Renyi divergence of Beta(a + 1, b) from Beta(a, b + 1).

    Parameters
    ----------
    a, b : float
        Posterior weights without the record that differs, above zero.
    orders : array (k,) or float
        Orders above one.

    Returns
    -------
    array (k,)
        ``inf`` from order b + 1 on.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: arithmetic on two laws. F8: [o ln(b/a) + ln G(a+o) - ln G(a) + ln G(b+1-o) - ln G(b+1)]/(o-1).

    Examples
    --------
    >>> round(float(beta_renyi(3, 9, orders=2.5)), 6)
    0.495823
    """
    a, b, grid = positive("a", a), positive("b", b), checked_orders(orders)
    known = grid < b + 1
    o = np.where(known, grid, 1 + b / 2)
    logs = o * math.log(b / a) + log_rising(a, o) - log_rising(b + 1 - o, o)
    return np.asarray(np.where(known, np.maximum(logs / (o - 1), 0.0), np.inf))


def parameter_renyi(n: int, alpha: float, beta: float, *, orders: FloatArray | float) -> FloatArray:
    """Compute the Renyi curve of releasing the posterior's parameter once, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    alpha, beta : float
        Prior weights of ones and zeros, above zero.
    orders : array (k,) or float
        Orders above one.

    Returns
    -------
    array (k,)
        ``inf`` from order min(alpha, beta) + 1 on; m copies cost m times it.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. F8: convex in the number of ones, so the
    maximum is at 1 or n ones, in one of both orders.

    Examples
    --------
    >>> round(float(parameter_renyi(50, 10, 10, orders=4.0)), 6)
    0.26164
    """
    size, alpha, beta = count("n", n), positive("alpha", alpha), positive("beta", beta)
    pairs = [(alpha, size - 1 + beta), (size - 1 + alpha, beta)]
    found = [beta_renyi(x, y, orders=orders) for pair in pairs for x, y in (pair, pair[::-1])]
    return np.asarray(np.max(found, axis=0) * (1 + _ROUNDING))


def beta_binomial_renyi(n_draws: int, a: float, b: float, *, alpha: float) -> float:
    """Compute the Renyi divergence of BetaBin(m; a + 1, b) from BetaBin(m; a, b + 1), finite at every order.

    Parameters
    ----------
    n_draws : int
        Draws m from one parameter, at most ten million.
    a, b : float
        Posterior weights without the record that differs, above zero.
    alpha : float
        Order above one.

    Returns
    -------
    float

    Raises
    ------
    PrivacyError
        Outside the domain; for more draws use :func:`beta_renyi`, which bounds any number.

    Notes
    -----
    Privacy: arithmetic on two laws. F8, summed over all counts.

    Examples
    --------
    >>> round(beta_binomial_renyi(60, 1, 50, alpha=2.0), 6)
    0.44287
    """
    m, a, b, o = count("n_draws", n_draws), positive("a", a), positive("b", b), order(alpha)
    if m > 10_000_000:
        raise PrivacyError(
            "n_draws must be at most ten million here",
            kind="mechanism",
            remedy="use beta_renyi, which bounds any number",
        )
    k = np.arange(m + 1, dtype=np.float64)
    logs = log_beta_binomial(k, m, a, b + 1) + o * np.log((b / a) * (a + k) / (b + m - k))
    top = float(logs.max())
    return max(0.0, (top + math.log(math.fsum(np.exp(logs - top)))) / (o - 1))
