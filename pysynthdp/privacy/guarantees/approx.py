"""Approximate differential privacy: one pair (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.slips import answers_slips
from pysynthdp.privacy.domain import checked_orders, nonnegative, probability, upward
from pysynthdp.privacy.guarantee import GUARANTEES, checked_shares

__all__ = ["ApproxDP"]


@GUARANTEES.register
@answers_slips
@dataclass(frozen=True, slots=True)
class ApproxDP:
    """One pair: (eps, at_delta)-differential privacy, and nothing else known.

    Parameters
    ----------
    eps : float
        At least zero.
    at_delta : float
        Between zero and one.

    Raises
    ------
    PrivacyError
        Outside the domain; give eps >= 0 and 0 < at_delta < 1.

    Notes
    -----
    Privacy: a number about a mechanism; reads nothing. A pair has no Renyi curve, so it cannot be added to
    other kinds on the grid; pairs alone compose by adding (basic composition). Off the pair, the bound is
    that of the worst mechanism with this pair (Kairouz, Oh and Viswanath 2015).

    Examples
    --------
    >>> ApproxDP(1.0, 1e-6).epsilon(1e-5) <= 1.0, ApproxDP(1.0, 1e-6).epsilon(1e-7)
    (True, inf)
    """

    eps: float
    at_delta: float
    name: ClassVar[str] = "approx"

    def __post_init__(self) -> None:
        nonnegative("eps", self.eps)
        probability("at_delta", self.at_delta)

    def epsilon(self, delta: float) -> float:
        """Solve :meth:`delta` for epsilon; infinite at any delta below the pair's."""
        delta = probability("delta", delta)
        if delta < self.at_delta:
            return math.inf
        rest = (delta - self.at_delta) / (1 - self.at_delta)
        inside = 1 - rest - rest * math.exp(-self.eps)
        return max(0.0, upward(self.eps + math.log(inside))) if inside > 0 else 0.0

    def delta(self, epsilon: float) -> float:
        """Pair's delta from its epsilon on; below, delta + (1 - delta)(e^eps - e^epsilon)/(1 + e^eps)."""
        epsilon = nonnegative("epsilon", epsilon)
        if epsilon >= self.eps:
            return self.at_delta
        rest = -math.expm1(epsilon - self.eps) / (1 + math.exp(-self.eps))
        return min(1.0, upward(self.at_delta + (1 - self.at_delta) * rest))

    def renyi(self, orders: FloatArray) -> FloatArray:
        """Infinite: a pair bounds no Renyi divergence."""
        return np.full(checked_orders(orders).shape, np.inf)

    def split(self, shares: Sequence[float]) -> tuple[Self, ...]:
        """Pairs whose epsilons and deltas are in proportion to ``shares``."""
        return tuple(type(self)(self.eps * share, self.at_delta * share) for share in checked_shares(shares))

    @classmethod
    def compose(cls, parts: Sequence[Self]) -> Self:
        """Epsilons add and deltas add (basic composition)."""
        return cls(
            upward(math.fsum(part.eps for part in parts)), upward(math.fsum(part.at_delta for part in parts))
        )
