"""T_p with f ubar: partial or complete synthesis, copies of any size; the default.

*Rows drawn evenly* (``draws="even"``) need no other rule. Write q_l = q(theta_l) + e_l: theta_l the
parameters of copy l, e_l what the drawing of its k rows adds. In each row the law is that of the model, so
ubar is what it is for independent rows: f ubar with f = k/n estimates V, the variance that the estimate has
in the confidential sample. The e_l are independent between copies, of mean 0 and variance E: V/f for
independent rows, less for even ones, by an amount that depends on the estimand (measured with 400 rows: .02
of it for a mean, a tenth for a share or a median, a third for slopes, nearly all for what the order of the
rows does not follow). Hence

* fitted parameters: var(qbar) = V + E/m, and b estimates E;
* drawn parameters, theta_l around the estimate with variance V: var(qbar) = V + (V + E)/m, and b estimates V
  + E.

In both cases T = f ubar + b/m whatever E is. Rules that put ubar for E (``raab_simple``: f ubar + ubar/m;
``raab_proper``: with (1 + f) ubar/m for (V + E)/m) count at most too much, and serve one copy, which shows no
b. Rules that take ubar off b, to be left with V (``full_rrr2003``: (1 + 1/m) b - ubar), take off more than is
in it: with E = V/10 and f = 1, m = 20 they are left with 1.05 * 1.1 V - V = .16 V for 1.06 V. They are
refused. ``benchmarks/coverage/even.py`` measures both.
"""

from __future__ import annotations

from collections.abc import Mapping

from pysynthdp.analysis.rules.base import RULES, Rule, Sums
from pysynthdp.analysis.rules.conditions import (
    FLAT,
    NO_NOISE_BUT_FRESH,
    NOT_CENSUS,
    SIZES,
    SOME_SYNTHETIC,
    TWO_COPIES,
)
from pysynthdp.base.arrays import AnyArray, FloatArray

__all__ = ["PartialSizeAdjusted"]


@RULES.register
class PartialSizeAdjusted(Rule):
    """T_p with the within variance scaled to the confidential file's size, t reference."""

    name = "partial_size_adjusted"
    aliases = ("partial", "size_adjusted")
    formula = "f ubar + b/m"
    source = "Drechsler (2018), Privacy in Statistical Databases, LNCS 11126; Raab, Nowok and Dibben (2016)"
    right_when = (
        "f ubar is the sampling variance of the confidential file and b/m what the synthesis adds, "
        "which holds for partial and complete synthesis, fitted and drawn parameters, and any size of copy."
    )
    needs = (
        "between",
        "sizes",
    )
    conditions = (
        TWO_COPIES,
        NO_NOISE_BUT_FRESH,
        SOME_SYNTHETIC,
        SIZES,
        FLAT,
        NOT_CENSUS,
    )
    order = 40
    wald = "wald_partial_reiter2005"
    lr = "lr_partial_reiter2005"

    def variance(self, sums: Sums) -> FloatArray:
        """T = f ubar + b/m with f = n_syn/n_org."""
        return sums.ratio * sums.ubar + sums.between / sums.m

    def within(self, sums: Sums) -> FloatArray:
        """Give f ubar: the variance in a copy as large as the confidential file."""
        return sums.ratio * sums.ubar

    def df(self, sums: Sums) -> FloatArray:
        """(m - 1)(1 + f ubar/(b/m))^2."""
        return (sums.m - 1) * (1 + self.within(sums) / (sums.between / sums.m)) ** 2

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """r: the part that the synthesis adds, (b/m)/(f ubar)."""
        return {"r": sums.between / sums.m / self.within(sums)}
