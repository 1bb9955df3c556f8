"""Ranks and sums that do not hang on blocks: sorted and counted, against each other and against fsum."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from math import fsum

import numpy as np
import pytest

from pysynthdp.curator.quantiles import coarse_quantiles
from pysynthdp.curator.reductions import counted, fold_of, ranked, sorted_numbers

LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "wide": lambda rng, n: np.exp(20 * rng.normal(size=n)),
    "grid": lambda rng, n: np.round(rng.normal(size=n), 1),
    "counts": lambda rng, n: rng.poisson(2.0, n).astype(float),
    "one value": lambda rng, n: np.full(n, np.round(rng.normal(), 2)),
    "two zeros": lambda rng, n: np.concatenate([np.zeros(n), -np.zeros(n), rng.normal(size=n)]),
    "odd heap": lambda rng, n: np.concatenate([np.full(n, 0.1), rng.normal(size=n)]),
    "denormal": lambda rng, n: rng.normal(size=n) * 5e-322,
    "far": lambda rng, n: np.concatenate([[1e150, -1e150, 1e-300], rng.normal(size=n)]),
    "close": lambda rng, n: 1e6 + 1e-7 * rng.normal(size=n),
    "any": lambda rng, n: np.ldexp(rng.normal(size=n), rng.integers(-1070, 1000, n)),
}
CASES = [(law, n) for law in LAWS for n in (1, 6, 99, 1000)]


def numbers(law: str, n: int):
    """Some numbers of a law, and a generator."""
    rng = np.random.default_rng([n, *law.encode()])
    return LAWS[law](rng, n), rng


def folded(values, size: int):
    """Fold over blocks of a size, each merged with its neighbour from the right."""

    def fold(of_block, merge):
        found = [of_block(values[at : at + size]) for at in range(0, max(len(values), 1), size)]
        return reduce(lambda right, left: merge(left, right), reversed(found))

    return fold


def bits(array) -> list[int]:
    """The bits of each number."""
    return np.asarray(array).view(np.int64).tolist()


@pytest.mark.parametrize(("law", "n"), CASES)
def test_counting_and_sorting_agree_to_the_last_bit(law, n) -> None:
    values, rng = numbers(law, n)
    one = sorted_numbers(values.copy())
    ranks = np.unique(rng.integers(0, one.n, 30))
    edges = np.union1d(ranks, [0, one.n])
    for size in (100, one.n) if one.n > 99 else (7, one.n):
        other = counted(folded(rng.permutation(values), size))
        for least in (2, 5, max(2, one.n // 20)):
            assert other.shared(least).tolist() == one.shared(least).tolist()
        assert bits(other.at(ranks)) == bits(one.at(ranks))
        assert other.where(one.at(ranks)).tolist() == one.where(one.at(ranks)).tolist()
        assert bits(other.sums(edges)) == bits(one.sums(edges))


@pytest.mark.parametrize(("law", "n"), CASES)
def test_sums_are_rounded_once(law, n) -> None:
    values, rng = numbers(law, n)
    edges = np.union1d(rng.integers(0, len(values), 20), [0, len(values)])
    ordered = np.sort(values)
    exact = [fsum(ordered[low:high]) for low, high in pairwise(edges)]
    assert sorted_numbers(values.copy()).sums(edges).tolist() == exact
    assert counted(fold_of(values)).sums(edges).tolist() == exact


@pytest.mark.parametrize(("law", "n"), CASES)
def test_ranks_and_runs_are_those_of_a_sorted_array(law, n) -> None:
    values, _ = numbers(law, n)
    ordered = np.sort(values)
    distinct, first, counts = np.unique(ordered, return_index=True, return_counts=True)
    large = counts >= 2
    found = counted(fold_of(values))
    assert found.at(np.arange(len(ordered))).tolist() == ordered.tolist()
    assert found.shared(2).tolist() == np.stack([first[large], (first + counts)[large]]).tolist()
    assert found.where(distinct).tolist() == np.stack([first, first + counts]).tolist()


@pytest.mark.parametrize("law", LAWS)
def test_a_coarse_table_is_the_same_however_the_numbers_are_cut(law) -> None:
    values, rng = numbers(law, 2000)
    table = coarse_quantiles(values)
    for size in (77, 1000):
        assert bits(coarse_quantiles(counted(folded(rng.permutation(values), size)))) == bits(table)


def test_a_long_column_is_counted_and_a_short_one_sorted(monkeypatch) -> None:
    values = np.random.default_rng(5).normal(size=4000)
    passes = []

    def fold(of_block, merge):
        passes.append(of_block)
        return fold_of(values)(of_block, merge)

    table = coarse_quantiles(ranked(fold))
    assert len(passes) == 2  # their number, and themselves
    monkeypatch.setattr("pysynthdp.curator.reductions.SORTED", 1000)
    assert bits(coarse_quantiles(ranked(fold))) == bits(table)
    assert len(passes) <= 9


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_no_number_has_a_rank_that_is_not_finite(bad) -> None:
    values = np.array([1.0, bad, 2.0])
    for rank in (sorted_numbers, lambda values: counted(fold_of(values))):
        with pytest.raises(ValueError, match="only finite numbers"):
            rank(values)
