"""What a test of several coefficients at once is: a quadratic form or likelihood ratios, and F."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp.analysis.rules.base import Sums
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.display import Cell, Printable, PValue, Table, number
from pysynthdp.base.errors import CombiningRuleError
from pysynthdp.base.registry import Registry

__all__ = ["JOINT_TESTS", "FTest", "JointTest", "Ratios"]


@dataclass(frozen=True, slots=True)
class Ratios:
    """Mean likelihood-ratio statistics over all copies, each at other values of the parameters.

    Parameters
    ----------
    own, nest, pooled : float
        At every copy's own estimates, at the means of its nest, and at the means of all; ``nest`` is
        ``own`` when there are no nests.
    m, r : int
        Copies, or nests, and copies in each nest.
    """

    own: float
    nest: float
    pooled: float
    m: int
    r: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class FTest(Printable):
    """An F test: statistic, degrees of freedom, tail probability, and r, the relative extra variance.

    ``left_out`` names coefficients that some copy cannot estimate, and that were not tested.
    """

    name: str
    stat: float
    df1: float
    df2: float
    pvalue: float
    r: float
    left_out: tuple[str, ...] = ()

    def to_table(self) -> Table:
        """Build the card that is printed."""
        facts: list[tuple[str, Cell]] = [
            ("F", self.stat),
            ("df", f"{self.df1:g} and {number(self.df2)}"),
            ("p", PValue(self.pvalue)),
            ("r", self.r),
        ]
        left = [("not tested", ", ".join(self.left_out))] if self.left_out else []
        return Table(f"F test, {self.name}", facts=(*facts, *left))


class JointTest:
    """A test of several coefficients from S (quadratic form in U^-1, or pooled likelihood ratio) and g.

    ``g`` is trace(B U^-1)/p, or m (Lbar - L0)/(p (m - 1)) for likelihood ratios. The reference is
    F(p, df2): with t = p (m - 1), r = ``share(m)`` g and s = ``sign``, the statistic is S/(p (r + s));
    df2 = 4 + (t - 4)(1 + s (1 - 2/t)/r)^2 for t > 4, else
    t (1 + 1/p)(1 + s/r)^2/2.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    sign: ClassVar[int] = 1

    @abstractmethod
    def share(self, m: int) -> float:
        """Give what g is multiplied with to give r."""

    def wald(self, distance: FloatArray, sums: Sums, *, within: FloatArray, covariance: FloatArray) -> FTest:
        """Test that p coefficients lie at ``distance`` (p,) from their values under the null hypothesis.

        ``sums`` holds (p, p) matrices; ``within`` and ``covariance`` are the rule's U and T.
        """
        del covariance
        p = distance.size
        S = float(distance @ np.linalg.solve(within, distance))
        g = float(np.trace(np.linalg.solve(within, sums.between))) / p
        return self.test(S, g, p=p, m=sums.m)

    def ratio(self, ratios: Ratios, *, p: int) -> FTest:
        """Test that p coefficients are zero by likelihood ratios: g = m (Lbar - L0)/(p (m - 1))."""
        g = ratios.m * (ratios.own - ratios.pooled) / (p * (ratios.m - 1))
        return self.test(ratios.pooled, g, p=p, m=ratios.m)

    def test(self, S: float, g: float, *, p: int, m: int) -> FTest:
        """Evaluate the test."""
        from scipy import stats  # slow to import: only where it is used

        r = self.share(m) * g
        if self.sign < 0 and not r > 1:
            raise CombiningRuleError(
                f"{self.name} is not defined for r = {r:.3g} <= 1; make more copies, or use the partial form",
                kind="joint test",
            )
        stat = S / (p * (r + self.sign))
        df2 = self._df2(r, p * (m - 1), p)
        return FTest(self.name, stat, float(p), df2, float(stats.f.sf(stat, p, df2)), r)

    def _df2(self, r: float, t: int, p: int) -> float:
        """Second degrees of freedom; infinite when the copies agree."""
        if r <= 0:
            return np.inf
        if t > 4:
            return float(4 + (t - 4) * (1 + self.sign * (1 - 2 / t) / r) ** 2)
        return float(t * (1 + 1 / p) * (1 + self.sign / r) ** 2 / 2)


JOINT_TESTS: Registry[type[JointTest]] = Registry(
    "pysynthdp.analysis.rules", CombiningRuleError, group="pysynthdp.joint_tests"
)
