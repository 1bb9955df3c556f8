from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pysynthdp.models.fits.rank import independent_features, resting_on_few


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


def test_a_dummy_rests_on_as_many_records_as_it_has_beyond_the_others() -> None:
    n = 300
    halves = (np.arange(n) % 2).astype(float)
    for beyond in range(1, 9):
        first, nested = np.zeros(n), np.zeros(n)
        first[:20], nested[: 20 + beyond] = 1, 1
        X = np.column_stack([np.ones(n), first, halves, nested])
        assert resting_on_few(X.T @ X).tolist() == ([3] if beyond < 5 else [])


def test_a_left_out_dummy_does_not_explain_later_ones() -> None:
    n = 100
    first, second, third = np.zeros(n), np.zeros(n), np.zeros(n)
    first[:10], second[:11], third[:11] = 1, 1, 1
    X = np.column_stack([np.ones(n), first, second, third])
    assert resting_on_few(X.T @ X).tolist() == [2, 3]
    third[20:30] = 1
    X[:, 3] = third
    assert resting_on_few(X.T @ X).tolist() == [2]


def test_rare_dummies_do_not_hide_behind_the_order_of_features() -> None:
    n = 100
    wide, narrow = np.zeros(n), np.zeros(n)
    wide[:11], narrow[:10] = 1, 1
    for pair in ((wide, narrow), (narrow, wide)):
        X = np.column_stack([np.ones(n), *pair])
        assert resting_on_few(X.T @ X).tolist() == [2]


def test_constant_and_aliased_dummies_rest_on_nobody() -> None:
    n = 60
    half = (np.arange(n) % 2).astype(float)
    X = np.column_stack([np.ones(n), half, 1 - half, np.zeros(n), np.ones(n)])
    assert resting_on_few(X.T @ X).size == 0


@pytest.mark.parametrize("n", [10, 11, 20, 1_000])
def test_five_records_on_either_side_are_enough_in_small_tables_too(n: int) -> None:
    for count, few in ((4, True), (5, False), (n - 5, False), (n - 4, True)):
        dummy = (np.arange(n) < count).astype(float)
        X = np.column_stack([np.ones(n), dummy])
        assert (resting_on_few(X.T @ X).size > 0) == few
