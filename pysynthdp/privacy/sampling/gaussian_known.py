"""One Gaussian column with public variance: entries B1 to B5 and B7.

Assumed throughout: values are clamped to a public range before any statistic; sigma and n are public;
neighbours replace one record. Whether the data are normal is irrelevant to privacy. All functions are
arithmetic on public constants: they read no record and spend no budget by themselves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias

from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.domain import bounds, count, positive, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.unit import Relation

__all__ = [
    "MeanDraw",
    "mean_laplace_scale",
    "mean_per_copy",
    "mean_per_copy_records",
    "mean_per_record",
    "mean_release",
    "mean_sensitivity",
    "mean_with_prior",
    "plug_in_mean",
    "plug_in_mean_records",
    "shrinkage",
]

MeanDraw: TypeAlias = Literal["map", "one", "many", "parameter"]


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
    Privacy: post-processing of public constants. Section B. Under add/remove n itself is confidential, so a
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


def _exact(value: float) -> Fraction:
    """Read a number as the decimal that its author wrote."""
    return Fraction(repr(float(value)))


def plug_in_mean_records(
    rho: float, n: int, lower: float, upper: float, *, sigma: float, copies: int = 1
) -> int:
    """Find the largest n_syn whose plug-in draws cost at most rho.

    Parameters
    ----------
    rho : float
        Budget, above zero.
    n : int
        Public number of records.
    lower, upper : float
        Public range of the column.
    sigma : float
        Public standard deviation.
    copies : int
        Number of copies.

    Returns
    -------
    int
        Records a copy; zero if not even one is affordable.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants. B1 inverted: floor(2 sigma^2 rho n^2/(m w^2)), the floor
    taken
    in exact arithmetic on the decimals as written.

    Examples
    --------
    >>> plug_in_mean_records(0.5, 1000, -4, 4, sigma=1)
    15625
    """
    positive("rho", rho)
    positive("sigma", sigma)
    bounds(lower, upper)
    width = _exact(upper) - _exact(lower)
    scaled = 2 * _exact(sigma) ** 2 * _exact(rho) * count("n", n) ** 2
    return math.floor(scaled / (count("copies", copies) * width**2))


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


def mean_per_copy_records(
    rho: float, n: int, lower: float, upper: float, *, sigma: float, copies: int = 1
) -> int | None:
    """Find the largest n_syn whose draws with one mean a copy cost at most rho.

    Parameters
    ----------
    rho : float
        Budget, above zero.
    n : int
        Public number of records.
    lower, upper : float
        Public range of the column.
    sigma : float
        Public standard deviation.
    copies : int
        Number of copies.

    Returns
    -------
    int or None
        Records a copy; None if their number is unlimited.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants. B3 inverted: r = 2 n sigma^2 rho/(m w^2), n_syn = n r/(1 -
    r)
    if r < 1, else unlimited.

    Examples
    --------
    >>> mean_per_copy_records(0.016, 1000, -4, 4, sigma=1), mean_per_copy_records(1.0, 1000, -4, 4, sigma=1)
    (1000, None)
    """
    positive("rho", rho)
    positive("sigma", sigma)
    bounds(lower, upper)
    width = _exact(upper) - _exact(lower)
    ratio = 2 * count("n", n) * _exact(sigma) ** 2 * _exact(rho) / (count("copies", copies) * width**2)
    return None if ratio >= 1 else math.floor(n * ratio / (1 - ratio))


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


def shrinkage(n: int, *, sigma: float, sigma0: float) -> tuple[float, float]:
    """Weight on the mean, and posterior variance, under the prior N(mu0, sigma0^2).

    Parameters
    ----------
    n : int
        Public number of records.
    sigma, sigma0 : float
        Public standard deviations of the data and of the prior.

    Returns
    -------
    tuple (weight, variance)
        k = sigma0^2/(sigma^2/n + sigma0^2) and k sigma^2/n.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants. B5.

    Examples
    --------
    >>> shrinkage(1, sigma=1.0, sigma0=1.0)
    (0.5, 0.5)
    """
    sampling = positive("sigma", sigma) ** 2 / count("n", n)
    weight = positive("sigma0", sigma0) ** 2 / (sampling + sigma0**2)
    return weight, weight * sampling


def mean_with_prior(
    n: int,
    lower: float,
    upper: float,
    *,
    sigma: float,
    sigma0: float,
    n_syn: int,
    copies: int = 1,
    draw: MeanDraw = "one",
) -> GDP:
    """Price draws under the public prior N(mu0, sigma0^2) on the mean.

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range of the column.
    sigma, sigma0 : float
        Public standard deviations of the data and of the prior.
    n_syn, copies : int
        Records a copy (ignored for ``"parameter"``), and copies.
    draw : {"map", "one", "many", "parameter"}
        Posterior mode plugged in; one mean a copy; one mean a record; the mean itself released.

    Returns
    -------
    GDP
        With rho = N D^2/(2 s^2), m D^2 n_syn/(2 (s^2 + n_syn v)), N D^2/(2 (s^2 + v)) or m D^2/(2 v); D = k
        w/n,
        s = sigma, v the posterior variance.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive, ``draw`` one of the four.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B5. Zheng's 7.10 and 7.14 silently use k = 1
    for
    the plug-in.

    Examples
    --------
    >>> round(mean_with_prior(10, -1, 1, sigma=1, sigma0=1, n_syn=5).rho, 10)
    0.0568181818
    """
    weight, spread = shrinkage(n, sigma=sigma, sigma0=sigma0)
    shift = weight * mean_sensitivity(n, lower, upper)
    size, m, noise = count("n_syn", n_syn), count("copies", copies), sigma**2
    precision = {
        "map": m * size / noise,
        "one": m * size / (noise + size * spread),
        "many": m * size / (noise + spread),
        "parameter": m / spread,
    }
    if draw not in precision:
        raise PrivacyError("draw must be 'map', 'one', 'many' or 'parameter'")
    return GDP(upward(shift * math.sqrt(precision[draw])))


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
    Privacy: post-processing of public constants. B7. Erratum: Zheng 7.3 prints R/(n eps) for data in [-R,
    R]; the
    sensitivity is 2R/n, so that noise is only 2 eps-private.

    Examples
    --------
    >>> round(mean_laplace_scale(1000, -4, 4, epsilon=1.0), 12)
    0.008
    """
    return upward(
        positive("weight", weight) * mean_sensitivity(n, lower, upper) / positive("epsilon", epsilon)
    )
