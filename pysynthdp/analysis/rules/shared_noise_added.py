"""All copies from one noisy fit, whose noise variance v is known and added."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    FLAT,
    NOISE_VARIANCE,
    NOT_CENSUS,
    SHARED_NOISE,
    SIZES,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import FloatArray

__all__ = ["SharedNoiseAdded"]


@RULES.register
class SharedNoiseAdded(Rule):
    """f ubar + b/m + v, t reference."""

    name = "shared_noise_added"
    aliases = ("shared_noise",)
    formula = "f ubar + b/m + v"
    source = "Derived for this package, checked by simulation"
    right_when = (
        "All copies come from one fit with privacy noise, which they cannot show between them, "
        "so the known variance v of that noise is added."
    )
    needs = (
        "between",
        "sizes",
        "noise_var",
    )
    conditions = (
        TWO_COPIES,
        SOME_SYNTHETIC,
        SHARED_NOISE,
        NOISE_VARIANCE,
        SIZES,
        FLAT,
        NOT_CENSUS,
    )
    order = 30
    wald = "wald_partial_reiter2005"

    def variance(self, sums: Sums) -> FloatArray:
        """T = f ubar + b/m + v."""
        return sums.ratio * sums.ubar + sums.between / sums.m + sums.noise

    def within(self, sums: Sums) -> FloatArray:
        """Give f ubar + v: all that is not estimated from the spread of the copies."""
        return sums.ratio * sums.ubar + sums.noise

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(T/(b/m))^2."""
        return (sums.m - 1) * (self.variance(sums) / (sums.between / sums.m)) ** 2
