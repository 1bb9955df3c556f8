"""Tests of several coefficients on nested copies: the likelihood-ratio form beside the Wald form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pysynthdp.analysis import ReleaseTags, combine, logit
from pysynthdp.analysis.f_tests import JOINT_TESTS, Ratios
from pysynthdp.base.errors import CombiningRuleError

M, R, P = 5, 3, 3
NESTS = np.repeat(np.arange(M), R)


@dataclass(frozen=True)
class Copies:
    copies: tuple[pd.DataFrame, ...]
    tags: ReleaseTags


def quadratic(rng):
    """Estimates with one known covariance: log-likelihoods are then exactly quadratic."""
    U = np.cov(rng.normal(size=(P, 40)))
    q = np.repeat(rng.normal(0, 0.5, (M, P)), R, axis=0) + rng.normal(0, 0.5, (M * R, P))
    return q, U


def statistic(q, U, at):
    """Likelihood-ratio statistics of beta = 0 with the parameters of every copy at ``at``."""
    K = np.linalg.inv(U)
    return np.einsum("ij,jk,ik->i", q, K, q) - np.einsum("ij,jk,ik->i", q - at, K, q - at)


def test_both_forms_are_the_same_for_quadratic_likelihoods():
    q, U = quadratic(np.random.default_rng(1))
    nest = np.repeat(q.reshape(M, R, P).mean(axis=1), R, axis=0)
    levels = [float(statistic(q, U, at).mean()) for at in (q, nest, q.mean(axis=0))]
    got = JOINT_TESTS["lr_nested"]().ratio(Ratios(*levels, M, R), p=P)
    want = combine(q, np.broadcast_to(U, (M * R, P, P)), nests=NESTS.tolist()).wald(np.eye(P))
    assert (got.stat, got.df2, got.r) == pytest.approx((want.stat, want.df2, want.r), rel=1e-10)


def test_the_wald_form_of_one_coefficient_is_the_rule_itself():
    q, U = quadratic(np.random.default_rng(2))
    one = combine(q[:, 0], np.full(M * R, U[0, 0]), nests=NESTS.tolist())
    joint = combine(q[:, :1], np.full((M * R, 1, 1), U[0, 0]), nests=NESTS.tolist()).wald(np.eye(1))
    assert joint.stat == pytest.approx(float((one.qbar / one.se) ** 2), rel=1e-10)
    assert joint.df2 == pytest.approx(float(one.df), rel=1e-10)
    assert joint.pvalue == pytest.approx(float(one.pvalue()), rel=1e-9)


def test_no_positive_variance_is_refused():
    with pytest.raises(CombiningRuleError, match="conservative"):
        JOINT_TESTS["lr_nested"]().ratio(Ratios(90.0, 20.0, 20.0, M, R), p=P)


def nested_release(n):
    rng = np.random.default_rng(4)

    def copy(shift):
        g = rng.choice(list("abc"), n)
        x = rng.normal(size=n)
        p = 1 / (1 + np.exp(-0.3 - 0.6 * x - shift * (g == "b")))
        return pd.DataFrame({"x": x, "g": g, "yes": (rng.random(n) < p).astype(float)})

    shifts = np.repeat(0.1 + 0.03 * rng.normal(size=M), R)
    tags = ReleaseTags(
        kind="complete",
        m=M * R,
        n_syn=n,
        n_org=n,
        synthesised=frozenset({"x", "g", "yes"}),
        nests=tuple(map(str, NESTS)),
    )
    return Copies(tuple(copy(shift) for shift in shifts), tags)


def test_a_pooled_result_offers_it_and_agrees_with_wald_for_large_tables():
    release = nested_release(8000)
    fit = logit("yes ~ x + g", release)
    wald, ratio = fit.wald_test("g"), fit.lr_test("yes ~ x")
    assert fit.rule == "missing_then_partial_reiter2004"
    assert (wald.name, ratio.name) == ("wald_nested", "lr_nested")
    assert ratio.stat == pytest.approx(wald.stat, rel=0.02)
    assert ratio.r == pytest.approx(wald.r, rel=0.1)


@pytest.mark.statistical
def test_both_forms_keep_their_size_and_one_stage_forms_do_not():
    # 4,000 runs; the degrees of freedom are matched, so the size is held to 0.015 of 0.05: at a true size of
    # 0.055 (the worst measured) a count outside has p < 0.005; the one-stage form over all copies rejects
    # more than twice as often and is refused by this bound with p < 1e-9.
    rng, runs = np.random.default_rng(3), 4000
    shape = (M, R, runs, P)
    q = (
        rng.normal(0, 0.1, (1, 1, runs, P))
        + rng.normal(0, 0.07, (1, 1, runs, P))
        + rng.normal(0, 0.07, (M, 1, runs, P))
        + rng.normal(0, 0.1, shape)
    ).reshape(M * R, runs, P)
    U = np.broadcast_to(0.01 * np.eye(P), (M * R, P, P))
    nested, flat = 0, 0
    for run in range(runs):
        nested += combine(q[:, run], U, nests=NESTS.tolist()).wald(np.eye(P)).pvalue < 0.05
        flat += combine(q[:, run], U, n_syn=1, n_org=1).wald(np.eye(P)).pvalue < 0.05
    assert nested / runs == pytest.approx(0.05, abs=0.015)
    assert stats.binomtest(int(flat), runs, 0.065).pvalue < 1e-9
