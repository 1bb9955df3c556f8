"""Numbers that earlier ones nearly determine: left out of later designs, where slopes would be anything.

Where age is education plus experience plus six but for one typing error, the coefficient of age beside those
two is that record's, and copies, which scatter around the identity by more than the table does, multiply it.
What such a number tells, the others tell as well.

The constants, set once and not for any table: earlier numbers explain 90 % of its variance, since a tenth
of the rows must not pass for a relation; and nine rows of ten are within 0.03 standard deviations of a
regression that leaves the worst tenth out, or the effective number of records of its residuals,
(sum r^2)^2 / sum r^4, is below five, as everything rests on five records.

In a wide table a number is compared with the 400 features before it that correlate with it most: regressions
on all would cost the cube of the columns, and fit anything where these are about as many as the rows.
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
MOST = 400  # features before a number that it is compared with


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


def _determined(numbers: IntArray, rows: EncodedRows, known: Grams) -> dict[int, tuple[IntArray, FloatArray]]:
    """Find the numbers of which features before them explain most; with these, and the slope of each."""
    width = int(numbers.max()) + 1

    def products(block: Block) -> Sums:
        X = block.X[:, :width]
        return (np.asarray(X.T @ X),)

    shared = known.shared if known.reaches(width) else None
    gram = rows.fold(products)[0] if shared is None else shared[:width, :width]
    found = {}
    for place in map(int, numbers):
        spread = gram[place, place] - gram[0, place] ** 2 / gram[0, 0]
        before = _before(gram, place)
        slopes = _slopes(gram, place, before)
        left = gram[place, place] - gram[before, place] @ slopes
        if place > 1 and COLLINEAR * spread < left < (1 - DETERMINED) * spread:
            found[place] = (before, slopes)
    return found


def _before(gram: FloatArray, place: int) -> IntArray:
    """Positions of the features before a number; of many, of those that correlate with it most.

    Examples
    --------
    >>> _before(np.eye(4), 3).tolist()
    [0, 1, 2]
    """
    if place <= MOST:
        return np.arange(place)
    means = gram[0, :place] / gram[0, 0]
    products = gram[:place, place] - means * gram[0, place]
    spreads = np.diagonal(gram)[:place] - means * gram[0, :place]
    varies = spreads > COLLINEAR * np.diagonal(gram)[:place]
    told = np.where(varies, products**2 / np.where(varies, spreads, 1.0), 0.0)
    told[0] = np.inf  # the intercept
    return np.sort(np.argsort(-told, kind="stable")[:MOST])


def _thin(candidates: Mapping[int, tuple[IntArray, FloatArray]], rows: EncodedRows) -> list[_Thin]:
    """Find, of the numbers that others explain, those that they nearly determine."""
    if not candidates:
        return []

    def powers(block: Block) -> Sums:
        R = np.stack([block.X[:, j] - _taken(block.X, before) @ b for j, (before, b) in candidates.items()])
        return np.einsum("ij,ij->i", R, R), np.einsum("ij,ij->i", R**2, R**2)

    second, fourth = rows.fold(powers)
    sample = _sample(rows, max(candidates) + 1)
    found: list[_Thin] = []
    for place, few in zip(candidates, second**2 < FEWEST * fourth, strict=True):
        before = np.setdiff1d(candidates[place][0], [own.place for own in found])
        others = _determining(sample, place, before, few=bool(few))
        found += [] if others is None else [_Thin(place, others)]
    return found


def _taken(X: FloatArray, places: IntArray) -> FloatArray:
    """Take some features; a view where they are the first ones."""
    return X[:, : len(places)] if len(places) == places[-1] + 1 else X[:, places]


def _slopes(gram: FloatArray, place: int, before: IntArray) -> FloatArray:
    """Regress a feature on some of those before it."""
    own = gram[:place, :place] if len(before) == place else gram[np.ix_(before, before)]
    return np.asarray(np.linalg.lstsq(own, gram[before, place], rcond=1e-12)[0])


def _sample(rows: EncodedRows, width: int) -> FloatArray:
    """Encode a systematic sample of rows."""
    blocks: list[FloatArray] = []
    every = max(1, rows.table.n // SCALE_ROWS)
    rows.collect(lambda block: blocks.append(block.X[:, :width].copy()), every=every)
    return np.concatenate(blocks)


def _determining(X: FloatArray, place: int, before: IntArray, *, few: bool) -> frozenset[int] | None:
    """Find what nearly determines a number, among some features before it; None where nothing does."""
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
