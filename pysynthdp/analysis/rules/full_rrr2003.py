"""T_f: populations imputed by drawn parameters, samples of them released."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    DRAWN,
    FLAT,
    INDEPENDENT,
    NO_SUBSAMPLE,
    ONE_NOISY_RELEASE,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["FullRrr2003"]


@RULES.register
class FullRrr2003(Rule):
    """T_f of Raghunathan, Reiter and Rubin (2003), t reference; can be negative."""

    name = "full_rrr2003"
    aliases = ("T_f", "raghunathan2003")
    formula = "(1 + 1/m) b - ubar"
    source = "Raghunathan, Reiter and Rubin (2003), Journal of Official Statistics 19"
    right_when = (
        "Whole populations are imputed with drawn parameters and samples of them released, "
        "so b holds the sampling of the copies too and ubar is taken off."
    )
    needs = ("between",)
    conditions = (
        INDEPENDENT,
        TWO_COPIES,
        ONE_NOISY_RELEASE,
        ALL_SYNTHETIC,
        SOME_SYNTHETIC,
        DRAWN,
        FLAT,
        NO_SUBSAMPLE,
    )
    wald = "wald_full_reiter2005"
    lr = "lr_full_reiter2005"
    instead = "full_posterior_truncated"

    def variance(self, sums: Sums) -> FloatArray:
        """T_f = (1 + 1/m) b - ubar."""
        return (1 + 1 / sums.m) * sums.between - sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 - 1/r)^2 with r = (1 + 1/m) b/ubar; NaN where T is not positive."""
        inflated = (1 + 1 / sums.m) * sums.between
        df = (sums.m - 1) * (1 - sums.ubar / inflated) ** 2
        return np.where(self.variance(sums) > 0, df, np.nan)

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Give r = (1 + 1/m) b/ubar, and where T is negative."""
        r = (1 + 1 / sums.m) * sums.between / sums.ubar
        return {"r": r, "negative": self.variance(sums) <= 0}

    def caution(self, m: int, smallest_df: float) -> str | None:
        """T_f needs many copies."""
        if m >= 20 and not smallest_df < 3:
            return None
        return (
            f"full_rrr2003 with m = {m} is often negative or has almost no degrees of freedom; "
            "make 20 copies or more, or name 'full_posterior_truncated'"
        )
