"""Exact divergences between two normal laws: entries C1, C2, C5 and C6.

They compare one given pair of neighbours. A guarantee needs the worst pair: see ``gaussian_floored``.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.gdp import gdp_delta
from pysynthdp.privacy.domain import checked_orders, count, nonnegative, positive, real, upward, whole

__all__ = ["normal_delta", "normal_renyi", "student_epsilon", "variance_loss"]


def normal_renyi(
    mean: float,
    variance: float,
    other_mean: float,
    other_variance: float,
    *,
    orders: FloatArray | float,
    n_draws: int = 1,
) -> FloatArray:
    """Compute the Renyi divergence of ``n_draws`` records of one normal law from another.

    Parameters
    ----------
    mean, variance : float
        Of the first law.
    other_mean, other_variance : float
        Of the second law.
    orders : array (k,) or float
        Orders above one.
    n_draws : int
        Number of independent records.

    Returns
    -------
    array (k,)
        Divergence; ``inf`` from order 1/(1 - v'/v) on where the second variance is smaller.

    Raises
    ------
    PrivacyError
        Outside the domain; variances are positive.

    Notes
    -----
    Privacy: arithmetic on two laws; a function of the data unless both are public. C1: with v_a = a v' +
    (1-a) v, D = a (m-m')^2/(2 v_a) + ln(v'/v)/2 + ln(v'/v_a)/(2(a-1)) (Gil, Alajaji and Linder 2013; Miura
    Prop. 4.1). As some neighbour always has the smaller variance, a plug-in with estimated variance is never
    zCDP.

    Examples
    --------
    >>> round(float(normal_renyi(0, 1.0, 0.3, 1.2, orders=2.5)), 6)
    0.09178
    """
    v, w = positive("variance", variance), positive("other_variance", other_variance)
    shift = real("mean", mean) - real("other_mean", other_mean)
    grid = checked_orders(orders)
    mixed = w + (1 - grid) * (v - w)
    safe = np.where(mixed > 0, mixed, w)
    # ln(v'/v_a) by log1p of the relative change: v' and v_a are close for neighbours
    log_ratio = np.log1p((grid - 1) * (v - w) / safe)
    values = grid * shift**2 / (2 * safe) + math.log1p((w - v) / v) / 2 + log_ratio / (2 * (grid - 1))
    return np.where(mixed > 0, count("n_draws", n_draws) * np.maximum(values, 0.0), np.inf)


def normal_delta(
    mean: float,
    variance: float,
    other_mean: float,
    other_variance: float,
    *,
    epsilon: float,
    n_draws: int = 1,
) -> float:
    """Compute the exact delta at epsilon of ``n_draws`` records of one normal law against another.

    Parameters
    ----------
    mean, variance : float
        Of the first law.
    other_mean, other_variance : float
        Of the second law.
    epsilon : float
        At least zero.
    n_draws : int
        Number of independent records.

    Returns
    -------
    float
        Hockey-stick divergence of the first from the second.

    Raises
    ------
    PrivacyError
        Outside the domain; variances are positive.

    Notes
    -----
    Privacy: arithmetic on two laws; a function of the data unless both are public. C2: the loss is a
    noncentral chi-square times a, plus a constant, under either law.

    Examples
    --------
    >>> round(normal_delta(0.1, 1.2, 0, 1.0, epsilon=0.5, n_draws=20), 6)
    0.143683
    """
    v, w = positive("variance", variance), positive("other_variance", other_variance)
    shift = real("mean", mean) - real("other_mean", other_mean)
    epsilon, records = nonnegative("epsilon", epsilon), count("n_draws", n_draws)
    if v == w:
        return gdp_delta(abs(shift) * math.sqrt(records / v), epsilon) if shift else 0.0
    half_log = math.log1p((w - v) / v) / 2
    first = _loss_tail(
        (v / w - 1) / 2, math.sqrt(v) * shift / w, shift**2 / (2 * w) + half_log, epsilon, records
    )
    second = _loss_tail(
        (1 - w / v) / 2, math.sqrt(w) * shift / v, -(shift**2) / (2 * v) + half_log, epsilon, records
    )
    delta = first - math.exp(epsilon) * second
    return min(1.0, max(0.0, delta) + 2.0**-48 * first)


def _loss_tail(a: float, b: float, constant: float, epsilon: float, records: int) -> float:
    """Probability that the summed loss exceeds epsilon: a (z + b/2a)^2 + constant - b^2/4a, a record."""
    at = (epsilon - records * (constant - b * b / (4 * a))) / a
    tail = scipy.stats.ncx2.sf if a > 0 else scipy.stats.ncx2.cdf
    return float(tail(at, records, records * (b / (2 * a)) ** 2))


def variance_loss(n_draws: int, variance: float, other_variance: float, *, value: float) -> float:
    """Compute the privacy loss of a sample variance of normal records alone, at one outcome.

    Parameters
    ----------
    n_draws : int
        Records behind the sample variance, at least two.
    variance, other_variance : float
        Variances under the two neighbours.
    value : float
        Outcome: the sample variance seen, above zero.

    Returns
    -------
    float
        Log-likelihood ratio of the first law to the second.

    Raises
    ------
    PrivacyError
        Outside the domain; variances are positive.

    Notes
    -----
    Privacy: arithmetic on two laws. C5: k ln(v'/v) - k x (1/v - 1/v'), k = (N-1)/2. Errata: Neunhoeffer et
    al. 4.3 print 2 s^2 + D for 2 (s^2 + D), which halves epsilon, and a wrong sign in the minus case; they
    also set sigma^2 := s^2 in the loss of the mean. Use :func:`normal_renyi` or :func:`normal_delta` for both
    parts.

    Examples
    --------
    >>> round(variance_loss(50, 1.0, 1.1, value=0.6), 6)
    0.998736
    """
    v, w = positive("variance", variance), positive("other_variance", other_variance)
    half = (whole("n_draws", n_draws, 2) - 1) / 2
    return half * (math.log(w / v) - positive("value", value) * (1 / v - 1 / w))


def student_epsilon(
    n: int, scatter: float, mean: float, *, other_scatter: float, other_mean: float, n_syn: int
) -> float:
    """Compute epsilon between two neighbours of a copy whose mean and variance come from their posterior.

    Parameters
    ----------
    n : int
        Number of records, at least two.
    scatter, mean : float
        Sum of squares about the mean, and mean, of the first table.
    other_scatter, other_mean : float
        The same of its neighbour.
    n_syn : int
        Records in the copy.

    Returns
    -------
    float
        Largest modulus of the log-likelihood ratio; m copies cost m times it.

    Raises
    ------
    PrivacyError
        Outside the domain; scatters are positive.

    Notes
    -----
    Privacy: a function of the data under the flat prior, so not publishable. C6: the copy has a multivariate
    t density, whose ratio is bounded: with b = S + S' + h (m-m')^2, h = n n_syn/(n + n_syn), and L+- the
    roots of S L^2 - b L + S' = 0, epsilon is the larger of (nu/2) ln(S/S') + ((nu+n_syn)/2) ln L+ and its
    mirror.

    Examples
    --------
    >>> round(student_epsilon(20, 18, 0.0, other_scatter=20, other_mean=0.1, n_syn=10), 6)
    1.386702
    """
    s, t = positive("scatter", scatter), positive("other_scatter", other_scatter)
    records, size = count("n_syn", n_syn), whole("n", n, 2)
    freedom, weight = size - 1, size * records / (size + records)
    b = s + t + weight * (real("mean", mean) - real("other_mean", other_mean)) ** 2
    root = math.sqrt((b - 2 * math.sqrt(s * t)) * (b + 2 * math.sqrt(s * t)))
    top, bottom = (b + root) / (2 * s), 2 * t / (b + root)
    tail = (freedom + records) / 2
    up = freedom / 2 * math.log(s / t) + tail * math.log(top)
    down = freedom / 2 * math.log(t / s) - tail * math.log(bottom)
    if not math.isfinite(max(up, down)):
        raise PrivacyError(
            "scatter and other_scatter are too far apart to be neighbours' values", kind="mechanism"
        )
    return upward(max(up, down))
