"""Categorical column of three or more public cells with a Dirichlet prior: entries G2 to G4.

G1, pure epsilon, is ``cells_epsilon`` with the smallest weight. The list of cells is public; neighbours move
one record from a cell to another. The worst pair of tables puts that record into the two cells of smallest
weight, both otherwise empty: any other pair is a garbling of it, so it is worst for every divergence and
every number of draws. For two cells the values are upper bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.conversion.rdp import rdp_delta
from pysynthdp.privacy.domain import checked_orders, count, nonnegative, positive
from pysynthdp.privacy.prices.beta_binomial import beta_binomial_delta, beta_delta
from pysynthdp.privacy.prices.beta_curves import beta_renyi
from pysynthdp.privacy.prices.log_gamma import log_beta_binomial, log_binomial

__all__ = [
    "CellWeights",
    "categorical_delta",
    "categorical_one_delta",
    "categorical_one_renyi",
    "categorical_renyi",
]

_ROUNDING = 2.0**-44
_MOST = 4000
_TAIL = 1e-30


@dataclass(frozen=True, slots=True)
class CellWeights:
    """Public prior weights of the cells, as far as privacy depends on them.

    Parameters
    ----------
    first, second : float
        The two smallest weights, above zero; for the posterior mode, the prior less one.
    total : float
        Sum over all cells, at least ``first + second``.

    Raises
    ------
    PrivacyError
        For a weight of zero (no guarantee: raise the prior) or a total below the two.

    Notes
    -----
    Privacy: public constants.

    Examples
    --------
    >>> CellWeights.of([5.0, 1.0, 2.0])
    CellWeights(first=1.0, second=2.0, total=8.0)
    """

    first: float
    second: float
    total: float

    def __post_init__(self) -> None:
        two = positive("first", self.first) + positive("second", self.second)
        if positive("total", self.total) < two * (1 - 1e-12):
            raise PrivacyError("total must be at least the sum of the two smallest weights", kind="mechanism")

    @classmethod
    def of(cls, weights: list[float] | tuple[float, ...]) -> CellWeights:
        """Take the two smallest of all weights and their sum."""
        if len(weights) < 2:
            raise PrivacyError("a categorical column needs at least two public cells", kind="mechanism")
        first, second, *_ = sorted(weights)
        return cls(first, second, math.fsum(weights))


def _binomial_delta(m: int, p: float, q: float, epsilon: float) -> float:
    """F2 for p > q and few trials, as a sum of positive terms."""
    k = np.arange(m + 1, dtype=np.float64)
    ratio = k * math.log1p((p - q) / q) + (m - k) * math.log1p(-(p - q) / (1 - q))
    gain = np.maximum(-np.expm1(np.minimum(epsilon - ratio, 0.0)), 0.0)
    return float(np.sum(np.exp(log_binomial(k, m, p)) * gain))


def categorical_delta(n: int, n_draws: int, weights: CellWeights, *, epsilon: float) -> float:
    """Compute delta at epsilon of independent draws of a categorical column, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    n_draws : int
        Draws over all copies.
    weights : CellWeights
        Pseudo-counts: prior less one for the posterior mode, the prior for a parameter a record.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        Exact for three or more cells; an upper bound for two, or where thousands of draws fall in two cells.

    Raises
    ------
    PrivacyError
        Outside the domain; raise the prior.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. G2: the sum over M ~ Bin(m, s), s = (a_i + a_j
    + 1)/T, of F2 with M trials. Replaces Zheng 6.14, 6.16, 6.21 and 6.22.

    Examples
    --------
    >>> round(categorical_delta(50, 60, CellWeights(1, 1, 3), epsilon=0.5), 6)
    0.33507
    """
    size, m, epsilon = count("n", n), count("n_draws", n_draws), nonnegative("epsilon", epsilon)
    share = (weights.first + weights.second + 1) / (size + weights.total)
    most = min(m, math.ceil(m * share + 40 * math.sqrt(m * share + 1) + 200))
    if most > _MOST:
        return rdp_delta(ORDERS, categorical_renyi(size, m, weights, orders=ORDERS), epsilon)
    hits = np.arange(most + 1, dtype=np.float64)
    mass = np.exp(log_binomial(hits, m, share)) if share < 1 else np.where(hits == m, 1.0, 0.0)
    tail = float(betainc(most + 1, m - most, share)) if most < m else 0.0
    total = weights.first + weights.second + 1
    worst = max(
        math.fsum(
            w * _binomial_delta(int(k), (x + 1) / total, x / total, epsilon) for k, w in _used(hits, mass)
        )
        for x in (weights.first, weights.second)
    )
    return min(1.0, (worst + tail) * (1 + _ROUNDING) + _unused(mass))


def _used(hits: FloatArray, mass: FloatArray) -> list[tuple[float, float]]:
    """Pairs (number of draws in the two cells, its probability) that matter."""
    keep = mass > _TAIL
    return list(zip(hits[keep].tolist(), mass[keep].tolist(), strict=True))


def _unused(mass: FloatArray) -> float:
    """Probability of the pairs that were left out, which delta may not lose."""
    return float(np.sum(mass[mass <= _TAIL]))


def categorical_one_delta(n: int, n_draws: int, weights: CellWeights, *, epsilon: float) -> float:
    """Compute delta at epsilon of one copy with one parameter from its Dirichlet posterior, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    n_draws : int
        Records of the copy.
    weights : CellWeights
        Prior weights.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        Exact for three or more cells; an upper bound for two, or where thousands of draws fall in two cells.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. G3: the sum over M ~ BetaBin(m; a_i + a_j + 1,
    n - 1 + total - a_i - a_j) of F4 with M draws; M beyond the window counts in full or by F6, the limit in
    M.

    Examples
    --------
    >>> round(categorical_one_delta(50, 60, CellWeights(1, 1, 3), epsilon=0.5), 6)
    0.214596
    """
    size, m, epsilon = count("n", n), count("n_draws", n_draws), nonnegative("epsilon", epsilon)
    pairs = ((weights.first, weights.second), (weights.second, weights.first))
    limit = max(beta_delta(x, y, epsilon=epsilon) for x, y in pairs)
    here, rest = weights.first + weights.second + 1, size - 1 + weights.total - weights.first - weights.second
    if rest <= 0:
        return max(beta_binomial_delta(m, x, y, epsilon=epsilon) for x, y in pairs)
    most = min(m, math.ceil(60 * (m * here / (here + rest) + 5) + 400), _MOST)
    hits = np.arange(most + 1, dtype=np.float64)
    mass = np.exp(log_beta_binomial(hits, m, here, rest))
    beyond = 0.0 if most == m else max(0.0, 1 - math.fsum(mass)) if mass[-1] > 1e-20 else m * float(mass[-1])
    used = [(k, w) for k, w in _used(hits, mass) if k > 0]
    worst = max(
        math.fsum(w * beta_binomial_delta(int(k), x, y, epsilon=epsilon) for k, w in used) for x, y in pairs
    )
    return min(limit, (worst + (beyond + _unused(mass)) * limit) * (1 + _ROUNDING))


def categorical_renyi(
    n: int, n_draws: int, weights: CellWeights, *, orders: FloatArray | float
) -> FloatArray:
    """Compute the Renyi curve of independent draws of a categorical column, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    n_draws : int
        Draws over all copies.
    weights : CellWeights
        Pseudo-counts; see :func:`categorical_delta`.
    orders : array (k,) or float
        Orders above one; at ``inf`` it is pure epsilon.

    Returns
    -------
    array (k,)

    Raises
    ------
    PrivacyError
        Outside the domain; raise the prior.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. G4: with h = 1/T, p = a_i/T, q = a_j/T, m ln(1
    - p - q - h + (p+h)^a p^(1-a) + q^a (q+h)^(1-a))/(a-1), in both orders.

    Examples
    --------
    >>> round(float(categorical_renyi(1000, 500, CellWeights(1, 2, 10), orders=2.0)), 6)
    0.659631
    """
    total, m, grid = count("n", n) + weights.total, count("n_draws", n_draws), checked_orders(orders)
    pairs = ((weights.first, weights.second), (weights.second, weights.first))
    found = [_moved_renyi(x, y, total, grid) for x, y in pairs]
    return np.asarray(m * np.max(found, axis=0) * (1 + 2.0**-50))


def _moved_renyi(x: float, y: float, total: float, orders: FloatArray) -> FloatArray:
    """One draw of G4 in one order: weights x + 1, y against x, y + 1."""
    known = np.isfinite(orders)
    a = np.where(known, orders, 2.0)
    rise, fall = a * math.log1p(1 / x), a * math.log1p(-1 / (y + 1))
    p, q = x / total, (y + 1) / total
    small = np.log1p(p * np.expm1(np.minimum(rise, 1.0)) + q * np.expm1(fall))
    rest = max(0.0, 1 - p - q)
    large = rise + np.log(p + np.exp(-rise) * (rest + q * np.exp(fall)))
    values = np.where(rise < 1, small, large) / (a - 1)
    return np.asarray(np.where(known, np.maximum(values, 0.0), math.log1p(1 / x)))


def categorical_one_renyi(weights: CellWeights, *, orders: FloatArray | float) -> FloatArray:
    """Compute the Renyi curve of one copy with one Dirichlet parameter, for any number of its records.

    Parameters
    ----------
    weights : CellWeights
        Prior weights.
    orders : array (k,) or float
        Orders above one.

    Returns
    -------
    array (k,)
        ``inf`` from order 1 + the second smallest weight on, or earlier; m copies cost m times it.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. G3's worst pair with F8: the ratio of two
    Dirichlet coordinates is independent of their sum, so the divergence is that of Beta(a_i + 1, a_j) from
    Beta(a_i, a_j + 1).

    Examples
    --------
    >>> round(float(categorical_one_renyi(CellWeights(20, 20, 200), orders=2.0)), 4)
    0.1001
    """
    grid = checked_orders(orders)
    pairs = ((weights.first, weights.second), (weights.second, weights.first))
    return np.asarray(np.max([beta_renyi(x, y, orders=grid) for x, y in pairs], axis=0) * (1 + _ROUNDING))
