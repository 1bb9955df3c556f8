from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pysynthdp.evaluate.utility.scores import scores


@pytest.mark.statistical
@pytest.mark.parametrize(("n1", "n2"), [(200, 200), (300, 120)])
def test_two_samples_of_one_population_score_one_in_sparse_tables_too(n1, n2):
    """The mean of 2,000 tables of 60 cells lies within 4.5 standard errors of 1 (p > 1e-5 at the truth)."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(60, 0.3))
    real, copy = rng.multinomial(n1, p, 2000), rng.multinomial(n2, p, 2000)
    found = scores(real.ravel(), copy.ravel(), np.arange(2000) * 60)
    error = found.ratio.std() / np.sqrt(2000)
    assert abs(found.ratio.mean() - 1) < 4.5 * error
    assert found.moved.mean() == pytest.approx(found.chance.mean(), rel=0.02)


def test_the_mean_deviation_of_small_counts_is_exact():
    counts = np.arange(1, 20)
    found = scores(counts, np.zeros(19), np.array([0]))
    assert np.isnan(found.ratio[0])  # a side is empty
    both = scores(np.array([7, 93]), np.array([2, 58]), np.array([0]))
    c = 60 / 160
    values = np.arange(10)
    exact = (np.abs(values - 9 * c) * stats.binom.pmf(values, 9, c)).sum()
    large = np.sqrt(2 / np.pi * 151 * c * (1 - c))
    parts = exact * np.sqrt(151 / 159) + large * np.sqrt(9 / 159)
    assert both.chance[0] == pytest.approx(parts * (1 + 0.6) / 120, rel=1e-12)


def test_synthpops_ratio_is_one_plus_r_times_ours():
    real, copy = np.array([40, 60, 20]), np.array([50, 60, 70])
    r, c = 180 / 120, 180 / 300
    squares = ((copy - r * real) ** 2 / (c * (real + copy))).sum()
    found = scores(real, copy, np.array([0]))
    assert found.ratio[0] * (1 + r) * 300 / 299 == pytest.approx(squares / 2)
