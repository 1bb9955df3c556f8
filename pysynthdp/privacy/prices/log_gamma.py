"""Ratios of gamma functions without the cancellation of large logarithms."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from pysynthdp.base.arrays import FloatArray

__all__ = ["log_beta_binomial", "log_binomial", "log_rising"]

_LARGE = 30.0


def _stirling_rest(x: FloatArray) -> FloatArray:
    """Remainder of Stirling's series for x >= 30, to 1e-17."""
    inverse = 1 / (x * x)
    return (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x


def log_rising(x: FloatArray | float, by: FloatArray | float) -> FloatArray:
    """Compute log Gamma(x + by) - log Gamma(x), accurate to about ``by * log(x)`` units of rounding.

    Parameters
    ----------
    x : array or float
        Above zero.
    by : array or float
        At least zero.

    Returns
    -------
    array

    Notes
    -----
    Privacy: arithmetic. Stirling's series written in log1p(by/x) where x is large.

    Examples
    --------
    >>> round(float(np.exp(log_rising(1e9, 2.0)) / 1e18 - 1), 12)
    1e-09
    """
    start, step = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(by, dtype=np.float64))
    large = np.maximum(start, _LARGE)
    end = large + step
    series = (large - 0.5) * np.log1p(step / large) + step * np.log(end) - step
    series = series + _stirling_rest(end) - _stirling_rest(large)
    return np.asarray(np.where(start >= _LARGE, series, gammaln(start + step) - gammaln(start)))


def log_binomial(k: FloatArray, m: float, p: float) -> FloatArray:
    """Log of the binomial probability of k out of m; accurate where k is small beside m.

    Parameters
    ----------
    k : array
        Counts.
    m : float
        Trials.
    p : float
        Probability of success, between zero and one.

    Returns
    -------
    array

    Notes
    -----
    Privacy: arithmetic.

    Examples
    --------
    >>> round(float(np.exp(log_binomial(np.array([1.0]), 2, 0.5))[0]), 12)
    0.5
    """
    chosen = log_rising(m - k + 1, k) - gammaln(k + 1)
    return np.asarray(chosen + k * np.log(p) + (m - k) * np.log1p(-p))


def log_beta_binomial(k: FloatArray, m: float, a: float, b: float) -> FloatArray:
    """Log of the beta-binomial probability of k out of m; accurate where the smaller of a and b is small.

    Parameters
    ----------
    k : array
        Counts.
    m : float
        Trials.
    a, b : float
        Parameters of the beta law, above zero.

    Returns
    -------
    array

    Notes
    -----
    Privacy: arithmetic. C(m, k) (a)_k (b)_(m-k)/(a+b)_m with the large factors divided first.

    Examples
    --------
    >>> round(float(np.exp(log_beta_binomial(np.array([3.0]), 9, 1.0, 1.0))[0]), 12)
    0.1
    """
    if a > b:
        return log_beta_binomial(m - k, m, b, a)
    chosen = log_rising(m - k + 1, k) - gammaln(k + 1)
    return np.asarray(chosen + log_rising(a, k) + log_rising(b, a) - log_rising(b + m - k, a + k))
