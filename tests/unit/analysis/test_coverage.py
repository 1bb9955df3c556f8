"""Small seeded simulations: intervals and joint tests do what they promise, and the wrong rules do not.

Every check states both errors: the exact binomial probability of the count exceeds 1e-9 at the promised rate,
and is below 1e-9 under the named defect.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.analysis.combining import combine
from pysynthdp.base.errors import CombiningRuleError

pytestmark = [pytest.mark.statistical, pytest.mark.filterwarnings("ignore:T = .* gives no interval")]
RUNS, N = 20_000, 400


def plausible(count, runs, rate):
    return stats.binomtest(int(count), runs, rate).pvalue > 1e-9


def normal_mean(rng, *, m, k, proper, runs=RUNS, p=1):
    """Estimates (m, runs, p) of a normal mean in copies of size k of a sample of N; truth 0, variance 1."""
    mean = rng.normal(0, N**-0.5, (1, runs, p))
    s2 = rng.chisquare(N - 1, (1, runs, p)) / (N - 1)
    if proper:
        s2 = s2 * (N - 1) / rng.chisquare(N - 1, (m, runs, p))
        mean = mean + rng.normal(size=(m, runs, p)) * np.sqrt(s2 / N)
    q = mean + rng.normal(size=(m, runs, p)) * np.sqrt(s2 / k)
    u = s2 * rng.chisquare(k - 1, (m, runs, p)) / (k - 1) / k
    return q, u


def covered(q, u, k, rule):
    limits = combine(q[..., 0], u[..., 0], n_syn=k, n_org=N, rule=rule).conf_int()
    return int(np.sum((limits[:, 0] < 0) & (limits[:, 1] > 0)))


@pytest.mark.parametrize("k", [N // 2, N, 2 * N])
@pytest.mark.parametrize(
    ("proper", "m", "rule"),
    [
        (False, 5, "partial_size_adjusted"),
        (True, 5, "partial_size_adjusted"),
        (False, 5, "raab_simple"),
        (True, 5, "raab_proper"),
        (False, 1, "raab_simple"),
        (True, 1, "raab_proper"),
    ],
)
def test_the_right_rule_covers(proper, m, rule, k):
    q, u = normal_mean(np.random.default_rng(1), m=m, k=k, proper=proper)
    assert plausible(covered(q, u, k, rule), RUNS, 0.95)


@pytest.mark.parametrize(
    ("proper", "m", "k", "rule", "n_syn"),
    [
        (False, 5, N, "full_rrr2003", N),  # 0.51
        (True, 1, N, "raab_simple", N),  # 0.89
        (False, 5, 2 * N, "partial_reiter2003", N),  # 0.86: sizes not adjusted
        (False, 5, N // 2, "missing_rubin1987", N),  # 0.999
    ],
)
def test_the_wrong_rule_does_not(proper, m, k, rule, n_syn):
    q, u = normal_mean(np.random.default_rng(2), m=m, k=k, proper=proper)
    assert not plausible(covered(q, u, n_syn, rule), RUNS, 0.95)


def test_shared_noise_covers_with_its_variance_only():
    rng, v = np.random.default_rng(3), 0.5 / N
    q, u = normal_mean(rng, m=5, k=N, proper=False)
    q = q + rng.normal(0, v**0.5, (1, RUNS, 1))
    done = combine(q[..., 0], u[..., 0], n_syn=N, n_org=N, noise_var=v)
    limits = done.conf_int()
    assert done.rule == "shared_noise_added"
    assert plausible(np.sum((limits[:, 0] < 0) & (limits[:, 1] > 0)), RUNS, 0.95)
    assert not plausible(covered(q, u, N, "partial_size_adjusted"), RUNS, 0.95)


def test_census_rule_covers():
    q = np.random.default_rng(4).normal(0, 0.1, (5, RUNS, 1))
    assert plausible(covered(q, np.full_like(q, 0.01), N, "census_fresh_samples"), RUNS, 0.95)
    assert not plausible(covered(q, np.full_like(q, 0.01), N, "partial_size_adjusted"), RUNS, 0.95)


def test_nested_rule_covers():
    # Missing values: between imputations 0.5/N; synthesis 1/N within; sampling 1/N. The degrees of
    # freedom are matched, not exact, so coverage is held to 0.015 of 0.95.
    rng, m, r = np.random.default_rng(5), 5, 5
    sample = rng.normal(0, N**-0.5, (1, 1, RUNS))
    imputed = rng.normal(0, (0.5 / N) ** 0.5, (1, 1, RUNS)) + rng.normal(0, (0.5 / N) ** 0.5, (m, 1, RUNS))
    q = (sample + imputed + rng.normal(0, N**-0.5, (m, r, RUNS))).reshape(m * r, RUNS)
    done = combine(q, np.full_like(q, 1 / N), nests=np.repeat(np.arange(m), r).tolist())
    limits = done.conf_int()
    cover = np.mean((limits[:, 0] < 0) & (limits[:, 1] > 0))
    assert done.rule == "missing_then_partial_reiter2004"
    assert cover == pytest.approx(0.95, abs=0.015)
    flat = combine(q, np.full_like(q, 1 / N), n_syn=N, n_org=N).conf_int()
    assert np.mean((flat[:, 0] < 0) & (flat[:, 1] > 0)) < 0.92


def rejections(q, u, **options):
    count = 0
    for run in range(q.shape[1]):
        U = np.apply_along_axis(np.diag, 1, u[:, run])
        count += combine(q[:, run], U, **options).wald(np.eye(3)).pvalue < 0.05
    return count


@pytest.mark.parametrize(("proper", "k"), [(False, N), (True, N), (False, 2 * N)])
def test_partial_wald_test_has_its_size(proper, k):
    runs = 3000
    q, u = normal_mean(np.random.default_rng(6), m=5, k=k, proper=proper, runs=runs, p=3)
    assert plausible(rejections(q, u, n_syn=k, n_org=N), runs, 0.05)


def test_missing_data_wald_test_is_wrong_for_synthetic_copies():
    runs = 3000
    q, u = normal_mean(np.random.default_rng(7), m=5, k=N, proper=False, runs=runs, p=3)
    assert not plausible(rejections(q, u, rule="missing_rubin1987"), runs, 0.05)


def test_wald_tests_with_known_variance_and_between_copies_have_their_size():
    runs = 3000
    q, u = normal_mean(np.random.default_rng(8), m=1, k=N, proper=True, runs=runs, p=3)
    assert plausible(rejections(q, u, n_syn=N, n_org=N, rule="raab_proper"), runs, 0.05)
    assert not plausible(rejections(q, u, n_syn=N, n_org=N, rule="raab_simple"), runs, 0.05)
    fresh = np.random.default_rng(9).normal(size=(8, runs, 3))
    assert plausible(rejections(fresh, np.ones_like(fresh), rule="census_fresh_samples"), runs, 0.05)
    with pytest.raises(CombiningRuleError, match="more than 3 copies"):
        rejections(fresh[:3], np.ones_like(fresh[:3]), rule="census_fresh_samples")


def test_full_wald_test_has_its_size_with_many_copies():
    # Known to be rough: 0.051 at m = 20 in the literature's own design; refused where r <= 1.
    runs = 1500
    q, u = normal_mean(np.random.default_rng(10), m=30, k=N, proper=True, runs=runs, p=3)
    assert rejections(q, u, rule="full_rrr2003") / runs == pytest.approx(0.05, abs=0.025)


def test_nested_wald_test_has_its_size():
    # The degrees of freedom are matched, not exact: the size is held to 0.015 of 0.05.
    rng, m, r, runs = np.random.default_rng(11), 8, 4, 3000
    shape = (m, r, runs, 3)
    q = (
        rng.normal(0, 0.1, (1, 1, runs, 3))
        + rng.normal(0, 0.05, (1, 1, runs, 3))
        + rng.normal(0, 0.05, (m, 1, runs, 3))
        + rng.normal(0, 0.1, shape)
    ).reshape(m * r, runs, 3)
    nests = np.repeat(np.arange(m), r).tolist()
    size = rejections(q, np.full_like(q, 0.01), nests=nests) / runs
    assert size == pytest.approx(0.05, abs=0.015)


def populations(rng, *, m, times, effect=1.0, r=1):
    """Estimates (r m, runs) of copies of pseudo-populations, r of each sample of ``times`` N rows; truth 0.

    The sample's estimate and a population's, given it, have the design's variance; the population's sample,
    and the copy, that of ``times`` N independent rows.
    """
    own, unit = np.sqrt(effect / N), np.sqrt(1 / (times * N))
    sample = rng.normal(0, own, RUNS)
    drawn = sample + rng.normal(0, own, (m, RUNS)) + rng.normal(0, unit, (m, RUNS))
    q = np.repeat(drawn, r, axis=0) + rng.normal(0, unit, (m * r, RUNS))
    k = times * N
    return q, rng.chisquare(k - 1, q.shape) / (k - 1) / k


@pytest.mark.parametrize(("effect", "r"), [(1.0, 1), (1.6, 1), (1.0, 3)])
def test_copies_of_pseudo_populations_cover(effect, r):
    """Undefined intervals count as not covering; ten rows a record make them rare."""
    q, u = populations(np.random.default_rng(5), m=20, times=10, effect=effect, r=r)
    nests = None if r == 1 else np.repeat(np.arange(20), r).tolist()
    rule = "pseudo_population_single" if r == 1 else "pseudo_population_nested"
    done = combine(q, u, n_syn=10 * N, n_org=N, rule=rule, nests=nests)
    limits = done.conf_int()
    cover = np.mean((limits[:, 0] < 0) & (limits[:, 1] > 0))
    assert 0.945 < cover < 0.965  # twenty runs of .955 have a standard error of .0015
    assert np.isnan(limits).mean() < 0.002
    half = stats.t.ppf(0.975, 19) * np.sqrt(np.where(done.T > 0, done.T, np.nan))
    plain = np.mean(np.abs(done.qbar) < half)
    assert plain < cover  # m - 1 degrees of freedom, as in the authors' programs
    narrow = covered(q[:, :, None], u[:, :, None], 10 * N, "partial_size_adjusted")
    assert plausible(narrow, RUNS, 0.95) == (effect == 1.0)  # it takes the variance of independent rows, .88


def test_copies_no_longer_than_the_sample_cover_with_matched_degrees_of_freedom_only():
    q, u = populations(np.random.default_rng(6), m=40, times=1, effect=1.6)
    done = combine(q, u, n_syn=N, n_org=N, rule="pseudo_population_single")
    limits = done.conf_int()
    assert np.mean((limits[:, 0] < 0) & (limits[:, 1] > 0)) > 0.955
    half = stats.t.ppf(0.975, 39) * np.sqrt(np.where(done.T > 0, done.T, np.nan))
    assert not plausible(np.sum(np.abs(done.qbar) < half), RUNS, 0.95)  # .913
