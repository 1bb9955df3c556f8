"""What the confidential file itself would print: no inference to the population."""

from __future__ import annotations

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import NO_NOISE, SIZES, SOME_SYNTHETIC
from pysynthdp.base.arrays import FloatArray

__all__ = ["OriginalDataExpectation"]


@RULES.register
class OriginalDataExpectation(Rule):
    """The variance that the confidential fit would show, f ubar; normal reference."""

    name = "original_data_expectation"
    formula = "f ubar"
    source = "synthpop's summary without population inference; Raab, Nowok and Dibben (2016)"
    right_when = (
        "It guesses the standard error that the confidential file would give; "
        "it says nothing of how far the copies are from that file."
    )
    needs = ("sizes",)
    conditions = (
        NO_NOISE,
        SOME_SYNTHETIC,
        SIZES,
    )
    wald = "wald_known_variance"

    def variance(self, sums: Sums) -> FloatArray:
        """Give f ubar."""
        return sums.ubar * sums.ratio
