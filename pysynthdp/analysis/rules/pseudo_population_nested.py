"""Weighted survey, pseudo-populations, a simple random sample of each, r copies of each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    INDEPENDENT,
    NESTED_PSEUDO,
    NO_NOISE,
    SOME_SYNTHETIC,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["PseudoPopulationNested"]


@RULES.register
class PseudoPopulationNested(Rule):
    """(1 + 1/m) B - W/r - ubar, t reference with matched degrees of freedom."""

    name = "pseudo_population_nested"
    formula = "(1 + 1/m) B - W/r - ubar"
    source = (
        "Mathur, Si and Reiter (arXiv 2309.09115), several copies a population (SynRep-R), as their programs "
        "have it, but for the degrees of freedom; derived in docs/weights-population.md"
    )
    right_when = (
        "The spread between pseudo-populations holds the design's variance; "
        "W/r, seen within them, and the sample's own ubar are taken off."
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
        NESTED_PSEUDO,
    )
    nested = True
    order = 91

    def variance(self, sums: Sums) -> FloatArray:
        """T = (1 + 1/m) B - W/r - ubar."""
        return (1 + 1 / sums.m) * sums.between - sums.within_nests / sums.r - sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """Match moments: T^2/(c1^2/(m - 1) + c2^2/(m (r - 1))), c1 = (1 + 1/m) B and c2 = the term in W."""
        T = self.variance(sums)
        between = ((1 + 1 / sums.m) * sums.between) ** 2 / (sums.m - 1)
        within = (sums.within_nests / sums.r) ** 2 / (sums.m * (sums.r - 1))
        return np.where(T > 0, T**2 / (between + within), np.nan)

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Where T is negative."""
        return {"negative": self.variance(sums) <= 0}
