from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pysynthdp.numerics.rank import independent_features


def design(rng, n=200):
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 5))])
    X[:, 4] = X[:, 1] - 2 * X[:, 3] + 1
    return X


def test_the_later_of_collinear_features_is_dropped():
    X = design(np.random.default_rng(1))
    assert independent_features(X.T @ X).tolist() == [0, 1, 2, 3, 5]


@given(st.lists(st.floats(-9, 9), min_size=5, max_size=5))
def test_scale_does_not_matter(powers):
    X = design(np.random.default_rng(2))
    X[:, 1:] *= 10.0 ** np.array(powers)
    assert independent_features(X.T @ X).tolist() == [0, 1, 2, 3, 5]


def test_constant_features_are_dropped_and_rare_dummies_kept():
    n = 100_000
    X = np.column_stack([np.ones(n), np.full(n, 3.7), np.arange(n) == 5]).astype(float)
    assert independent_features(X.T @ X).tolist() == [0, 2]


def test_full_set_of_dummies_loses_its_last():
    X = np.column_stack([np.ones(90), np.eye(3)[np.arange(90) % 3]])
    assert independent_features(X.T @ X).tolist() == [0, 1, 2]


@pytest.mark.parametrize("n", [1, 3, 7])
def test_no_more_features_than_rows(n):
    X = np.column_stack([np.ones(n), np.random.default_rng(3).normal(size=(n, 10))])
    assert independent_features(X.T @ X).tolist() == list(range(n))
