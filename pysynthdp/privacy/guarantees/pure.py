"""Pure epsilon-differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.slips import answers_slips
from pysynthdp.privacy.conversion.pure import pure_renyi
from pysynthdp.privacy.domain import nonnegative, probability, upward
from pysynthdp.privacy.guarantee import GUARANTEES, checked_shares

__all__ = ["PureDP"]


@GUARANTEES.register
@answers_slips
@dataclass(frozen=True, slots=True)
class PureDP:
    """Pure epsilon: no output is more than e^eps times likelier under one neighbour than under the other.

    Parameters
    ----------
    eps : float
        At least zero; zero means that the output does not depend on the data.

    Raises
    ------
    PrivacyError
        For a negative or infinite ``eps``; give a finite number.

    Notes
    -----
    Privacy: a number about a mechanism; reads nothing. Dwork et al. 2006; conversions by A5.

    Examples
    --------
    >>> round(PureDP(1.0).delta(0.5), 4)
    0.2876
    """

    eps: float
    name: ClassVar[str] = "pure"

    def __post_init__(self) -> None:
        nonnegative("eps", self.eps)

    def epsilon(self, delta: float) -> float:
        """Solve :meth:`delta` for epsilon: log(e^eps - delta (1 + e^eps)), at least zero."""
        delta = probability("delta", delta)
        inside = 1 - delta - delta * math.exp(-self.eps)
        return max(0.0, upward(self.eps + math.log(inside))) if inside > 0 else 0.0

    def delta(self, epsilon: float) -> float:
        """Delta of randomised response: (e^eps - e^epsilon)/(1 + e^eps), at least zero."""
        epsilon = nonnegative("epsilon", epsilon)
        if epsilon >= self.eps:
            return 0.0
        return min(1.0, upward(-math.expm1(epsilon - self.eps) / (1 + math.exp(-self.eps))))

    def renyi(self, orders: FloatArray) -> FloatArray:
        """Renyi curve of randomised response (A5)."""
        return pure_renyi(self.eps, orders)

    def split(self, shares: Sequence[float]) -> tuple[Self, ...]:
        """Parts whose epsilons are in proportion to ``shares``."""
        return tuple(type(self)(self.eps * share) for share in checked_shares(shares))

    @classmethod
    def compose(cls, parts: Sequence[Self]) -> Self:
        """Epsilons add (basic composition)."""
        return cls(upward(math.fsum(part.eps for part in parts)))
