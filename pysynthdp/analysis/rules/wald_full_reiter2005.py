"""Wald test of several coefficients, full synthesis by imputed populations."""

from __future__ import annotations

from pysynthdp.analysis.f_tests import JOINT_TESTS, JointTest

__all__ = ["WaldFullReiter2005"]


@JOINT_TESTS.register
class WaldFullReiter2005(JointTest):
    """The Wald form that goes with T_f; not defined for r <= 1."""

    name = "wald_full_reiter2005"
    source = "Reiter (2005), Journal of Statistical Planning and Inference 131"
    sign = -1

    def share(self, m: int) -> float:
        """1 + 1/m: b counts in full and once more for the mean of m copies."""
        return 1 + 1 / m
