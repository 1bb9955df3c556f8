"""Likelihood-ratio test, imputed missing values."""

from __future__ import annotations

from pysynthdp.analysis.f_tests import JOINT_TESTS, JointTest

__all__ = ["LrMissingMengrubin1992"]


@JOINT_TESTS.register
class LrMissingMengrubin1992(JointTest):
    """D3 of Meng and Rubin."""

    name = "lr_missing_mengrubin1992"
    source = "Meng and Rubin (1992), Biometrika 79"

    def share(self, m: int) -> float:
        """1 + 1/m: b counts in full and once more for the mean of m copies."""
        return 1 + 1 / m
