"""b/m: a synthetic census, and each copy a fresh random sample of it."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import CENSUS, FLAT, NO_NOISE, SOME_SYNTHETIC, TWO_COPIES
from pysynthdp.base.arrays import FloatArray

__all__ = ["CensusFreshSamples"]


@RULES.register
class CensusFreshSamples(Rule):
    """Drechsler and Reiter's (2010) rule for census samples, m - 1 degrees of freedom."""

    name = "census_fresh_samples"
    aliases = ("census",)
    formula = "b/m"
    source = "Drechsler and Reiter (2010), JASA 105; degrees of freedom: ours"
    right_when = (
        "A census has no sampling variance of its own, and each copy samples a synthetic census afresh, "
        "so all that varies is seen between the copies."
    )
    needs = ("between",)
    conditions = (
        TWO_COPIES,
        NO_NOISE,
        SOME_SYNTHETIC,
        CENSUS,
        FLAT,
    )
    order = 20
    wald = "wald_between_only"

    def variance(self, sums: Sums) -> FloatArray:
        """b/m; none where the copies agree exactly."""
        return np.where(sums.between > 0, sums.between / sums.m, np.nan)

    def covariance(self, sums: Sums) -> FloatArray:
        """B/m."""
        return sums.between / sums.m

    def df(self, sums: Sums) -> FloatArray:
        """Give m - 1."""
        return np.where(sums.between > 0, sums.m - 1.0, np.nan)
