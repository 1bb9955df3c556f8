"""Wald test under a rule whose variance does not come from the spread of the copies."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.f_tests import JOINT_TESTS, FTest, JointTest
from pysynthdp.analysis.rules.base import Sums
from pysynthdp.base.arrays import FloatArray

__all__ = ["WaldKnownVariance"]


@JOINT_TESTS.register
class WaldKnownVariance(JointTest):
    """The quadratic form in T over p against F(p, infinity); goes with T_s and T_PPD."""

    name = "wald_known_variance"
    source = "Wald's test with T as covariance"

    def wald(self, distance: FloatArray, sums: Sums, *, within: FloatArray, covariance: FloatArray) -> FTest:
        """Evaluate D' T^-1 D/p."""
        from scipy import stats  # slow to import: only where it is used

        del within, sums
        p = distance.size
        stat = float(distance @ np.linalg.solve(covariance, distance)) / p
        return FTest(self.name, stat, float(p), np.inf, float(stats.chi2.sf(stat * p, p)), 0.0)
