"""Noisy cross-products as a priced mechanism, paid once at the fit: H4 on integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import upward
from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.noise.moment_scales import cost_of, count_square, gram_square, histogram_square
from pysynthdp.privacy.unit import Relation

__all__ = ["NoisyMoments"]


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class NoisyMoments:
    """Cross-products of clipped integer rows and counts of rows, with discrete Gaussian noise, asked once.

    Parameters
    ----------
    row_bounds : tuple of int
        For each question the largest squared length of a row in squared grid steps; 0 for a count.
    scales : tuple of int
        For each question the scale of the noise in grid steps.
    relation : {"replace_one", "add_remove"}
        Which tables are neighbours.
    histograms : tuple of int
        For each question the number of histograms that it asks for; empty where none does.

    Notes
    -----
    Privacy: public constants only. The price is the sum of square/(2 scale^2), with square = 9801 bound^2
    under replacement and half of it when a row is added or removed, computed in integers. For histograms
    square counts two (one) changed ranges a column.

    Examples
    --------
    >>> NoisyMoments((10,), (9900,), "replace_one").price(n_syn=1, copies=1).rho.__round__(6)
    0.005
    """

    row_bounds: tuple[int, ...]
    scales: tuple[int, ...]
    relation: Relation
    histograms: tuple[int, ...] = ()
    name: ClassVar[str] = "noisy_moments"
    entry: ClassVar[str] = "H4"
    source: ClassVar[str] = "Canonne, Kamath and Steinke (2020), The Discrete Gaussian"
    assumptions: ClassVar[tuple[str, ...]] = (
        "levels, bounds, hints, visit order and methods are public",
        "the noise comes from the operating system's entropy, on whole numbers",
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one", "add_remove")
    exact: ClassVar[bool] = True
    once: ClassVar[bool] = True
    noises: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.row_bounds) != len(self.scales) or not self.scales or min(self.scales) < 1:
            raise PrivacyError(
                "each question needs its row bound and a scale of at least one", kind="mechanism"
            )
        if self.histograms and len(self.histograms) != len(self.scales):
            raise PrivacyError(
                "histograms needs one number for each question, or none at all", kind="mechanism"
            )

    def price(self, *, n_syn: int, copies: int) -> ZCDP:  # noqa: ARG002  # records drawn cost nothing
        """Add the cost of every question, however much is drawn."""
        asked = self.histograms or (0,) * len(self.scales)
        squares = [self._square(*each) for each in zip(self.row_bounds, asked, strict=True)]
        costs = [cost_of(square, scale) for square, scale in zip(squares, self.scales, strict=True)]
        return ZCDP(upward(float(sum(costs, Fraction(0)))))

    def _square(self, row_bound: int, histograms: int) -> Fraction:
        """Squared sensitivity of one question."""
        if histograms:
            return histogram_square(histograms, self.relation)
        return gram_square(row_bound, self.relation) if row_bound else count_square()
