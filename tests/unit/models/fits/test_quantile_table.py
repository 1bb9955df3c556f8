from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pysynthdp.models.fits.quantile_table import quantile_table, table_probabilities, table_values


def knots(y, groups):
    parts = np.array_split(np.sort(y), groups)
    edges = np.cumsum([0, *map(len, parts)]) / len(y)
    return np.stack([(edges[1:] + edges[:-1]) / 2, [part.mean() for part in parts]])


@given(st.lists(st.integers(0, 6), min_size=10, max_size=400), st.integers(1, 60))
def test_values_and_probabilities_increase(values, groups):
    y = np.array(values, dtype=float)
    table = quantile_table(knots(y, min(groups, len(y))))
    drawn = table_values(table, np.linspace(0, 1, 1001))
    assert np.all(np.diff(drawn) >= -1e-12)
    assert y.min() - 1e-12 <= drawn[0]
    assert drawn[-1] <= y.max() + 1e-12
    scores = table_probabilities(table, np.sort(y))
    assert np.all(np.diff(scores) >= -1e-12)
    assert scores.min() > 0
    assert scores.max() < 1


@pytest.mark.parametrize("counts", [(613, 301, 86), (610, 300, 90)])
def test_spikes_keep_their_shares_and_nothing_lies_between(counts):
    y = np.repeat([0.0, 10.0, 50.0], counts)
    drawn = table_values(quantile_table(knots(y, 100)), (np.arange(10_000) + 0.5) / 10_000)
    assert set(np.unique(drawn)) == {0.0, 10.0, 50.0}
    shares = [np.mean(drawn == value) for value in (0.0, 10.0, 50.0)]
    np.testing.assert_allclose(shares, np.array(counts) / 1000, atol=2e-4)


def test_tied_values_have_the_middle_of_their_mass():
    y = np.repeat([0.0, 1.0], [600, 400])
    np.testing.assert_allclose(
        table_probabilities(quantile_table(knots(y, 50)), np.array([0.0, 1.0])), [0.3, 0.8]
    )


def test_continuous_values_keep_their_ranks():
    y = np.random.default_rng(0).gamma(2.0, size=5000)
    ranks = (np.argsort(np.argsort(y)) + 0.5) / y.size
    assert np.abs(table_probabilities(quantile_table(knots(y, 200)), y) - ranks).max() < 0.006


def test_one_knot_is_a_constant():
    table = quantile_table(np.array([[0.5], [3.25]]))
    assert table_values(table, np.array([0.0, 0.7])).tolist() == [3.25, 3.25]
    assert table_probabilities(table, np.array([1.0, 9.0])).tolist() == [0.5, 0.5]
