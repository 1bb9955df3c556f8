"""The F reference of tests on nested copies, its degrees of freedom matched to the estimated variance."""

from __future__ import annotations

import numpy as np

from pysynthdp.analysis.f_tests import FTest
from pysynthdp.base.errors import CombiningRuleError
from pysynthdp.base.words import Setting, Words

__all__ = ["matched_test"]


def matched_test(name: str, S: float, *, between: float, within: float, p: int, m: int, r: int) -> FTest:
    """Test by S/(p (1 + rB - rW)) with rB = (1 + 1/m) tr(B U^-1)/p and rW = tr(W U^-1)/(p r).

    Parameters
    ----------
    name : str
        Name of the test.
    S : float
        Quadratic form in U^-1, or the pooled likelihood ratio.
    between, within : float
        tr(B U^-1) and tr(W U^-1).
    p, m, r : int
        Coefficients, nests, and copies in each.

    Notes
    -----
    Privacy: arithmetic on released copies. B has p (m - 1) degrees of freedom and W has p m (r - 1), so
    df2 = (1 + rB - rW)^2/(rB^2/(p (m - 1)) + rW^2/(p m (r - 1))) matches the variance of 1 + rB - rW.
    """
    from scipy import stats  # slow to import: only where it is used

    rb, rw = (1 + 1 / m) * between / p, within / (p * r)
    share = 1 + rb - rw
    if share <= 0:
        raise CombiningRuleError(
            f"{name} has no positive variance here",
            kind="no interval",
            remedy=Words(
                "make more nests, or use {rule}", rule=Setting("rule", "missing_then_partial_conservative")
            ),
        )
    spread = rb**2 / (p * (m - 1)) + rw**2 / (p * m * (r - 1))
    df2 = share**2 / spread if spread > 0 else np.inf
    stat = S / (p * share)
    return FTest(name, stat, float(p), df2, float(stats.f.sf(stat, p, df2)), rb - rw)
