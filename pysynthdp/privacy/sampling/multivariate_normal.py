"""Multivariate normal by mean and covariance: exact divergences and the publishable bound, D1 and D4 to D6.

Covariances divide by n. ``gamma`` below is (n-1)/n^2, A = (a-1) gamma and B = a gamma. Arithmetic on the
arguments given; publishable where those are public.
"""

from __future__ import annotations

import math

import numpy as np

from pysynthdp._typing import FloatArray
from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.domain import (
    checked_orders,
    count,
    nonnegative,
    positive,
    positive_definite,
    real,
    upward,
    whole,
)
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.orders import ORDERS

__all__ = [
    "known_covariance",
    "mvn_renyi",
    "replace_one_largest",
    "replace_one_renyi",
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
    Privacy: post-processing of public constants; publishable. Head of section D: a convex function is
    largest at
    a corner.

    Examples
    --------
    >>> round(known_covariance(np.eye(1), np.array([8.0]), n=1000, n_syn=15625).rho, 12)
    0.5
    """
    matrix = positive_definite("covariance", covariance)
    box = np.asarray([positive("every width", width) for width in np.atleast_1d(widths)])
    if box.size != len(matrix) or box.size > 20:
        raise PrivacyError("widths must have one entry a column, for at most 20 columns")
    inverse = np.linalg.inv(matrix) * np.outer(box, box)
    corners = np.ones((1, 1))
    for _ in range(box.size - 1):
        corners = np.vstack([np.c_[corners, np.ones(len(corners))], np.c_[corners, -np.ones(len(corners))]])
    largest = float(np.einsum("ij,jk,ik->i", corners, inverse, corners).max()) * (1 + 1e-13)
    records = count("n_syn", n_syn) * count("copies", copies)
    return GDP(upward(math.sqrt(records * largest) / count("n", n)))


def mvn_renyi(
    mean: FloatArray,
    covariance: FloatArray,
    other_mean: FloatArray,
    other_covariance: FloatArray,
    *,
    alpha: float,
    n_draws: int = 1,
) -> float:
    """Compute the Renyi divergence of one multivariate normal law from another.

    Parameters
    ----------
    mean : array (d,)
        Of the first law.
    covariance : array (d, d)
        Of the first law, positive definite.
    other_mean, other_covariance : arrays (d,), (d, d)
        Of the second law.
    alpha : float
        Order above one.
    n_draws : int
        Number of independent records.

    Returns
    -------
    float
        Divergence; ``inf`` where (1-a) S1 + a S2 is not positive definite.

    Raises
    ------
    PrivacyError
        Outside the domain; add a public ridge to a singular covariance.

    Notes
    -----
    Privacy: arithmetic on two laws. D1: (a/2) m' S_a^-1 m - [ln|S_a| - (1-a) ln|S1| - a ln|S2|]/(2(a-1)),
    S_a =
    (1-a) S1 + a S2 (Gil, Alajaji and Linder 2013; Miura Prop. 4.1).

    Examples
    --------
    >>> round(mvn_renyi([0.0], [[1.0]], [0.3], [[1.2]], alpha=2.5), 6)
    0.09178
    """
    first = positive_definite("covariance", covariance)
    second = positive_definite("other_covariance", other_covariance)
    alpha = float(checked_orders(alpha))
    shift = np.subtract(np.asarray(mean, float), np.asarray(other_mean, float))
    root = np.linalg.cholesky(second)
    # in the basis where the second covariance is the identity: eigenvalues of the first, less one
    inner = np.linalg.solve(root, np.linalg.solve(root, first - second).T)
    excess, vectors = np.linalg.eigh((inner + inner.T) / 2)
    mixed = 1 + (1 - alpha) * excess
    if float(mixed.min()) <= 0:
        return math.inf
    z = vectors.T @ np.linalg.solve(root, shift)
    mean_part = alpha / 2 * float(np.sum(z * z / mixed))
    logs = np.log1p((1 - alpha) * excess) - (1 - alpha) * np.log1p(excess)
    value = mean_part - float(np.sum(logs)) / (2 * (alpha - 1))
    return count("n_draws", n_draws) * max(0.0, value)


def _gamma(n: int) -> float:
    """Weight of one record in the covariance that divides by n."""
    size = whole("n", n, 2)
    return (size - 1) / size**2


def replace_one_renyi(
    p: float, s: float, r: float, *, orders: FloatArray | float, n: int, n_draws: int = 1
) -> FloatArray:
    """Compute the exact divergence between two tables that differ in one record, both plugged in.

    Parameters
    ----------
    p, s, r : float
        u'S^-1 u, v'S^-1 v and u'S^-1 v: old and new record about the mean of the others, S = (n-1)/n times
        the others' covariance (plus the ridge).
    orders : array (k,) or float
        Orders above one.
    n : int
        Number of records, at least two.
    n_draws : int
        Records drawn.

    Returns
    -------
    array (k,)
        Divergence; ``inf`` where W <= 0.

    Raises
    ------
    PrivacyError
        Outside the domain; p, s >= 0 and r^2 <= p s.

    Notes
    -----
    Privacy: arithmetic on a pair of neighbours. D5: W = (1 - A p)(1 + B s) + A B r^2, D = (a/(2 n^2)) [p + s
    - 2r +
    gamma (p s - r^2)]/W - [ln W + (a-1) ln(1 + gamma p) - a ln(1 + gamma s)]/(2(a-1)).

    Examples
    --------
    >>> round(float(replace_one_renyi(5, 2, -1, orders=2.0, n=200)), 8)
    0.00056048
    """
    p, s, r = nonnegative("p", p), nonnegative("s", s), real("r", r)
    if r * r > p * s * (1 + 1e-12):
        raise PrivacyError("r must not exceed the square root of p times s")
    grid, gamma = checked_orders(orders), _gamma(n)
    known = np.isfinite(grid)
    a = np.where(known, grid, 2.0)
    low, high = (a - 1) * gamma, a * gamma
    excess = -low * p + high * s + low * high * (r * r - p * s)
    known &= (excess > -1) & (low * p < 1)
    w = np.where(known, excess, 0.0)
    mean = a / (2 * n * n) * (p + s - 2 * r + gamma * (p * s - r * r)) / (1 + w)
    logs = np.log1p(w) + (a - 1) * math.log1p(gamma * p) - a * math.log1p(gamma * s)
    values = count("n_draws", n_draws) * np.maximum(mean - logs / (2 * (a - 1)), 0.0)
    return np.asarray(np.where(known, values, np.inf), dtype=np.float64)


def replace_one_largest(q: float, *, alpha: float, n: int, n_draws: int = 1) -> float:
    """Compute the divergence at p = s = q, largest over r: slightly below the proved bound.

    Parameters
    ----------
    q : float
        Largest leverage, at least zero.
    alpha : float
        Order above one.
    n : int
        Number of records, at least two.
    n_draws : int
        Records drawn.

    Returns
    -------
    float
        Divergence; ``inf`` where it is not bounded.

    Raises
    ------
    PrivacyError
        Outside the domain; q >= 0.

    Notes
    -----
    Privacy: post-processing of public constants, but not a proved bound; claims use
    :func:`ridge_bound_renyi`. D6: the
    maximum over r in [-q, q] is at an end or at a root of a cubic, the derivative's numerator.

    Examples
    --------
    >>> round(replace_one_largest(5, alpha=2.0, n=200), 8)
    0.00087591
    """
    q, gamma = nonnegative("q", q), _gamma(n)
    alpha = float(checked_orders(alpha))
    low, high = (alpha - 1) * gamma, alpha * gamma
    weight = np.array([low * high, 0.0, (1 - low * q) * (1 + high * q)])
    top = np.array([-gamma, -2.0, 2 * q + gamma * q * q]) * alpha / (2 * n * n)
    rise = np.polysub(
        np.polysub(np.polymul(np.polyder(top), weight), np.polymul(top, np.polyder(weight))),
        np.polymul(weight, np.polyder(weight)) / (2 * (alpha - 1)),
    )
    inner = [float(root.real) for root in np.roots(rise) if abs(root.real) < q]
    return max(float(replace_one_renyi(q, q, r, orders=alpha, n=n, n_draws=n_draws)) for r in [-q, q, *inner])


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
    [ln(1 - A
    q) + (a-1) ln(1 + gamma q) + ln(1 + B q) - a ln(1 + gamma q)]/(2(a-1)). Replaces Miura's Corollary 3.2,
    twice as
    large and conditional on a property of the data.

    Examples
    --------
    >>> round(float(ridge_bound_renyi(5, orders=2.0, n=200)), 8)
    0.00112006
    """
    q, grid, gamma = nonnegative("q", q), checked_orders(orders), _gamma(n)
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
