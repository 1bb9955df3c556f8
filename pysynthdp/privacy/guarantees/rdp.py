"""Renyi differential privacy: a curve on the one public grid of orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.slips import answers_slips
from pysynthdp.privacy.conversion.orders import GRID_NAME, ORDERS
from pysynthdp.privacy.conversion.rdp import rdp_delta, rdp_epsilon
from pysynthdp.privacy.domain import checked_orders
from pysynthdp.privacy.guarantee import GUARANTEES, Guarantee, checked_shares

__all__ = ["RDP"]


@GUARANTEES.register
@answers_slips
@dataclass(frozen=True, slots=True)
class RDP:
    """A bound on the Renyi divergence at each order of the public grid.

    Parameters
    ----------
    taus : tuple of float, length 201
        One a grid order, at least zero, ``inf`` where nothing is bounded; the last is pure epsilon.
    grid : str
        Name of the grid, for saved statements.

    Raises
    ------
    PrivacyError
        For another length, a negative or missing value, another grid, or no finite value at all: then the
        mechanism has no guarantee, and a larger public floor, ridge or prior is needed.

    Notes
    -----
    Privacy: numbers about a mechanism; reads nothing. Mironov 2017; conversions by A4.

    Examples
    --------
    >>> from pysynthdp.privacy.guarantees.zcdp import ZCDP
    >>> round(RDP.of(ZCDP(0.5)).epsilon(1e-6), 3)
    5.226
    """

    taus: tuple[float, ...]
    grid: str = GRID_NAME
    name: ClassVar[str] = "rdp"

    def __post_init__(self) -> None:
        values = np.asarray(self.taus, dtype=np.float64)
        if self.grid != GRID_NAME or values.shape != ORDERS.shape:
            raise PrivacyError(
                "a Renyi curve must have one value for each order of the public grid",
                kind="guarantee",
                remedy="use RDP.of",
            )
        if not bool(np.all(values >= 0)):
            raise PrivacyError("every value of a Renyi curve must be at least zero", kind="guarantee")
        if not bool(np.any(np.isfinite(values))):
            raise PrivacyError(
                "no order is bounded, so there is no guarantee",
                kind="guarantee",
                remedy="raise the floor, ridge or prior",
            )

    @classmethod
    def of(cls, guarantee: Guarantee) -> Self:
        """Write any guarantee as its curve on the public grid."""
        return cls.from_curve(guarantee.renyi(ORDERS))

    @classmethod
    def from_curve(cls, taus: FloatArray) -> Self:
        """Wrap an array (201,) of divergences on the public grid."""
        return cls(tuple(np.asarray(taus, dtype=np.float64).tolist()))

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon over the grid (A4)."""
        return rdp_epsilon(ORDERS, np.asarray(self.taus), delta)

    def delta(self, epsilon: float) -> float:
        """Smallest delta over the grid (A4)."""
        return rdp_delta(ORDERS, np.asarray(self.taus), epsilon)

    def renyi(self, orders: FloatArray) -> FloatArray:
        """Value at the next grid order; valid because the divergence grows with the order."""
        index = np.searchsorted(ORDERS, checked_orders(orders), side="left")
        return np.asarray(self.taus)[index]

    def split(self, shares: Sequence[float]) -> tuple[Self, ...]:
        """Curves in proportion to ``shares``."""
        values = np.asarray(self.taus)
        return tuple(type(self).from_curve(values * share) for share in checked_shares(shares))

    @classmethod
    def compose(cls, parts: Sequence[Self]) -> Self:
        """Curves add, order by order (Mironov 2017, Prop. 1)."""
        total = np.sum(np.asarray([part.taus for part in parts]), axis=0)
        return cls.from_curve(total * (1 + len(parts) * 2.0**-52))
