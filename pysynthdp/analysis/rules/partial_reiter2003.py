"""T_p: partial synthesis with copies as large as the confidential file."""

from __future__ import annotations

from collections.abc import Mapping

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    FLAT,
    NO_NOISE_BUT_FRESH,
    NOT_CENSUS,
    SAME_SIZE,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["PartialReiter2003"]


@RULES.register
class PartialReiter2003(Rule):
    """T_p of Reiter (2003), t reference."""

    name = "partial_reiter2003"
    aliases = ("T_p", "reiter2003")
    formula = "ubar + b/m"
    source = "Reiter (2003), Survey Methodology 29"
    right_when = (
        "The copies are as large as the confidential file, whose sampling variance ubar estimates, "
        "and b/m is what the synthesis adds."
    )
    needs = ("between",)
    conditions = (
        TWO_COPIES,
        NO_NOISE_BUT_FRESH,
        SOME_SYNTHETIC,
        SAME_SIZE,
        FLAT,
        NOT_CENSUS,
    )
    wald = "wald_partial_reiter2005"
    lr = "lr_partial_reiter2005"

    def variance(self, sums: Sums) -> FloatArray:
        """T_p = ubar + b/m."""
        return sums.ubar + sums.between / sums.m

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 + ubar/(b/m))^2."""
        return (sums.m - 1) * (1 + self.within(sums) / (sums.between / sums.m)) ** 2

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """r: the part that the synthesis adds, (b/m)/ubar."""
        return {"r": sums.between / sums.m / sums.ubar}
