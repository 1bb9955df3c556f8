"""Wald test of several coefficients, imputed missing values."""

from __future__ import annotations

from pysynthdp.analysis.f_tests import JOINT_TESTS, JointTest

__all__ = ["WaldMissingLrr1991"]


@JOINT_TESTS.register
class WaldMissingLrr1991(JointTest):
    """D1 of Li, Raghunathan and Rubin."""

    name = "wald_missing_lrr1991"
    source = "Li, Raghunathan and Rubin (1991), JASA 86"

    def share(self, m: int) -> float:
        """1 + 1/m: b counts in full and once more for the mean of m copies."""
        return 1 + 1 / m
