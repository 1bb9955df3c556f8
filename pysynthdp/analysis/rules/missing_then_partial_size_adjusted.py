"""The nested rule for imputed and synthesised tables, for copies of any size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import NESTED_IMPUTED, NO_NOISE, SIZES, SOME_SYNTHETIC
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["MissingThenPartialSizeAdjusted"]


@RULES.register
class MissingThenPartialSizeAdjusted(Rule):
    """Reiter's (2004) rule with the within variance scaled to the confidential file's size, t reference."""

    name = "missing_then_partial_size_adjusted"
    aliases = ("nested_size_adjusted",)
    formula = "(1 + 1/m) B - W/r + f ubar"
    source = "Reiter (2004), Survey Methodology 30, with f ubar as in Drechsler (2018); the step is ours"
    right_when = (
        "As for 'missing_then_partial_reiter2004', with copies of another size than the confidential file: "
        "f ubar is the sampling variance in a file of its size, and B and W show the copies' own size."
    )
    needs = (
        "between",
        "sizes",
        "nests",
        "within_nests",
    )
    conditions = (
        NO_NOISE,
        SOME_SYNTHETIC,
        NESTED_IMPUTED,
        SIZES,
    )
    order = 12
    wald = "wald_nested"
    lr = "lr_nested"
    nested = True

    def variance(self, sums: Sums) -> FloatArray:
        """T = (1 + 1/m) B - W/r + f ubar with f = n_syn/n_org."""
        return (1 + 1 / sums.m) * sums.between - sums.within_nests / sums.r + self.within(sums)

    def within(self, sums: Sums) -> FloatArray:
        """Give f ubar: the variance in a copy as large as the confidential file."""
        return sums.ratio * sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """Match moments: T^2/(c1^2/(m - 1) + c2^2/(m (r - 1))), c1 = (1 + 1/m) B and c2 = the term in W."""
        T = self.variance(sums)
        between = ((1 + 1 / sums.m) * sums.between) ** 2 / (sums.m - 1)
        within = (sums.within_nests / sums.r) ** 2 / (sums.m * (sums.r - 1))
        return np.where(T > 0, T**2 / (between + within), np.nan)

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Where T is negative."""
        return {"negative": self.variance(sums) <= 0}

    def undefined(self, sums: Sums) -> str:
        """Say how T becomes positive; the conservative form is for copies of the file's own size."""
        del sums
        return (
            f"T = {self.formula} is not positive, so {self.name} gives no interval and no p-value; draw more "
            "copies of each imputed table"
        )
