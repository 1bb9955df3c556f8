"""Levels that never occur together, though they would by chance: skips, nested codes, cells that are empty.

Models of levels give every combination a small probability. One that no record has, though ten or more were
expected and fifty or more records have each of the two levels and fifty have neither, is never drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pysynthdp.base.arrays import AnyArray, BoolArray, IntArray
from pysynthdp.curator.reductions import blocks_of
from pysynthdp.curator.table import PartTable, level_counts
from pysynthdp.design.gates import Gates
from pysynthdp.design.parts import Part
from pysynthdp.plan import Step

__all__ = ["gates_of"]

Float32Array: TypeAlias = npt.NDArray[np.float32]

EXPECTED = 10.0  # records, were the two independent; e^-10 is the probability of none by chance
SIDE = 50  # records that have a level, and that do not
SAMPLE = 4_000  # rows that tell which pairs are worth counting in all
LEVELS = 200  # of a part


def gates_of(steps: Sequence[Step], first: Sequence[Part], table: PartTable) -> dict[tuple[Part, ...], Gates]:
    """Find for each step that draws levels the earlier levels that shut some of them out.

    Parameters
    ----------
    steps : sequence of Step
        In drawing order.
    first : sequence of Part
        Parts that are there before any is drawn.
    table : PartTable
        All rows.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. Each pair is learned from fifty records and more, and
    counted over all rows.
    """
    before = [part for part in first if _small(part)]
    sample = _sample(_parts(steps, before), table)
    found: dict[tuple[Part, ...], Gates] = {}
    for step in steps:
        part = step.targets[0]
        if len(step.targets) == 1 and _small(part) and before:
            candidates = [before[at] for at in sample.shutting(len(before))]
            gates = _gates(part, candidates, table)
            found |= {} if gates is None else {step.targets: gates}
        before += [each for each in step.targets if _small(each)]
    return found


def _parts(steps: Sequence[Step], first: Sequence[Part]) -> list[Part]:
    """Parts with levels, those that are there before, and those of steps."""
    return [*first, *(part for step in steps for part in step.targets if _small(part))]


@dataclass(frozen=True, slots=True, repr=False)
class _Sample:
    """Levels of all parts in a sample of rows, as 0 and 1.

    Parameters
    ----------
    ones : array of float32 (rows, levels of all parts)
        Sums of so few of them are exact.
    starts : array of int (parts + 1,)
        First level of each part.
    """

    ones: Float32Array
    starts: IntArray

    def shutting(self, place: int) -> IntArray:
        """Places of the parts before one that have a frequent level never seen with a frequent one of its."""
        start, stop = self.starts[place : place + 2]
        counts = self.ones[:, :start].T @ self.ones[:, start:stop]
        edges = self.starts[:place]
        columns = np.add.reduceat(counts, edges, axis=0)
        whole = np.repeat(np.arange(place), np.diff(self.starts[: place + 1]))
        n = np.maximum(columns.sum(axis=1), 1.0)
        expected = counts.sum(axis=1)[:, None] * (columns / n[:, None])[whole]
        odd = ((counts == 0) & (expected > 1.0)).any(axis=1)
        return np.flatnonzero(np.logical_or.reduceat(odd, edges))


def _sample(parts: Sequence[Part], table: PartTable) -> _Sample:
    """Look at every s-th row."""
    every = max(1, table.n // SAMPLE)
    starts = np.cumsum([0, *(len(part.levels) for part in parts)])
    ones = np.zeros((len(range(0, table.n, every)), int(starts[-1])), dtype=np.float32)
    for start, part in zip(starts, parts, strict=False):
        codes = _codes(*table.sample(part, every))
        there = np.flatnonzero(codes >= 0)
        ones[there, start + codes[there].astype(np.int64)] = 1.0
    return _Sample(ones, starts)


def _small(part: Part) -> bool:
    """Whether a part has levels, and few enough to be counted in pairs."""
    return not part.numeric and 2 <= len(part.levels) <= LEVELS


def _codes(codes: AnyArray, kind: AnyArray | None) -> AnyArray:
    """Level codes of some rows; -1 where the part is absent."""
    return codes if kind is None else np.where(kind == 0, codes, -1)


def _pairs(earlier: AnyArray, own: AnyArray, shape: tuple[int, int]) -> IntArray:
    """Count the rows that have each pair of levels."""
    there = (earlier >= 0) & (own >= 0)
    rows, columns = earlier[there].astype(np.int64), own[there].astype(np.int64)
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _gates(part: Part, others: Sequence[Part], table: PartTable) -> Gates | None:
    """Count pairs with each candidate in all rows; None where all occur."""
    if not others:
        return None
    counted = table.total(lambda piece: tuple(_counted(other, part, piece) for other in others))
    pairs = [(other.key, _shut(counts)) for other, counts in zip(others, counted, strict=True)]
    shutting = [(key, shut) for key, shut in pairs if shut.any()]
    if not shutting:
        return None
    (records,) = table.total(lambda piece: (level_counts(piece, part),))
    usual = np.argsort(-records, kind="stable")
    return Gates(tuple(key for key, _ in shutting), tuple(shut for _, shut in shutting), usual)


def _counted(other: Part, part: Part, table: PartTable) -> IntArray:
    """Count the rows that have each pair of levels, block by block."""
    shape = (len(other.levels), len(part.levels))
    counts = np.zeros(shape, dtype=np.int64)
    for block in blocks_of(table.parts[part.key]):
        counts += _pairs(_block(other, table, block), _block(part, table, block), shape)
    return counts


def _block(part: Part, table: PartTable, rows: slice) -> AnyArray:
    """Level codes of a block."""
    kind = table.kind(part)
    return _codes(table.parts[part.key][rows], None if kind is None else kind[rows])


def _shut(counts: IntArray) -> BoolArray:
    """Say which pairs of levels never occur, though ten records were expected."""
    n, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / max(n, 1)
    sides = np.outer((rows >= SIDE) & (n - rows >= SIDE), (columns >= SIDE) & (n - columns >= SIDE))
    return np.asarray((counts == 0) & (expected >= EXPECTED) & sides)
