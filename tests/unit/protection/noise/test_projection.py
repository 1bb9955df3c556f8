"""Closed forms of the projection against a dense weighted least-squares solution, and its linearity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pysynthdp.curator.noised.integers import Frame
from pysynthdp.protection.noise.moments.projection import consistent_levels, consistent_numbers, total_rows


def noisy(frame: Frame, seed: int) -> np.ndarray:
    """Symmetric noise around a real table's cross-products."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, 300) for size in frame.blocks]
    Z = np.concatenate([np.eye(size)[code] for size, code in zip(frame.blocks, codes, strict=True)], axis=1)
    noise = rng.standard_normal((frame.levels, frame.levels)) * 10
    return Z.T @ Z + np.triu(noise) + np.triu(noise, 1).T


def entries(blocks: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """Number the margins and the cells of all two-way tables."""
    margins = [(j, a) for j, size in enumerate(blocks) for a in range(size)]
    cells = [
        (j, a, k, b)
        for j, k in itertools.combinations(range(len(blocks)), 2)
        for a, b in itertools.product(range(blocks[j]), range(blocks[k]))
    ]
    return {key: at for at, key in enumerate([*margins, *cells])}


def dense(
    frame: Frame, levels: np.ndarray, n: float | None, count: float, weight: float
) -> tuple[np.ndarray, float]:
    """Weighted least squares over margins and tables with equality constraints, by the normal equations."""
    blocks, slots = frame.blocks, entries(frame.blocks)
    size = len(slots) + 1  # the last is n
    seen, weights = np.zeros(size), np.full(size, 1.0)
    for key, at in slots.items():
        i = frame.starts[key[0]] + key[1]
        o = i if len(key) == 2 else frame.starts[key[2]] + key[3]
        seen[at], weights[at] = levels[i, o], 0.5 if len(key) == 2 else 1.0
    seen[-1], weights[-1] = (count, weight) if n is None else (n, 1e9)
    rows = []
    for j, levels_j in enumerate(blocks):
        rows.append(({(j, a): 1.0 for a in range(levels_j)}, -1.0))
    for j, k in itertools.combinations(range(len(blocks)), 2):
        rows += [
            ({**{(j, a, k, b): 1.0 for b in range(blocks[k])}, (j, a): -1.0}, 0.0) for a in range(blocks[j])
        ]
        rows += [
            ({**{(j, a, k, b): 1.0 for a in range(blocks[j])}, (k, b): -1.0}, 0.0) for b in range(blocks[k])
        ]
    A = np.zeros((len(rows), size))
    for r, (terms, last) in enumerate(rows):
        for key, value in terms.items():
            A[r, slots[key]] = value
        A[r, -1] = last
    spread = 1 / weights
    found = seen - spread * (A.T @ np.linalg.pinv(A * spread @ A.T) @ (A @ seen))
    full = np.zeros_like(levels)
    for key, at in slots.items():
        i = frame.starts[key[0]] + key[1]
        o = i if len(key) == 2 else frame.starts[key[2]] + key[3]
        full[i, o] = full[o, i] = found[at]
    return full, float(found[-1])


@pytest.mark.parametrize("blocks", [(2, 3), (2, 3, 4), (4,), (2, 2, 2, 3)])
def test_the_projection_is_weighted_least_squares(blocks):
    frame = Frame(blocks, 0)
    levels = noisy(frame, 1)
    expected, _ = dense(frame, levels, 300.0, 0.0, 0.0)
    assert np.allclose(consistent_levels(frame, levels, 300.0), expected, atol=1e-4)


@pytest.mark.parametrize("blocks", [(2, 3), (2, 3, 4), (4,)])
def test_the_number_of_rows_is_estimated_from_every_table(blocks):
    frame = Frame(blocks, 0)
    levels = noisy(frame, 2)
    expected, n = dense(frame, levels, None, 290.0, 0.7)
    assert total_rows(frame, levels, 290.0, 0.7) == pytest.approx(n, abs=1e-6)
    assert np.allclose(consistent_levels(frame, levels, n), expected, atol=1e-6)


def test_all_margins_agree_and_sum_to_n():
    frame = Frame((3, 2, 4), 0)
    full = consistent_levels(frame, noisy(frame, 3), 300.0)
    for start, size in zip(frame.starts, frame.blocks, strict=True):
        block = full[:, start : start + size]
        for other, length in zip(frame.starts, frame.blocks, strict=True):
            assert np.allclose(
                block[other : other + length].sum(axis=0), full.diagonal()[start : start + size]
            )
        assert full.diagonal()[start : start + size].sum() == pytest.approx(300)


def test_sums_of_numbers_have_one_total_and_move_least():
    frame = Frame((3, 2, 4), 2)
    rng = np.random.default_rng(4)
    sums = rng.standard_normal((9, 2))
    moved = consistent_numbers(frame, sums)
    A = np.zeros((2, 9))  # block totals are equal
    A[0, :3], A[0, 3:5] = 1, -1
    A[1, :3], A[1, 5:] = 1, -1
    assert np.allclose(moved, sums - A.T @ np.linalg.solve(A @ A.T, A @ sums))
