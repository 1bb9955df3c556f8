"""Even draws: each row keeps its law, rows that are alike share the points evenly, columns stay apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.base.even import EvenSampler, kd_order, main_axes, poisson_quantile
from pysynthdp.base.streams import root_sequence, stream

TRUTH = 1e-9
P = np.repeat([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]], 300, axis=0)
X = np.random.default_rng(5).normal(size=(40, 3))


def even(seed: int, rows: np.ndarray = X) -> EvenSampler:
    return EvenSampler(stream(root_sequence(seed), 0)).along(rows)


def test_levels_come_as_often_as_they_should_among_rows_that_are_alike():
    # independent rows would miss by 8; a sequence of low discrepancy by 2 or so
    for seed in range(20):
        levels, events = even(seed, P).categorical(P), even(seed, P).event(P[:, 0])
        for group in (slice(0, 300), slice(300, 600)):
            counts = np.bincount(levels[group], minlength=3)
            assert np.abs(counts - 300 * P[group][0]).max() <= 4
            assert abs(events[group].sum() - 300 * P[group][0, 0]) <= 4


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda s: s.uniform(40), stats.uniform.cdf),
        (lambda s: s.normal(X[:, 0], 2.0), lambda v: stats.norm.cdf(v, X[7, 0], 2.0)),
        (lambda s: s.gamma(1.5, np.exp(X[:, 0])), lambda v: stats.gamma.cdf(v, 1.5, scale=np.exp(X[7, 0]))),
        (lambda s: s.placed(np.full((40, 2), 0.5))[1], stats.uniform.cdf),
    ],
    ids=["uniform", "normal", "gamma", "placed"],
)
def test_each_row_by_itself_has_its_law(draw, law):
    # passes at the truth but once in 10^9; a shift of the points by 0.1 gives p < 1e-12 in 1,500 draws
    drawn = np.array([draw(even(seed))[7] for seed in range(1_500)])
    assert stats.kstest(law(drawn), "uniform").pvalue > TRUTH
    assert stats.kstest((law(drawn) * 0.9), "uniform").pvalue < TRUTH


def test_each_row_has_its_law_in_levels_and_counts():
    # passes at the truth but once in 10^9; levels or counts of the next row's law give p < 1e-9
    shares = np.array([[0.2, 0.5, 0.3], [0.4, 0.3, 0.3]])[np.arange(40) % 2]
    mean = np.where(np.arange(40) % 2, 1.0, 1.4)
    levels = np.bincount([even(s).categorical(shares)[6] for s in range(1_500)], minlength=3)
    counts = np.bincount(
        np.minimum([even(s).poisson(mean)[6] for s in range(1_500)], 4).astype(int), minlength=5
    )
    for row, passes in ((6, True), (7, False)):
        law = stats.poisson.pmf(np.arange(5), mean[row])
        law[4] += stats.poisson.sf(4, mean[row])
        assert bool(stats.chisquare(levels, 1_500 * shares[row]).pvalue > TRUTH) is passes
        assert bool(stats.chisquare(counts, 1_500 * law).pvalue > TRUTH) is passes


def test_calls_of_one_step_are_independent_in_each_row_and_even_together():
    pairs, spread = np.zeros((4, 4)), []
    for seed in range(400):
        sampler = even(seed, np.arange(400.0)[:, None])
        one, two = (sampler.uniform(400) * 4).astype(int), (sampler.uniform(400) * 4).astype(int)
        pairs[one[3], two[3]] += 1
        table = np.zeros((4, 4))
        np.add.at(table, (one, two), 1)
        spread.append(((table - 25) ** 2 / 25).sum())
    # one row over 400 draws: passes but once in 10^9; the same points twice would give 1,200
    assert ((pairs - 25) ** 2 / 25).sum() < stats.chi2.isf(TRUTH, 15)
    # one copy's table: nearer to independence than independent rows (15); one irrational step for both: 400
    assert np.mean(spread) < 10


def test_calls_beyond_the_steps_are_independent_draws():
    sampler = even(1, np.ones((400, 1)))
    points = [sampler.uniform(400) for _ in range(6)]
    gaps = [np.sort(one)[1:] - np.sort(one)[:-1] for one in points]
    assert [gap.max() < 3 / 400 for gap in gaps] == [True] * 4 + [False] * 2


def test_columns_drawn_without_each_other_do_not_share_their_points():
    # two steps with nothing but an intercept: ties in a fixed order would put all rows on one diagonal
    for seed in range(50):
        root = root_sequence(seed)
        one, two = (EvenSampler(stream(root, 0, 0, step)).along(np.ones((900, 1))) for step in range(2))
        table = np.zeros((3, 3))
        np.add.at(table, ((one.uniform(900) * 3).astype(int), (two.uniform(900) * 3).astype(int)), 1)
        assert ((table - 100) ** 2 / 100).sum() < stats.chi2.isf(TRUTH, 4)


def test_the_order_is_of_all_rows_and_keeps_neighbours_together():
    rows = np.random.default_rng(2).normal(size=(5_000, 2))
    order = kd_order(main_axes(rows, standardised=True), np.random.default_rng(3).permutation(5_000))
    assert np.array_equal(np.sort(order), np.arange(5_000))
    steps = np.linalg.norm(np.diff(rows[order], axis=0), axis=1)
    assert steps.mean() < 0.2  # 1.77 in random order


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 9, 31, 100, 16_384])
def test_any_number_of_rows_is_ordered(size):
    rows = np.random.default_rng(2).integers(0, 3, size=(size, 4)).astype(float)
    assert np.array_equal(
        np.sort(kd_order(main_axes(rows, standardised=True), np.arange(size))), np.arange(size)
    )
    assert EvenSampler(np.random.default_rng(1)).along(rows).uniform(size).shape == (size,)


def test_wide_rows_have_main_axes_too():
    one, noise = (
        np.random.default_rng(1).normal(size=(500, 1)),
        np.random.default_rng(2).normal(size=(500, 90)),
    )
    rows = np.concatenate([one + 0.3 * noise[:, :60], noise[:, 60:]], axis=1)
    assert abs(np.corrcoef(main_axes(rows, standardised=True)[0], one[:, 0])[0, 1]) > 0.99


def test_no_axis_comes_from_rows_that_are_all_the_same_or_not_finite():
    assert main_axes(np.ones((5, 2)), standardised=True) == []
    assert main_axes(np.array([[np.inf], [1.0]]), standardised=False) == []


def test_counts_are_quantiles_of_poisson_laws():
    rng = np.random.default_rng(4)
    mean, points = np.exp(rng.uniform(-10, 13, 4_000)), rng.random(4_000)
    np.testing.assert_array_equal(poisson_quantile(points, mean), stats.poisson.ppf(points, mean))


def test_means_too_large_or_small_for_quantiles_are_drawn_independently():
    mean = np.array([0.0, 1e-300, 2.0**53] * 4)
    counts = even(1, np.ones((12, 1))).poisson(mean)
    assert (counts[::3] == 0).all()
    assert (np.abs(counts[2::3] / 2.0**53 - 1) < 1e-6).all()


def test_without_rows_draws_are_independent():
    sampler = EvenSampler(np.random.default_rng(1))
    np.testing.assert_array_equal(sampler.uniform(9), np.random.default_rng(1).random(9))
