"""Wald test for nested copies: missing values imputed m times, each file synthesised r times."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.f_tests import JOINT_TESTS, FTest, JointTest
from pysynthdp.analysis.matched_test import matched_test
from pysynthdp.analysis.rules.base import Sums
from pysynthdp.base.arrays import FloatArray

__all__ = ["WaldNested"]


@JOINT_TESTS.register
class WaldNested(JointTest):
    """S/(p (1 + rB - rW)) with rB = (1 + 1/m) tr(B U^-1)/p and rW = tr(W U^-1)/(p r).

    T = (1 + 1/m) B - W/r + U is taken to be (1 + rB - rW) U on average over the p coefficients, as Li,
    Raghunathan and Rubin (1991) do for one stage. Measured size at 5 %: 0.034 to 0.056 (3,000 runs, error
    0.004) for three means, m = 3 to 20, r = 2 to 5, a tenth to six tenths of the values imputed.
    """

    name = "wald_nested"
    source = (
        "Derived for this package from Reiter (2004) and Li, Raghunathan and Rubin (1991), checked by "
        "simulation; not compared with Kinney and Reiter (2010), Journal of Official Statistics 26"
    )

    def wald(self, distance: FloatArray, sums: Sums, *, within: FloatArray, covariance: FloatArray) -> FTest:
        """Evaluate the test from matrices B, W and U."""
        del covariance
        S = float(distance @ np.linalg.solve(within, distance))
        between = float(np.trace(np.linalg.solve(within, sums.between)))
        spread = float(np.trace(np.linalg.solve(within, sums.within_nests)))
        return matched_test(self.name, S, between=between, within=spread, p=distance.size, m=sums.m, r=sums.r)
