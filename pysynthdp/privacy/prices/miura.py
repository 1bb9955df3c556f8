"""Miura et al.'s theorem and corollary for the multivariate normal, printed and corrected: D2 and D3.

Neighbours have n and n + 1 records. n_syn must be public: with n_syn = n the two releases differ in length
and every divergence is infinite, which the paper overlooks. The numbers depend on n, which is confidential
under add/remove, so a public lower bound on n is needed to publish them.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, order, positive

__all__ = [
    "miura_addremove",
    "miura_largest_order",
    "miura_replace",
]


def miura_largest_order(n: int, columns: int, least: float) -> float:
    """Find the order below which Miura et al.'s theorem holds.

    Parameters
    ----------
    n : int
        Records in the smaller table.
    columns : int
        d.
    least : float
        Lower bound on the covariance's eigenvalues, data in [-1, 1]^d.

    Returns
    -------
    float
        c = min{n + 1, n^2/(tau (n+1) - n)}, tau = 4d/least.

    Raises
    ------
    PrivacyError
        Outside the domain; the theorem needs n/(n+1) < tau.

    Notes
    -----
    Privacy: post-processing of constants. D2.

    Examples
    --------
    >>> round(miura_largest_order(10000, 6, 0.01), 3)
    4.168
    """
    tau = 4 * count("columns", columns) / positive("least", least)
    if count("n", n) / (n + 1) >= tau:
        raise PrivacyError(
            "least is too large for the theorem: it needs n/(n+1) < 4 d/least", kind="mechanism"
        )
    return min(n + 1.0, n * n / (tau * (n + 1) - n))


def miura_addremove(alpha: float, *, n: int, columns: int, least: float) -> float:
    """Compute Miura et al.'s Theorem 3.1 for one record.

    Parameters
    ----------
    alpha : float
        Order, between one and :func:`miura_largest_order`.
    n : int
        Records in the smaller table.
    columns : int
        d.
    least : float
        Lower bound on the covariance's eigenvalues, data in [-1, 1]^d.

    Returns
    -------
    float
        Upper bound on the divergence of one record between n and n + 1 records.

    Raises
    ------
    PrivacyError
        Outside the domain; choose a smaller order.

    Notes
    -----
    Privacy: conditional on a property of the data (the smallest eigenvalue), so not publishable without a
    ridge. D2. Errata: n_syn must be public; the class {eigenvalue >= least} was measured on the data; the
    sign in Lemma 4.5 is reversed (the conclusion holds); T = S1^-1 S_a S2^-1; only finite orders exist, so no
    zCDP; the text under Table 1 exchanges bounded and unbounded. :func:`addremove_renyi` is exact and up to
    3.4 times smaller.

    Examples
    --------
    >>> round(miura_addremove(4.0, n=10000, columns=6, least=0.01), 6)
    0.353517
    """
    alpha = order(alpha)
    if alpha >= miura_largest_order(n, columns, least):
        raise PrivacyError(
            "alpha is beyond the theorem's largest order",
            kind="mechanism",
            remedy="choose a smaller one or a larger least",
        )
    return max(_theorem_add(alpha, n, columns, least), _theorem_remove(alpha, n, columns, least))


def _theorem_add(a: float, n: int, d: int, least: float) -> float:
    """First expression of Theorem 3.1."""
    tau, c, size = 4 * d / least, 1 / (2 * (a - 1)), n + 1
    ratio = math.log1p(a * n * tau / (size * (size - a))) - a * math.log1p(tau / size)
    mean = a / 2 * tau / (size * (size - a))
    return mean - a * d * c * math.log1p(1 / n) - d * c * math.log1p(-a / size) - c * min(0.0, ratio)


def _theorem_remove(a: float, n: int, d: int, least: float) -> float:
    """Second expression of Theorem 3.1."""
    tau, c = 4 * d / least, 1 / (2 * (a - 1))
    ratio = math.log1p(-a * (n + 1) * tau / ((n + a) * n)) - a * math.log1p(-tau / n)
    mean = a / 2 * tau / (n * (n + a) - a * (n + 1) * tau)
    return mean + a * d * c * math.log1p(1 / n) - d * c * math.log1p(a / n) - c * min(0.0, ratio)


def miura_replace(alpha: float, *, n: int, columns: int, least: float, corrected: bool = True) -> float:
    """Compute Miura et al.'s Corollary 3.2: replace-one through a bridging table, for one record.

    Parameters
    ----------
    alpha : float
        Order, between one and :func:`miura_largest_order`.
    n : int
        Number of records.
    columns : int
        d.
    least : float
        Lower bound on the covariance's eigenvalues, data in [-1, 1]^d.
    corrected : bool
        Use n in the second term, as the proof needs; False reproduces the printed n + 1.

    Returns
    -------
    float
        The smallest over the splitting parameter p of ((a - 1/p)/(a - 1)) eps(p a, n) + eps((p a - 1)/(p -
        1), n).

    Raises
    ------
    PrivacyError
        Outside the domain; choose a smaller order.

    Notes
    -----
    Privacy: conditional on a property of the data, so not publishable. D3. Errata: both terms concern pairs
    of n and n + 1 records; the bridge need not lie in the class.
    :func:`ridge_bound_renyi` is unconditional and half as large.

    Examples
    --------
    >>> round(miura_replace(4.0, n=1_000_000, columns=6, least=0.01, corrected=False), 9)
    2.3358e-05
    """
    alpha, largest = order(alpha), miura_largest_order(n, columns, least)
    if alpha >= largest:
        raise PrivacyError(
            "alpha is beyond the theorem's largest order",
            kind="mechanism",
            remedy="choose a smaller one or a larger least",
        )
    second = n if corrected else n + 1
    if not corrected:
        largest = min(largest, miura_largest_order(n + 1, columns, least))

    def at(t: float) -> float:
        p = 1 + math.exp(t)
        first = miura_addremove(p * alpha, n=n, columns=columns, least=least)
        other = miura_addremove((p * alpha - 1) / (p - 1), n=second, columns=columns, least=least)
        return (alpha - 1 / p) / (alpha - 1) * first + other

    low, high = math.log((alpha - 1) / (largest - alpha)), math.log((largest - alpha) / alpha)
    if low >= high:
        raise PrivacyError(
            "alpha is too close to the theorem's largest order for a split",
            kind="mechanism",
            remedy="choose a smaller one",
        )
    # Every p gives a valid bound; the scan only starts the minimiser in the right valley.
    points = np.linspace(low, high, 403)[1:-1]
    index = int(np.argmin([at(float(t)) for t in points]))
    around = (float(points[max(index - 1, 0)]), float(points[min(index + 1, points.size - 1)]))
    found = scipy.optimize.minimize_scalar(at, bounds=around, method="bounded", options={"xatol": 1e-12})
    return float(found.fun)
