from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.base.streams import NumpySampler, root_sequence, stream


def first(root, *key):
    return stream(root, *key).integers(2**63)


def test_the_same_seed_and_key_give_the_same_stream():
    assert first(root_sequence(5), 0, 1, 2) == first(root_sequence(5), 0, 1, 2)


def test_every_key_has_its_own_stream():
    root = root_sequence(5)
    keys = [
        (kind, copy, step, block)
        for kind in (0, 1)
        for copy in range(5)
        for step in range(5)
        for block in range(5)
    ]
    assert len({first(root, *key) for key in keys}) == len(keys)


def test_a_stream_does_not_depend_on_what_was_drawn_before():
    root = root_sequence(5)
    expected = first(root, 0, 3)
    stream(root, 0, 2).random(1000)
    assert first(root, 0, 3) == expected


def test_no_seed_means_fresh_entropy():
    assert root_sequence(None).entropy != root_sequence(None).entropy


def test_a_seed_sequence_and_its_children_are_different_roots():
    parent = np.random.SeedSequence(9)
    child = parent.spawn(1)[0]
    assert root_sequence(parent) is parent
    assert first(root_sequence(parent), 0) != first(root_sequence(child), 0)


def test_a_generator_is_a_root_and_moves_on():
    generator = np.random.default_rng(3)
    assert first(root_sequence(generator), 0) != first(root_sequence(generator), 0)
    assert first(root_sequence(np.random.default_rng(3)), 0) == first(
        root_sequence(np.random.default_rng(3)), 0
    )


def test_the_global_generator_is_neither_read_nor_moved():
    before = np.random.get_state()[1].copy()  # noqa: NPY002  # the global generator is what is guarded
    NumpySampler(stream(root_sequence(None), 0)).uniform(10)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002  # the same


SIZE = 20_000
TRUTH = 1e-9  # at the truth a test passes but for one run in 1e9; the seeds are fixed


def sampler(seed):
    return NumpySampler(stream(root_sequence(seed), 0))


LAWS = {
    "normal": (lambda s: s.normal(np.full(SIZE, 3.0), 2.0), stats.norm(3, 2), stats.norm(3, 2.2)),
    "normal by row": (
        lambda s: s.normal(np.zeros(SIZE), np.full(SIZE, 0.5)),
        stats.norm(0, 0.5),
        stats.norm(0.05, 0.5),
    ),
    "uniform": (lambda s: s.uniform(SIZE), stats.uniform(), stats.uniform(0, 1.1)),
    "gamma": (
        lambda s: s.gamma(2.0, np.full(SIZE, 1.5)),
        stats.gamma(2, scale=1.5),
        stats.gamma(2, scale=1.8),
    ),
}


@pytest.mark.statistical
@pytest.mark.parametrize("law", LAWS)
def test_variates_have_their_law_and_not_a_near_one(law):
    draw, truth, defect = LAWS[law]
    values = draw(sampler(11))
    assert stats.kstest(values, truth.cdf).pvalue > TRUTH
    assert stats.kstest(values, defect.cdf).pvalue < TRUTH


@pytest.mark.statistical
def test_poisson_counts_have_their_law_and_not_a_wider_one():
    counts = np.bincount(sampler(12).poisson(np.full(SIZE, 1.3)).astype(int), minlength=6)
    seen = [*counts[:5], counts[5:].sum()]

    def p_value(law):
        masses = [*law.pmf(np.arange(5)), law.sf(4)]
        return stats.chisquare(seen, SIZE * np.array(masses)).pvalue

    assert p_value(stats.poisson(1.3)) > TRUTH
    assert p_value(stats.nbinom(1.3 / 0.2, 1 / 1.2)) < TRUTH  # the variance one fifth too large


@pytest.mark.statistical
def test_levels_have_their_row_s_probabilities_and_not_swapped_ones():
    shares = np.array([0.2, 0.0, 0.5, 0.3])
    seen = np.bincount(sampler(13).categorical(np.tile(shares, (SIZE, 1))), minlength=4)
    assert seen[1] == 0
    assert stats.chisquare(seen[[0, 2, 3]], SIZE * shares[[0, 2, 3]]).pvalue > TRUTH
    assert stats.chisquare(seen[[0, 2, 3]], SIZE * shares[[3, 2, 0]]).pvalue < TRUTH


def test_probabilities_that_sum_to_a_little_less_than_one_never_give_a_level_beyond_the_last():
    shares = np.tile([0.1] * 9 + [0.1 - 1e-12], (SIZE, 1))
    assert sampler(14).categorical(shares).max() <= 9


class LowestUniform:
    """A generator whose uniform is the smallest that there is."""

    def random(self, size):
        return np.zeros(size)


def test_a_level_of_probability_zero_is_never_drawn_even_by_the_smallest_uniform():
    levels = NumpySampler(LowestUniform()).categorical(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    np.testing.assert_array_equal(levels, [1, 2])


def test_normals_by_row_use_each_row_s_mean_and_spread():
    mean, sd = np.array([0.0, 100.0, -7.0]), np.array([0.0, 1e-9, 0.0])
    np.testing.assert_allclose(sampler(15).normal(mean, sd), mean, atol=1e-7)


def test_a_place_inside_a_level_is_uniform_and_tells_nothing_of_the_level():
    # passes at the truth but for one seed in 10^9; a place that is the point itself has a statistic near SIZE
    shares = np.array([0.1, 0.6, 0.3])
    levels, places = sampler(15).placed(np.tile(shares, (SIZE, 1)))
    table = np.zeros((3, 4))
    np.add.at(table, (levels, (places * 4).astype(int)), 1)
    expected = SIZE * shares[:, None] / 4 * np.ones(4)
    assert 0 <= places.min() <= places.max() < 1
    assert ((table - expected) ** 2 / expected).sum() < stats.chi2.isf(TRUTH, 11)


def test_a_level_without_probability_is_never_placed():
    levels, places = NumpySampler(LowestUniform()).placed(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert levels.tolist() == [1, 2]
    assert places.tolist() == [0.0, 0.0]
