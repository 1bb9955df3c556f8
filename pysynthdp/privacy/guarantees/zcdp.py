"""Zero-concentrated differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.slips import answers_slips
from pysynthdp.privacy.conversion.zcdp import zcdp_delta, zcdp_epsilon
from pysynthdp.privacy.domain import checked_orders, positive, upward
from pysynthdp.privacy.guarantee import GUARANTEES, checked_shares

__all__ = ["ZCDP"]


@GUARANTEES.register
@answers_slips
@dataclass(frozen=True, slots=True)
class ZCDP:
    """Zero-concentrated privacy: the divergence of order a between neighbours is at most a rho, a > 1.

    Parameters
    ----------
    rho : float
        Above zero.

    Raises
    ------
    PrivacyError
        For rho that is not positive and finite; give a positive number.

    Notes
    -----
    Privacy: a number about a mechanism; reads nothing. Bun and Steinke 2016; conversions by A2.

    Examples
    --------
    >>> round(ZCDP(0.5).epsilon(1e-6), 4)
    5.2215
    """

    rho: float
    name: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        positive("rho", self.rho)

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon over all orders (A2)."""
        return zcdp_epsilon(self.rho, delta)

    def delta(self, epsilon: float) -> float:
        """Smallest delta over all orders (A2)."""
        return zcdp_delta(self.rho, epsilon)

    def renyi(self, orders: FloatArray) -> FloatArray:
        """Order times rho."""
        return checked_orders(orders) * self.rho

    def split(self, shares: Sequence[float]) -> tuple[Self, ...]:
        """Parts whose rhos are in proportion to ``shares``."""
        return tuple(type(self)(self.rho * share) for share in checked_shares(shares))

    @classmethod
    def compose(cls, parts: Sequence[Self]) -> Self:
        """Rhos add."""
        return cls(upward(math.fsum(part.rho for part in parts)))
