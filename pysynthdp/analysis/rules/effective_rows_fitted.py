"""T_s with the effective number of rows: copies that share one noisy fit."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    EFFECTIVE,
    FITTED,
    FLAT,
    NO_SUBSAMPLE,
    SHARED_NOISE,
    SOME_SYNTHETIC,
)
from pysynthdp.base.arrays import FloatArray

__all__ = ["EffectiveRowsFitted"]


@RULES.register
class EffectiveRowsFitted(Rule):
    """ubar (g + 1/m) with g = n_syn/n_eff, normal reference; one copy is enough."""

    name = "effective_rows_fitted"
    aliases = ("T_s_eff",)
    formula = "ubar (g + 1/m), g = n_syn/n_eff"
    source = "Derived for this package, checked by simulation; T_s of Raab, Nowok and Dibben (2016)"
    right_when = (
        "All columns are numbers and the noise was added to whitened rows, where it has the shape of "
        "sampling error, so it acts as a loss of rows; all copies share one fit."
    )
    needs = ("n_eff",)
    conditions = (SHARED_NOISE, EFFECTIVE, ALL_SYNTHETIC, SOME_SYNTHETIC, FITTED, FLAT, NO_SUBSAMPLE)
    order = 27
    wald = "wald_known_variance"

    def variance(self, sums: Sums) -> FloatArray:
        """T = ubar (g + 1/m)."""
        return sums.ubar * (sums.effective_ratio + 1 / sums.m)
