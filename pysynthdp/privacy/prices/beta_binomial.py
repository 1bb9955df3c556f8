"""Binary column, one parameter a copy from its Beta posterior, or the parameter itself: F4 to F6."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, betaincc

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.domain import count, nonnegative, positive
from pysynthdp.privacy.prices.beta_curves import beta_renyi
from pysynthdp.privacy.prices.log_gamma import log_beta_binomial
from pysynthdp.privacy.prices.scan import FINITE, certified_maximum

__all__ = [
    "beta_binomial_delta",
    "beta_delta",
    "one_parameter_delta",
    "parameter_delta",
]

_BLOCK = 4096
_ROUNDING = 2.0**-46


def beta_binomial_delta(n_draws: int, a: float, b: float, *, epsilon: float) -> float:
    """Compute the exact delta of BetaBin(m; a + 1, b) against BetaBin(m; a, b + 1).

    Parameters
    ----------
    n_draws : int
        Draws m from one parameter.
    a, b : float
        Posterior weights without the record that differs, above zero.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        Hockey-stick divergence; the reverse order is the same with a and b exchanged.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: arithmetic on two laws. F4: a sum of positive terms Q(k) [(b/a)(a+k)/(b+m-k) - e^eps] over k >
    k*; what is left out at the far end is bounded and added.

    Examples
    --------
    >>> round(beta_binomial_delta(30, 3, 9, epsilon=0.5), 6)
    0.064797
    """
    m, a, b = count("n_draws", n_draws), positive("a", a), positive("b", b)
    weight = math.exp(nonnegative("epsilon", epsilon))
    start = max(0, math.floor(a * (b * math.expm1(epsilon) + weight * m) / (b + weight * a)) + 1)
    total = 0.0
    while start <= m:
        k = np.arange(start, min(m, start + _BLOCK - 1) + 1, dtype=np.float64)
        ratio = (b / a) * (a + k) / (b + m - k)
        first = np.exp(log_beta_binomial(k, m, a, b + 1)) * ratio
        total += float(np.sum(np.maximum(first * (1 - weight / ratio), 0.0)))
        start += _BLOCK
        last = float(first[-1])
        if last < 1e-18 * total and (m - start) * last <= 1e-16 * total and first[-1] <= first[0]:
            total += max(0, m - start) * last  # past its mode the first law falls
            break
    return min(1.0, total * (1 + _ROUNDING))


def _worst_pair(m: int, size: int, ones: FloatArray, alpha: float, beta: float, epsilon: float) -> FloatArray:
    """Larger of both orders of F4 at each number of ones."""
    found = [
        max(beta_binomial_delta(m, x, y, epsilon=epsilon), beta_binomial_delta(m, y, x, epsilon=epsilon))
        for x, y in zip(ones - 1 + alpha, size - ones + beta, strict=True)
    ]
    return np.asarray(found)


def one_parameter_delta(n: int, n_draws: int, alpha: float, beta: float, *, epsilon: float) -> float:
    """Compute delta at epsilon of one copy with one parameter from its posterior, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    n_draws : int
        Records of the copy.
    alpha, beta : float
        Prior weights of ones and zeros, above zero.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        The maximum over the number of ones and both orders; if 2,048 numbers of ones from each end leave it
        open, a proved upper bound, never above :func:`parameter_delta`.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. F5. Several copies, each with its own
    parameter, compose by their Renyi curves (F8).

    Examples
    --------
    >>> round(one_parameter_delta(50, 60, 1, 1, epsilon=0.5), 6)
    0.118473
    """
    size, m, epsilon = count("n", n), count("n_draws", n_draws), nonnegative("epsilon", epsilon)
    alpha, beta = positive("alpha", alpha), positive("beta", beta)
    if epsilon >= math.log1p(m / min(alpha, beta)):
        return 0.0
    return min(
        certified_maximum(
            size,
            exact=lambda ones: _worst_pair(m, size, ones, alpha, beta, epsilon),
            curve=lambda ones: _beta_curve(ones - 1 + alpha, size - ones + beta),
            epsilon=epsilon,
            first=8,
            most=2**11,
        ),
        parameter_delta(size, alpha, beta, epsilon=epsilon),
    )


def beta_delta(a: float, b: float, *, epsilon: float) -> float:
    """Compute the exact delta of Beta(a + 1, b) against Beta(a, b + 1).

    Parameters
    ----------
    a, b : float
        Posterior weights without the record that differs, above zero.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        Hockey-stick divergence.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: arithmetic on two laws. F6: t = e^eps a/(b + e^eps a), P(Beta(a+1, b) > t) - e^eps P(Beta(a, b+1)
    > t). It is the limit of F4 in the number of draws, which proves Zheng's Hypothesis 5.5 with c = 1.

    Examples
    --------
    >>> round(beta_delta(3, 9, epsilon=0.5), 6)
    0.09735
    """
    a, b, epsilon = positive("a", a), positive("b", b), nonnegative("epsilon", epsilon)
    return float(_beta_delta(np.asarray(a), np.asarray(b), epsilon))


def _beta_delta(a: FloatArray, b: FloatArray, epsilon: float) -> FloatArray:
    """F6 elementwise, the upper tails written so that small ones keep their digits."""
    weight = math.exp(epsilon)
    upper = weight * a / (b + weight * a)
    lower = b / (b + weight * a)
    small = upper <= 0.5
    first = np.where(small, betaincc(a + 1, b, upper), betainc(b, a + 1, lower))
    second = np.where(small, betaincc(a, b + 1, upper), betainc(b + 1, a, lower))
    return np.asarray(np.maximum(first - weight * second, 0.0) + 2.0**-48 * first)


def parameter_delta(n: int, alpha: float, beta: float, *, epsilon: float) -> float:
    """Compute delta at epsilon of releasing the posterior's parameter, over all tables.

    Parameters
    ----------
    n : int
        Public number of records.
    alpha, beta : float
        Prior weights of ones and zeros, above zero.
    epsilon : float
        At least zero.

    Returns
    -------
    float
        The smallest bound valid for any number of draws from one parameter.

    Raises
    ------
    PrivacyError
        Outside the domain; weights are positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. F6, maximised over the number of ones and both
    orders. Replaces the unnamed constants of Zheng 6.4, 6.7 and 6.15.

    Examples
    --------
    >>> round(parameter_delta(50, 1, 1, epsilon=0.5), 6)
    0.253513
    """
    size, epsilon = count("n", n), nonnegative("epsilon", epsilon)
    alpha, beta = positive("alpha", alpha), positive("beta", beta)

    def exact(ones: FloatArray) -> FloatArray:
        x, y = ones - 1 + alpha, size - ones + beta
        return np.maximum(_beta_delta(x, y, epsilon), _beta_delta(y, x, epsilon))

    found = certified_maximum(
        size,
        exact=exact,
        curve=lambda ones: _beta_curve(ones - 1 + alpha, size - ones + beta),
        epsilon=epsilon,
        first=64,
        most=2**15,
    )
    return min(1.0, found)


def _beta_curve(a: float, b: float) -> FloatArray:
    """Larger of both orders of F8 on the finite grid orders."""
    return np.maximum(beta_renyi(a, b, orders=FINITE), beta_renyi(b, a, orders=FINITE))
