"""No formal guarantee: the honest value for most synthetic data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.privacy.guarantee import GUARANTEES

__all__ = ["NoGuarantee"]


@GUARANTEES.register
@dataclass(frozen=True, slots=True)
class NoGuarantee:
    """Nothing is bounded; whatever is composed with it has no guarantee either.

    Notes
    -----
    Privacy: says that no bound is claimed. docs/formulas.md J2: the loss of a column without a guarantee
    counts as infinite, so the table has none.

    Examples
    --------
    >>> NoGuarantee().delta(5.0)
    1.0
    """

    name: ClassVar[str] = "none"

    def epsilon(self, delta: float) -> float:  # noqa: ARG002  # the protocol's signature
        """Infinite at every delta below one."""
        return float("inf")

    def delta(self, epsilon: float) -> float:  # noqa: ARG002  # the protocol's signature
        """One, whatever epsilon is."""
        return 1.0

    def renyi(self, orders: FloatArray) -> FloatArray:
        """Infinite at every order."""
        return np.full(np.shape(orders), np.inf)

    def split(self, shares: Sequence[float]) -> tuple[Self, ...]:
        """As many times no guarantee as there are shares."""
        return tuple(self for _ in shares)

    @classmethod
    def compose(cls, parts: Sequence[Self]) -> Self:  # noqa: ARG003  # the protocol's signature
        """No guarantee."""
        return cls()
