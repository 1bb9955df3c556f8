"""Weighted survey, pseudo-populations, a simple random sample of each, one copy of each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    FITTED,
    INDEPENDENT,
    NO_NOISE,
    PSEUDO,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["PseudoPopulationSingle"]


@RULES.register
class PseudoPopulationSingle(Rule):
    """(1 + 1/m) b - 2 ubar, t reference with matched degrees of freedom."""

    name = "pseudo_population_single"
    formula = "(1 + 1/m) b - 2 ubar"
    source = (
        "Mathur, Si and Reiter (arXiv 2309.09115), one copy a population (SynRep-1), as their programs have "
        "it, but for the degrees of freedom; derived in docs/weights-population.md"
    )
    right_when = (
        "The spread between pseudo-populations holds the design's variance; "
        "that of the sample and of the copy, each ubar, are taken off."
    )
    needs = ("between",)
    order = 90
    conditions = (
        INDEPENDENT,
        TWO_COPIES,
        NO_NOISE,
        SOME_SYNTHETIC,
        ALL_SYNTHETIC,
        FITTED,
        PSEUDO,
    )
    wald = None

    def variance(self, sums: Sums) -> FloatArray:
        """T = (1 + 1/m) b - 2 ubar."""
        return (1 + 1 / sums.m) * sums.between - 2 * sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(T/((1 + 1/m) b))^2; NaN where T is not positive."""
        T = self.variance(sums)
        df = (sums.m - 1) * (T / ((1 + 1 / sums.m) * sums.between)) ** 2
        return np.where(T > 0, df, np.nan)

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Where T is negative."""
        return {"negative": self.variance(sums) <= 0}
