"""Noise is paid for exactly: integer sensitivities are attained, the total follows, planted bugs are seen."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import dp_accounting as dpa
import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting import rdp
from hypothesis import given, settings
from hypothesis import strategies as st

from pysynthdp.curator.noised.integers import EXACT_ROWS, UNIT, Frame, exact_gram, integer_rows
from pysynthdp.curator.noised.whitening import Whitening
from pysynthdp.privacy.conversion.zcdp import zcdp_epsilon
from pysynthdp.privacy.noise.moment_budget import Question, moment_budget
from pysynthdp.privacy.noise.moment_scales import (
    COUNT_UNIT,
    DIAGONAL,
    OFF_DIAGONAL,
    cost_of,
    count_square,
    gram_square,
    scale_for,
)
from pysynthdp.protection.noise.steps import MOST_FEATURES

RELATIONS = ("replace_one", "add_remove")
TABLES = [(0, 1), (0, 10), (0, 20), (1, 0), (5, 0), (5, 3), (12, 8)]


def squared(frame: Frame, z: np.ndarray, w: np.ndarray) -> int:
    """Squared length of the change of what is released, in Python integers."""
    gap = frame.pack(exact_gram(z[None].astype(float)) - exact_gram(w[None].astype(float)))
    return sum(int(step) ** 2 for step in gap)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_no_pair_of_rows_moves_the_release_by_more_than_the_integer_sensitivity(data):
    blocks = tuple(data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    frame = Frame(blocks, data.draw(st.integers(0, 3)))
    bound = len(blocks) * UNIT**2 + 3 * UNIT**2

    def row() -> np.ndarray:
        z = np.zeros(frame.size, dtype=np.int64)
        for start, size in zip(frame.starts, blocks, strict=True):
            z[start + data.draw(st.integers(0, size - 1))] = UNIT
        top = math.isqrt(3 * UNIT**2 // max(frame.numbers, 1))
        for i in range(frame.numbers):
            z[frame.levels + i] = data.draw(st.integers(-top, top))
        return z

    z, w = row(), row()
    assert squared(frame, z, w) <= gram_square(bound, "replace_one")
    assert squared(frame, z, np.zeros_like(z)) <= gram_square(bound, "add_remove")


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_sensitivity_is_attained_up_to_the_ratio_of_the_diagonal(relation):
    # rows without a common level, numbers orthogonal, full length: |zz' - ww'|_F^2 = 2 R^4; the off-diagonal
    # part is charged 99^2, the diagonal 2 * 70^2 = 9800 instead of 9801
    frame = Frame((2, 2, 2), 2)
    z = np.array([1, 0, 1, 0, 1, 0, 1, 0]) * UNIT
    w = np.array([0, 1, 0, 1, 0, 1, 0, 1]) * UNIT
    other = w if relation == "replace_one" else np.zeros_like(w)
    bound = 4 * UNIT**2
    got = Fraction(squared(frame, z, other)) / gram_square(bound, relation)
    assert 9800 / 9801 <= got <= 1


def test_the_diagonal_has_at_least_twice_the_variance():
    assert OFF_DIAGONAL**2 > 2 * DIAGONAL**2 > OFF_DIAGONAL**2 - 2


@pytest.mark.parametrize(("blocks", "numbers"), TABLES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rho", [0.01, 0.1, 1.0, 7.3])
def test_the_total_stays_within_the_budget_and_close_to_it(blocks, numbers, relation, rho):
    budget = moment_budget(blocks, numbers, rho=rho, relation=relation, n=5_000)
    assert Fraction(rho) * Fraction(999, 1000) < budget.total <= Fraction(rho)


@pytest.mark.parametrize("shaped", [0, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_opendp_and_another_accountant_give_the_same_total(relation, shaped):
    budget = moment_budget(5, 3, rho=0.1, relation=relation, n=5_000, shaped=shaped)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    dp.enable_features("contrib")
    maps, ratios = [], []
    for question in budget.questions:
        sensitivity = COUNT_UNIT if question.counts else _by_hand(question, relation)
        maps.append(dp.m.make_gaussian(*space, scale=float(question.scale)).map(d_in=sensitivity))
        ratios.append(question.scale / sensitivity)
    assert math.isclose(math.fsum(maps), float(budget.total), rel_tol=1e-9)
    event = dpa.ComposedDpEvent([dpa.ZCDpEvent(rho) for rho in maps])
    accountant = rdp.RdpAccountant(orders=[1 + 2.0**k / 8 for k in np.linspace(0, 8, 400)])
    # zCDP events add; the same as Gaussians of these noise multipliers
    gaussian = dpa.ComposedDpEvent([dpa.GaussianDpEvent(ratio) for ratio in ratios])
    accountant.compose(gaussian)
    assert math.isclose(accountant.get_epsilon(1e-6), zcdp_epsilon(float(budget.total), 1e-6), rel_tol=1e-3)
    assert len(event.events) == len(budget.questions)


def _by_hand(question: Question, relation: str) -> float:
    """Sensitivity from the real-number theorem: 99 R^2, or 99 R^2/sqrt 2 with one row only."""
    if question.histograms:  # each number leaves a range for another, or comes or goes
        return COUNT_UNIT * math.sqrt(question.histograms * (2 if relation == "replace_one" else 1))
    R2 = 5 + question.weight
    return 99 * R2 * UNIT**2 / (1 if relation == "replace_one" else math.sqrt(2))


@pytest.mark.parametrize("bug", ["half sensitivity", "no factor on the diagonal"])
def test_planted_bugs_in_the_sensitivity_are_caught(bug):
    frame, bound = Frame((2, 2, 2), 2), 4 * UNIT**2
    z = np.array([1, 0, 1, 0, 1, 0, 1, 0]) * UNIT
    w = np.array([0, 1, 0, 1, 0, 1, 0, 1]) * UNIT
    right = gram_square(bound, "replace_one")
    if bug == "half sensitivity":
        assert squared(frame, z, w) > right / 4
    else:
        gap = exact_gram(z[None].astype(float)) - exact_gram(w[None].astype(float))
        row, column = frame.released
        assert sum(int(step) ** 2 for step in OFF_DIAGONAL * gap[row, column]) > right


@given(st.integers(1, 10**12), st.floats(1e-6, 10))
def test_a_scale_is_the_smallest_integer_within_the_budget(square, rho):
    scale = scale_for(Fraction(square), rho)
    assert cost_of(Fraction(square), scale) <= Fraction(rho)
    assert scale == 1 or cost_of(Fraction(square), scale - 1) > Fraction(rho) * (1 - Fraction(1, 10**11))


def test_a_count_costs_the_same_under_both_relations():
    assert count_square() == COUNT_UNIT**2


QUESTION = Question("second", 4.0, 2.0, (2 + 4) * UNIT**2, 1)


def whitened(rows: int, seed: int) -> tuple[Frame, list[np.ndarray], np.ndarray, Whitening]:
    """A table of two categorical and three numeric parts, with odd values."""
    rng = np.random.default_rng(seed)
    frame = Frame((3, 2), 3)
    codes = [rng.integers(0, size, rows).astype(np.int16) for size in frame.blocks]
    numbers = rng.standard_normal((3, rows)) * 10.0 ** rng.integers(-3, 3, rows)
    root = rng.standard_normal((3, 3)) / 3
    return frame, codes, numbers, Whitening(rng.standard_normal((5, 3)), root, np.linalg.inv(root))


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 8, 63, 1000])
def test_a_row_becomes_the_same_integers_whatever_the_other_rows_are(rows):
    frame, codes, numbers, whitening = whitened(rows, rows)
    together, clipped = integer_rows(frame, codes, numbers, QUESTION, whitening)
    for i in {0, rows // 2, rows - 1}:
        own = [level[i : i + 1] for level in codes]
        alone, cut = integer_rows(frame, own, numbers[:, i : i + 1], QUESTION, whitening)
        assert np.array_equal(alone[0], together[i])
        assert cut[0] == clipped[i]
    gone = [np.delete(level, rows // 2) for level in codes]
    rest, _ = integer_rows(frame, gone, np.delete(numbers, rows // 2, axis=1), QUESTION, whitening)
    assert np.array_equal(rest, np.delete(together, rows // 2, axis=0))


def test_every_row_keeps_the_bound_in_integers():
    frame, codes, numbers, whitening = whitened(5_000, 1)
    rows, clipped = integer_rows(frame, codes, numbers, QUESTION, whitening)
    whole = rows.astype(np.int64)
    assert np.array_equal(whole, rows)
    assert ((whole**2).sum(axis=1) <= QUESTION.row_bound).all()
    assert clipped.any()


def test_float_products_of_the_integers_are_exact():
    frame, codes, numbers, whitening = whitened(EXACT_ROWS, 2)
    rows, _ = integer_rows(frame, codes, numbers, QUESTION, whitening)
    whole = rows.astype(np.int64)
    for i, j in itertools.product((0, 4, 5, 7), repeat=2):
        assert exact_gram(rows)[i, j] == sum(
            int(a) * int(b) for a, b in zip(whole[:, i], whole[:, j], strict=True)
        )


@pytest.mark.parametrize("blocks", [0, 1, MOST_FEATURES // 2])
def test_sums_of_a_block_of_the_widest_rows_stay_exact_in_floats(blocks):
    for numbers in (1, MOST_FEATURES - 2 * blocks):
        for rho, n in ((1.0, 10**6), (1e-3, 100)):  # two stages, and one
            budget = moment_budget(blocks, max(numbers, 1), rho=rho, relation="replace_one", n=n)
            assert all(EXACT_ROWS * question.row_bound < 2**53 for question in budget.questions)
