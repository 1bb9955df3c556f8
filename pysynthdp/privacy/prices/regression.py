"""Regression columns by sampling alone: entries H2 and H3.

Predictors are clipped to a public norm, synthetic ones too. Without a public penalty nothing is bounded: one
informative row moves a least-squares or logistic fit without limit.
"""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.domain import count, positive, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP

__all__ = [
    "logistic_ridge_curve",
    "logistic_ridge_draws",
    "logistic_ridge_pure",
    "ridge_draws",
    "ridge_shift",
]


def ridge_shift(n: int, *, row_norm: float, response: float, ridge: float) -> float:
    """Bound how far one record moves a ridge regression's prediction at any clipped row.

    Parameters
    ----------
    n : int
        Public number of records.
    row_norm : float
        L: every row of predictors, real or synthetic, is clipped to this Euclidean norm.
    response : float
        B: responses lie in [-B, B].
    ridge : float
        Public total penalty Lambda: beta = (X'X + Lambda I)^-1 X'y.

    Returns
    -------
    float
        2 B max over t in [0, 1] of kappa sqrt(t) (1 + sqrt((n-1) kappa t (1-t)))/(1 + kappa t), kappa =
        L^2/Lambda.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. H2: rank-one update, once out and once in. The
    maximum is at t = 1 or a root of (1-t)(1-kt)^2 = (n-1) k t (2 - 3t - k t^2)^2, a quintic, k = kappa.

    Examples
    --------
    >>> round(ridge_shift(20, row_norm=1, response=1, ridge=4), 6)
    0.711663
    """
    kappa = positive("row_norm", row_norm) ** 2 / positive("ridge", ridge)
    spread = (count("n", n) - 1) * kappa
    left = np.polymul([-1.0, 1.0], np.polymul([-kappa, 1.0], [-kappa, 1.0]))
    inner = np.array([-kappa, -3.0, 2.0])
    right = np.polymul([spread, 0.0], np.polymul(inner, inner))
    roots = np.roots(np.polysub(right, left)).real
    t = np.concatenate([[1.0], roots[(roots > 0) & (roots < 1)]])
    moved = kappa * np.sqrt(t) * (1 + np.sqrt(spread * t * (1 - t))) / (1 + kappa * t)
    return upward(upward(2 * positive("response", response) * float(moved.max())))


def ridge_draws(
    n: int, *, row_norm: float, response: float, ridge: float, sigma: float, n_syn: int, copies: int = 1
) -> GDP:
    """Price records of a ridge-regression column with public residual scale.

    Parameters
    ----------
    n : int
        Public number of records.
    row_norm, response, ridge : float
        As for :func:`ridge_shift`.
    sigma : float
        Public residual standard deviation.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    GDP
        With rho = N shift^2/(2 sigma^2).

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable, and large unless Lambda/n is comparable to the
    predictors' variance. H2; for least squares (Lambda = 0) nothing is bounded, clipped predictions cost N
    (2B)^2/(2 sigma^2) at any n.

    Examples
    --------
    >>> round(ridge_draws(10_000, row_norm=3, response=3, ridge=10_000, sigma=1, n_syn=10_000).rho, 6)
    0.577994
    """
    shift = ridge_shift(n, row_norm=row_norm, response=response, ridge=ridge)
    records = count("n_syn", n_syn) * count("copies", copies)
    return GDP(upward(shift * math.sqrt(records) / positive("sigma", sigma)))


def _logit_shift(row_norm: float, ridge: float) -> float:
    """Largest change of a clipped row's logit: 2 L^2/Lambda (strong convexity)."""
    return 2 * positive("row_norm", row_norm) ** 2 / positive("ridge", ridge)


def logistic_ridge_draws(*, row_norm: float, ridge: float, n_syn: int, copies: int = 1) -> ZCDP:
    """Price records of a ridge-logistic column, as zCDP.

    Parameters
    ----------
    row_norm : float
        L: every row of predictors, real or synthetic, is clipped to this Euclidean norm.
    ridge : float
        Public total penalty Lambda: ``(Lambda/2) |beta|^2`` is added to the negative log-likelihood.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    ZCDP
        rho = N (2 L^2/Lambda)^2/8.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. H3: ``|beta - beta'| <= 2L/Lambda``
    (gradient at most L; Chaudhuri, Monteleoni and Sarwate 2011), and Bernoulli draws with logits s apart have
    divergence at most a s^2/8. It assumes the exact optimum: an early stop must be charged or bounded.

    Examples
    --------
    >>> round(logistic_ridge_draws(row_norm=1, ridge=100, n_syn=1000).rho, 12)
    0.05
    """
    records = count("n_syn", n_syn) * count("copies", copies)
    return ZCDP(upward(records * _logit_shift(row_norm, ridge) ** 2 / 8))


def logistic_ridge_pure(*, row_norm: float, ridge: float, n_syn: int, copies: int = 1) -> PureDP:
    """Price records of a ridge-logistic column, as pure epsilon.

    Parameters
    ----------
    row_norm, ridge : float
        As for :func:`logistic_ridge_draws`.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    PureDP
        epsilon = N 2 L^2/Lambda.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. H3.

    Examples
    --------
    >>> round(logistic_ridge_pure(row_norm=1, ridge=100, n_syn=10).eps, 12)
    0.2
    """
    records = count("n_syn", n_syn) * count("copies", copies)
    return PureDP(upward(records * _logit_shift(row_norm, ridge)))


def logistic_ridge_curve(*, row_norm: float, ridge: float, n_syn: int, copies: int = 1) -> RDP:
    """Price records of a ridge-logistic column by both of its bounds at once.

    Parameters
    ----------
    row_norm, ridge : float
        As for :func:`logistic_ridge_draws`.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    RDP
        The smaller of a rho and pure epsilon's curve at each order.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. H3 with A5.

    Examples
    --------
    >>> round(logistic_ridge_curve(row_norm=1, ridge=100, n_syn=10).taus[-1], 12)
    0.2
    """
    concentrated = logistic_ridge_draws(row_norm=row_norm, ridge=ridge, n_syn=n_syn, copies=copies)
    pure = logistic_ridge_pure(row_norm=row_norm, ridge=ridge, n_syn=n_syn, copies=copies)
    return RDP.from_curve(np.minimum(concentrated.renyi(ORDERS), pure.renyi(ORDERS)))
