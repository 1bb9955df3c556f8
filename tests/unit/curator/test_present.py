"""Values of a part where it is there, block by block, against the same read at once."""

from __future__ import annotations

import numpy as np
import pytest

from pysynthdp.curator import reductions
from pysynthdp.curator.present import Present, tally
from pysynthdp.design.encode import Scale


@pytest.fixture(params=[7, 100, 10_000], autouse=True)
def blocks(request, monkeypatch):
    """Blocks of odd sizes."""
    monkeypatch.setattr(reductions, "BLOCK", request.param)


@pytest.mark.parametrize("n", [0, 1, 6, 7, 8, 250])
@pytest.mark.parametrize("partial", [False, True])
def test_blocks_are_what_is_there_at_once(n, partial) -> None:
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    kind = rng.integers(0, 3, n).astype(np.int16) if partial else None
    there = values if kind is None else values[kind == 0]
    present = Present(values, kind)
    assert present.n == len(there)
    assert np.concatenate(list(present.blocks())).tolist() == there.tolist()
    for step in (1, 2, 13, 300):
        assert present.every(step).tolist() == there[::step].tolist()
    assert present.where(lambda own: own > 0).tolist() == there[there > 0].tolist()
    scaled = Present(values, kind, Scale(0.3, 7.0))
    assert scaled.ranked().at(np.arange(len(there))).tolist() == np.sort((there - 0.3) / 7.0).tolist()
    if len(there):
        assert present.deviation() == pytest.approx(there.std())


@pytest.mark.parametrize("size", [1, 4, 9])
def test_codes_are_counted_as_at_once(size) -> None:
    rng = np.random.default_rng(size)
    codes, kind = rng.integers(0, 6, 500).astype(np.int16), rng.integers(0, 2, 500)
    assert tally(codes, size).tolist() == np.bincount(codes, minlength=size).tolist()
    assert tally(codes, size, kind).tolist() == np.bincount(codes[kind == 0], minlength=size).tolist()
    assert tally(codes[:0], size).tolist() == [0] * size
