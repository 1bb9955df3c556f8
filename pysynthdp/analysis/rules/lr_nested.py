"""Likelihood-ratio test for nested copies: missing values imputed m times, each file synthesised r times."""

from __future__ import annotations

from pysynthdp.analysis.f_tests import JOINT_TESTS, FTest, JointTest, Ratios
from pysynthdp.analysis.matched_test import matched_test

__all__ = ["LrNested"]


@JOINT_TESTS.register
class LrNested(JointTest):
    """The likelihood-ratio form of ``wald_nested``, from three means of the statistic.

    For quadratic log-likelihoods the mean statistic at the copies' own estimates exceeds that at the nests'
    means by tr(W U^-1)(r - 1)/r, which in turn exceeds that at the grand mean by tr(B U^-1)(m - 1)/m; that
    last one is S. So rW and rB follow without any covariance matrix, as in Meng and Rubin (1992).
    """

    name = "lr_nested"
    source = "Derived for this package from Meng and Rubin (1992), Biometrika 79; checked by simulation"

    def ratio(self, ratios: Ratios, *, p: int) -> FTest:
        """Evaluate the test from the three means."""
        m, r = ratios.m, ratios.r
        between = m * (ratios.nest - ratios.pooled) / (m - 1)
        within = r * (ratios.own - ratios.nest) / (r - 1)
        return matched_test(self.name, ratios.pooled, between=between, within=within, p=p, m=m, r=r)
