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
    rows : int
        The most rows of one unit among those that are summed, where units are wholes (``PrivacyUnit.whole``)
        and may have more or fewer rows in a neighbouring table; else 1, and the unit says it.

    Notes
    -----
    Privacy: public constants only. The price is the sum of square/(2 scale^2), with square = 9801 bound^2
    under replacement and half of it when a row is added or removed, computed in integers. For histograms
    square counts two (one) changed ranges a column.

    With k = ``rows`` each square is k^2 times as large, also where a unit has j rows in one table and i in
    the other, j, i <= k. For cross-products let A and B be the sums of zz' over its rows in each; both are
    positive semidefinite, so <A, B> >= 0 and |A - B|_F^2 <= |A|_F^2 + |B|_F^2 <= 2 k^2 bound^2, and the
    scaled vector has squared length at most 99^2/2 of that (:func:`gram_square`). Histograms are not negative
    either: |a - b|^2 <= |a|^2 + |b|^2 <= 2 k^2 a column. A count of rows moves by at most k. When a unit is
    added or removed B is zero.

    Examples
    --------
    >>> NoisyMoments((10,), (9900,), "replace_one").price(n_syn=1, copies=1).rho.__round__(6)
    0.005
    """

    row_bounds: tuple[int, ...]
    scales: tuple[int, ...]
    relation: Relation
    histograms: tuple[int, ...] = ()
    rows: int = 1
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
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise PrivacyError("rows must be a whole number of at least one", kind="mechanism")

    def price(self, *, n_syn: int, copies: int) -> ZCDP:  # noqa: ARG002  # records drawn cost nothing
        """Add the cost of every question, however much is drawn."""
        asked = self.histograms or (0,) * len(self.scales)
        squares = [self._square(*each) for each in zip(self.row_bounds, asked, strict=True)]
        costs = [cost_of(square, scale) for square, scale in zip(squares, self.scales, strict=True)]
        return ZCDP(upward(float(sum(costs, Fraction(0)) * self.rows**2)))

    def _square(self, row_bound: int, histograms: int) -> Fraction:
        """Squared sensitivity of one question."""
        if histograms:
            return histogram_square(histograms, self.relation)
        return gram_square(row_bound, self.relation) if row_bound else count_square()
