"""T_m: multiple imputation of missing values, no synthesis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import IMPUTATION_ONLY, NO_NOISE, TWO_COPIES
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["MissingRubin1987"]


@RULES.register
class MissingRubin1987(Rule):
    """Rubin's (1987) rule, t reference."""

    name = "missing_rubin1987"
    aliases = ("T_m", "rubin1987")
    formula = "ubar + (1 + 1/m) b"
    source = "Rubin (1987), Multiple Imputation for Nonresponse in Surveys"
    right_when = (
        "Only missing values were imputed, with drawn parameters, "
        "so every copy carries the whole sampling variance ubar and (1 + 1/m) b is the missing information."
    )
    needs = ("between",)
    conditions = (
        TWO_COPIES,
        NO_NOISE,
        IMPUTATION_ONLY,
    )
    order = 60
    wald = "wald_missing_lrr1991"
    lr = "lr_missing_mengrubin1992"

    def variance(self, sums: Sums) -> FloatArray:
        """T_m = ubar + (1 + 1/m) b."""
        return sums.ubar + (1 + 1 / sums.m) * sums.between

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 + 1/r)^2 with r = (1 + 1/m) b/ubar."""
        return (sums.m - 1) * (1 + sums.ubar / ((1 + 1 / sums.m) * sums.between)) ** 2

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Relative increase in variance, its share of T, and the fraction of missing information."""
        riv = (1 + 1 / sums.m) * sums.between / sums.ubar
        df = self.df(sums)
        fmi = np.where(np.isfinite(df), (riv + 2 / (df + 3)) / (riv + 1), np.nan)
        return {"riv": riv, "lam": riv / (1 + riv), "fmi": fmi}
