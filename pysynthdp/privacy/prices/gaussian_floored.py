"""One Gaussian column, variance estimated and floored at a public value: entry C3, publishable.

Values are clamped to [-d, d] before any statistic; n, d and the floor are public; neighbours replace one
record. Only finite orders are bounded, so the claim is a Renyi curve, never zCDP.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.domain import checked_orders, count, positive, upward, whole
from pysynthdp.privacy.guarantees.rdp import RDP

__all__ = [
    "Ddof",
    "floored_curve",
    "floored_renyi",
    "floored_variance",
    "variance_sensitivity",
    "variance_weight",
]

Ddof: TypeAlias = Literal[0, 1]


def variance_weight(n: int, ddof: Ddof = 1) -> float:
    """Weight g of one record's squared distance from the mean of the others in the sample variance.

    Parameters
    ----------
    n : int
        Public number of records, at least two.
    ddof : {0, 1}
        The variance divides by n - ddof.

    Returns
    -------
    float
        1/n, or (n-1)/n^2 with ddof 0.

    Raises
    ------
    PrivacyError
        For n below two or another ddof.

    Notes
    -----
    Privacy: post-processing of public constants. C0: s^2 = c + g u^2, c and u by the common records.

    Examples
    --------
    >>> variance_weight(10), variance_weight(10, 0)
    (0.1, 0.09)
    """
    size = whole("n", n, 2)
    if ddof not in (0, 1):
        raise PrivacyError("ddof must be 0 or 1", kind="mechanism")
    return 1 / size if ddof == 1 else (size - 1) / size**2


def variance_sensitivity(n: int, half_width: float, *, ddof: Ddof = 1) -> float:
    """Bound how far the sample variance moves when one record is replaced.

    Parameters
    ----------
    n : int
        Public number of records, at least two.
    half_width : float
        d: values lie in [-d, d].
    ddof : {0, 1}
        The variance divides by n - ddof.

    Returns
    -------
    float
        4 d^2 g.

    Raises
    ------
    PrivacyError
        Outside the domain; n is at least two, d positive.

    Notes
    -----
    Privacy: post-processing of public constants. The first step of C3's two-step floor: noise this, set the
    floor to any positive function of the noisy value, and price the draws by :func:`floored_renyi` with it.

    Examples
    --------
    >>> round(variance_sensitivity(100, 1.0), 12)
    0.04
    """
    return upward(4 * positive("half_width", half_width) ** 2 * variance_weight(n, ddof))


def floored_renyi(
    n: int,
    half_width: float,
    floor: float,
    *,
    orders: FloatArray | float,
    n_draws: int,
    ddof: Ddof = 1,
) -> FloatArray:
    """Bound the Renyi divergence of records from N(mean, max(s^2, floor^2)), over all neighbours.

    Parameters
    ----------
    n : int
        Public number of records, at least two.
    half_width : float
        d: values lie in [-d, d].
    floor : float
        Public smallest standard deviation f, at most d.
    orders : array (k,) or float
        Orders above one.
    n_draws : int
        Records drawn, over all copies.
    ddof : {0, 1}
        The variance divides by n - ddof.

    Returns
    -------
    array (k,)
        Bound; ``inf`` from order 1 + 1/eta on.

    Raises
    ------
    PrivacyError
        Outside the domain; a floor above d makes the variance a constant: use ``plug_in_mean`` with sigma =
        floor.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. C3: with u = d + sqrt(d^2 - f^2) (2d if
    sqrt(d^2 - f^2) < d g/(1-g)) and eta = g u^2/f^2, tau(a) <= N {a (2d/n)^2/(2 f^2 (1 - (a-1) eta)) -
    ln(1+eta)/2 - ln(1 - (a-1) eta)/(2(a-1))}. Erratum: Neunhoeffer et al. 4.3 put s^2 for sigma^2 in the loss
    of the mean, which ignores that s^2 moves; that part is 2 d^2/f^2 times larger.

    Examples
    --------
    >>> round(float(floored_renyi(10000, 4, 1, orders=2.0, n_draws=10000)), 6)
    0.198544
    """
    d, f = positive("half_width", half_width), positive("floor", floor)
    if f > d:
        raise PrivacyError(
            "floor must not exceed half_width",
            kind="mechanism",
            remedy="use plug_in_mean with sigma = floor instead",
        )
    g = variance_weight(n, ddof)
    gap = math.sqrt((d - f) * (d + f))
    reach = 2 * d if gap < d * g / (1 - g) else d + gap
    return floored_curve(n, d, f * f, reach, g, orders=checked_orders(orders), n_draws=n_draws)


def floored_curve(
    n: int, d: float, least: float, reach: float, g: float, *, orders: FloatArray, n_draws: int
) -> FloatArray:
    """Evaluate C3's expression where both neighbours have variance at least ``least``.

    Parameters
    ----------
    n : int
        Number of records.
    d : float
        Half-width of the range.
    least : float
        Lower bound on both variances.
    reach : float
        Largest distance of a replaced record from the mean of the others.
    g : float
        Weight of one record in the variance.
    orders : array (k,)
        Orders above one.
    n_draws : int
        Records drawn.

    Returns
    -------
    array (k,)
        Bound on the Renyi divergence.

    Notes
    -----
    Privacy: publishable only if every argument is public; shared by C3 and C4.
    """
    eta = g * reach * reach / least
    used = (orders - 1) * eta
    known = used < 1
    used, finite = np.where(known, used, 0.5), np.where(known, orders, 2.0)
    mean = finite * (2 * d / n) ** 2 / (2 * least * (1 - used))
    spread = -math.log1p(eta) / 2 - np.log1p(-used) / (2 * (finite - 1))
    values = count("n_draws", n_draws) * (mean + spread) * (1 + 2.0**-50)
    return np.asarray(np.where(known, values, np.inf), dtype=np.float64)


def floored_variance(
    n: int, half_width: float, floor: float, *, n_syn: int, copies: int = 1, ddof: Ddof = 1
) -> RDP:
    """Price copies of records from N(mean, max(s^2, floor^2)).

    Parameters
    ----------
    n : int
        Public number of records, at least two.
    half_width : float
        d: values lie in [-d, d].
    floor : float
        Public smallest standard deviation, at most d.
    n_syn, copies : int
        Records a copy, and copies.
    ddof : {0, 1}
        The variance divides by n - ddof.

    Returns
    -------
    RDP
        Curve on the public grid.

    Raises
    ------
    PrivacyError
        Outside the domain, or if no grid order is bounded: raise the floor.

    Notes
    -----
    Privacy: post-processing of public constants; publishable. C3.

    Examples
    --------
    >>> round(floored_variance(1000, 4, 1, n_syn=1000).epsilon(1e-6), 2)
    8.23
    """
    records = count("n_syn", n_syn) * count("copies", copies)
    return RDP.from_curve(floored_renyi(n, half_width, floor, orders=ORDERS, n_draws=records, ddof=ddof))
