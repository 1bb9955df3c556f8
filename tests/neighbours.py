"""What tests of neighbours share: the noise of one run given back to another, and what that had to hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pysynthdp.curator.contributions
import pysynthdp.protection.noise.fitting


@dataclass
class Run:
    """What one fit asked the noise to hide, what came back, and the parts that it was computed from."""

    exact: list[np.ndarray] = field(default_factory=list)
    scales: list[int] = field(default_factory=list)
    back: list[np.ndarray] = field(default_factory=list)
    parts: list[Mapping[tuple[str, str], np.ndarray]] = field(default_factory=list)


@contextmanager
def watched(patch: pytest.MonkeyPatch, given: Run | None = None) -> Iterator[Run]:
    """Note what is asked, and answer with the noise of another run."""
    run, source, real = Run(), np.random.default_rng(3), pysynthdp.curator.contributions.split_rows

    def noise(values: np.ndarray, scale: float) -> np.ndarray:
        run.exact.append(values.copy())
        run.scales.append(int(scale))
        fresh = values + np.rint(scale * source.standard_normal(values.size)).astype(np.int64)
        run.back.append(fresh if given is None else given.back[len(run.back)])
        return run.back[-1].copy()

    def split(*args: Any, **options: Any) -> Any:
        table = real(*args, **options)
        run.parts.append(table.parts)
        return table

    with patch.context() as here:
        here.setattr(pysynthdp.protection.noise.fitting, "add_discrete_gaussian", noise)
        here.setattr(pysynthdp.curator.contributions, "split_rows", split)
        yield run


def loss(one: Run, other: Run) -> Fraction:
    """Zero-concentrated loss of the run, exactly."""
    assert one.scales == other.scales
    gaps = [
        sum((int(a) - int(b)) ** 2 for a, b in zip(*pair, strict=True))
        for pair in zip(one.exact, other.exact, strict=True)
    ]
    return sum(
        (Fraction(gap, 2 * scale**2) for gap, scale in zip(gaps, one.scales, strict=True)), Fraction(0)
    )


def changed_rows(one: Run, other: Run) -> set[int]:
    """Rows in which any part differs, bit by bit."""
    rows: set[int] = set()
    for left, right in zip(one.parts, other.parts, strict=True):
        assert left.keys() == right.keys()
        for key, cells in left.items():
            assert (cells.dtype, cells.shape) == (right[key].dtype, right[key].shape)
            width = cells.dtype.itemsize
            bits = [
                np.ascontiguousarray(each).view(np.uint8).reshape(-1, width) for each in (cells, right[key])
            ]
            rows |= set(np.flatnonzero((bits[0] != bits[1]).any(axis=1)).tolist())
    return rows
