"""Test whether pooled and confidential coefficients differ by more than the synthesis explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pysynthdp.analysis.results import PooledResults
from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import CombiningRuleError

__all__ = ["LackOfFit", "lack_of_fit"]


@dataclass(frozen=True, slots=True)
class LackOfFit:
    """A test that pooled and confidential coefficients differ by no more than the synthesis explains.

    Parameters
    ----------
    stat, pvalue : float
        Statistic and tail probability; NaN where the test cannot be done.
    df1, df2 : float
        Degrees of freedom; df2 is inf for a chi-square over its degrees of freedom.
    reason : str
        The variance used, or why there is no test.
    """

    stat: float
    df1: float
    df2: float
    pvalue: float
    reason: str


def lack_of_fit(pooled: PooledResults, D: FloatArray, V: FloatArray, here: IntArray) -> LackOfFit:
    """Test the joint difference against what the synthesis explains."""
    from scipy import stats  # slow to import: only where it is used

    facts, p, m = pooled.facts, D.size, pooled.m
    if facts is None:
        return _untested("the release's tags are not known, so neither is the variance of the difference")
    if facts.noise != "none":
        return _untested("the copies carry privacy noise, which the confidential fit does not show")
    if not facts.all_synthetic or facts.nesting != "none" or facts.sampling != "none":
        return _hotelling(pooled, D, here)
    try:
        f = pooled.combined.stack.sums().ratio
    except CombiningRuleError:
        return _untested("n_org is not known")
    drawn = facts.parameters == "drawn"
    scale = (1 + 1 / f) / m if drawn else 1 / (f * m)
    stat = float(D @ np.linalg.solve(V * scale, D))
    reason = "V (1 + n/k)/m" if drawn else "V n/(k m)"
    return LackOfFit(stat, float(p), np.inf, float(stats.chi2.sf(stat, p)), f"{reason}, chi-square")


def _hotelling(pooled: PooledResults, D: FloatArray, here: IntArray) -> LackOfFit:
    """Take the variance from the spread of the copies."""
    from scipy import stats  # slow to import: only where it is used

    p, m = D.size, pooled.m
    if m <= p:
        return _untested(f"with real values in the model it needs more copies than the {p} coefficients")
    B = pooled.combined.stack.matrices().between[np.ix_(here, here)]
    if np.linalg.matrix_rank(B) < p:
        return _untested(
            "the copies do not differ in every coefficient, as when the model uses real values only"
        )
    stat = float(D @ np.linalg.solve(B / m, D)) * (m - p) / (p * (m - 1))
    return LackOfFit(stat, float(p), float(m - p), float(stats.f.sf(stat, p, m - p)), "B/m, F")


def _untested(reason: str) -> LackOfFit:
    """Say why there is no test."""
    return LackOfFit(np.nan, np.nan, np.nan, np.nan, f"no test: {reason}")
