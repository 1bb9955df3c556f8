"""T_f where it is positive, else f ubar."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    ALL_SYNTHETIC,
    DRAWN,
    FLAT,
    INDEPENDENT,
    NO_NOISE,
    NO_SUBSAMPLE,
    SIZES,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["FullReiter2002Adjusted"]


@RULES.register
class FullReiter2002Adjusted(Rule):
    """Reiter's (2002) adjusted T_f; m - 1 degrees of freedom where it falls back."""

    name = "full_reiter2002_adjusted"
    formula = "(1 + 1/m) b - ubar if positive, else f ubar"
    source = "Reiter (2002), Journal of Official Statistics 18; degrees of freedom of the fall-back: ours"
    right_when = (
        "As for T_f, when an interval is needed although T_f is negative; "
        "its fall-back leaves out what the synthesis adds."
    )
    needs = (
        "between",
        "sizes",
    )
    conditions = (
        INDEPENDENT,
        TWO_COPIES,
        NO_NOISE,
        ALL_SYNTHETIC,
        SOME_SYNTHETIC,
        DRAWN,
        SIZES,
        FLAT,
        NO_SUBSAMPLE,
    )
    wald = "wald_full_reiter2005"
    lr = "lr_full_reiter2005"

    def _raw(self, sums: Sums) -> FloatArray:
        """T_f before the adjustment."""
        return (1 + 1 / sums.m) * sums.between - sums.ubar

    def variance(self, sums: Sums) -> FloatArray:
        """T_f, or f ubar where T_f is not positive."""
        raw = self._raw(sums)
        return np.where(raw > 0, raw, sums.ratio * sums.ubar)

    def covariance(self, sums: Sums) -> FloatArray:
        """Give the matrix T_f when it is positive definite, else f Ubar."""
        raw = self._raw(sums)
        positive = bool(np.all(np.linalg.eigvalsh((raw + raw.T) / 2) > 0))
        return raw if positive else sums.ratio * sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 - 1/r)^2, or m - 1 where it falls back."""
        inflated = (1 + 1 / sums.m) * sums.between
        df = (sums.m - 1) * (1 - sums.ubar / inflated) ** 2
        return np.where(self._raw(sums) > 0, df, sums.m - 1.0)

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Give r = (1 + 1/m) b/ubar, and where the rule fell back."""
        r = (1 + 1 / sums.m) * sums.between / sums.ubar
        return {"r": r, "fallback": self._raw(sums) <= 0}
