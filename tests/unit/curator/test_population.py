"""Synthetic populations: the bootstrap has the design's variance, and a sample of one is what it says.

Statistical tests state both errors: at the truth a count or a variance is in an interval that it leaves with
probability below 1e-9; under the named defect it is inside with probability below 1e-9.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.base.streams import root_sequence
from pysynthdp.curator.population import (
    SampleDesign,
    bootstrap_weights,
    population_sample,
    sample_counts,
)

DRAWS = 40_000


def clustered(fraction=(0.0, 0.3, 0.5)) -> tuple[SampleDesign, np.ndarray]:
    """Three strata of 2, 5 and 9 units of one to four rows; and a column."""
    rng = np.random.default_rng(5)
    stratum = np.repeat([0, 1, 2], [2, 5, 9])
    unit = np.repeat(np.arange(16), rng.integers(1, 5, 16))
    weight = rng.uniform(1, 9, len(unit))
    return SampleDesign(weight, unit, stratum, np.array(fraction)), rng.normal(3, 1, len(unit))


def formula(design: SampleDesign, y: np.ndarray) -> float:
    """The estimator of a total's variance: (1 - f) n s^2 of the units' weighted totals, by stratum."""
    totals = np.bincount(design.unit, design.weight * y)
    return sum(
        (1 - f) * (own := totals[design.stratum == h]).size * own.var(ddof=1)
        for h, f in enumerate(design.fraction)
    )


def draws(design: SampleDesign, y: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.array([bootstrap_weights(design, rng) @ y for _ in range(DRAWS)])


@pytest.mark.statistical
@pytest.mark.parametrize("fraction", [(0.0, 0.0, 0.0), (0.0, 0.3, 0.5)])
def test_bootstrapped_totals_have_the_variance_of_the_design(fraction):
    design, y = clustered(fraction)
    found, wanted = draws(design, y), formula(design, y)
    off = stats.norm.isf(5e-10)
    assert abs(found.mean() - design.weight @ y) < off * np.sqrt(wanted / DRAWS)
    kurtosis = stats.kurtosis(found, fisher=False)
    spread = off * np.sqrt((kurtosis - 1) / DRAWS) * wanted
    assert abs(found.var() - wanted) < spread
    assert abs(_wrong(design, y) - wanted) > 2 * spread


def _wrong(design: SampleDesign, y: np.ndarray) -> float:
    """Of the bootstrap as in books, a = 1: (n - 1)/(n + 1) of it; else without finite populations."""
    if design.fraction.any():
        return formula(SampleDesign(design.weight, design.unit, design.stratum, np.zeros(3)), y)
    totals = np.bincount(design.unit, design.weight * y)
    own = [totals[design.stratum == h] for h in range(3)]
    return sum(each.size * each.var(ddof=1) * (each.size - 1) / (each.size + 1) for each in own)


def test_two_units_of_many_take_turns():
    design = SampleDesign(np.ones(4), np.array([0, 0, 1, 2]), np.array([0, 0, 1]), np.zeros(2))
    rng = np.random.default_rng(1)
    seen = {tuple(bootstrap_weights(design, rng)) for _ in range(50)}
    assert seen == {(2.0, 2.0, 0.0, 1.0), (0.0, 0.0, 2.0, 1.0)}  # the lone unit of a stratum stays


def test_a_stratum_that_was_sampled_whole_has_no_variance():
    design = SampleDesign(np.full(6, 2.0), np.arange(6), np.zeros(6, dtype=int), np.ones(1))
    assert bootstrap_weights(design, np.random.default_rng(1)).tolist() == [2.0] * 6


def test_the_bootstrap_keeps_what_strata_add_up_to_where_their_weights_are_equal():
    design = SampleDesign(
        np.repeat([4.0, 7.0], [5, 8]), np.arange(13), np.repeat([0, 1], [5, 8]), np.array([0.1, 0.0])
    )
    weight = bootstrap_weights(design, np.random.default_rng(3))
    np.testing.assert_allclose([weight[:5].sum(), weight[5:].sum()], [20.0, 56.0], rtol=1e-12)
    assert weight.min() >= 0


@pytest.mark.statistical
def test_a_sample_of_the_pooled_population_is_one_of_its_urn():
    """Brute force: lay out the population of many urns, and take a simple random sample of it.

    The law of the count of one row is compared with the binomial by a chi-square test (p > 1e-9); one urn of
    as many balls as the sample has rows, whose noise is the sample's counted twice, is rejected (p < 1e-9).
    """
    rng, weight, size = np.random.default_rng(2), np.array([6.0, 3.0, 1.0]), 6

    def laid_out(urns: int) -> int:
        pooled = np.zeros(3, dtype=int)
        for _ in range(urns):
            start = 3 * (weight - 1) / (weight.sum() - 3)  # Dong, Elliott and Raghunathan: N = 10, n = 3
            for _ in range(7):
                ball = rng.choice(3, p=start / start.sum())
                pooled[ball] += 1
                start[ball] += 1
            pooled += 1
        return int(rng.multivariate_hypergeometric(pooled, size)[0])

    law = stats.binom.pmf(np.arange(size + 1), size, 0.6)
    assert _fits(np.bincount([laid_out(40) for _ in range(400)], minlength=size + 1), law)
    assert not _fits(np.bincount([laid_out(1) for _ in range(4000)], minlength=size + 1), law)
    counts = [int(sample_counts(weight, size, rng)[0]) for _ in range(4000)]
    assert _fits(np.bincount(counts, minlength=size + 1), law)


def _fits(found: np.ndarray, law: np.ndarray) -> bool:
    return stats.chisquare(found, law * found.sum()).pvalue > 1e-9


def test_a_population_hangs_on_its_number_alone():
    design, _ = clustered()
    root = root_sequence(3)
    first = population_sample(design, 500, root, 2)
    again = [population_sample(design, 500, root, number) for number in (0, 2)][1]
    assert first.tolist() == again.tolist()
    assert first.sum() == 500
    assert first.tolist() != population_sample(design, 500, root, 1).tolist()
    assert first.tolist() != population_sample(design, 500, root_sequence(4), 2).tolist()


def test_rows_that_stand_for_nobody_are_never_drawn():
    design, _ = clustered()
    weight = design.weight.copy()
    weight[::3] = 0.0
    none = SampleDesign(weight, design.unit, design.stratum, design.fraction)
    for number in range(20):
        assert not population_sample(none, 5000, root_sequence(1), number)[::3].any()
