"""Partial synthesis in two stages, m nests of r copies."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import NESTED_TWO_STAGE, NO_NOISE, SAME_SIZE, SOME_SYNTHETIC
from pysynthdp.base.arrays import FloatArray

__all__ = ["TwoStagePartial"]


@RULES.register
class TwoStagePartial(Rule):
    """ubar + B/m, t reference."""

    name = "two_stage_partial"
    formula = "ubar + B/m"
    source = "Reiter and Drechsler (2010), Statistica Sinica 20"
    right_when = (
        "Some variables were synthesised m times and others r times within each, "
        "and the means of the nests show all that both stages add."
    )
    needs = (
        "between",
        "nests",
    )
    conditions = (
        NO_NOISE,
        SOME_SYNTHETIC,
        NESTED_TWO_STAGE,
        SAME_SIZE,
    )
    order = 11
    nested = True
    wald = "wald_partial_reiter2005"

    def variance(self, sums: Sums) -> FloatArray:
        """T = ubar + B/m."""
        return sums.ubar + sums.between / sums.m

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 + m ubar/B)^2."""
        return (sums.m - 1) * (1 + sums.m * sums.ubar / sums.between) ** 2
