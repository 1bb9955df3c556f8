"""Shares with intervals: of one group, of one group above another, and of an attack above its control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from scipy.special import betainc

__all__ = ["Above", "above", "binomial_tail", "excess_tail", "success", "wilson"]

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Above:
    """How far one share lies above another, with an interval.

    Parameters
    ----------
    value, low, high : float
        The difference and its limits; NaN where one group is empty.
    """

    value: float
    low: float
    high: float


def wilson(hits: float, of: int, level: float = LEVEL) -> tuple[float, float]:
    """Give the score interval of a share (Wilson 1927).

    Examples
    --------
    >>> [round(limit, 4) for limit in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if of < 1:
        return math.nan, math.nan
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    share = hits / of
    centre = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = math.sqrt(max(share * (1 - share) * z2 / of + (z2 / (2 * of)) ** 2, 0.0)) / (1 + z2 / of)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def above(hits: float, of: int, hits0: float, of0: int, level: float = LEVEL) -> Above:
    """Give the difference of two shares with the hybrid score interval (Newcombe 1998, method 10).

    Examples
    --------
    >>> found = above(56, 70, 48, 80)
    >>> [round(limit, 4) for limit in (found.value, found.low, found.high)]
    [0.2, 0.0524, 0.3339]
    """
    if of < 1 or of0 < 1:
        return Above(math.nan, math.nan, math.nan)
    share, share0 = hits / of, hits0 / of0
    (low, high), (low0, high0) = wilson(hits, of, level), wilson(hits0, of0, level)
    value = share - share0
    return Above(
        value,
        value - math.hypot(share - low, high0 - share0),
        value + math.hypot(high - share, share0 - low0),
    )


def success(attack: Above, control: float) -> Above:
    """Scale attack minus control to the room that the control leaves: (a - c) / (1 - c).

    Examples
    --------
    >>> success(above(75, 100, 50, 100), 0.5).value
    0.5
    """
    room = 1 - control
    if not room > 0:
        return Above(math.nan, math.nan, math.nan)
    return Above(attack.value / room, attack.low / room, attack.high / room)


def binomial_tail(hits: float, of: int, share: float) -> float:
    """Give the probability of at least so many hits.

    Examples
    --------
    >>> round(binomial_tail(9, 10, 0.5), 6)
    0.010742
    """
    if hits <= 0:
        return 1.0
    return float(betainc(hits, of - hits + 1, share)) if hits <= of else 0.0


def excess_tail(hits: float, hits0: float, times: float) -> float:
    """Give the probability of so many hits, if as many were expected as another count tells, times a factor.

    Both are taken as Poisson, so that given their sum the first is binomial.
    """
    total = int(hits + hits0)
    return binomial_tail(hits, total, times / (1 + times)) if total else 1.0
