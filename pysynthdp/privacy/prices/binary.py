"""Binary column with a Beta prior: entries F2, F3 and F9.

n and the prior are public; neighbours replace one record, which moves the number of ones by one. A table that
loses a one has at least one, where Zheng's proofs start at zero: that shifts every threshold by one.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincc

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, nonnegative, positive, probability, upward
from pysynthdp.privacy.prices.binary_curves import bernoulli_renyi
from pysynthdp.privacy.prices.scan import FINITE, certified_maximum

__all__ = [
    "binary_delta",
    "binomial_delta",
    "theta_laplace_scale",
]

_ROUNDING = 2.0**-48


def binomial_delta(n_draws: int, p: float, q: float, *, epsilon: float) -> float:
    """Compute the exact delta of one binomial law against another.

    Parameters
    ----------
    n_draws : int
        Trials.
    p, q : float
        Probabilities of the first and the second law, between zero and one.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        Hockey-stick divergence.

    Raises
    ------
    PrivacyError
        Outside the domain; probabilities lie strictly between zero and one.

    Notes
    -----
    Privacy: arithmetic on two laws. F2: P(Bin(m, p) > k) - e^eps P(Bin(m, q) > k) at the largest k whose
    likelihood ratio does not exceed e^eps.

    Examples
    --------
    >>> round(binomial_delta(100, 0.02, 0.01, epsilon=1.0), 6)
    0.107556
    """
    m, epsilon = count("n_draws", n_draws), nonnegative("epsilon", epsilon)
    p, q = probability("p", p), probability("q", q)
    if p == q:
        return 0.0
    if p < q:
        return _lower_tail_delta(m, p, q, epsilon)
    rise, fall = math.log1p((p - q) / q), math.log1p((p - q) / (1 - p))
    k = math.floor((epsilon + m * fall) / (rise + fall))
    if k >= m:
        return 0.0
    first, second = betainc(k + 1, m - k, p), betainc(k + 1, m - k, q)
    return float(max(0.0, first - math.exp(epsilon) * second) + _ROUNDING * first)


def _lower_tail_delta(m: int, p: float, q: float, epsilon: float) -> float:
    """F2 with zeros and ones exchanged, in lower tails: the rarer outcome keeps its digits."""
    rise, fall = math.log1p((q - p) / (1 - q)), math.log1p((q - p) / p)
    k = math.floor((epsilon + m * fall) / (rise + fall))
    if k >= m:
        return 0.0
    first, second = betaincc(m - k, k + 1, p), betaincc(m - k, k + 1, q)
    return float(max(0.0, first - math.exp(epsilon) * second) + _ROUNDING * first)


def _more_ones(m: int, x: FloatArray, y: FloatArray, epsilon: float) -> FloatArray:
    """Delta of Bin(m, (x+1)/T) against Bin(m, x/T), T = x + y + 1, elementwise."""
    total, rise, fall = x + y + 1, np.log1p(1 / x), np.log1p(1 / y)
    k = np.floor((epsilon + m * fall) / (rise + fall))
    inside = np.where(k < m, k, 0.0)
    first, second = (
        betainc(inside + 1, m - inside, (x + 1) / total),
        betainc(inside + 1, m - inside, x / total),
    )
    value = np.maximum(first - math.exp(epsilon) * second, 0.0) + _ROUNDING * first
    return np.asarray(np.where(k < m, value, 0.0))


def _fewer_ones(m: int, x: FloatArray, y: FloatArray, epsilon: float) -> FloatArray:
    """Delta of Bin(m, x/T) against Bin(m, (x+1)/T), in lower tails of the ones."""
    total, rise, fall = x + y + 1, np.log1p(1 / y), np.log1p(1 / x)
    k = np.floor((epsilon + m * fall) / (rise + fall))
    ones = np.where(k < m, m - 1 - k, 0.0)
    first, second = betaincc(ones + 1, m - ones, x / total), betaincc(ones + 1, m - ones, (x + 1) / total)
    value = np.maximum(first - math.exp(epsilon) * second, 0.0) + _ROUNDING * first
    return np.asarray(np.where(k < m, value, 0.0))


def binary_delta(n: int, n_draws: int, weights: tuple[float, float], *, epsilon: float) -> float:
    """Compute delta at epsilon of independent draws of a binary column, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    n_draws : int
        Draws over all copies.
    weights : tuple (a, b)
        Pseudo-counts of ones and zeros, above zero: prior less one for the posterior mode, the prior for a
        parameter drawn anew for each record.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        The maximum over the number of ones and both orders, exact up to rounding; for very long tables, if a
        scan of 32,768 records from each end leaves it open, a proved upper bound.

    Raises
    ------
    PrivacyError
        Outside the domain; with a weight of zero delta is at least 1 - (1 - 1/n)^m: there is no guarantee, so
        raise the prior.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. F3. The worst number of ones is not always at
    an end; the middle is bounded by F7's curve. Replaces Zheng 6.14 and 6.16, which are asymptotic.

    Examples
    --------
    >>> round(binary_delta(50, 60, (1, 1), epsilon=0.5), 6)
    0.228005
    """
    size, m, epsilon = count("n", n), count("n_draws", n_draws), nonnegative("epsilon", epsilon)
    a, b = (positive("every weight", weight) for weight in weights)
    if epsilon >= m * math.log1p(1 / min(a, b)):
        return 0.0
    total = size + a + b

    def exact(ones: FloatArray) -> FloatArray:
        x, y = ones - 1 + a, size - ones + b
        return np.maximum(_more_ones(m, x, y, epsilon), _fewer_ones(m, x, y, epsilon))

    def curve(ones: float) -> FloatArray:
        p, q = (ones + a) / total, (ones - 1 + a) / total
        return m * np.maximum(bernoulli_renyi(p, q, orders=FINITE), bernoulli_renyi(q, p, orders=FINITE))

    return min(1.0, certified_maximum(size, exact=exact, curve=curve, epsilon=epsilon, first=64, most=2**15))


def theta_laplace_scale(
    n: int, alpha: float, beta: float, *, epsilon: float, estimate: Literal["map", "mean"] = "map"
) -> float:
    """Find the Laplace scale that makes a binary column's estimated probability epsilon-private.

    Parameters
    ----------
    n : int
        Public number of records.
    alpha, beta : float
        Prior weights, above zero.
    epsilon : float
        Above zero.
    estimate : {"map", "mean"}
        Posterior mode or mean.

    Returns
    -------
    float
        1/(eps (n + alpha + beta - 2)) or 1/(eps (n + alpha + beta)), rounded up.

    Raises
    ------
    PrivacyError
        Outside the domain; the mode needs n + alpha + beta > 2.

    Notes
    -----
    Privacy: post-processing of public constants. F9. Erratum: Zheng 6.2 writes the posterior mean for the
    mode, so the printed noise is too small for the mode.

    Examples
    --------
    >>> round(theta_laplace_scale(1000, 1, 1, epsilon=0.5), 12)
    0.002
    """
    total = count("n", n) + positive("alpha", alpha) + positive("beta", beta)
    if estimate not in ("map", "mean"):
        raise PrivacyError("estimate must be 'map' or 'mean'", kind="mechanism")
    total -= 2 if estimate == "map" else 0
    return upward(upward(1 / (positive("epsilon", epsilon) * positive("n + alpha + beta - 2", total))))
