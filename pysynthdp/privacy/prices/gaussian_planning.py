"""How many records a budget buys from a Gaussian column with public variance: B1 and B3 inverted."""

from __future__ import annotations

import math
from fractions import Fraction

from pysynthdp.privacy.domain import bounds, count, positive

__all__ = ["mean_per_copy_records", "plug_in_mean_records"]


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
    taken in exact arithmetic on the decimals as written.

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
    r) if r < 1, else unlimited.

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
