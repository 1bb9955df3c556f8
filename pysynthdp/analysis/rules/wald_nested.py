"""Wald test for nested copies: missing values imputed m times, each file synthesised r times."""

from __future__ import annotations

import numpy as np
from scipy import stats

from pysynthdp._typing import FloatArray
from pysynthdp.analysis.rules.base import JOINT_TESTS, FTest, JointTest, Sums
from pysynthdp.errors import CombiningRuleError

__all__ = ["WaldNested"]


@JOINT_TESTS.register
class WaldNested(JointTest):
    """S/(p (1 + rB - rW)) with rB = (1 + 1/m) tr(B U^-1)/p and rW = tr(W U^-1)/(p r).

    The second degrees of freedom match the variance of 1 + rB - rW, where B has p (m - 1) and W has
    p m (r - 1) of them: (1 + rB - rW)^2/(rB^2/(p (m - 1)) + rW^2/(p m (r - 1))).
    """

    name = "wald_nested"
    source = (
        "Statistic of Kinney and Reiter (2010), Journal of Official Statistics 26; "
        "degrees of freedom matched here"
    )

    def wald(self, distance: FloatArray, sums: Sums, *, within: FloatArray, covariance: FloatArray) -> FTest:
        """Evaluate the test from matrices B, W and U."""
        del covariance
        p, m, r = distance.size, sums.m, sums.r
        S = float(distance @ np.linalg.solve(within, distance))
        rb = (1 + 1 / m) * float(np.trace(np.linalg.solve(within, sums.between))) / p
        rw = float(np.trace(np.linalg.solve(within, sums.within_nests))) / (p * r)
        share = 1 + rb - rw
        if share <= 0:
            raise CombiningRuleError(
                "the nested test has no positive variance here; make more nests, "
                "or use rule='missing_then_partial_conservative'"
            )
        spread = rb**2 / (p * (m - 1)) + rw**2 / (p * m * (r - 1))
        df2 = share**2 / spread if spread > 0 else np.inf
        stat = S / (p * share)
        return FTest(self.name, stat, float(p), df2, float(stats.f.sf(stat, p, df2)), rb - rw)
