"""Numbers that earlier ones nearly determine: left out of later designs, where slopes would be anything.

Where age is education plus experience plus six but for one typing error, the coefficient of age beside those
two is that record's, and copies, which scatter around the identity by more than the table does, multiply it.
What such a number tells, the others tell as well.

The constants, set once and not for any table: earlier numbers explain 90 % of its variance, since a tenth
of the rows must not pass for a relation; and nine rows of ten are within 0.03 standard deviations of a
regression that leaves the worst tenth out, or the effective number of records of its residuals,
(sum r^2)^2 / sum r^4, is below five, as everything rests on five records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.curator.answers import Grams, StepRows
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.curator.table import SCALE_ROWS
from pysynthdp.models.ask import Sums

__all__ = ["without_thin_directions"]

NEAR = 0.03  # standard deviations of the number
KEPT = 0.9  # of the rows
ROUNDS = 6
DETERMINED = 0.9  # of the variance: below, a tenth of the rows cannot be what hides a function
NEEDED = 0.02  # standard deviations that a determining number must move it by
COLLINEAR = 1e-10


@dataclass(frozen=True, slots=True)
class _Thin:
    """A feature that others nearly determine, and those others."""

    place: int
    others: frozenset[int]


def without_thin_directions(steps: Sequence[StepRows], rows: EncodedRows, known: Grams) -> list[StepRows]:
    """Leave numbers out of steps that are given, beside them, all that nearly determines them.

    Parameters
    ----------
    steps : sequence of StepRows
        With the features that rest on enough records.
    rows : EncodedRows
        The table.
    known : Grams
        Cross-products that are there already.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. Cross-products and fourth powers of residuals are sums
    over all rows; a systematic sample of at most 40,000 says how far nine rows of ten are off.
    """
    numbers = _numbers(rows)
    if len(numbers) < 2 or not steps:
        return list(steps)
    thin = _thin(_determined(numbers, rows, known), rows)
    return [_pruned(step, thin) for step in steps] if thin else list(steps)


def _numbers(rows: EncodedRows) -> IntArray:
    """Positions of the numbers in the wide X."""
    layout = rows.layout
    return np.array([layout.starts[part.key] for part in layout.parts if part.numeric], dtype=np.int64)


def _pruned(step: StepRows, thin: Sequence[_Thin]) -> StepRows:
    """Leave the numbers out of a step that has all that determines them."""
    design = step.design
    there = {design.features[place] for place in design.used}
    without = set(design.without)
    for own in thin:
        if (own.place,) in there and all((other,) in there for other in own.others):
            without.add(design.features.index((own.place,)))
    return replace(step, design=replace(design, without=tuple(sorted(without))))


def _determined(numbers: IntArray, rows: EncodedRows, known: Grams) -> dict[int, FloatArray]:
    """Find the numbers of which features before them explain most; with the slopes of each."""
    width = int(numbers.max()) + 1

    def products(block: Block) -> Sums:
        X = block.X[:, :width]
        return (np.asarray(X.T @ X),)

    shared = known.shared if known.reaches(width) else None
    gram = rows.fold(products)[0] if shared is None else shared[:width, :width]
    found = {}
    for place in map(int, numbers):
        spread = gram[place, place] - gram[0, place] ** 2 / gram[0, 0]
        slopes = _slopes(gram, place)
        left = gram[place, place] - gram[:place, place] @ slopes
        if place > 1 and COLLINEAR * spread < left < (1 - DETERMINED) * spread:
            found[place] = slopes
    return found


def _thin(candidates: Mapping[int, FloatArray], rows: EncodedRows) -> list[_Thin]:
    """Find, of the numbers that others explain, those that they nearly determine."""
    if not candidates:
        return []

    def powers(block: Block) -> Sums:
        R = np.stack([block.X[:, j] - block.X[:, :j] @ b for j, b in candidates.items()])
        return np.einsum("ij,ij->i", R, R), np.einsum("ij,ij->i", R**2, R**2)

    second, fourth = rows.fold(powers)
    sample = _sample(rows, max(candidates) + 1)
    found: list[_Thin] = []
    for place, few in zip(candidates, second**2 < FEWEST * fourth, strict=True):
        others = _determining(sample, place, [own.place for own in found], few=bool(few))
        found += [] if others is None else [_Thin(place, others)]
    return found


def _slopes(gram: FloatArray, place: int) -> FloatArray:
    """Regress a feature on those before it."""
    return np.asarray(np.linalg.lstsq(gram[:place, :place], gram[:place, place], rcond=1e-12)[0])


def _sample(rows: EncodedRows, width: int) -> FloatArray:
    """Encode a systematic sample of rows."""
    blocks: list[FloatArray] = []
    every = max(1, rows.table.n // SCALE_ROWS)
    rows.collect(lambda block: blocks.append(block.X[:, :width].copy()), every=every)
    return np.concatenate(blocks)


def _determining(X: FloatArray, place: int, thin: Sequence[int], *, few: bool) -> frozenset[int] | None:
    """Find what nearly determines a number; None where nothing does.

    Features that are left out themselves determine nothing.
    """
    before = np.setdiff1d(np.arange(place), thin)
    y, width = X[:, place], np.std(X[:, before], axis=0)
    spread = float(np.std(y))
    beta, scatter = _trimmed(X[:, before], y)
    if not few and scatter > NEAR * spread:
        return None
    moved = np.abs(beta) * width > NEEDED * spread
    return frozenset(int(other) for other in before[moved])


def _trimmed(X: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    """Regress on the nine tenths of the rows that fit best; how far nine rows of ten are off.

    Notes
    -----
    Concentration steps of least trimmed squares (Rousseeuw and Van Driessen 2006, Data Mining and Knowledge
    Discovery 12, 29), from the fit to all rows.
    """
    kept = np.ones(len(y), dtype=np.bool_)
    beta: FloatArray = np.zeros(X.shape[1])
    off = np.inf
    for _ in range(ROUNDS):
        W = X[kept]
        beta = np.asarray(np.linalg.lstsq(W.T @ W, W.T @ y[kept], rcond=1e-12)[0])
        rest = np.abs(y - X @ beta)
        off = float(np.quantile(rest, KEPT))
        kept = rest <= off
    return beta, off
