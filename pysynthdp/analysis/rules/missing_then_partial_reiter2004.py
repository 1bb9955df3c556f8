"""Missing values imputed m times, each completed file synthesised r times."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import NESTED_IMPUTED, NO_NOISE, SAME_SIZE, SOME_SYNTHETIC
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["MissingThenPartialReiter2004"]


@RULES.register
class MissingThenPartialReiter2004(Rule):
    """Reiter's (2004) rule for nested copies, t reference with matched degrees of freedom."""

    name = "missing_then_partial_reiter2004"
    aliases = ("nested", "reiter2004")
    formula = "(1 + 1/m) B - W/r + ubar"
    source = "Reiter (2004), Survey Methodology 30"
    right_when = (
        "Missing values were imputed m times and each completed file synthesised r times, "
        "so B holds what was missing, and W/r of it is only the synthesis seen twice."
    )
    needs = (
        "between",
        "nests",
        "within_nests",
    )
    conditions = (
        NO_NOISE,
        SOME_SYNTHETIC,
        NESTED_IMPUTED,
        SAME_SIZE,
    )
    order = 10
    wald = "wald_nested"
    lr = "lr_nested"
    nested = True
    instead = "missing_then_partial_conservative"

    def variance(self, sums: Sums) -> FloatArray:
        """T = (1 + 1/m) B - W/r + ubar."""
        return (1 + 1 / sums.m) * sums.between - sums.within_nests / sums.r + sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """Match moments: T^2/(c1^2/(m - 1) + c2^2/(m (r - 1))), c1 = (1 + 1/m) B and c2 = the term in W."""
        T = self.variance(sums)
        between = ((1 + 1 / sums.m) * sums.between) ** 2 / (sums.m - 1)
        within = (sums.within_nests / sums.r) ** 2 / (sums.m * (sums.r - 1))
        return np.where(T > 0, T**2 / (between + within), np.nan)

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Where T is negative."""
        return {"negative": self.variance(sums) <= 0}
