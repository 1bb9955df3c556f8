"""Levels that never occur together, though they would by chance: skips, nested codes, cells that are empty.

Models of levels give every combination a small probability. One that no record has, though ten or more were
expected and fifty or more records have each of the two levels and fifty have neither, is never drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, IntArray
from pysynthdp.curator.reductions import blocks_of
from pysynthdp.curator.table import PartTable, level_counts
from pysynthdp.design.gates import Gates
from pysynthdp.design.parts import Part
from pysynthdp.plan import Step

__all__ = ["gates_of"]

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
    every = max(1, table.n // SAMPLE)
    sample = {part.key: _codes(part, table, slice(None, None, every)) for part in _parts(steps, before)}
    found: dict[tuple[Part, ...], Gates] = {}
    for step in steps:
        part = step.targets[0]
        if len(step.targets) == 1 and _small(part):
            candidates = [other for other in before if _may_shut(sample[other.key], sample[part.key])]
            gates = _gates(part, candidates, table)
            found |= {} if gates is None else {step.targets: gates}
        before += [each for each in step.targets if _small(each)]
    return found


def _parts(steps: Sequence[Step], first: Sequence[Part]) -> list[Part]:
    """Parts with levels, those of steps and those that are there before."""
    return [*first, *(part for step in steps for part in step.targets if _small(part))]


def _small(part: Part) -> bool:
    """Whether a part has levels, and few enough to be counted in pairs."""
    return not part.numeric and 2 <= len(part.levels) <= LEVELS


def _codes(part: Part, table: PartTable, rows: slice) -> AnyArray:
    """Level codes of some rows; -1 where the part is absent."""
    kind, codes = table.absence(part), table.parts[part.key][rows]
    return codes if kind is None else np.where(kind[rows] == 0, codes, -1)


def _may_shut(earlier: AnyArray, own: AnyArray) -> bool:
    """Whether a pair of frequent levels does not occur in a sample."""
    shape = (int(earlier.max(initial=0)) + 1, int(own.max(initial=0)) + 1)
    counts = _pairs(earlier, own, shape)
    n = max(counts.sum(), 1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    return bool(((counts == 0) & (expected > 1.0)).any())


def _pairs(earlier: AnyArray, own: AnyArray, shape: tuple[int, int]) -> IntArray:
    """Count the rows that have each pair of levels."""
    there = (earlier >= 0) & (own >= 0)
    rows, columns = earlier[there].astype(np.int64), own[there].astype(np.int64)
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _gates(part: Part, others: Sequence[Part], table: PartTable) -> Gates | None:
    """Count pairs with each candidate in all rows; None where all occur."""
    pairs = [(other.key, _shut(other, part, table)) for other in others]
    shutting = [(key, shut) for key, shut in pairs if shut.any()]
    if not shutting:
        return None
    usual = np.argsort(-level_counts(table, part), kind="stable")
    return Gates(tuple(key for key, _ in shutting), tuple(shut for _, shut in shutting), usual)


def _shut(other: Part, part: Part, table: PartTable) -> BoolArray:
    """Say which pairs of levels never occur, though ten records were expected."""
    shape = (len(other.levels), len(part.levels))
    counts = np.zeros(shape, dtype=np.int64)
    for block in blocks_of(table.parts[part.key]):
        counts += _pairs(_codes(other, table, block), _codes(part, table, block), shape)
    n, rows, columns = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / max(n, 1)
    sides = np.outer((rows >= SIDE) & (n - rows >= SIDE), (columns >= SIDE) & (n - columns >= SIDE))
    return np.asarray((counts == 0) & (expected >= EXPECTED) & sides)
