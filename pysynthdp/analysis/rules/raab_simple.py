"""T_s: complete synthesis at the fitted parameters; one copy is enough."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    FITTED,
    FLAT,
    NO_NOISE,
    NO_SUBSAMPLE,
    SIZES,
    SOME_SYNTHETIC,
)
from pysynthdp.base.arrays import FloatArray

__all__ = ["RaabSimple"]


@RULES.register
class RaabSimple(Rule):
    """T_s of Raab, Nowok and Dibben, normal reference."""

    name = "raab_simple"
    aliases = ("T_s",)
    formula = "ubar (f + 1/m)"
    source = "Raab, Nowok and Dibben (2016), Journal of Privacy and Confidentiality 7(3)"
    right_when = (
        "Every value in the model is synthetic and drawn at the fitted parameters, "
        "so one copy's own variance tells how far copies lie apart (at most, where rows are drawn evenly)."
    )
    needs = ("sizes",)
    conditions = (
        NO_NOISE,
        ALL_SYNTHETIC,
        SOME_SYNTHETIC,
        FITTED,
        SIZES,
        FLAT,
        NO_SUBSAMPLE,
    )
    order = 50
    wald = "wald_known_variance"

    def variance(self, sums: Sums) -> FloatArray:
        """T_s = ubar (n_syn/n_org + 1/m)."""
        return sums.ubar * (sums.ratio + 1 / sums.m)
