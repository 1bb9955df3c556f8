"""Exact sampling on a public grid: entry H1.

Float sampling voids a claim about real numbers (H0). Here the statistic is rounded to a public grid, half up
and in exact arithmetic, and each record adds discrete Gaussian noise in whole steps; the price holds for the
code.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.domain import bounds, checked_orders, count, positive, upward, whole
from pysynthdp.privacy.guarantees.zcdp import ZCDP

__all__ = ["discrete_gaussian_renyi", "grid_draws", "mean_on_grid", "round_half_up"]


def discrete_gaussian_renyi(shift: int, variance: float, *, orders: FloatArray | float) -> FloatArray:
    """Compute the Renyi divergence between two discrete Gaussians a whole number of steps apart.

    Parameters
    ----------
    shift : int
        Steps between the centres, at least zero.
    variance : float
        Parameter s^2 in squared steps, at least 1e-3.
    orders : array (k,) or float
        Finite orders above one.

    Returns
    -------
    array (k,)
        At most a shift^2/(2 s^2), with equality where a times shift is whole.

    Raises
    ------
    PrivacyError
        Outside the domain; variance is positive.

    Notes
    -----
    Privacy: post-processing of public constants. H1: a h^2/(2 s^2) + log[sum e^(-(k - a h)^2/(2 s^2)) /
    sum e^(-k^2/(2 s^2))]/(a-1).

    Examples
    --------
    >>> round(float(discrete_gaussian_renyi(1, 4.0, orders=2.0)), 9)
    0.25
    """
    steps, s2 = whole("shift", shift), positive("variance", variance)
    grid = np.atleast_1d(checked_orders(orders))
    line = grid * steps**2 / (2 * s2)
    if s2 > 100:
        # the two sums agree to 1e-800: Poisson summation, the first term is exp(-2 pi^2 s^2)
        return np.asarray(line.reshape(np.shape(orders)))
    reach = math.ceil(12 * math.sqrt(s2) * 3.5) + 2
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    offset = grid * steps - np.round(grid * steps)
    exponents = -((k[None, :] - offset[:, None]) ** 2) / (2 * s2)
    top = exponents.max(axis=1)
    logs = (
        top
        + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
        - math.log(math.fsum(np.exp(-(k**2) / (2 * s2))))
    )
    return np.asarray((line + np.minimum(logs, 0.0) / (grid - 1)).reshape(np.shape(orders)))


def _decimal(value: float) -> Fraction:
    """Read a number as the decimal that its author wrote."""
    return Fraction(repr(float(value)))


def grid_draws(sensitivity: float, grid: float, *, sigma: float, n_draws: int) -> ZCDP:
    """Price records made from a statistic rounded to a grid, plus discrete Gaussian noise on it.

    Parameters
    ----------
    sensitivity : float
        Of the statistic before rounding, from public constants.
    grid : float
        Public grid step G.
    sigma : float
        Noise scale in the statistic's unit: sigma/G steps.
    n_draws : int
        Records, over all copies.

    Returns
    -------
    ZCDP
        rho = N (G ceil(sensitivity/G))^2/(2 sigma^2).

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: post-processing of public constants; publishable and true of the implementation. H1: a grid that
    divides the sensitivity costs nothing. Rounding half to even would move ties by two steps and is not
    covered. The claim is zCDP; the exact GDP formula does not hold for discrete noise.

    Examples
    --------
    >>> round(grid_draws(0.008, 0.0032, sigma=1.0, n_draws=1000).rho, 12)
    0.04608
    """
    positive("sensitivity", sensitivity)
    positive("grid", grid)
    steps = math.ceil(_decimal(sensitivity) / _decimal(grid))
    scale = positive("sigma", sigma) / grid
    return ZCDP(upward(count("n_draws", n_draws) * (steps / scale) ** 2 / 2))


def mean_on_grid(
    n: int, lower: float, upper: float, *, sigma: float, n_syn: int, copies: int = 1, steps: int = 1
) -> ZCDP:
    """Price plug-in records of a clamped mean on the grid w/(n steps), which costs nothing.

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range; w is its width.
    sigma : float
        Noise scale of each record in the column's unit.
    n_syn, copies : int
        Records a copy, and copies.
    steps : int
        Grid steps that make up the sensitivity w/n.

    Returns
    -------
    ZCDP
        rho = N w^2/(2 n^2 sigma^2), as for real-number sampling (B1).

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive and the range finite.

    Notes
    -----
    Privacy: post-processing of public constants; publishable and true of the implementation. H1 with G =
    w/(n steps); a mean drawn anew for each copy (B3) is charged like this too.

    Examples
    --------
    >>> round(mean_on_grid(1000, -4, 4, sigma=1, n_syn=15625).rho, 12)
    0.5
    """
    count("steps", steps)
    records = count("n_syn", n_syn) * count("copies", copies)
    shift = bounds(lower, upper) / count("n", n) / positive("sigma", sigma)
    return ZCDP(upward(records * shift**2 / 2))


def round_half_up(value: Fraction, grid: Fraction) -> int:
    """Round an exact number to whole grid steps, ties upwards.

    Parameters
    ----------
    value : Fraction
        The statistic, in exact arithmetic.
    grid : Fraction
        Grid step, above zero.

    Returns
    -------
    int
        floor(value/grid + 1/2).

    Notes
    -----
    Privacy: part of a mechanism. H1: with this rule two reals at most h steps apart land at most h steps
    apart for whole h; half to even does not have that property.

    Examples
    --------
    >>> [round_half_up(Fraction(k, 2), Fraction(1)) for k in (1, 2, 3)]
    [1, 1, 2]
    """
    return math.floor(value / grid + Fraction(1, 2))
