"""The nested rule without its negative term; never negative, too wide."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import NESTED_IMPUTED, NO_NOISE, SAME_SIZE, SOME_SYNTHETIC
from pysynthdp.base.arrays import FloatArray

__all__ = ["MissingThenPartialConservative"]


@RULES.register
class MissingThenPartialConservative(Rule):
    """(1 + 1/m) B + ubar, t reference."""

    name = "missing_then_partial_conservative"
    formula = "(1 + 1/m) B + ubar"
    source = "Reiter (2004), Survey Methodology 30; degrees of freedom: ours"
    right_when = (
        "As for 'missing_then_partial_reiter2004' when that is negative; "
        "it counts the synthesis twice and is too wide."
    )
    needs = (
        "between",
        "nests",
    )
    conditions = (
        NO_NOISE,
        SOME_SYNTHETIC,
        NESTED_IMPUTED,
        SAME_SIZE,
    )
    nested = True
    wald = "wald_missing_lrr1991"

    def variance(self, sums: Sums) -> FloatArray:
        """T = (1 + 1/m) B + ubar."""
        return (1 + 1 / sums.m) * sums.between + sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 + ubar/((1 + 1/m) B))^2."""
        return (sums.m - 1) * (1 + sums.ubar / ((1 + 1 / sums.m) * sums.between)) ** 2
