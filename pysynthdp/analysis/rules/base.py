"""What a combining rule is: arithmetic on within and between variation, and when it is valid.

A rule is one file: a class registered in :data:`RULES` (one number, or the covariance of several). Tests of
several coefficients at once are the classes of ``joint_tests.py``, registered in ``JOINT_TESTS`` of
:mod:`pysynthdp.analysis.f_tests`. Rules see arrays and plain facts only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.errors import CombiningRuleError
from pysynthdp.base.registry import Registry, is_outside
from pysynthdp.base.words import meant

__all__ = ["RULES", "Condition", "Facts", "Need", "Rule", "Sums", "find_rule"]

Need = Literal["between", "sizes", "noise_var", "df_com", "nests", "within_nests", "n_eff"]


@dataclass(frozen=True, slots=True)
class Sums:
    """Within and between variation of the copies; entries per term, or (p, p) matrices.

    Parameters
    ----------
    m : int
        Number of copies; of nests for a nested rule.
    ubar : array
        Mean variance of the estimate within a copy, as if the copy were real.
    b : array or None
        Variance between copies (between nest means), divisor m - 1; None for m = 1.
    n_syn, n_org : float or None
        Records in one copy and in the confidential file; None when not known.
    df_com : array or None
        Degrees of freedom that the analysis would have on complete data.
    noise_var : array or None
        Variance that the privacy noise gives the estimate.
    r : int
        Copies in each nest; 1 when there are no nests.
    W : array or None
        Mean variance within nests, divisor m (r - 1) in total.
    n_eff : float or None
        Rows that would tell as much without privacy noise as the confidential file tells with it.
    """

    m: int
    ubar: FloatArray
    b: FloatArray | None = None
    n_syn: float | None = None
    n_org: float | None = None
    df_com: FloatArray | None = None
    noise_var: FloatArray | None = None
    r: int = 1
    W: FloatArray | None = None
    n_eff: float | None = None

    @property
    def effective_ratio(self) -> float:
        """Give n_syn / n_eff."""
        if self.n_syn is None or self.n_eff is None:
            raise CombiningRuleError("this rule needs n_syn and the effective number of rows", kind="rule")
        return self.n_syn / self.n_eff

    @property
    def ratio(self) -> float:
        """Give f = n_syn / n_org."""
        if self.n_syn is None or self.n_org is None:
            raise CombiningRuleError("this rule needs n_syn and n_org; give both", kind="rule")
        return self.n_syn / self.n_org

    @property
    def between(self) -> FloatArray:
        """The variance between copies, or a refusal."""
        return _given(self.b, "two or more copies")

    @property
    def within_nests(self) -> FloatArray:
        """The variance within nests, or a refusal."""
        return _given(self.W, "two or more copies in each nest")

    @property
    def noise(self) -> FloatArray:
        """The variance due to privacy noise, or a refusal."""
        return _given(self.noise_var, "noise_var")


def _given(value: FloatArray | None, what: str) -> FloatArray:
    """Return a quantity that the rule cannot do without."""
    if value is None:
        raise CombiningRuleError(f"this rule needs {what}", kind="rule")
    return value


@dataclass(frozen=True, slots=True)
class Facts:
    """What a release says of how its copies were made, for one model.

    Parameters
    ----------
    m : int
        Number of copies.
    all_synthetic : bool
        Whether every value of every variable in the model is synthetic.
    synthetic : bool
        Whether anything is synthetic at all; False for imputed missing values only.
    parameters : {"fitted", "drawn"}
        Copies drawn at the fitted parameters, or at parameters drawn anew for each copy.
    sizes_known, same_size : bool
        Whether n_syn and n_org are known, and equal.
    sampling : {"none", "subsample", "census"}
        What was sampled before the synthesis.
    noise : {"none", "shared", "per_copy_from_one", "per_copy_fresh"}
        How privacy noise enters the copies.
    noise_var_known : bool
        Whether the variance that the noise gives this estimate is known.
    nesting : {"none", "imputed", "two_stage", "pseudo_population"}
        What the first stage of a two-stage release did.
    labelled : bool
        Whether every copy says which nest it belongs to.
    bias : {"none", "clamped", "shrunk", "trees", "noisy_linear_statistics"}
        What may have moved the estimates themselves.
    effective : bool
        Whether an effective number of rows is published, as for well-learned tables of numbers.
    draws : {"independent", "even"}
        Whether the rows of a copy are independent of each other, or drawn evenly.
    """

    m: int
    all_synthetic: bool = True
    synthetic: bool = True
    parameters: str = "fitted"
    sizes_known: bool = True
    same_size: bool = True
    sampling: str = "none"
    noise: str = "none"
    noise_var_known: bool = False
    nesting: str = "none"
    labelled: bool = False
    bias: str = "none"
    effective: bool = False
    draws: str = "independent"


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold for a rule to be valid, and the sentence that says it does not."""

    holds: Callable[[Facts], bool]
    otherwise: str


