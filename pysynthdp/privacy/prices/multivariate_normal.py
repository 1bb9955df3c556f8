"""Multivariate normal by mean and covariance: the publishable bound, entry D6.

Covariances divide by n. ``gamma`` below is (n-1)/n^2, A = (a-1) gamma and B = a gamma. Arithmetic on the
arguments given; publishable where those are public.
"""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.domain import (
    checked_orders,
    count,
    nonnegative,
    positive,
    positive_definite,
    upward,
)
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.prices.mvn_pairs import record_weight

__all__ = [
    "known_covariance",
    "ridge_bound_renyi",
    "ridge_leverage",
    "ridged_normal",
]


def known_covariance(
    covariance: FloatArray, widths: FloatArray, *, n: int, n_syn: int, copies: int = 1
) -> GDP:
    """Price a multivariate plug-in mean with public covariance.

    Parameters
    ----------
    covariance : array (d, d)
        Public, positive definite.
    widths : array (d,)
        Widths of the columns' public ranges; d at most 20.
    n : int
        Public number of records.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    GDP
        With rho = (N/2) max of e' S^-1 e/n^2 over the corners e of the box.

    Raises
    ------
    PrivacyError
        Outside the domain; for more than 20 columns draw them in several steps.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. D0: a convex function is largest at a corner.

    Examples
    --------
    >>> round(known_covariance(np.eye(1), np.array([8.0]), n=1000, n_syn=15625).rho, 12)
    0.5
    """
    matrix = positive_definite("covariance", covariance)
    box = np.asarray([positive("every width", width) for width in np.atleast_1d(widths)])
    if box.size != len(matrix) or box.size > 20:
        raise PrivacyError("widths must have one entry a column, for at most 20 columns", kind="mechanism")
    inverse = np.linalg.inv(matrix) * np.outer(box, box)
    corners = np.ones((1, 1))
    for _ in range(box.size - 1):
        corners = np.vstack([np.c_[corners, np.ones(len(corners))], np.c_[corners, -np.ones(len(corners))]])
    largest = float(np.einsum("ij,jk,ik->i", corners, inverse, corners).max()) * (1 + 1e-13)
    records = count("n_syn", n_syn) * count("copies", copies)
    return GDP(upward(math.sqrt(records * largest) / count("n", n)))


def ridge_leverage(columns: int, ridge: float) -> float:
    """Bound the leverage q under a ridge on the covariance, data in [-1, 1]^d.

    Parameters
    ----------
    columns : int
        d.
    ridge : float
        lambda, added to the covariance's diagonal; with a total ridge L on the scatter lambda = L/n.

    Returns
    -------
    float
        4 d/lambda.

    Raises
    ------
    PrivacyError
        Outside the domain; the ridge is a public positive constant.

    Notes
    -----
    Privacy: post-processing of public constants. D4, D6.

    Examples
    --------
    >>> round(ridge_leverage(6, 0.01), 9)
    2400.0
    """
    return upward(4 * count("columns", columns) / positive("ridge", ridge))


def ridge_bound_renyi(q: float, *, orders: FloatArray | float, n: int, n_draws: int = 1) -> FloatArray:
    """Bound the divergence over all replace-one neighbours with leverage at most q, proved.

    Parameters
    ----------
    q : float
        Largest leverage, at least zero.
    orders : array (k,) or float
        Orders above one.
    n : int
        Public number of records, at least two.
    n_draws : int
        Records drawn, over all copies.

    Returns
    -------
    array (k,)
        Bound; ``inf`` from order 1 + 1/(gamma q) on.

    Raises
    ------
    PrivacyError
        Outside the domain; q >= 0.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. D6: (a/(2 n^2)) (4q + gamma q^2)/(1 - A q) -
    [ln(1 - A q) + (a-1) ln(1 + gamma q) + ln(1 + B q) - a ln(1 + gamma q)]/(2(a-1)). Replaces Miura's
    Corollary 3.2, twice as large and conditional on a property of the data.

    Examples
    --------
    >>> round(float(ridge_bound_renyi(5, orders=2.0, n=200)), 8)
    0.00112006
    """
    q, grid, gamma = nonnegative("q", q), checked_orders(orders), record_weight(n)
    known = (grid - 1) * gamma * q < 1
    known &= np.isfinite(grid)
    a = np.where(known, grid, 1 + 0.5 / max(gamma * q, 1e-300))
    low, high, one = (a - 1) * gamma * q, a * gamma * q, gamma * q
    mean = a / (2 * n * n) * (4 * q + gamma * q * q) / (1 - low)
    logs = np.log1p(-low) + (a - 1) * math.log1p(one) + np.log1p(high) - a * math.log1p(one)
    values = count("n_draws", n_draws) * (mean - logs / (2 * (a - 1))) * (1 + 2.0**-50)
    return np.asarray(np.where(known, values, np.inf), dtype=np.float64)


def ridged_normal(n: int, columns: int, ridge: float, *, n_syn: int, copies: int = 1) -> RDP:
    """Price copies of records from N(mean, covariance + ridge I), data scaled to [-1, 1]^d.

    Parameters
    ----------
    n : int
        Public number of records, at least two.
    columns : int
        d.
    ridge : float
        Public lambda, added to the covariance's diagonal.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    RDP
        Curve on the public grid.

    Raises
    ------
    PrivacyError
        Outside the domain, or if no grid order is bounded: raise the ridge.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. D6.

    Examples
    --------
    >>> round(ridged_normal(100_000, 6, 0.4, n_syn=100_000).epsilon(1e-6), 2)
    0.88
    """
    records = count("n_syn", n_syn) * count("copies", copies)
    leverage = ridge_leverage(columns, ridge)
    return RDP.from_curve(ridge_bound_renyi(leverage, orders=ORDERS, n=n, n_draws=records))
