"""Which rules a release from noised answers gets, which it is refused, and what their formulas are."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.analysis.asked import asked_by_formula
from pysynthdp.analysis.choose import choose, facts_of, objections, take
from pysynthdp.analysis.combining import combine_stack
from pysynthdp.analysis.noise_flags import noise_flags
from pysynthdp.analysis.rules.base import RULES
from pysynthdp.analysis.stack import Stack
from pysynthdp.base.errors import CombiningRuleError
from pysynthdp.tags import ReleaseTags

IGNORES = ("raab_simple", "raab_proper", "partial_size_adjusted", "partial_reiter2003", "missing_rubin1987")
COUNTS = ("noise_floored", "full_rrr2003", "full_posterior_truncated")


def values(m: int, seed: int = 0) -> Stack:
    """m copies of two estimates."""
    rng = np.random.default_rng(seed)
    q, u = rng.standard_normal((m, 2)) / 10, 0.01 + rng.random((m, 2)) / 1000
    U = np.stack([np.diag(each) for each in u])
    return Stack(q, u, U, None, 200.0, 100.0, None, None, None, 60.0)


def tags(**changes) -> ReleaseTags:
    """A release of numbers from noised answers."""
    plain = {"kind": "complete", "m": 20, "n_syn": 200, "n_org": 100, "synthesised": frozenset("ab")}
    noised = {"noise": "per_copy_from_one", "parameters": "drawn", "details": {"n_eff": 60.0}}
    return ReleaseTags(**{**plain, **noised, **changes})


def facts(**changes):
    """What its tags say of a model with both columns."""
    made = tags(**changes)
    return facts_of(made, frozenset("ab"), n_org=made.n_org, noise_var_known=False)


def test_many_redrawn_copies_get_the_floored_rule():
    assert choose(facts(), values(20)).name == "noise_floored"
    assert choose(facts(details={}), values(20)).name == "noise_floored"


def test_one_copy_of_numbers_gets_effective_rows():
    assert choose(facts(m=1), values(1)).name == "effective_rows_drawn"
    shared = facts(m=1, noise="shared", parameters="fitted")
    assert choose(shared, values(1)).name == "effective_rows_fitted"


@pytest.mark.parametrize(
    "changes",
    [
        {"m": 1, "details": {}},
        {"m": 1, "noise": "shared", "parameters": "fitted", "details": {}},
        {"m": 20, "noise": "shared", "parameters": "fitted", "details": {}},
    ],
)
def test_mixed_tables_give_no_interval_from_one_copy_or_a_shared_fit(changes):
    with pytest.raises(CombiningRuleError, match="noise"):
        choose(facts(**changes), values(changes["m"]))


@pytest.mark.parametrize("name", IGNORES)
@pytest.mark.parametrize("noise", ["per_copy_from_one", "shared"])
def test_rules_that_ignore_the_noise_are_refused_by_name(name, noise):
    for parameters in ("drawn", "fitted"):
        with pytest.raises(CombiningRuleError, match=r"noise|synthetic"):
            take(name, facts(noise=noise, parameters=parameters), values(20))


def test_every_rule_that_is_allowed_counts_the_noise():
    allowed = {name for name in RULES if not objections(RULES[name](), facts(), values(20))}
    assert allowed == {*COUNTS, "effective_rows_drawn"}


def test_fresh_noise_for_each_copy_gets_a_rule_with_b_over_m():
    rule = choose(facts(noise="per_copy_fresh", parameters="fitted"), values(20))
    sums = values(20).sums()
    assert np.all(rule.variance(sums) >= sums.between / 20)
    assert not objections(RULES["partial_reiter2003"](), facts(noise="per_copy_fresh", n_syn=100), values(20))


def test_the_formulas():
    stacked = values(20)
    sums = stacked.sums()
    b, u, f, g = sums.between, sums.ubar, 2.0, 200 / 60
    floored = np.maximum(1.05 * b - u, u * (f + (1 + f) / 20))
    done = combine_stack(stacked, RULES["noise_floored"]())
    assert np.allclose(done.T, floored)
    assert np.allclose(done.df, 19 * (floored / (1.05 * b)) ** 2)
    drawn = combine_stack(stacked, RULES["effective_rows_drawn"]())
    assert np.allclose(drawn.T, u * (g + (1 + g) / 20))
    assert np.allclose(combine_stack(stacked, RULES["effective_rows_fitted"]()).T, u * (g + 1 / 20))


def test_the_floored_covariance_is_positive_definite_and_agrees_on_the_diagonal_case():
    stacked = values(20)
    matrix = RULES["noise_floored"]().covariance(stacked.matrices())
    assert (np.linalg.eigvalsh(matrix) > 0).all()
    far = Stack(stacked.q * 20, stacked.u, stacked.U, None, 200.0, 100.0)
    sums = far.matrices()
    assert np.allclose(RULES["noise_floored"]().covariance(sums), 1.05 * sums.between - sums.ubar)


def test_flags_name_what_the_copies_do_not_carry():
    made = tags(details={"flags": ["noise-dominated"], "void": True})
    found = noise_flags(made, asked_by_formula("y ~ a + I(a ** 2)"))
    assert found[0] == "noise-dominated"
    assert "interactions" in found[1]
    assert "void" in found[2]
    assert noise_flags(tags(noise="none", parameters="drawn"), asked_by_formula("y ~ a * b")) == ()


@pytest.mark.parametrize("formula", ["np.log(y) ~ a", "y ~ np.log1p(a) + b", "log10(y) ~ a", "y ~ sqrt (b)"])
def test_logs_and_roots_of_noised_copies_are_flagged(formula):
    (flag,) = noise_flags(tags(details={}), asked_by_formula(formula))
    assert "shape of a number" in flag
    assert noise_flags(tags(details={}), asked_by_formula("y ~ logincome + blog + experience")) == ()
    assert noise_flags(tags(noise="none", parameters="drawn"), asked_by_formula(formula)) == ()
