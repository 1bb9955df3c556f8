"""T_PPD with the effective number of rows: noise acts as a loss of rows."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    DRAWN,
    EFFECTIVE,
    FLAT,
    NO_SUBSAMPLE,
    NOISE_REDRAWN,
    SOME_SYNTHETIC,
)
from pysynthdp.base.arrays import FloatArray

__all__ = ["EffectiveRowsDrawn"]


@RULES.register
class EffectiveRowsDrawn(Rule):
    """ubar (g + (1 + g)/m) with g = n_syn/n_eff, normal reference; one copy is enough."""

    name = "effective_rows_drawn"
    aliases = ("T_PPD_eff",)
    formula = "ubar (g + (1 + g)/m), g = n_syn/n_eff"
    source = "Derived for this package, checked by simulation; T_PPD of Raab, Nowok and Dibben (2016)"
    right_when = (
        "All columns are numbers and the noise was added to whitened rows, where it has the shape of "
        "sampling error, so it acts as a loss of rows; each copy has its own drawn parameters."
    )
    needs = ("n_eff",)
    conditions = (NOISE_REDRAWN, EFFECTIVE, ALL_SYNTHETIC, SOME_SYNTHETIC, DRAWN, FLAT, NO_SUBSAMPLE)
    order = 26
    wald = "wald_known_variance"

    def variance(self, sums: Sums) -> FloatArray:
        """T = ubar (g + (1 + g)/m)."""
        g = sums.effective_ratio
        return sums.ubar * (g + (1 + g) / sums.m)
