"""Noisy linear statistics as a priced mechanism, paid once at the fit: E1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.domain import positive
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.unit import Relation

__all__ = ["NoisyStatisticsOnce"]


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class NoisyStatisticsOnce:
    """Whole-number statistics with discrete Laplace noise, answered once; draws are post-processing (E1).

    Parameters
    ----------
    eps : float
        Pure epsilon of all statistics together.
    functions : int
        Number of statistics.
    row_gap, row_norm : int
        Largest sum of absolute changes when a record is replaced, and when one is added or removed.

    Notes
    -----
    Privacy: public constants only. The noise has scale row_gap/eps or row_norm/eps, by the neighbour
    relation, so the price is epsilon under both; it does not depend on the number of records.
    """

    eps: float
    functions: int
    row_gap: int
    row_norm: int
    name: ClassVar[str] = "noisy_statistics"
    entry: ClassVar[str] = "E1"
    source: ClassVar[str] = (
        "Boedihardjo, Strohmer and Vershynin, Privacy of Synthetic Data: A Statistical Framework, Algorithm 1"
    )
    assumptions: ClassVar[tuple[str, ...]] = (
        "levels, bins and test functions are public",
        "a test function reads one record at a time, and fails on none",
        "the noise comes from the operating system's entropy, on whole numbers",
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one", "add_remove")
    exact: ClassVar[bool] = True
    once: ClassVar[bool] = True

    def price(self, *, n_syn: int, copies: int) -> PureDP:  # noqa: ARG002  # records drawn cost nothing
        """Give epsilon, however much is drawn."""
        return PureDP(positive("eps", self.eps))
