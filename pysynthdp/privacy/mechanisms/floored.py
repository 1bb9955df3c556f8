"""Gaussian column with estimated, publicly floored variance as a priced mechanism: C3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.gaussian_floored import Ddof, floored_variance
from pysynthdp.privacy.unit import Relation

__all__ = ["FlooredVariance"]


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class FlooredVariance:
    """Records from N(mean, max(s^2, floor^2)), values in [-half_width, half_width] (C3).

    Parameters
    ----------
    n : int
        Public number of records.
    half_width : float
        Values lie in [-half_width, half_width].
    floor : float
        Public smallest standard deviation.
    ddof : {0, 1}
        The variance divides by n - ddof.

    Notes
    -----
    Privacy: public constants only.
    """

    n: int
    half_width: float
    floor: float
    ddof: Ddof = 1
    name: ClassVar[str] = "floored_variance"
    entry: ClassVar[str] = "C3"
    source: ClassVar[str] = "Neunhoeffer, Latner and Drechsler, 4.3, corrected; Gil, Alajaji and Linder 2013"
    assumptions: ClassVar[tuple[str, ...]] = (
        "values are clamped to the public range before any statistic",
        "the floor and the number of records are public",
        "the arithmetic is exact",
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> RDP:
        """Renyi curve up to a finite order."""
        return floored_variance(
            self.n, self.half_width, self.floor, n_syn=n_syn, copies=copies, ddof=self.ddof
        )
