"""T_p with f ubar: partial or complete synthesis, copies of any size; the default."""

from __future__ import annotations

from collections.abc import Mapping

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    FLAT,
    NO_NOISE_BUT_FRESH,
    NOT_CENSUS,
    SIZES,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["PartialSizeAdjusted"]


@RULES.register
class PartialSizeAdjusted(Rule):
    """T_p with the within variance scaled to the confidential file's size, t reference."""

    name = "partial_size_adjusted"
    aliases = ("partial", "size_adjusted")
    formula = "f ubar + b/m"
    source = "Drechsler (2018), Privacy in Statistical Databases, LNCS 11126; Raab, Nowok and Dibben (2016)"
    right_when = (
        "f ubar is the sampling variance of the confidential file and b/m what the synthesis adds, "
        "which holds for partial and complete synthesis, fitted and drawn parameters, and any size of copy."
    )
    needs = (
        "between",
        "sizes",
    )
    conditions = (
        TWO_COPIES,
        NO_NOISE_BUT_FRESH,
        SOME_SYNTHETIC,
        SIZES,
        FLAT,
        NOT_CENSUS,
    )
    order = 40
    wald = "wald_partial_reiter2005"
    lr = "lr_partial_reiter2005"

    def variance(self, sums: Sums) -> FloatArray:
        """T = f ubar + b/m with f = n_syn/n_org."""
        return sums.ratio * sums.ubar + sums.between / sums.m

    def within(self, sums: Sums) -> FloatArray:
        """Give f ubar: the variance in a copy as large as the confidential file."""
        return sums.ratio * sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 + f ubar/(b/m))^2."""
        return (sums.m - 1) * (1 + self.within(sums) / (sums.between / sums.m)) ** 2

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """r: the part that the synthesis adds, (b/m)/(f ubar)."""
        return {"r": sums.between / sums.m / self.within(sums)}
