"""One Gaussian column, public variance, draws conditioned to the public range [-R, R]: entry B6.

Truncating is not post-processing, because the normaliser depends on the data; clipping is, and then the
untruncated guarantee of the plug-in holds and pure epsilon does not.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import erf, log_ndtr

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.conversion.pure import pure_renyi
from pysynthdp.privacy.domain import checked_orders, count, positive, real, upward
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.prices.gaussian_prior import shrinkage

__all__ = ["TruncatedDraw", "truncated_draws", "truncated_epsilon", "truncated_renyi"]

TruncatedDraw: TypeAlias = Literal["map", "many", "parameter"]


def _log_mass(centre: FloatArray, spread: float, half_width: float) -> FloatArray:
    """Log of the probability that N(centre, spread^2) puts on [-half_width, half_width]."""
    far = np.abs(np.asarray(centre, dtype=np.float64))
    high, low = (half_width - far) / spread, (-half_width - far) / spread
    # two formulas: differences of erf lose no digits inside, tails of the normal law none outside
    root = math.sqrt(2)
    inside = np.log(np.maximum(erf(np.maximum(high, 0.0) / root) - erf(low / root), 1e-300) / 2)
    top = log_ndtr(high)
    outside = top + np.log(-np.expm1(np.minimum(log_ndtr(low) - top, -1e-300)))
    return np.asarray(np.where(high > 0, inside, outside), dtype=np.float64)


def _law(n: int, sigma: float, sigma0: float | None, draw: TruncatedDraw) -> tuple[float, float]:
    """Weight on the mean and variance of one draw before truncation."""
    count("n", n)
    noise = positive("sigma", sigma) ** 2
    weight, posterior = (1.0, noise / n) if sigma0 is None else shrinkage(n, sigma=sigma, sigma0=sigma0)
    variances = {"map": noise, "many": noise + posterior, "parameter": posterior}
    if draw not in variances:
        raise PrivacyError("draw must be 'map', 'many' or 'parameter'", kind="mechanism")
    return weight, variances[draw]


def truncated_epsilon(
    n: int, half_width: float, *, sigma: float, sigma0: float | None = None, draw: TruncatedDraw = "map"
) -> float:
    """Find the exact pure epsilon of one draw conditioned to [-R, R].

    Parameters
    ----------
    n : int
        Public number of records.
    half_width : float
        R: data and draws lie in [-R, R].
    sigma : float
        Public standard deviation.
    sigma0 : float, optional
        Standard deviation of the prior N(0, sigma0^2); None for a flat prior.
    draw : {"map", "many", "parameter"}
        Plug-in record; record with its own posterior mean; the posterior mean itself.

    Returns
    -------
    float
        Largest log-likelihood ratio over neighbours and outputs; draws add.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive, ``draw`` one of the three.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B6: the modulus of (c - c')(2y - c - c')/(2v) +
    log Z(c')/Z(c) is largest at y = +-R with means -R and -R + 2R/n. Errata: Zheng 7.12 to 7.14 forget the
    normaliser Z and use the shift R/n for 2R/n; 7.12 and 7.14 are false as printed.

    Examples
    --------
    >>> round(truncated_epsilon(10, 0.5, sigma=1.0), 6)
    0.053615
    """
    radius = positive("half_width", half_width)
    weight, variance = _law(n, sigma, sigma0, draw)
    shift = weight * 2 * radius / n
    first = -weight * radius
    logs = _log_mass(np.array([first, first + shift]), math.sqrt(variance), radius)
    change = float(logs[1] - logs[0])
    ends = np.array([radius, -radius])
    losses = np.abs(-shift * (2 * ends - 2 * first - shift) / (2 * variance) + change)
    return upward(upward(float(losses.max())))


def truncated_renyi(
    centre: float, other: float, *, variance: float, half_width: float, orders: FloatArray | float
) -> FloatArray:
    """Compute the Renyi divergence of two normals with the same variance, both conditioned to [-R, R].

    Parameters
    ----------
    centre, other : float
        Means before truncation.
    variance : float
        Common variance before truncation.
    half_width : float
        R.
    orders : array (k,) or float
        Orders above one.

    Returns
    -------
    array (k,)
        Divergence of the first from the second.

    Raises
    ------
    PrivacyError
        Outside the domain; variance and half_width are positive.

    Notes
    -----
    Privacy: post-processing of public constants. B6: [A(a c + (1-a) c') - a A(c) + (a-1) A(c')]/(a-1) with
    A(t) = t^2/(2v) + log Z(t); at most a (c-c')^2/(2v), so truncating to an interval never costs zCDP (the
    variance of a truncated Gaussian is at most v: Brascamp and Lieb).

    Examples
    --------
    >>> round(float(truncated_renyi(-0.3, 0.2, variance=1.0, half_width=1.0, orders=3.0)), 6)
    0.104283
    """
    c, d = real("centre", centre), real("other", other)
    v, radius = positive("variance", variance), positive("half_width", half_width)
    grid = checked_orders(orders)
    mixed = grid * c + (1 - grid) * d
    spread = math.sqrt(v)
    logs = _log_mass(mixed, spread, radius)
    first, second = _log_mass(np.array([c, d]), spread, radius)
    quadratic = grid * (c - d) ** 2 / (2 * v)
    values = quadratic + (logs - grid * first + (grid - 1) * second) / (grid - 1)
    return np.asarray(np.clip(values, 0.0, quadratic), dtype=np.float64)


def truncated_draws(
    n: int,
    half_width: float,
    *,
    sigma: float,
    sigma0: float | None = None,
    n_syn: int,
    copies: int = 1,
    draw: TruncatedDraw = "map",
) -> RDP:
    """Price independent draws conditioned to [-R, R]: pure epsilon and zCDP at once.

    Parameters
    ----------
    n : int
        Public number of records.
    half_width : float
        R.
    sigma : float
        Public standard deviation.
    sigma0 : float, optional
        Standard deviation of the prior; None for a flat prior.
    n_syn, copies : int
        Draws a copy, and copies.
    draw : {"map", "many", "parameter"}
        What is drawn.

    Returns
    -------
    RDP
        The smaller of N epsilon's curve (A5) and a N (2Rk/n)^2/(2v) at each order.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. B6, composed by J1.

    Examples
    --------
    >>> float(truncated_draws(100, 3.0, sigma=1.0, n_syn=10).taus[-1]) < 10.0
    True
    """
    weight, variance = _law(n, sigma, sigma0, draw)
    records = count("n_syn", n_syn) * count("copies", copies)
    epsilon = records * truncated_epsilon(n, half_width, sigma=sigma, sigma0=sigma0, draw=draw)
    rho = upward(records * (weight * 2 * half_width / n) ** 2 / (2 * variance))
    return RDP.from_curve(np.minimum(pure_renyi(upward(epsilon), ORDERS), rho * ORDERS))
