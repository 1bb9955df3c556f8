"""Wald test when all variance is seen between the copies: Hotelling's T squared."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.f_tests import JOINT_TESTS, FTest, JointTest
from pysynthdp.analysis.rules.base import Sums
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import CombiningRuleError

__all__ = ["WaldBetweenOnly"]


@JOINT_TESTS.register
class WaldBetweenOnly(JointTest):
    """D' (B/m)^-1 D (m - p)/(p (m - 1)) against F(p, m - p); needs more copies than coefficients."""

    name = "wald_between_only"
    source = "Hotelling (1931) for the m independent estimates"

    def wald(self, distance: FloatArray, sums: Sums, *, within: FloatArray, covariance: FloatArray) -> FTest:
        """Evaluate Hotelling's form."""
        from scipy import stats  # slow to import: only where it is used

        del within
        p, m = distance.size, sums.m
        if m <= p:
            raise CombiningRuleError(
                f"testing {p} coefficients at once needs more than {p} copies under this rule; there are {m}",
                kind="rule",
            )
        quadratic = float(distance @ np.linalg.solve(covariance, distance))
        stat = quadratic * (m - p) / (p * (m - 1))
        return FTest(self.name, stat, float(p), float(m - p), float(stats.f.sf(stat, p, m - p)), np.inf)
