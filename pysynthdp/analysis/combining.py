"""Combine the estimates of m copies by one rule: plain numbers in, plain numbers out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pysynthdp.analysis.f_tests import JOINT_TESTS, FTest
from pysynthdp.analysis.rules.base import RULES, Need, Rule, Sums, find_rule
from pysynthdp.analysis.stack import Stack, stack
from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.base.errors import CombiningRuleError, PysynthdpWarning
from pysynthdp.base.remarks import outside
from pysynthdp.base.words import Argument, Said, Setting, Words, joined

__all__ = ["Combined", "combine", "combine_stack", "lacking", "plain_rule"]

_NEEDS: dict[Need, str] = {
    "between": "two or more copies (with one copy only 'raab_simple' and 'raab_proper' work)",
    "sizes": Words(
        "the numbers of rows, {n_syn} and {n_org}, or {release}, the release that the copies come from",
        n_syn=Argument("n_syn"),
        n_org=Argument("n_org"),
        release=Said("release=", "release=", "data ="),
    ),
    "noise_var": "noise_var, the variance that the privacy noise gives the estimate",
    "df_com": "df_com, the degrees of freedom on complete data",
    "nests": "nests, the label of the nest of every copy",
    "within_nests": "two or more copies in each nest",
    "n_eff": "an effective number of rows, which only a release of numbers with little noise states",
}


@dataclass(frozen=True, slots=True)
class Combined:
    """The combined estimate of m copies under one rule.

    Parameters
    ----------
    rule : str
        Name of the rule.
    m : int
        Number of copies.
    qbar, ubar, T, df, se : array (p,), or a number
        Mean estimate, mean variance within, variance of qbar (may be negative or NaN), degrees of freedom
        (inf for the normal reference, NaN where there is none), and the root of T (NaN where T <= 0).
    b : array (p,) or None
        Variance between copies (between nest means for a nested rule); None for one copy.
    extras : mapping
        Further quantities of the rule.
    """

    rule: str
    m: int
    qbar: FloatArray
    ubar: FloatArray
    b: FloatArray | None
    T: FloatArray
    df: FloatArray
    se: FloatArray
    extras: Mapping[str, AnyArray]
    stack: Stack = field(repr=False)

    @property
    def undefined(self) -> BoolArray:
        """Where the rule gives no interval."""
        with np.errstate(all="ignore"):
            return np.asarray(~np.isfinite(self._rule.interval(self._sums, 0.5)))

    @property
    def reason(self) -> str | None:
        """Why there is no standard error somewhere, and what to do; None when all have one."""
        with np.errstate(all="ignore"):
            return self._rule.undefined(self._sums) if np.any(~np.isfinite(self.se)) else None

    def conf_int(self, alpha: float = 0.05) -> FloatArray:
        """Limits (2,) or (p, 2) of the central 1 - alpha interval; NaN where the rule gives none."""
        with np.errstate(all="ignore"):
            half = self._rule.interval(self._sums, 1 - alpha)
        return np.stack([self.qbar - half, self.qbar + half], axis=-1)

    def pvalue(self, q0: float | FloatArray = 0.0) -> FloatArray:
        """Two-sided p-value of the hypothesis that the estimand is ``q0``."""
        with np.errstate(all="ignore"):
            return self._rule.pvalue(self._sums, self.qbar - q0)[()]

    def covariance(self) -> FloatArray:
        """T as a (p, p) matrix; needs covariances (m, p, p). NaN for terms not estimable in every copy."""
        if self.stack.U is None:
            raise CombiningRuleError(
                "a covariance needs matrices; pass u with shape (m, p, p)", kind="estimates"
            )
        full = np.full((self.qbar.size, self.qbar.size), np.nan)
        known = np.flatnonzero(np.isfinite(self.qbar))
        with np.errstate(all="ignore"):
            part = self._rule.covariance(self.stack.subset(known).matrices(nested=self._rule.nested))
        full[np.ix_(known, known)] = part
        return full

    def wald(self, contrasts: FloatArray, q0: FloatArray | float = 0.0) -> FTest:
        """Test ``contrasts @ beta = q0`` by the joint test that goes with the rule.

        Raises
        ------
        CombiningRuleError
            When the rule has no joint test, or it is not defined for these copies.
        """
        rule = self._rule
        if self.stack.U is None:
            raise CombiningRuleError(
                "a joint test needs covariance matrices; pass u with shape (m, p, p)", kind="estimates"
            )
        if rule.wald is None:
            raise CombiningRuleError(
                f"{rule.name} has no test of several coefficients at once; test them one by one",
                kind="estimates",
            )
        moved = _transform(self.stack, np.atleast_2d(contrasts))
        sums = moved.matrices(nested=rule.nested)
        distance = moved.qbar - q0
        within, covariance = rule.within(sums), rule.covariance(sums)
        return JOINT_TESTS[rule.wald]().wald(distance, sums, within=within, covariance=covariance)

    @property
    def _rule(self) -> Rule:
        return RULES[self.rule]()

    @property
    def _sums(self) -> Sums:
        return self.stack.sums(nested=self._rule.nested)


def _transform(values: Stack, L: FloatArray) -> Stack:
    """Move the estimates of every copy to the linear combinations L (k, p); ignore terms L does not use."""
    used = np.flatnonzero(np.any(L != 0, axis=0))
    part, L = values.subset(used), L[:, used]
    U = None if part.U is None else L @ part.U @ L.T
    cov = None if part.noise_cov is None else L @ part.noise_cov @ L.T
    noise = None if cov is None else np.diagonal(cov).copy()
    u = part.u[:, :0] if U is None else np.diagonal(U, axis1=1, axis2=2).copy()
    sizes = (part.n_syn, part.n_org)
    return Stack(part.q @ L.T, u, U, part.nests, *sizes, None, noise, cov, part.n_eff)


def lacking(rule: Rule, sums: Sums) -> str | None:
    """Name what the arithmetic of a rule needs and does not have."""
    have: dict[Need, bool] = {
        "between": sums.b is not None,
        "sizes": sums.n_syn is not None and sums.n_org is not None,
        "noise_var": sums.noise_var is not None,
        "df_com": sums.df_com is not None,
        "nests": True,
        "within_nests": sums.W is not None,
        "n_eff": sums.n_eff is not None,
    }
    missing = [_NEEDS[need] for need in rule.needs if not have[need]]
    return joined(missing, " and ") if missing else None


def combine_stack(values: Stack, rule: Rule) -> Combined:
    """Apply one rule to stacked estimates.

    Raises
    ------
    CombiningRuleError
        When the rule's arithmetic lacks something; the message names it.
    """
    if rule.nested and values.nests is None:
        raise CombiningRuleError(
            Words("{rule} needs {nests}", rule=rule.name, nests=_NEEDS["nests"]), kind="estimates"
        )
    sums = values.sums(nested=rule.nested)
    missing = lacking(rule, sums)
    if missing:
        raise CombiningRuleError(
            Words("{rule} needs {missing}", rule=rule.name, missing=missing), kind="estimates"
        )
    with np.errstate(all="ignore"):
        T, df, extras = rule.variance(sums), rule.df(sums), rule.extras(sums)
        se = np.where((T > 0) & np.isfinite(T), np.sqrt(T), np.nan)
    b = None if sums.b is None else sums.b[()]
    return Combined(
        rule.name,
        values.m,
        values.qbar[()],
        sums.ubar[()],
        b,
        T[()],
        np.asarray(df)[()],
        se[()],
        {name: np.asarray(value)[()] for name, value in extras.items()},
        values,
    )


def combine(
    q: object,
    u: object,
    *,
    n_syn: float | None = None,
    n_org: float | None = None,
    rule: str = "auto",
    df_com: object = None,
    noise_var: object = None,
    nests: Sequence[object] | None = None,
) -> Combined:
    """Combine m estimates and their variances by a rule, without asking how the copies were made.

    Parameters
    ----------
    q : array (m,) or (m, p)
        One estimate (vector) a copy.
    u : array (m,), (m, p) or (m, p, p)
        Its variance, variances or covariance matrix in that copy, as if the copy were real.
    n_syn, n_org : float, optional
        Records in one copy and in the confidential file.
    rule : str
        A registered rule or alias. ``"auto"`` takes ``"missing_then_partial_reiter2004"`` with nests,
        ``"shared_noise_added"`` with ``noise_var``, and else ``"partial_size_adjusted"``.
    df_com : float or array (p,), optional
        Degrees of freedom on complete data, for ``"missing_barnard_rubin1999"``.
    noise_var : float, array (p,) or (p, p), optional
        Variance that privacy noise shared by the copies gives the estimates.
    nests : sequence of length m, optional
        Label of the nest of each copy, for nested rules.

    Returns
    -------
    Combined
        Numbers for q of shape (m,), arrays (p,) otherwise.

    Raises
    ------
    CombiningRuleError
        For an unknown rule, shapes that do not fit, or something that the rule needs; the message says what
        to give. One copy under ``"auto"``: name ``"raab_simple"`` or ``"raab_proper"``.

    Warns
    -----
    PysynthdpWarning
        Where T is not positive, so that there is no interval; it says why and what to do.

    Notes
    -----
    Privacy: post-processing of released copies; reads no real row and spends no budget.
    With f = n_syn/n_org, ``"partial_size_adjusted"`` is T = f ubar + b/m with
    (m - 1)(1 + f ubar/(b/m))^2 degrees of freedom (Drechsler 2018).

    Examples
    --------
    >>> done = combine([0.41, 0.55, 0.40], [0.0018, 0.0017, 0.0019], n_syn=500, n_org=1000)
    >>> round(float(done.qbar), 4), round(float(done.se), 4), done.rule
    (0.4533, 0.057, 'partial_size_adjusted')
    """
    values = stack(q, u, n_syn=n_syn, n_org=n_org, df_com=df_com, noise_var=noise_var, nests=nests)
    done = combine_stack(values, plain_rule(values, rule))
    if done.reason is not None and np.any(done.undefined):
        warnings.warn(PysynthdpWarning(done.reason, kind="no interval"), stacklevel=outside())
    return done


def plain_rule(values: Stack, name: str) -> Rule:
    """Find a rule; ``"auto"`` chooses by what was given, since numbers carry no tags."""
    return find_rule(_plain_choice(values) if name == "auto" else name)


def _plain_choice(values: Stack) -> str:
    """Choose by what was given."""
    if values.nests is not None:
        return "missing_then_partial_reiter2004"
    if values.m == 1:
        raise CombiningRuleError(
            "with one copy there is no variance between copies",
            kind="rule",
            remedy=Words(
                "name {simple} if all values are synthetic at fitted parameters, or {proper} if parameters "
                "were drawn",
                simple=Setting("rule", "raab_simple"),
                proper=Setting("rule", "raab_proper"),
            ),
        )
    return "partial_size_adjusted" if values.noise_var is None else "shared_noise_added"
