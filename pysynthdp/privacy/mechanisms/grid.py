"""Plug-in mean on a public grid with discrete Gaussian noise as a priced mechanism: H1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.guarantees.zcdp import ZCDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.grids import mean_on_grid
from pysynthdp.privacy.unit import Relation

__all__ = ["MeanOnGrid"]


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class MeanOnGrid:
    """Records around a clamped mean on the grid w/(n steps), drawn exactly (H1).

    Parameters
    ----------
    n : int
        Public number of records.
    lower, upper : float
        Public range.
    sigma : float
        Public noise scale of each record.
    steps : int
        Grid steps that make up w/n, w the width of the range.

    Notes
    -----
    Privacy: public constants only.
    """

    n: int
    lower: float
    upper: float
    sigma: float
    steps: int = 1
    name: ClassVar[str] = "mean_on_grid"
    entry: ClassVar[str] = "H1"
    source: ClassVar[str] = "Canonne, Kamath and Steinke 2020; formula reference, H1"
    assumptions: ClassVar[tuple[str, ...]] = (
        "values are clamped to the public range before any statistic",
        "sigma, the grid and the number of records are public",
        "the mean is rounded half up in exact arithmetic",
        "the noise is drawn from the operating system's entropy",
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = True

    def price(self, *, n_syn: int, copies: int) -> ZCDP:
        """Give N w^2/(2 n^2 sigma^2), zCDP."""
        return mean_on_grid(
            self.n, self.lower, self.upper, sigma=self.sigma, n_syn=n_syn, copies=copies, steps=self.steps
        )
