"""The textbook mechanisms as arithmetic: Laplace, Gaussian and exponential."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.gdp import gdp_mu
from pysynthdp.privacy.domain import positive, upward

__all__ = ["exponential_probabilities", "gaussian_scale", "laplace_scale", "zcdp_gaussian_scale"]


def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """Find the scale of Laplace noise for pure epsilon.

    Parameters
    ----------
    sensitivity : float
        Largest sum of absolute changes between neighbours.
    epsilon : float
        Above zero.

    Returns
    -------
    float
        sensitivity/epsilon, rounded up.

    Raises
    ------
    PrivacyError
        Outside the domain; both are positive.

    Notes
    -----
    Privacy: post-processing of public constants. Zheng 2.13 (Dwork et al. 2006).

    Examples
    --------
    >>> round(laplace_scale(2.0, 0.5), 12)
    4.0
    """
    return upward(positive("sensitivity", sensitivity) / positive("epsilon", epsilon))


def zcdp_gaussian_scale(sensitivity: float, rho: float) -> float:
    """Find the standard deviation of Gaussian noise, continuous or discrete, for rho-zCDP.

    Parameters
    ----------
    sensitivity : float
        Largest Euclidean change between neighbours; whole grid steps for discrete noise.
    rho : float
        Above zero.

    Returns
    -------
    float
        sensitivity/sqrt(2 rho), rounded up.

    Raises
    ------
    PrivacyError
        Outside the domain; both are positive.

    Notes
    -----
    Privacy: post-processing of public constants. Bun and Steinke 2016, Prop. 1.6; Canonne, Kamath and Steinke
    2020 for discrete noise.

    Examples
    --------
    >>> round(zcdp_gaussian_scale(1.0, 0.5), 12)
    1.0
    """
    return upward(upward(positive("sensitivity", sensitivity) / math.sqrt(2 * positive("rho", rho))))


def gaussian_scale(sensitivity: float, *, epsilon: float, delta: float) -> float:
    """Find the smallest standard deviation of continuous Gaussian noise for (epsilon, delta).

    Parameters
    ----------
    sensitivity : float
        Largest Euclidean change between neighbours.
    epsilon : float
        At least zero.
    delta : float
        Between zero and one.

    Returns
    -------
    float
        sensitivity/mu at the largest mu allowed, rounded up.

    Raises
    ------
    PrivacyError
        Outside the domain; the sensitivity is positive.

    Notes
    -----
    Privacy: post-processing of public constants. A3 (Balle and Wang 2018); not for discrete noise.

    Examples
    --------
    >>> round(gaussian_scale(1.0, epsilon=1.0, delta=1e-6), 4)
    4.2247
    """
    return upward(positive("sensitivity", sensitivity) / gdp_mu(epsilon, delta))


def exponential_probabilities(scores: FloatArray, *, sensitivity: float, epsilon: float) -> FloatArray:
    """Compute the exponential mechanism's probabilities of the options.

    Parameters
    ----------
    scores : array (k,)
        Score of each option by the confidential data; larger is better.
    sensitivity : float
        Largest change of any score between neighbours.
    epsilon : float
        Pure epsilon of one choice, above zero.

    Returns
    -------
    array (k,)
        Proportional to exp(epsilon score/(2 sensitivity)).

    Raises
    ------
    PrivacyError
        Outside the domain; scores are finite, both constants positive.

    Notes
    -----
    Privacy: the probabilities depend on the data and stay confidential; one choice drawn from them is
    epsilon-private. Zheng 2.15 (McSherry and Talwar 2007).

    Examples
    --------
    >>> exponential_probabilities(np.array([0.0, 0.0]), sensitivity=1.0, epsilon=1.0)
    array([0.5, 0.5])
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not bool(np.all(np.isfinite(values))):
        raise PrivacyError(
            "scores must be a non-empty list of finite numbers, one for each public option", kind="mechanism"
        )
    logs = positive("epsilon", epsilon) * (values - values.max()) / (2 * positive("sensitivity", sensitivity))
    weights = np.exp(logs)
    return np.asarray(weights / weights.sum())
