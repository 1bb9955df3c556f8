"""Full synthesis in two stages with drawn parameters, m nests of r copies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    DRAWN,
    INDEPENDENT,
    NESTED_TWO_STAGE,
    NO_NOISE,
    SOME_SYNTHETIC,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["TwoStageFull"]


@RULES.register
class TwoStageFull(Rule):
    """(1 + 1/m) B + (1 - 1/r) W - ubar, t reference with matched degrees of freedom."""

    name = "two_stage_full"
    formula = "(1 + 1/m) B + (1 - 1/r) W - ubar"
    source = "Reiter and Drechsler (2010), Statistica Sinica 20"
    right_when = (
        "Populations were imputed in two stages with drawn parameters and samples of them released, "
        "so ubar is taken off the spread between and within nests."
    )
    needs = (
        "between",
        "nests",
        "within_nests",
    )
    conditions = (
        INDEPENDENT,
        NO_NOISE,
        SOME_SYNTHETIC,
        ALL_SYNTHETIC,
        DRAWN,
        NESTED_TWO_STAGE,
    )
    nested = True

    def variance(self, sums: Sums) -> FloatArray:
        """T = (1 + 1/m) B + (1 - 1/r) W - ubar."""
        return (1 + 1 / sums.m) * sums.between + (1 - 1 / sums.r) * sums.within_nests - sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """Match moments: T^2/(c1^2/(m - 1) + c2^2/(m (r - 1))), c1 = (1 + 1/m) B and c2 = the term in W."""
        T = self.variance(sums)
        between = ((1 + 1 / sums.m) * sums.between) ** 2 / (sums.m - 1)
        within = ((1 - 1 / sums.r) * sums.within_nests) ** 2 / (sums.m * (sums.r - 1))
        return np.where(T > 0, T**2 / (between + within), np.nan)

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Where T is negative."""
        return {"negative": self.variance(sums) <= 0}
