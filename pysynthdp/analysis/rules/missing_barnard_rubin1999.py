"""T_m with the degrees of freedom for small samples."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import IMPUTATION_ONLY, NO_NOISE, TWO_COPIES
from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.errors import CombiningRuleError

__all__ = ["MissingBarnardRubin1999"]


@RULES.register
class MissingBarnardRubin1999(Rule):
    """Rubin's rule with Barnard and Rubin's (1999) degrees of freedom."""

    name = "missing_barnard_rubin1999"
    formula = "ubar + (1 + 1/m) b"
    source = "Barnard and Rubin (1999), Biometrika 86"
    right_when = (
        "Only missing values were imputed, with drawn parameters, "
        "and the sample is small enough for the complete-data degrees of freedom to matter."
    )
    needs = (
        "between",
        "df_com",
    )
    conditions = (
        TWO_COPIES,
        NO_NOISE,
        IMPUTATION_ONLY,
    )
    wald = "wald_missing_lrr1991"
    lr = "lr_missing_mengrubin1992"

    def variance(self, sums: Sums) -> FloatArray:
        """T_m = ubar + (1 + 1/m) b."""
        return sums.ubar + (1 + 1 / sums.m) * sums.between

    def _observed(self, sums: Sums) -> FloatArray:
        """Degrees of freedom that the observed values leave."""
        if sums.df_com is None:
            raise CombiningRuleError(
                "missing_barnard_rubin1999 needs df_com; give it or use 'missing_rubin1987'", kind="rule"
            )
        lam = (1 + 1 / sums.m) * sums.between / self.variance(sums)
        return (sums.df_com + 1) / (sums.df_com + 3) * sums.df_com * (1 - lam)

    def df(self, sums: Sums) -> FloatArray:
        """nu_old nu_obs/(nu_old + nu_obs)."""
        old = (sums.m - 1) * (1 + sums.ubar / ((1 + 1 / sums.m) * sums.between)) ** 2
        return 1 / (1 / old + 1 / self._observed(sums))

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Relative increase in variance, its share of T, and the fraction of missing information."""
        riv = (1 + 1 / sums.m) * sums.between / sums.ubar
        df = self.df(sums)
        fmi = np.where(np.isfinite(df), (riv + 2 / (df + 3)) / (riv + 1), np.nan)
        return {"df_obs": self._observed(sums), "riv": riv, "lam": riv / (1 + riv), "fmi": fmi}
