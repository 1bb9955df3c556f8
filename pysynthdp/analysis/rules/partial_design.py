"""T_p with f ubar for estimates under a survey's design, of which few sampling units tell the variance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

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

__all__ = ["PartialDesign"]


@RULES.register
class PartialDesign(Rule):
    """T_p with f ubar, whose degrees of freedom count those of the design."""

    name = "partial_design"
    aliases = ("design",)
    formula = "f ubar + b/m"
    source = (
        "Drechsler (2018), Privacy in Statistical Databases, LNCS 11126; degrees of freedom by Satterthwaite "
        "(1946), Biometrics Bulletin 2"
    )
    right_when = (
        "f ubar is the variance of the survey's design, known by its degrees of freedom, and b/m what the "
        "synthesis adds, known by m - 1."
    )
    needs = (
        "between",
        "sizes",
        "df_com",
    )
    conditions = (
        TWO_COPIES,
        NO_NOISE_BUT_FRESH,
        SOME_SYNTHETIC,
        SIZES,
        FLAT,
        NOT_CENSUS,
    )
    wald = "wald_partial_reiter2005"

    def variance(self, sums: Sums) -> FloatArray:
        """T = f ubar + b/m with f = n_syn/n_org."""
        return sums.ratio * sums.ubar + sums.between / sums.m

    def within(self, sums: Sums) -> FloatArray:
        """Give f ubar: the variance of the design."""
        return sums.ratio * sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """T^2/((f ubar)^2/nu_design + (b/m)^2/(m - 1)); (m - 1)(T/(b/m))^2 for many sampling units."""
        design = np.inf if sums.df_com is None else sums.df_com
        spread = self.within(sums) ** 2 / design + (sums.between / sums.m) ** 2 / (sums.m - 1)
        return self.variance(sums) ** 2 / spread

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """r: the part that the synthesis adds, (b/m)/(f ubar)."""
        return {"r": sums.between / sums.m / self.within(sums)}
