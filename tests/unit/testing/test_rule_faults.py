"""Each check of a combining rule bites: a rule that breaks one promise is told of that one, in words."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.analysis.rules.base import RULES, Condition, Rule
from pysynthdp.analysis.rules.conditions import FLAT, NO_NOISE, SIZES
from pysynthdp.testing import check_combining_rule, combining_rule_checks


class Kept(Rule):
    """The variance of one copy, with the share of rows: keeps every promise."""

    name = "kept_toy"
    formula = "ubar (f + 1/m)"
    source = "a toy"
    right_when = "Never, it is a toy."
    needs = ("sizes",)
    conditions = (NO_NOISE, SIZES, FLAT)

    def variance(self, sums):
        return sums.ubar * (sums.ratio + 1 / sums.m)


def test_a_rule_that_keeps_all_promises_passes():
    check_combining_rule(Kept)
    check_combining_rule(Kept())


@pytest.mark.parametrize(
    "check", [check for name in RULES for check in combining_rule_checks(RULES[name])], ids=str
)
def test_every_rule_keeps_the_contract(check):
    check()


class Unmade(Rule):
    """Says all that a rule says, and has no arithmetic."""

    name = "unmade_toy"
    conditions = Kept.conditions


class Lettered(Kept):
    needs = "sizes"


class Aliased(Kept):
    aliases = "mine"


class Misspelt(Kept):
    needs = ("sizes", "size")


class Told(Kept):
    conditions = ("no noise",)


class Flat(Kept):
    needs = ("sizes", "within_nests")

    def variance(self, sums):
        return sums.ubar * sums.ratio + sums.within_nests


class Unlabelled(Kept):
    nested = True


class Single(Kept):
    def df(self, sums):
        return sums.m - 1.0


class Nameless(Kept):
    formula = ""


class Unending(Kept):
    right_when = "never"


class Unconditional(Kept):
    conditions = ()


class Untested(Kept):
    wald = "wald_of_nobody"


class Namesake(Kept):
    aliases = ("T_s",)


class Greedy(Kept):
    needs = ()


class Modest(Kept):
    needs = ("sizes", "between")


class Rooted(Kept):
    def variance(self, sums):
        return np.sqrt(sums.ubar) * sums.ratio


class Mixing(Kept):
    def variance(self, sums):
        return sums.ubar.mean(axis=0) * (sums.ratio + 1 / sums.m) + 0 * sums.ubar


class Bent(Kept):
    def covariance(self, sums):
        return 2 * self.variance(sums)


class Impossible(Kept):
    conditions = (NO_NOISE, Condition(lambda facts: facts.noise == "shared", "it is for shared noise"))


class Eager(Kept):
    conditions = (Condition(lambda facts: facts.m > 0, "it needs a copy"),)


class Deaf(Kept):
    conditions = (SIZES, FLAT)


class Degreeless(Kept):
    def df(self, sums):
        return np.zeros_like(sums.ubar)


class Negative(Kept):
    needs = ("sizes", "between")

    def variance(self, sums):
        return sums.ubar * sums.ratio - sums.between

    def interval(self, sums, level):
        del level
        return np.sqrt(np.abs(self.variance(sums)))


MADE = "is_made_as_rules_are"
FAULTS = {
    int: (MADE, "int is no combining rule"),
    Unmade: (MADE, r"has no variance\(\)"),
    Lettered: (MADE, "needs is no tuple"),
    Aliased: (MADE, "aliases is no tuple"),
    Misspelt: (MADE, r"needs has \['size'\], which nobody gives"),
    Told: (MADE, "conditions has what is no Condition"),
    Flat: (MADE, "nested is False, and needs says"),
    Unlabelled: (MADE, "nested is True, and needs says"),
    Single: (MADE, r"df\(\) gives no number for each term"),
    Nameless: ("says_what_it_is", "has no formula"),
    Unending: ("says_what_it_is", "no sentence"),
    Unconditional: ("says_what_it_is", "has no conditions"),
    Untested: ("says_what_it_is", "'wald_of_nobody', which nobody registered"),
    Namesake: ("says_what_it_is", "names that other rules have: T_s"),
    Greedy: ("needs_what_it_says", "reads more than that"),
    Modest: ("needs_what_it_says", "says 'between', and nothing changes"),
    Rooted: ("scales_as_variances_do", "not four times that"),
    Mixing: ("combines_term_by_term", "which other terms are there"),
    Bent: ("combines_term_by_term", "the diagonal of covariance"),
    Impossible: ("conditions_decide", "valid for no release"),
    Eager: ("conditions_decide", "valid for every release"),
    Deaf: ("counts_the_noise", "valid where copies share privacy noise"),
    Degreeless: ("has_an_interval_or_says_why", "without degrees of freedom above zero"),
    Negative: ("has_an_interval_or_says_why", "yet there is an interval"),
}


@pytest.mark.parametrize("rule", FAULTS, ids=lambda rule: rule.__name__)
def test_a_planted_fault_is_named(rule):
    check, words = FAULTS[rule]
    checks = {str(each): each for each in combining_rule_checks(rule)}
    with pytest.raises(AssertionError, match=words) as caught:
        checks[check]()
    assert "why it matters: " in str(caught.value)
    assert "to mend it: " in str(caught.value)


def test_every_check_has_a_planted_fault():
    assert {str(check) for check in combining_rule_checks(Kept)} == {check for check, _ in FAULTS.values()}


def test_a_rule_that_is_not_made_as_rules_are_is_told_of_that_alone():
    for rule in (rule for rule, (check, _) in FAULTS.items() if check == MADE):
        with pytest.raises(AssertionError, match=f"breaks 1 of its promises:\n- {MADE}"):
            check_combining_rule(rule)


def test_all_faults_are_told_at_once():
    with pytest.raises(AssertionError, match=r"Degreeless breaks [12] of its promises"):
        check_combining_rule(Degreeless)
