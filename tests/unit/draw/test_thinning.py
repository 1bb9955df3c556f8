"""More units are drawn than needed, and those stay by which computed numbers keep their distribution."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.draw.thinning import kept_units
from pysynthdp.units import margin_of


def test_groups_have_their_shares_and_units_are_kept_once():
    rng = np.random.default_rng(1)
    group, share = rng.integers(0, 4, 1500), np.array([0.1, 0.2, 0.3, 0.4])
    kept = kept_units([group], [share], 1500, 1000, rng)
    assert len(kept) == len(np.unique(kept)) == 1000
    counts = np.bincount(group[kept], minlength=4)
    assert np.abs(counts - 1000 * share).max() <= np.maximum(2, 1000 * share - np.bincount(group)).max()


def test_shares_of_two_numbers_are_kept_together():
    rng = np.random.default_rng(2)
    first = rng.integers(0, 3, 3000)
    second = np.where(rng.random(3000) < 0.7, first, rng.integers(0, 3, 3000))
    shares = [np.array([0.3, 0.36, 0.34]), np.array([0.38, 0.3, 0.32])]
    kept = kept_units([first, second], shares, 3000, 2000, rng)
    for group, share in zip((first, second), shares, strict=True):
        assert np.bincount(group[kept]) / 2000 == pytest.approx(share, abs=0.015)


def test_units_of_one_group_have_the_same_chance():
    """What goes with a number inside its groups is as it was drawn; a defect would take the first ones."""
    rng = np.random.default_rng(3)
    group, share, times = np.repeat([0, 1], 75), np.array([0.6, 0.4]), np.zeros(150)
    for _ in range(4000):
        times[kept_units([group], [share], 150, 100, rng)] += 1
    assert times[:75] / 4000 == pytest.approx(60 / 75, abs=0.04)  # six standard errors
    assert times[75:] / 4000 == pytest.approx(40 / 75, abs=0.05)


def test_as_many_units_as_asked_stay_where_a_group_is_empty_or_short():
    rng = np.random.default_rng(4)
    for group in (np.zeros(150, dtype=int), np.r_[0, np.ones(149, dtype=int)]):
        kept = kept_units([group], [np.array([0.9, 0.1])], 150, 100, rng)
        assert len(kept) == len(np.unique(kept)) == 100


def test_groups_rest_on_five_units_or_more():
    y = np.r_[np.zeros(500), np.random.default_rng(5).gamma(2, 100, 700)]
    edges, counts = margin_of(y)
    assert len(counts) == len(edges) + 1
    assert min(counts) >= 5
    assert sum(counts) == 1200
    assert np.bincount(np.searchsorted(edges, y)).tolist() == list(counts)
    assert margin_of(np.zeros(1000)) == ((), ())
    assert margin_of(np.arange(100.0)) == ((), ())
