"""Levels of fewer than five records are put together, and a drawn group is split by their shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from pysynthdp.design.encode import Layout
from pysynthdp.design.groups import LevelGroups, group_levels
from pysynthdp.design.parts import Part
from pysynthdp.remarks import FEWEST

COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=30).map(np.array)


@pytest.mark.parametrize(
    ("counts", "ordered", "codes"),
    [
        ([5, 0, 9], False, None),
        ([30, 1, 2, 3, 40], False, [0, 1, 1, 1, 2]),
        ([30, 1, 2, 40], False, [0, 0, 0, 1]),  # three records still: the smallest other level joins
        ([3, 30, 0, 40], False, [0, 0, 1, 2]),
        ([997, 3], False, [0, 0]),
        ([1, 1, 1], False, [0, 0, 0]),
        ([30, 1, 2, 3, 40], True, [0, 1, 1, 1, 2]),
        ([30, 1, 40, 2], True, [0, 1, 1, 1]),
        ([1, 40, 0, 7], True, [0, 0, 1, 1]),
        ([2, 1], True, [0, 0]),
    ],
)
def test_who_joins_whom(counts: list[int], ordered: bool, codes: list[int] | None) -> None:
    found = group_levels(np.array(counts), ordered=ordered)
    assert (None if found is None else found.codes.tolist()) == codes


@given(counts=COUNTS, ordered=st.booleans())
def test_no_group_has_one_to_four_records_where_five_are_there(counts: np.ndarray, ordered: bool) -> None:
    groups = group_levels(counts, ordered=ordered)
    if groups is None:
        assert not np.any((counts > 0) & (counts < FEWEST))
        return
    together = np.bincount(groups.codes, counts)
    assert np.all((together == 0) | (together >= min(FEWEST, counts.sum())))
    assert groups.codes[0] == 0
    assert set(groups.codes) == set(range(groups.size))
    if ordered:
        assert np.all(np.diff(groups.codes) >= 0)


@given(counts=COUNTS, ordered=st.booleans(), seed=st.integers(0, 2**31))
def test_a_drawn_group_becomes_one_of_its_levels_that_occur(
    counts: np.ndarray, ordered: bool, seed: int
) -> None:
    groups = group_levels(counts, ordered=ordered)
    if groups is None:
        return
    rng = np.random.default_rng(seed)
    occurring = np.flatnonzero(np.bincount(groups.codes, counts))
    drawn = rng.choice(occurring, 50).astype(float)
    points = np.where(np.arange(50) % 5, rng.random(50), np.nextafter(1.0, 0.0))
    for own in (groups, groups.redrawn(rng)):
        levels = own.split(drawn, points).astype(int)
        assert np.array_equal(groups.codes[levels], drawn)
        assert np.all(counts[levels] > 0)


def test_shares_inside_a_group_are_those_of_the_records() -> None:
    # passes at the truth with p > 1e-9; a level that takes twice its share of 20,000 gives p < 1e-300
    groups = LevelGroups(np.array([0, 1, 1, 0, 1]), np.array([3.0, 1.0, 2.0, 2.0, 4.0]))
    rng = np.random.default_rng(5)
    levels = groups.split(np.ones(20_000), rng.random(20_000)).astype(int)
    seen = np.bincount(levels, minlength=5)
    assert seen[0] == seen[3] == 0
    assert chisquare(seen[[1, 2, 4]], 20_000 * np.array([1, 2, 4]) / 7).pvalue > 1e-9
    assert chisquare(seen[[1, 2, 4]], 20_000 * np.array([2, 2, 3]) / 7).pvalue < 1e-9


def test_redrawn_shares_follow_the_dirichlet_law() -> None:
    # mean 1/7 with sd sqrt(6 / (49 * 8)) = 0.124: the mean of 4,000 lies within 0.012 (six standard errors)
    groups = LevelGroups(np.array([0, 0, 0]), np.array([1.0, 2.0, 4.0]))
    rng = np.random.default_rng(6)
    shares = np.array([w / w.sum() for w in (groups.redrawn(rng).weights for _ in range(4_000))])
    assert np.allclose(shares.mean(axis=0), np.array([1, 2, 4]) / 7, atol=0.012)
    assert shares[:, 0].std() == pytest.approx(np.sqrt(6 / (49 * 8)), rel=0.1)


def test_a_layout_has_one_dummy_a_group() -> None:
    part = Part("town", "value", ("A", "x", "B", "y"))
    layout = Layout((part,), {}, {part.key: np.array([0, 1, 2, 1])})
    X = layout.empty(5)
    layout.write(X, part, 1, np.array([0, 1, 2, 3, 3]), np.array([0, 0, 0, 0, 1]))
    assert X.tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 0]]
    assert layout.features == ("intercept", "town[x and 1 more]", "town[B]")
    assert (layout.n_features, layout.dummies) == (3, (False, True, True))
