"""What every combining rule must keep: it needs what it says, scales as variances do, counts the noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from pysynthdp.analysis.f_tests import JOINT_TESTS
from pysynthdp.analysis.rules.base import RULES, Condition, Facts, Rule, Sums
from pysynthdp.base.arrays import FloatArray
from pysynthdp.testing.checks import Check, demand, run_all

__all__ = ["check_combining_rule", "combining_rule_checks"]

_OF_NEEDS = {
    "between": ("b",),
    "sizes": ("n_syn", "n_org"),
    "noise_var": ("noise_var",),
    "df_com": ("df_com",),
    "nests": (),
    "within_nests": ("W",),
    "n_eff": ("n_syn", "n_eff"),
}
_VARIANCES = ("ubar", "b", "W", "noise_var")
_OPTIONAL = ("b", "n_syn", "n_org", "df_com", "noise_var", "W", "n_eff")
_NOISES = ("none", "shared", "per_copy_from_one", "per_copy_fresh")
_FLAGS = (True, False)
_FACTS: dict[str, tuple[Any, ...]] = {
    "m": (1, 2, 5),
    "all_synthetic": _FLAGS,
    "synthetic": _FLAGS,
    "parameters": ("fitted", "drawn"),
    "sizes_known": _FLAGS,
    "same_size": _FLAGS,
    "sampling": ("none", "subsample", "census"),
    "noise": _NOISES,
    "noise_var_known": _FLAGS,
    "nesting": ("none", "imputed", "two_stage", "pseudo_population"),
    "labelled": _FLAGS,
    "bias": ("none", "clamped", "shrunk", "trees"),
    "effective": _FLAGS,
}


def check_combining_rule(rule: Rule | type[Rule]) -> None:
    """Try a combining rule on everything that every rule must keep.

    Parameters
    ----------
    rule : Rule or its class
        The rule; it need not be registered.

    Raises
    ------
    AssertionError
        Lists what is broken, why it matters and how to mend it.

    Notes
    -----
    Privacy: arithmetic on made-up numbers.
    No check can know whether the rule's intervals cover: that is a study of its own.

    Examples
    --------
    >>> from pysynthdp.analysis.rules.raab_simple import RaabSimple
    >>> check_combining_rule(RaabSimple)
    """
    made = rule() if isinstance(rule, type) else rule
    first, *others = combining_rule_checks(made)
    run_all(type(made).__name__, [first])  # the others would only stumble over what it names
    run_all(type(made).__name__, others)


def combining_rule_checks(rule: Rule | type[Rule]) -> tuple[Check, ...]:
    """List the same checks one by one, for a test that is parametrised over them.

    Parameters
    ----------
    rule : Rule or its class
        As :func:`check_combining_rule` takes it.

    Returns
    -------
    tuple of Check
        Each is called without arguments, and its text is its name.

    Examples
    --------
    >>> from pysynthdp.analysis.rules.raab_simple import RaabSimple
    >>> [str(check) for check in combining_rule_checks(RaabSimple)][:2]
    ['is_made_as_rules_are', 'says_what_it_is']
    """
    made = rule() if isinstance(rule, type) else rule
    return tuple(Check(name, partial(_quiet, check, made)) for name, check in _CHECKS.items())


def _quiet(check: Callable[[Rule], None], rule: Rule) -> None:
    """Run a check as rules are run: what is no number is NaN, without a warning."""
    with np.errstate(all="ignore"):
        check(rule)


def _sums() -> Sums:
    """Make two terms with everything that a rule may look at."""
    return Sums(
        m=5,
        ubar=np.array([1.0, 2.0]),
        b=np.array([0.5, 0.1]),
        n_syn=200.0,
        n_org=100.0,
        df_com=np.array([97.0, 97.0]),
        noise_var=np.array([0.2, 0.3]),
        r=3,
        W=np.array([0.3, 0.2]),
        n_eff=60.0,
    )


def _with(sums: Sums, **given: Any) -> Sums:
    """Put other values into some places."""
    return dataclasses.replace(sums, **given)


def _changed(sums: Sums, change: Callable[[FloatArray], FloatArray]) -> Sums:
    """Change all variances alike."""
    return _with(sums, **{name: change(getattr(sums, name)) for name in _VARIANCES})


def _is_made_as_rules_are(rule: Rule) -> None:
    """Check that what the class declares has the form in which it is read."""
    kind = type(rule).__name__
    demand(
        isinstance(rule, Rule),
        f"{kind} is no combining rule",
        why="pooling asks for everything that Rule has, such as interval() and undefined()",
        mend="inherit from Rule of analysis.rules.base, and give the class or an object of it",
    )
    demand(
        type(rule).variance is not Rule.variance,
        f"{kind} has no variance()",
        why="a rule is its T, and Rule gives none",
        mend="write variance(self, sums): it returns T, an array shaped as sums.ubar",
    )
    _declares_what_is_read(rule, kind)
    with np.errstate(all="ignore"):
        shapes = {name: np.shape(getattr(rule, name)(_sums())) for name in ("variance", "df")}
    wrong = [name for name, shape in shapes.items() if shape != _sums().ubar.shape]
    demand(
        not wrong,
        f"{kind}: {' and '.join(f'{name}()' for name in wrong)} gives no number for each term",
        why="the pooled table reads one a term",
        mend="return an array shaped as sums.ubar, such as np.full_like(sums.ubar, 4.0)",
    )


def _declares_what_is_read(rule: Rule, kind: str) -> None:
    """Check the form of what stands on the class."""
    for name in ("needs", "conditions", "aliases"):
        demand(
            isinstance(getattr(rule, name), tuple),
            f"{kind}.{name} is no tuple",
            why="it is read entry by entry, and a text letter by letter",
            mend=f"write {name} = (..., ), with a comma behind a single entry",
        )
    unknown = [need for need in rule.needs if need not in _OF_NEEDS]
    demand(
        not unknown,
        f"{kind}.needs has {unknown}, which nobody gives",
        why="pooling stops where it looks for it",
        mend=f"name some of {', '.join(map(repr, _OF_NEEDS))}",
    )
    demand(
        all(isinstance(condition, Condition) for condition in rule.conditions),
        f"{kind}.conditions has what is no Condition",
        why="each is asked whether it holds for a release, and printed where it does not",
        mend="take them from analysis.rules.conditions, or write Condition(lambda facts: ..., 'it ...')",
    )
    demand(
        rule.nested == ("nests" in rule.needs) and (rule.nested or "within_nests" not in rule.needs),
        f"{kind}.nested is {rule.nested}, and needs says {rule.needs}",
        why="only a rule with nested = True is given nests, and one that is needs their labels",
        mend="write nested = True and put 'nests' into needs, or leave out both and 'within_nests'",
    )


def _says_what_it_is(rule: Rule) -> None:
    """Check that a reader of a pooled table is told what rule it is, and when it is right."""
    kind = type(rule).__name__
    for name in ("name", "formula", "source", "right_when"):
        demand(
            isinstance(getattr(rule, name, None), str) and getattr(rule, name),
            f"{kind} has no {name}",
            why="the pooled table prints it",
            mend=f"write {name} = '...' in the class",
        )
    demand(
        rule.right_when.endswith("."),
        f"{kind}.right_when is no sentence",
        why="the pooled table ends with it",
        mend="say in one sentence, with a full stop, why and when the rule is right",
    )
    demand(
        rule.conditions and all(str(condition.otherwise) for condition in rule.conditions),
        f"{kind} has no conditions, or one without words",
        why="a rule without conditions is valid for all copies, those with privacy noise too",
        mend="name when it holds by Condition(holds, otherwise), shared ones in analysis.rules.conditions",
    )
    for test in (rule.wald, rule.lr):
        demand(
            test is None or test in JOINT_TESTS,
            f"{kind} names the joint test {test!r}, which nobody registered",
            why="wald_test would stop at a table that the rule pooled",
            mend="name one of JOINT_TESTS, or register it",
        )
    demand(
        not _taken(rule),
        f"{kind} has names that other rules have: {', '.join(_taken(rule))}",
        why="who asks for a rule by name must get that rule",
        mend="choose other aliases",
    )


def _taken(rule: Rule) -> list[str]:
    """List the rule's names that are another's."""
    others = [RULES[name] for name in RULES if RULES[name] is not type(rule)]
    known = {name for other in others for name in (other.name, *other.aliases)}
    return sorted({rule.name, *rule.aliases} & known)


def _needs(rule: Rule) -> None:
    """Check that the rule says what it cannot do without: all of that, and no more."""
    sums, kind = _sums(), type(rule).__name__
    kept = {name for need in rule.needs for name in _OF_NEEDS[need]}
    fewer = _with(sums, **dict.fromkeys([name for name in _OPTIONAL if name not in kept]))
    demand(
        _same(rule, sums, fewer),
        f"{kind}.needs says {rule.needs}, but variance() or df() reads more than that",
        why="the rule fails on a release that does not give it, with an error that names no remedy",
        mend="add to needs what is read: 'between' (b), 'sizes' (n_syn, n_org), 'noise_var', 'df_com', "
        "'within_nests' (W), 'n_eff'",
    )
    for need in rule.needs:
        gone = [name for name in _OF_NEEDS[need] if need != "n_eff" or name != "n_syn"]
        demand(
            not gone or not _same(rule, sums, _with(sums, **dict.fromkeys(gone))),
            f"{kind}.needs says {need!r}, and nothing changes without it",
            why="the rule would be refused where it could be used",
            mend=f"take {need!r} out of needs",
        )


def _same(rule: Rule, one: Sums, other: Sums) -> bool:
    """Whether a rule gives the same for two sums; not if it cannot be used on the second."""
    try:
        pairs = [(each(one), each(other)) for each in (rule.variance, rule.df, _half_width(rule))]
    except Exception:  # noqa: BLE001 -- whatever it raises, it cannot do without
        return False
    return all(np.allclose(a, b, equal_nan=True) for a, b in pairs)


def _half_width(rule: Rule) -> Callable[[Sums], FloatArray]:
    """Make the half-width of the usual interval."""
    return lambda sums: rule.interval(sums, 0.95)


def _scales(rule: Rule) -> None:
    """Check that T is a variance: four times it where every variance is four times."""
    sums = _sums()
    larger = _changed(sums, lambda values: 4.0 * values)
    T, T4 = rule.variance(sums), rule.variance(larger)
    demand(
        np.allclose(T4, 4.0 * T, equal_nan=True)
        and np.allclose(rule.df(larger), rule.df(sums), equal_nan=True),
        f"{type(rule).__name__}: T is {_short(T)}, and {_short(T4)}, not four times that with the "
        "same degrees of freedom, where every variance is four times as large",
        why="intervals would depend on the unit in which a column is measured",
        mend="look for a term that is no variance, such as a standard error in the place of its square",
    )


def _one_by_one(rule: Rule) -> None:
    """Check that terms are combined each by itself, and as the diagonal of the matrix."""
    sums, kind = _sums(), type(rule).__name__
    second = _with(sums, **{name: getattr(sums, name)[1:] for name in (*_VARIANCES, "df_com")})
    T = rule.variance(sums)
    demand(
        np.allclose(rule.variance(second), T[1:], equal_nan=True),
        f"{kind}: T of a term depends on which other terms are there",
        why="a table of two coefficients and one of three would show other intervals for the same one",
        mend="compute entry by entry, without sums or means over terms",
    )
    matrices = _changed(sums, np.diag)
    demand(
        np.allclose(np.diag(rule.covariance(matrices)), T, equal_nan=True),
        f"{kind}: the diagonal of covariance() is not variance()",
        why="a joint test and the table would disagree about one coefficient",
        mend="write covariance() for matrices where the formula is not linear",
    )


def _decides(rule: Rule) -> None:
    """Check that the conditions answer for every release, hold for some and not for all."""
    valid = [facts for facts in _all_facts() if _valid(rule, facts)]
    kind = type(rule).__name__
    demand(
        valid,
        f"{kind} is valid for no release at all",
        why="nobody could use it",
        mend="look for conditions that contradict each other",
    )
    demand(
        len(valid) < len(_all_facts()),
        f"{kind} is valid for every release",
        why="no rule is right for copies with privacy noise and for copies without, from one stage and two",
        mend="add conditions: NO_NOISE, FLAT, TWO_COPIES, SIZES of analysis.rules.conditions, and others",
    )


def _counts_the_noise(rule: Rule) -> None:
    """Check that a rule for copies that share privacy noise reads how large it is, or gives no interval."""
    shared = any(facts.noise == "shared" and _valid(rule, facts) for facts in _all_facts())
    reads = {"noise_var", "n_eff"} & set(rule.needs)
    silent = bool(np.isnan(rule.interval(_sums(), 0.95)).all())
    demand(
        not shared or reads or silent,
        f"{type(rule).__name__} is valid where copies share privacy noise, and needs nothing that carries it",
        why="copies do not show between them what they share, so intervals would be too short",
        mend="add NO_NOISE of analysis.rules.conditions to conditions, or read noise_var or n_eff",
    )


def _interval_or_words(rule: Rule) -> None:
    """Check that T above zero has an interval, and T at or below zero none, with words why."""
    for sums in _spread():
        T, df, width = rule.variance(sums), rule.df(sums), rule.interval(sums, 0.95)
        good = (T > 0) & np.isfinite(T)
        demand(
            np.isfinite(width[good]).all() and (np.asarray(df)[good] > 0).all(),
            f"{type(rule).__name__}: T is {_short(T)} without degrees of freedom above zero and an interval",
            why="the pooled table would show an empty interval and not say why",
            mend="give df() > 0 (inf for the normal) wherever variance() > 0",
        )
        demand(
            np.isnan(width[T <= 0]).all() and (good.all() or len(rule.undefined(sums)) > 20),
            f"{type(rule).__name__}: T is {_short(T)}, yet there is an interval, or no words in undefined()",
            why="an interval from a variance that is not positive covers nothing",
            mend="return NaN from interval() there, and say in undefined() what to do",
        )


def _spread() -> Iterator[Sums]:
    """Make sums with little and much variation between copies, nests and by noise."""
    for factors in product((1e-3, 1.0, 1e3), repeat=3):
        given = zip(("b", "W", "noise_var"), factors, strict=True)
        yield _with(_sums(), **{name: getattr(_sums(), name) * by for name, by in given})


@cache
def _all_facts() -> tuple[Facts, ...]:
    """List what releases may say of their copies."""
    return tuple(Facts(**dict(zip(_FACTS, each, strict=True))) for each in product(*_FACTS.values()))


def _valid(rule: Rule, facts: Facts) -> bool:
    """Whether all conditions hold."""
    return all(condition.holds(facts) for condition in rule.conditions)


def _short(values: FloatArray) -> str:
    """Write a few numbers."""
    return np.array2string(np.asarray(values), precision=4, separator=", ")


_CHECKS: dict[str, Callable[[Rule], None]] = {
    "is_made_as_rules_are": _is_made_as_rules_are,
    "says_what_it_is": _says_what_it_is,
    "needs_what_it_says": _needs,
    "scales_as_variances_do": _scales,
    "combines_term_by_term": _one_by_one,
    "conditions_decide": _decides,
    "counts_the_noise": _counts_the_noise,
    "has_an_interval_or_says_why": _interval_or_words,
}
