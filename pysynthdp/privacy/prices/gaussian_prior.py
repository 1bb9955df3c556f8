"""One Gaussian column with public variance and a public normal prior on the mean: entry B5."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, positive, upward
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.prices.gaussian_known import mean_sensitivity

__all__ = ["MeanDraw", "mean_with_prior", "shrinkage"]


MeanDraw: TypeAlias = Literal["map", "one", "many", "parameter"]


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
        w/n, s = sigma, v the posterior variance.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive, ``draw`` one of the four.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B5. Zheng's 7.10 and 7.14 silently use k = 1
    for the plug-in.

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
        raise PrivacyError("draw must be 'map', 'one', 'many' or 'parameter'", kind="mechanism")
    return GDP(upward(shift * math.sqrt(precision[draw])))
