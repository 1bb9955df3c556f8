"""Gaussian differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.slips import answers_slips
from pysynthdp.privacy.conversion.gdp import gdp_delta, gdp_epsilon
from pysynthdp.privacy.domain import checked_orders, nonnegative, positive, upward
from pysynthdp.privacy.guarantee import GUARANTEES, checked_shares

__all__ = ["GDP"]


@GUARANTEES.register
@answers_slips
@dataclass(frozen=True, slots=True)
class GDP:
    """mu-GDP: neighbours are no easier to tell apart than N(0, 1) from N(mu, 1).

    Parameters
    ----------
    mu : float
        Above zero.

    Raises
    ------
    PrivacyError
        For mu that is not positive and finite; give a positive number.

    Notes
    -----
    Privacy: a number about a mechanism; reads nothing. Dong, Roth and Su 2022; conversions by A3. A Gaussian
    shift of Mahalanobis length mu has it exactly, and is rho-zCDP with rho = mu^2/2; discrete noise has not.

    Examples
    --------
    >>> round(GDP(1.0).epsilon(1e-6), 4), GDP(1.0).rho
    (4.8866, 0.5)
    """

    mu: float
    name: ClassVar[str] = "gdp"

    def __post_init__(self) -> None:
        nonnegative("mu squared", positive("mu", self.mu) * self.mu)

    @classmethod
    def from_rho(cls, rho: float) -> Self:
        """Write a Gaussian shift whose divergence of order a is a rho: mu = sqrt(2 rho)."""
        return cls(upward(math.sqrt(2 * positive("rho", rho))))

    @property
    def rho(self) -> float:
        """Smallest rho of zCDP that it implies: mu^2/2."""
        return self.mu * self.mu / 2

    def epsilon(self, delta: float) -> float:
        """Exact epsilon (A3)."""
        return gdp_epsilon(self.mu, delta)

    def delta(self, epsilon: float) -> float:
        """Exact delta (A3)."""
        return gdp_delta(self.mu, epsilon)

    def renyi(self, orders: FloatArray) -> FloatArray:
        """Order times mu^2/2."""
        return checked_orders(orders) * upward(self.rho)

    def split(self, shares: Sequence[float]) -> tuple[Self, ...]:
        """Parts whose squared mus are in proportion to ``shares``."""
        return tuple(type(self)(self.mu * math.sqrt(share)) for share in checked_shares(shares))

    @classmethod
    def compose(cls, parts: Sequence[Self]) -> Self:
        """Squared mus add."""
        return cls(upward(math.sqrt(math.fsum(part.mu * part.mu for part in parts))))
