"""Protective randomness: the only file that makes it, from the operating system's entropy.

Discrete Gaussian and Laplace noise come from OpenDP, which is exact and constant in no seed; categories come
from uniform integers by rejection. Nothing here takes, stores or shows a seed.
"""

from __future__ import annotations

import os
import re
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import count, positive
from pysynthdp.privacy.prices.grids import round_half_up

__all__ = ["add_discrete_gaussian", "add_discrete_laplace", "draw_categories", "draw_on_grid", "draw_urn"]

_BATCH = 1 << 16
_EXACT_SINCE = (0, 14, 2)  # earlier ones draw some whole numbers up to 5 % too seldom, others 13 % too often


@cache
def _opendp() -> Any:
    """Load OpenDP, or say how to install it; refuse one whose noise is not of the law that is priced."""
    try:
        import opendp.prelude as library
    except ImportError:
        raise PrivacyError(
            "exact noise needs OpenDP", kind="noise", remedy="install it with: pip install opendp"
        ) from None
    found, least = version("opendp"), ".".join(map(str, _EXACT_SINCE))
    if tuple(int(part) for part in re.findall(r"\d+", found)[:3]) < _EXACT_SINCE:
        raise PrivacyError(
            f"OpenDP {found} draws discrete noise of another law than the one that is priced",
            kind="noise",
            remedy=f"install {least} or later: pip install --upgrade opendp",
        )
    library.enable_features("contrib")
    return library


def _whole(values: IntArray) -> IntArray:
    """Refuse anything but 64-bit integers well inside their range: floats would void the proof."""
    array = np.asarray(values)
    if array.dtype != np.int64 or array.ndim != 1:
        raise PrivacyError("values must be a one-dimensional int64 array: whole grid steps", kind="noise")
    if bool(np.any(np.abs(array) > 2**60)):
        raise PrivacyError(
            "values must stay below 2**60 steps", kind="noise", remedy="choose a coarser public grid"
        )
    return array


def _noised(measurement: Any, values: IntArray) -> IntArray:
    """Apply an OpenDP measurement in batches, so that memory stays bounded."""
    parts = [measurement(values[at : at + _BATCH].tolist()) for at in range(0, values.size, _BATCH)]
    return np.asarray([value for part in parts for value in part], dtype=np.int64)


def add_discrete_gaussian(values: IntArray, scale: float) -> IntArray:
    """Add independent discrete Gaussian noise to whole numbers.

    Parameters
    ----------
    values : int64 array (k,)
        Exact answers in grid steps.
    scale : float
        sigma in steps, above zero.

    Returns
    -------
    int64 array (k,)

    Raises
    ------
    PrivacyError
        For values that are not int64, a scale that is not positive, or a missing OpenDP.

    Notes
    -----
    Privacy: this is the mechanism; with Euclidean sensitivity s it is s^2/(2 scale^2)-zCDP (Canonne, Kamath
    and Steinke 2020), for the code as it runs. The operating system's entropy, never a seed.
    """
    library, scale = _opendp(), positive("scale", scale)
    space = library.vector_domain(library.atom_domain(T="i64")), library.l2_distance(T=float)
    return _noised(library.m.make_gaussian(*space, scale=scale), _whole(values))


def add_discrete_laplace(values: IntArray, scale: float) -> IntArray:
    """Add independent discrete Laplace noise to whole numbers.

    Parameters
    ----------
    values : int64 array (k,)
        Exact answers in grid steps.
    scale : float
        In steps, above zero.

    Returns
    -------
    int64 array (k,)

    Raises
    ------
    PrivacyError
        For values that are not int64, a scale that is not positive, or a missing OpenDP.

    Notes
    -----
    Privacy: this is the mechanism; with sensitivity s in the sum of absolute changes it is pure
    (s/scale)-private (Ghosh, Roughgarden and Sundararajan 2012), for the code as it runs. The operating
    system's entropy, never a seed.
    """
    library, scale = _opendp(), positive("scale", scale)
    space = library.vector_domain(library.atom_domain(T="i64")), library.l1_distance(T="i64")
    return _noised(library.m.make_laplace(*space, scale=scale), _whole(values))


def draw_on_grid(statistic: Fraction, grid: Fraction, *, sigma: float, n_draws: int) -> IntArray:
    """Draw records around a statistic on a public grid, exactly.

    Parameters
    ----------
    statistic : Fraction
        The clamped mean, in exact arithmetic.
    grid : Fraction
        Public grid step.
    sigma : float
        Noise scale in the statistic's unit.
    n_draws : int
        Number of records.

    Returns
    -------
    int64 array (n_draws,)
        Records in whole grid steps; multiply by the grid for values.

    Raises
    ------
    PrivacyError
        Outside the domain; every constant is positive.

    Notes
    -----
    Privacy: this is the mechanism of H1, priced by ``grid_draws``: half-up rounding in exact arithmetic, then
    discrete Gaussian noise of sigma/grid steps.
    """
    centre = round_half_up(statistic, grid)
    values = np.full(count("n_draws", n_draws), centre, dtype=np.int64)
    return add_discrete_gaussian(values, positive("sigma", sigma) / float(grid))


