"""Groups of a coarse table: who is in them, and what line their means give."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.curator.quantiles import _edges, _groups, coarse_quantiles, heaps, weighted_quantiles
from pysynthdp.curator.reductions import sorted_numbers
from pysynthdp.models.fits.quantile_table import group_means, quantile_table, table_values

EVEN = (np.arange(400_000) + 0.5) / 400_000
LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "uniform": lambda rng, n: rng.uniform(10, 20, size=n),
    "counts": lambda rng, n: rng.poisson(2.0, size=n).astype(float),
    "hundreds": lambda rng, n: np.round(np.exp(7 + rng.normal(size=n)), -2),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [1, 2, 4, 5, 9, 10, 11, 12, 13, 14, 15, 30, 99, 1000, 5000])
def test_the_line_has_the_mean_and_rises(law, n) -> None:
    values = LAWS[law](np.random.default_rng(n), n)
    table = coarse_quantiles(values)
    assert table[0].sum() == pytest.approx(1.0)
    assert (table[0] * group_means(table)).sum() == pytest.approx(
        values.mean(), abs=1e-9 * values.std() + 1e-12
    )
    assert (np.diff(quantile_table(table).q) >= 0).all()
    drawn = table_values(quantile_table(table), EVEN)
    assert drawn.mean() == pytest.approx(values.mean(), abs=2e-4 * values.std() + 1e-12)
    assert values.min() < 0 or drawn.min() >= 0


@pytest.mark.parametrize("n", [11, 12, 13, 14])
def test_the_middle_of_a_dozen_records_is_not_what_the_ends_leave(n) -> None:
    """Three groups of 11 records gave the median away: the mean of all minus those of both ends."""
    values = np.random.default_rng(n).gamma(2.0, 1000.0, n)
    table = coarse_quantiles(values)
    assert table.shape[1] == 2
    sizes = np.round(table[0] * n)
    assert sizes.sum() == n
    assert sizes.min() >= 5


@pytest.mark.parametrize("law", ["normal", "exponential", "lognormal", "uniform"])
def test_the_variance_is_kept(law) -> None:
    """Median over tables: within 6 %; groups of one value each would lose more than that at the ends."""
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(40):
        values = LAWS[law](rng, 300)
        ratios.append(table_values(quantile_table(coarse_quantiles(values)), EVEN[::10]).var() / values.var())
    assert np.median(ratios) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("law", ["normal", "exponential", "lognormal"])
def test_the_upper_tail_of_a_long_table_is_kept(law) -> None:
    values = LAWS[law](np.random.default_rng(2), 200_000)
    drawn = table_values(quantile_table(coarse_quantiles(values)), EVEN)
    for point in (0.999, 0.0001):
        share = (drawn > np.quantile(values, point)).mean()
        assert (1 - share if point < 0.5 else share) == pytest.approx(min(point, 1 - point), rel=0.2)


def test_a_value_that_many_share_is_a_group_of_its_own() -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([np.zeros(120), rng.exponential(size=180) + 0.2])
    table = coarse_quantiles(values)
    assert table[:, 0].tolist() == [0.4, 0.0, 0.0, 0.0]
    drawn = table_values(quantile_table(table), EVEN)
    assert (drawn == 0).mean() == pytest.approx(0.4, abs=1e-4)


def test_no_group_is_a_heap_and_one_to_four_others() -> None:
    """Who knows the heap would know the others: nine zeros and a single value are no group."""
    rng = np.random.default_rng(4)
    for n in (60, 300, 2000):
        values = np.where(rng.random(n) < 0.3, np.round(rng.normal(size=n)), rng.normal(size=n))
        ordered = np.sort(values)
        table = coarse_quantiles(values)
        ends = np.unique(np.round(np.cumsum(table[0]) * n).astype(int))
        ends = ends[(ends >= 5) & ((n - ends >= 5) | (ends == n))]
        for low, high in zip(np.append(0, ends[:-1]), ends, strict=True):
            largest = np.unique(ordered[low:high], return_counts=True)[1].max()
            assert high - low >= 5
            assert largest < 5 or not 0 < high - low - largest < 5


def test_no_records_give_a_table_too() -> None:
    assert coarse_quantiles(np.zeros(0)).tolist() == [[1.0], [0.0], [0.0], [0.0]]


def test_a_heap_among_few_others_is_kept() -> None:
    """A fifth at a top code, four beyond it and three just below: all were drawn evenly between the seven."""
    low, few = np.repeat(np.arange(0.0, 20.0), 100), np.array([21.0, 22.0, 23.0, 30.0, 31.0, 33.0, 38.0])
    values = np.concatenate([low, few, np.full(700, 24.0)])
    drawn = table_values(quantile_table(coarse_quantiles(values)), EVEN)
    assert (drawn == 24).mean() == pytest.approx(700 / values.size, abs=1e-4)
    assert drawn.mean() == pytest.approx(values.mean(), abs=2e-4 * values.std())


def test_fewer_than_five_among_heaps_are_not_learned() -> None:
    """Their sum would be what is left of the mean of all."""
    values = np.concatenate([np.zeros(500), np.ones(497), [0.2, 0.5, 0.9]])
    table = coarse_quantiles(values)
    assert table[0] == pytest.approx([500 / 997, 497 / 997])
    assert table[2].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("shared", [1, 2, 3])
@pytest.mark.parametrize("others", range(1, 12))
def test_no_group_tells_a_sum_of_fewer_than_five(shared, others) -> None:
    """Whatever lies between shared values: a group that is not one value has five records or more."""
    rng = np.random.default_rng([shared, others])
    for _ in range(40):
        at = rng.choice(1000, shared, replace=False).astype(float)
        sizes = rng.integers(40, 200, shared)
        few = rng.uniform(-50, 1050, others)
        values = np.concatenate([np.repeat(at, sizes), few])
        ordered = sorted_numbers(values.copy())
        found = heaps(ordered)
        counts, _, _ = _groups(ordered, _edges(ordered, found, 200, 5), found, 5)
        assert (counts >= 5).all()
        table = coarse_quantiles(values)
        for value, size in zip(at, sizes, strict=True):
            drawn = table_values(quantile_table(table), EVEN[::100])
            share = (drawn == value).mean() * values.size / size
            assert share == pytest.approx(1.0, abs=0.3)


# -- records with weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["smooth", "heaped", "masses", "few", "one value"])
def test_equal_weights_change_nothing(kind):
    rng = np.random.default_rng(4)
    values = {
        "smooth": rng.lognormal(0, 1, 400),
        "heaped": np.round(rng.normal(0, 2, 400)),
        "masses": np.where(rng.random(400) < 0.5, 0.0, rng.lognormal(0, 1, 400)),
        "few": rng.normal(size=7),
        "one value": np.full(30, 3.0),
    }[kind]
    found = weighted_quantiles(values, np.full(len(values), 2.5))
    np.testing.assert_allclose(found, coarse_quantiles(values), rtol=1e-9, atol=1e-12)


def test_the_weighted_mean_is_kept():
    rng = np.random.default_rng(5)
    values, weights = rng.lognormal(0, 1, 500), rng.gamma(1, 1, 500)
    shares, low, middle, high = weighted_quantiles(values, weights)
    assert shares.min() > 0
    mean = (shares * (low + 2 * middle + high) / 4).sum()
    np.testing.assert_allclose(mean, np.average(values, weights=weights), rtol=1e-9)


def test_no_record_weighs_more_than_half_of_its_group():
    """A record of nearly all weight is no group of its own: the function does not jump to it."""
    values = np.arange(100.0)
    weights = np.ones(100)
    weights[50] = 30.0
    shares = weighted_quantiles(values, weights)[0]
    assert shares.max() * weights.sum() >= 2 * 30.0
    assert len(shares) < len(weighted_quantiles(values, np.ones(100))[0])
