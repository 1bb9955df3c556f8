"""Binary and categorical columns with a public prior as priced mechanisms: F1, F7, F8 and G1, G3, G4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.mechanism import MECHANISMS
from pysynthdp.privacy.prices.cells import CellDraw
from pysynthdp.privacy.prices.cells_curves import binary_draws, categorical_draws
from pysynthdp.privacy.unit import Relation

__all__ = ["CellsByUrn", "CellsPerCopy", "CellsPerRecord"]

_ZHENG = "Zheng, The Differential Privacy of Bayesian Inference, chapter 6, corrected"
_ASSUMED = (
    "the list of levels, the prior and the number of records are public",
    "every unlisted or missing cell goes to a declared level",
)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class CellsPerRecord:
    """Independent draws of a level by posterior mode or mean (F1, F7 for two levels; G1, G4 for more).

    Parameters
    ----------
    n : int
        Public number of records.
    prior : tuple of float
        Public prior weight of each level.
    draw : {"map", "many"}
        Posterior mode plugged in (weights above one), or posterior mean: one parameter a record.

    Notes
    -----
    Privacy: public constants only; see ``binary_draws`` and ``categorical_draws``. Draws from whole-number
    weights have exactly this law, so the price holds for the exact sampler too.
    """

    n: int
    prior: tuple[float, ...]
    draw: Literal["map", "many"] = "many"
    name: ClassVar[str] = "cells_per_record"
    entry: ClassVar[str] = "F1, F7, G1, G4"
    source: ClassVar[str] = _ZHENG
    assumptions: ClassVar[tuple[str, ...]] = _ASSUMED
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = True

    def price(self, *, n_syn: int, copies: int) -> RDP:
        """Give the curve over all tables, with pure epsilon."""
        return _price(self.n, self.prior, n_syn, copies, self.draw)


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class CellsPerCopy:
    """Draws of a level given one parameter a copy, drawn from its posterior (F1, F8; G1, G3).

    Parameters
    ----------
    n : int
        Public number of records.
    prior : tuple of float
        Public prior weight of each level.

    Notes
    -----
    Privacy: public constants only; see ``binary_draws`` and ``categorical_draws``.
    """

    n: int
    prior: tuple[float, ...]
    name: ClassVar[str] = "cells_per_copy"
    entry: ClassVar[str] = "F1, F8, G1, G3"
    source: ClassVar[str] = _ZHENG
    assumptions: ClassVar[tuple[str, ...]] = (*_ASSUMED, "the arithmetic is exact")
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = False

    def price(self, *, n_syn: int, copies: int) -> RDP:
        """Give the curve over all tables, once a copy, with pure epsilon."""
        return _price(self.n, self.prior, n_syn, copies, "one")


@MECHANISMS.register
@dataclass(frozen=True, slots=True)
class CellsByUrn:
    """The same law as one parameter a copy, drawn without the parameter by a Polya urn of whole balls.

    Parameters
    ----------
    n : int
        Public number of records.
    prior : tuple of float
        Public prior weight of each level.

    Notes
    -----
    Privacy: public constants only. Given its first j records, the next of a copy has level c with probability
    (n_c + prior_c + j_c)/(n + total + j); in whole numbers that is drawn exactly, so the price of
    ``CellsPerCopy`` holds for the code as it runs.
    """

    n: int
    prior: tuple[float, ...]
    name: ClassVar[str] = "cells_by_urn"
    entry: ClassVar[str] = "F1, F8, G1, G3, urn"
    source: ClassVar[str] = _ZHENG
    assumptions: ClassVar[tuple[str, ...]] = _ASSUMED
    relations: ClassVar[tuple[Relation, ...]] = ("replace_one",)
    exact: ClassVar[bool] = True

    def price(self, *, n_syn: int, copies: int) -> RDP:
        """Give the curve over all tables, once a copy, with pure epsilon."""
        return _price(self.n, self.prior, n_syn, copies, "one")


def _price(n: int, prior: tuple[float, ...], n_syn: int, copies: int, draw: CellDraw) -> RDP:
    """Two cells have a curve of their own, smaller than that of more."""
    if len(prior) == 2:
        return binary_draws(n, (prior[0], prior[1]), n_syn=n_syn, copies=copies, draw=draw)
    return categorical_draws(n, prior, n_syn=n_syn, copies=copies, draw=draw)
