"""One Gaussian column with public variance: entries B1 to B4 and B7.

Assumed throughout: values are clamped to a public range before any statistic; sigma and n are public;
neighbours replace one record. Whether the data are normal is irrelevant to privacy. All functions are
arithmetic on public constants: they read no record and spend no budget by themselves.
"""

from __future__ import annotations

import math

from pysynthdp.privacy.domain import bounds, count, positive, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.unit import Relation

__all__ = [
    "mean_laplace_scale",
    "mean_per_copy",
    "mean_per_record",
    "mean_release",
    "mean_sensitivity",
    "plug_in_mean",
]


def mean_sensitivity(n: int, lower: float, upper: float, *, relation: Relation = "replace_one") -> float:
    """Bound how far the mean of clamped values moves between neighbours.

    Parameters
    ----------
    n : int
        Public number of records; under add/remove a public lower bound on it.
    lower, upper : float
        Public range.
    relation : {"replace_one", "add_remove"}
        Neighbours.

    Returns
    -------
    float
        w/n, or w/(n + 1) under add/remove, w the width of the range.

    Raises
    ------
    PrivacyError
        For n below one or an empty or infinite range; declare public constants.

    Notes
    -----
    Privacy: post-processing of public constants. B0. Under add/remove n itself is confidential, so a
    bound that uses it is not publishable. Miura's footnote "twice the unbounded one" is true of sums only.

    Examples
    --------
    >>> mean_sensitivity(1000, -4, 4) > 0.008 - 1e-15
    True
    """
    size = count("n", n) + (1 if relation == "add_remove" else 0)
    return upward(bounds(lower, upper) / size)


def plug_in_mean(
    n: int,
    lower: float,
    upper: float,
    *,
    sigma: float,
    n_syn: int,
    copies: int = 1,
    relation: Relation = "replace_one",
) -> GDP:
    """Price records drawn from N(mean, sigma^2), the mean plugged in.

    Parameters
    ----------
    n : int
        Public number of records; under add/remove a public lower bound on it.
    lower, upper : float
        Public range of the column.
    sigma : float
        Public standard deviation.
    n_syn, copies : int
        Records a copy, and copies.
    relation : {"replace_one", "add_remove"}
        Neighbours.

    Returns
    -------
    GDP
        With rho = N w^2/(2 n^2 sigma^2), N = copies times n_syn.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B1 (Neunhoeffer, Latner and Drechsler, 4.1,
    correct): it is the Gaussian mechanism with variance sigma^2/N.

    Examples
    --------
    >>> round(plug_in_mean(1000, -4, 4, sigma=1, n_syn=15625).rho, 12)
    0.5
    """
    shift = mean_sensitivity(n, lower, upper, relation=relation)
    records = count("n_syn", n_syn) * count("copies", copies)
    return GDP(upward(shift * math.sqrt(records) / positive("sigma", sigma)))


def mean_release(n: int, lower: float, upper: float, *, sigma: float, copies: int = 1) -> GDP:
    """Price posterior draws N(mean, sigma^2/n) themselves, or unlimited records made from them.

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range of the column.
    sigma : float
        Public standard deviation.
    copies : int
        Number of independent posterior draws.

    Returns
    -------
    GDP
        With rho = m w^2/(2 n sigma^2).

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B2. Erratum: Neunhoeffer et al. 4.2 print
    4 d^2 n/(2 sigma^2), n^2 times too large, and a threshold n^2 (n + 1) < m n_syn that does not exist.

    Examples
    --------
    >>> round(mean_release(1000, -4, 4, sigma=1).rho, 12)
    0.032
    """
    shift = mean_sensitivity(n, lower, upper)
    return GDP(upward(shift * math.sqrt(n * count("copies", copies)) / positive("sigma", sigma)))


def mean_per_copy(n: int, lower: float, upper: float, *, sigma: float, n_syn: int, copies: int = 1) -> GDP:
    """Price copies that each draw one mean from its posterior and all records given it.

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range of the column.
    sigma : float
        Public standard deviation.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    GDP
        With rho = m w^2 n_syn/(2 n sigma^2 (n + n_syn)).

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B3: given the mean a copy is normal with
    covariance sigma^2 (I + 11'/n), and 1'(I + 11'/n)^-1 1 = n n_syn/(n + n_syn) by Sherman and Morrison.
    Erratum: Neunhoeffer et al. 4.2 compose records as if independent given their shared mean; the result
    is an upper bound, too large by the factor (n + n_syn)/(n + 1).

    Examples
    --------
    >>> round(mean_per_copy(1000, -4, 4, sigma=1, n_syn=1000).rho, 12)
    0.016
    """
    shift = mean_sensitivity(n, lower, upper)
    records = count("n_syn", n_syn)
    informative = count("copies", copies) * n * (records / (n + records))
    return GDP(upward(shift * math.sqrt(informative) / positive("sigma", sigma)))


def mean_per_record(n: int, lower: float, upper: float, *, sigma: float, n_syn: int, copies: int = 1) -> GDP:
    """Price records whose mean is drawn anew from its posterior for every record.

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range of the column.
    sigma : float
        Public standard deviation.
    n_syn, copies : int
        Records a copy, and copies.

    Returns
    -------
    GDP
        With rho = N w^2/(2 n^2 sigma^2 (1 + 1/n)).

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B4; this is what the formula of Neunhoeffer et
    al.
    4.2 is right for.

    Examples
    --------
    >>> round(mean_per_record(1000, -4, 4, sigma=1, n_syn=1000).rho, 10)
    0.031968032
    """
    wider = positive("sigma", sigma) * math.sqrt(1 + 1 / count("n", n))
    return plug_in_mean(n, lower, upper, sigma=wider, n_syn=n_syn, copies=copies)


def mean_laplace_scale(n: int, lower: float, upper: float, *, epsilon: float, weight: float = 1.0) -> float:
    """Find the Laplace scale that makes a (shrunk) mean epsilon-private.

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range of the column.
    epsilon : float
        Above zero.
    weight : float
        Weight k on the mean, above zero; 1 without a prior.

    Returns
    -------
    float
        k w/(n epsilon), rounded up.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants. B7. Erratum: Zheng 7.3 prints R/(n eps) for data in [-R, R];
    the sensitivity is 2R/n, so that noise is only 2 eps-private.

    Examples
    --------
    >>> round(mean_laplace_scale(1000, -4, 4, epsilon=1.0), 12)
    0.008
    """
    return upward(
        positive("weight", weight) * mean_sensitivity(n, lower, upper) / positive("epsilon", epsilon)
    )
