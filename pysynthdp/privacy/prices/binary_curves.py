"""Renyi curve of independent draws of a binary column: entry F7."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.domain import checked_orders, count, positive, probability

__all__ = ["bernoulli_renyi", "binary_renyi"]

_ROUNDING = 2.0**-48


def bernoulli_renyi(p: float, q: float, *, orders: FloatArray | float, n_draws: int = 1) -> FloatArray:
    """Compute the Renyi divergence of Bernoulli(p) draws from Bernoulli(q) draws.

    Parameters
    ----------
    p, q : float
        Probabilities, strictly between zero and one.
    orders : array (k,) or float
        Orders above one.
    n_draws : int
        Number of independent draws.

    Returns
    -------
    array (k,)

    Raises
    ------
    PrivacyError
        Outside the domain; probabilities lie strictly between zero and one.

    Notes
    -----
    Privacy: arithmetic on two laws. F7: m ln(p^a q^(1-a) + (1-p)^a (1-q)^(1-a))/(a-1).

    Examples
    --------
    >>> round(float(bernoulli_renyi(0.2, 0.1, orders=2.0)), 6)
    0.105361
    """
    p, q, grid = probability("p", p), probability("q", q), checked_orders(orders)
    rise, fall = math.log1p((p - q) / q), math.log1p(-(p - q) / (1 - q))
    known = np.isfinite(grid)
    a = np.where(known, grid, 2.0)
    # log(1 + small) keeps the digits of close laws; the larger exponent is taken out for laws far apart
    largest = np.maximum(a * rise, a * fall)
    close = np.log1p(q * np.expm1(np.minimum(a * rise, 1.0)) + (1 - q) * np.expm1(np.minimum(a * fall, 1.0)))
    apart = largest + np.log(q * np.exp(a * rise - largest) + (1 - q) * np.exp(a * fall - largest))
    values = np.where(largest < 1, close, apart) / (a - 1)
    return np.asarray(count("n_draws", n_draws) * np.where(known, np.maximum(values, 0.0), max(rise, fall)))


def binary_renyi(
    n: int, n_draws: int, weights: tuple[float, float], *, orders: FloatArray | float
) -> FloatArray:
    """Compute the Renyi curve of independent draws of a binary column, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    n_draws : int
        Draws over all copies.
    weights : tuple (a, b)
        Pseudo-counts of ones and zeros, above zero; see :func:`binary_delta`.
    orders : array (k,) or float
        Orders above one.

    Returns
    -------
    array (k,)

    Raises
    ------
    PrivacyError
        Outside the domain; raise the prior.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. F7: convex in the number of ones, so the
    maximum is at 1 or n ones, in one of both orders.

    Examples
    --------
    >>> round(float(binary_renyi(50, 60, (1, 1), orders=2.0)), 6)
    1.165085
    """
    a, b = (positive("every weight", weight) for weight in weights)
    total = count("n", n) + a + b
    pairs = [((ones + a) / total, (ones - 1 + a) / total) for ones in (1, n)]
    found = [bernoulli_renyi(*pair, orders=orders, n_draws=n_draws) for pair in pairs]
    found += [bernoulli_renyi(*pair[::-1], orders=orders, n_draws=n_draws) for pair in pairs]
    return np.asarray(np.max(found, axis=0) * (1 + _ROUNDING))
