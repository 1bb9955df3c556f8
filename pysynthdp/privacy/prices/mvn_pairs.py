"""Exact divergences between multivariate normal fits: entries D1 and D5."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import (
    checked_orders,
    count,
    nonnegative,
    positive_definite,
    real,
    whole,
)

__all__ = ["mvn_renyi", "record_weight", "replace_one_largest", "replace_one_renyi"]


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
    Privacy: arithmetic on two laws. D1: (a/2) m' S_a^-1 m - [ln|S_a| - (1-a) ln|S1| - a ln|S2|]/(2(a-1)), S_a
    = (1-a) S1 + a S2 (Gil, Alajaji and Linder 2013; Miura Prop. 4.1).

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


def record_weight(n: int) -> float:
    """Weight (n-1)/n^2 of one record in the covariance that divides by n.

    Parameters
    ----------
    n : int
        Public number of records, at least two.

    Returns
    -------
    float

    Notes
    -----
    Privacy: post-processing of public constants.

    Examples
    --------
    >>> record_weight(10)
    0.09
    """
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
    - 2r + gamma (p s - r^2)]/W - [ln W + (a-1) ln(1 + gamma p) - a ln(1 + gamma s)]/(2(a-1)).

    Examples
    --------
    >>> round(float(replace_one_renyi(5, 2, -1, orders=2.0, n=200)), 8)
    0.00056048
    """
    p, s, r = nonnegative("p", p), nonnegative("s", s), real("r", r)
    if r * r > p * s * (1 + 1e-12):
        raise PrivacyError("r must not exceed the square root of p times s", kind="mechanism")
    grid, gamma = checked_orders(orders), record_weight(n)
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
    :func:`ridge_bound_renyi`. D6: the maximum over r in [-q, q] is at an end or at a root of a cubic, the
    derivative's numerator.

    Examples
    --------
    >>> round(replace_one_largest(5, alpha=2.0, n=200), 8)
    0.00087591
    """
    q, gamma = nonnegative("q", q), record_weight(n)
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
