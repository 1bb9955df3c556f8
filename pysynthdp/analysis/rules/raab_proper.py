"""T_PPD: complete synthesis at drawn parameters; one copy is enough."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    DRAWN,
    FLAT,
    NO_NOISE,
    NO_SUBSAMPLE,
    SIZES,
    SOME_SYNTHETIC,
)
from pysynthdp.base.arrays import FloatArray

__all__ = ["RaabProper"]


@RULES.register
class RaabProper(Rule):
    """T_PPD of Raab, Nowok and Dibben, normal reference."""

    name = "raab_proper"
    aliases = ("T_PPD",)
    formula = "ubar (f + (1 + f)/m)"
    source = "Raab, Nowok and Dibben (2016), Journal of Privacy and Confidentiality 7(3)"
    right_when = (
        "Every value in the model is synthetic and each copy has its own drawn parameters, "
        "so one copy's own variance tells how far copies lie apart (at most, where rows are drawn evenly)."
    )
    needs = ("sizes",)
    conditions = (
        NO_NOISE,
        ALL_SYNTHETIC,
        SOME_SYNTHETIC,
        DRAWN,
        SIZES,
        FLAT,
        NO_SUBSAMPLE,
    )
    order = 51
    wald = "wald_known_variance"

    def variance(self, sums: Sums) -> FloatArray:
        """T_PPD = ubar (f + (1 + f)/m) with f = n_syn/n_org."""
        return sums.ubar * (sums.ratio + (1 + sums.ratio) / sums.m)
