"""No variance at all: the estimates themselves may be moved, and no rule for that is measured."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Condition, Rule, Sums
from pysynthdp.base.arrays import FloatArray

__all__ = ["EstimatesOnly"]


@RULES.register
class EstimatesOnly(Rule):
    """Give estimates without an interval, where clamping, shrinking or trees may have moved them."""

    name = "estimates_only"
    formula = "not known"
    source = "none: a bias is no variance, and no combining rule repairs it"
    right_when = (
        "The copies come from models that shrink or clamp, or from trees, so the estimates may be biased by "
        "more than any variance says; no interval is given until a rule for this kind has measured coverage."
    )
    conditions = (
        Condition(
            lambda facts: facts.bias != "none", "the copies are not biased, so there is a rule for them"
        ),
    )
    order = 99
    covers_bias = ("clamped", "shrunk", "trees", "noisy_linear_statistics")

    def variance(self, sums: Sums) -> FloatArray:
        """Give none."""
        return np.full_like(sums.ubar, np.nan)

    def df(self, sums: Sums) -> FloatArray:
        """Give none."""
        return np.full_like(sums.ubar, np.nan)

    def undefined(self, sums: Sums) -> str:
        """Say why there is no interval, and what to do."""
        del sums
        return (
            "the estimates may be biased by the models that made the copies (shrunk, clamped, noisy, or "
            "trees), which no combining rule repairs, so there is no interval and no p-value; name a rule to "
            "get its variance without the bias"
        )
