"""Likelihood-ratio test, partial synthesis and the size-adjusted rule."""

from __future__ import annotations

from pysynthdp.analysis.f_tests import JOINT_TESTS, JointTest

__all__ = ["LrPartialReiter2005"]


@JOINT_TESTS.register
class LrPartialReiter2005(JointTest):
    """The likelihood-ratio form that goes with T_p."""

    name = "lr_partial_reiter2005"
    source = "Reiter (2005), Journal of Statistical Planning and Inference 131"

    def share(self, m: int) -> float:
        """1/m: b counts only through the mean of m copies."""
        return 1 / m
