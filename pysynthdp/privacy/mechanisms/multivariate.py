"""Multivariate normal with a public ridge as a priced mechanism: D6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.multivariate_normal import ridged_normal
from pysynthdp.privacy.unit import Relation

__all__ = ["RidgedNormal"]


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class RidgedNormal:
    """Records from N(mean, covariance + ridge I), columns scaled to [-1, 1] (D6).

    Parameters
    ----------
    n : int
        Public number of records.
    columns : int
        Number of columns.
    ridge : float
        Public ridge on the diagonal of the covariance.

    Notes
    -----
    Privacy: public constants only.
    """

    n: int
    columns: int
    ridge: float
    name: ClassVar[str] = "ridged_normal"
    entry: ClassVar[str] = "D6"
    source: ClassVar[str] = (
        "Miura et al., On Renyi DP in Statistics-Based Synthetic Data Generation, corrected and made global"
    )
    assumptions: ClassVar[tuple[str, ...]] = (
        "columns are clamped and scaled to [-1, 1] by public ranges",
        "the ridge and the number of records are public",
        "the covariance divides by n",
        "the arithmetic is exact",
    )
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> RDP:
        """Renyi curve up to a finite order."""
        return ridged_normal(self.n, self.columns, self.ridge, n_syn=n_syn, copies=copies)