def draw_categories(weights: IntArray, size: int) -> IntArray:
    """Draw cells with probabilities exactly proportional to whole weights.

    Parameters
    ----------
    weights : int64 array (k,)
        Whole weights, at least zero, with a sum between one and 2**62.
    size : int
        Number of draws.

    Returns
    -------
    int64 array (size,)
        Cell numbers 0 .. k - 1.

    Raises
    ------
    PrivacyError
        Outside the domain; scale rational weights to whole numbers.

    Notes
    -----
    Privacy: this is the mechanism of F3 and G2 without floating point: uniform integers below the total, by
    rejection from the operating system's entropy, so the price holds for the code as it runs.

    Examples
    --------
    >>> draw_categories(np.array([0, 5, 0]), 3)
    array([1, 1, 1])
    """
    array = np.asarray(weights)
    if array.dtype != np.int64 or array.ndim != 1 or bool(np.any(array < 0)):
        raise PrivacyError(
            "weights must be a one-dimensional int64 array of numbers that are at least zero", kind="noise"
        )
    total = sum(array.tolist())
    if not 1 <= total <= 2**62:
        raise PrivacyError("weights must sum to between 1 and 2**62", kind="noise", remedy="scale them")
    uniform = _uniform_below(total, count("size", size))
    return np.searchsorted(np.cumsum(array), uniform, side="right").astype(np.int64)


def draw_urn(weights: IntArray, added: int, size: int) -> IntArray:
    """Draw cells from a Polya urn: after each draw, ``added`` more balls of its cell go in.

    Parameters
    ----------
    weights : int64 array (k,)
        Whole balls of each cell at the start, at least zero, with a sum of at least one.
    added : int
        Balls that a draw adds, at least one.
    size : int
        Number of draws.

    Returns
    -------
    int64 array (size,)
        Cell numbers 0 .. k - 1, in the order of the draws.

    Raises
    ------
    PrivacyError
        Outside the domain, or where the balls exceed 2**62; scale rational weights to whole numbers.

    Notes
    -----
    Privacy: this is the mechanism of F5 and G3 without a parameter and without floating point (Blackwell and
    MacQueen 1973): a ball added by draw i stands for what draw i was.

    Examples
    --------
    >>> draw_urn(np.array([0, 5, 0]), 2, 3)
    array([1, 1, 1])
    """
    array = np.asarray(weights)
    if array.dtype != np.int64 or array.ndim != 1 or bool(np.any(array < 0)):
        raise PrivacyError(
            "weights must be a one-dimensional int64 array of numbers that are at least zero", kind="noise"
        )
    total, added, size = sum(array.tolist()), count("added", added), count("size", size)
    if not 1 <= total <= 2**62 - added * size:
        raise PrivacyError(
            "the balls of the urn must sum to between 1 and 2**62", kind="noise", remedy="scale the weights"
        )
    ball = _uniform_below_each(np.uint64(total) + np.uint64(added) * np.arange(size, dtype=np.uint64))
    first = np.searchsorted(np.cumsum(array), np.minimum(ball, total - 1), side="right").astype(np.int64)
    source = np.where(ball < total, np.arange(size), (ball - total) // added)
    while not np.array_equal(source, source[source]):  # to the draw that a chain of added balls began with
        source = source[source]
    return np.asarray(first[source])


def _uniform_below_each(totals: NDArray[np.uint64]) -> IntArray:
    """One uniform integer in [0, total) for each total, by rejection as :func:`_uniform_below`."""
    found = np.zeros(totals.size, dtype=np.int64)
    open_places = np.arange(totals.size)
    while open_places.size:
        below = totals[open_places]
        raw = np.frombuffer(os.urandom(8 * below.size), dtype=np.uint64)
        excess = (~below + np.uint64(1)) % below  # 2^64 modulo the total
        good = raw <= ~excess  # that many of the largest numbers are rejected
        found[open_places[good]] = (raw % below)[good].astype(np.int64)
        open_places = open_places[~good]
    return found


def _uniform_below(total: int, size: int) -> IntArray:
    """Uniform integers in [0, total), by rejecting the incomplete last stretch of 64-bit numbers."""
    limit = 2**64 - 2**64 % total
    kept: list[IntArray] = []
    missing = size
    while missing:
        raw = np.frombuffer(os.urandom(8 * missing), dtype=np.uint64)
        good = raw if limit == 2**64 else raw[raw < np.uint64(limit)]
        kept.append((good % np.uint64(total)).astype(np.int64))
        missing -= good.size
    return np.concatenate(kept)