class Rule:
    """A combining rule for one number; also for a covariance matrix where it is linear.

    Attributes
    ----------
    name : str
        Registry key, equal to the file's name.
    formula, source, right_when : str
        The variance as people write it; the publication; one sentence on why and when it is right.
    needs : tuple of Need
        What the arithmetic cannot do without.
    conditions : tuple of Condition
        When the rule is valid for a release.
    order : int or None
        Place in the automatic choice, smallest first; None for a rule taken by name only. Of a rule of
        another package it is not looked at: such a rule is taken by name, and the pooled table says whose
        it is.
    covers_bias : tuple of str
        Kinds of bias under which the rule's coverage was measured.
    wald, lr : str or None
        Names in ``JOINT_TESTS`` of the tests that go with the rule.
    nested : bool
        Whether the rule looks at nests.
    instead : str or None
        A rule for the same copies that gives an interval where this one's variance is not positive.
    aliases : tuple of str
        Short names under which people know the rule.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    right_when: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    conditions: ClassVar[tuple[Condition, ...]] = ()
    order: ClassVar[int | None] = None
    covers_bias: ClassVar[tuple[str, ...]] = ()
    wald: ClassVar[str | None] = None
    lr: ClassVar[str | None] = None
    nested: ClassVar[bool] = False
    instead: ClassVar[str | None] = None
    aliases: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def variance(self, sums: Sums) -> FloatArray:
        """Give T, entry by entry; may be negative, NaN where the rule gives none."""

    def covariance(self, sums: Sums) -> FloatArray:
        """T as a (p, p) matrix; the same formula unless the rule is not linear."""
        return self.variance(sums)

    def df(self, sums: Sums) -> FloatArray:
        """Degrees of freedom of the t reference; inf for the normal, NaN where T is not positive."""
        return np.full_like(sums.ubar, np.inf)

    def within(self, sums: Sums) -> FloatArray:
        """Give the part of T that is not b/m: what a joint test takes for U."""
        return sums.ubar

    def extras(self, sums: Sums) -> Mapping[str, AnyArray]:
        """Further quantities that belong to the rule, by name."""
        del sums
        return {}

    def interval(self, sums: Sums, level: float) -> FloatArray:
        """Half-width of the central interval; NaN where T is not positive."""
        from scipy import stats  # slow to import: only where it is used

        T = self.variance(sums)
        width = stats.t.ppf(0.5 + level / 2, self.df(sums)) * np.sqrt(T)
        return np.asarray(np.where((T > 0) & np.isfinite(T), width, np.nan), dtype=np.float64)

    def pvalue(self, sums: Sums, distance: FloatArray) -> FloatArray:
        """Two-sided tail probability of ``qbar - q0``; NaN where T is not positive."""
        from scipy import stats  # slow to import: only where it is used

        T = self.variance(sums)
        tail = 2 * stats.t.sf(np.abs(distance) / np.sqrt(T), self.df(sums))
        return np.asarray(np.where((T > 0) & np.isfinite(T), tail, np.nan), dtype=np.float64)

    def undefined(self, sums: Sums) -> str:
        """Why there is no interval where T is not positive, and what to do."""
        T = self.variance(sums)
        if not np.isfinite(np.asarray(T)[~(np.asarray(T) > 0)]).any():
            return (
                f"T = {self.formula} is not known, since an estimate or a variance of some copy is missing "
                f"or infinite, so {self.name} gives no interval and no p-value; mend the analysis there"
            )
        if not np.any(np.asarray(T) < 0):
            return (
                f"T = {self.formula} is zero, since all copies agree and none gives a variance, so "
                f"{self.name} gives no interval and no p-value; a share of 0 or 1 needs a bound of its own"
            )
        other = f", or name {self.instead!r}, which gives an interval there too" if self.instead else ""
        return (
            f"T = {self.formula} is not positive, so {self.name} gives no interval and no p-value; "
            f"make more copies{other}"
        )

    def caution(self, m: int, smallest_df: float) -> str | None:
        """Give what a user who takes the rule by name should be warned of."""
        del m, smallest_df
        return None


RULES: Registry[type[Rule]] = Registry(
    "pysynthdp.analysis.rules", CombiningRuleError, group="pysynthdp.rules"
)


def find_rule(name: str) -> Rule:
    """Return the rule of that name or alias."""
    if name in RULES:
        return RULES[name]()
    ours_last = sorted(RULES, key=lambda key: not is_outside(RULES[key]))  # so that nobody takes our aliases
    aliases = {alias: key for key in ours_last for alias in RULES[key].aliases}
    if name in aliases:
        return RULES[aliases[name]]()
    known = meant(str(name), [*RULES, *aliases], f"known are: {', '.join(RULES)}")
    remedy = RULES.left_out(str(name)) or known
    raise CombiningRuleError(f"there is no rule {name!r}", kind="rule", remedy=remedy)
