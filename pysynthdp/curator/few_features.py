"""Features that fewer than five records have: found before models are fitted, so that none has a coefficient.

A level has five records in the table, or is grouped until it has. Of the rows where a target is there, or in
a product, fewer may be left; and of two dummies that differ in one record, the second one's coefficient is
that record's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.curator.answers import Grams, StepRows
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.curator.owners import rest_on_few_owners
from pysynthdp.curator.table import SCALE_ROWS, PartTable
from pysynthdp.design.encode import Layout
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import Sums
from pysynthdp.models.fits.rank import resting_on_few

__all__ = ["without_few_features"]

FIRST = 2 * FEWEST - 1  # of which the most have a value that all but four share
MANY = 500  # records of which a look tells of most numbers that they vary


def without_few_features(steps: Sequence[StepRows], rows: EncodedRows) -> tuple[list[StepRows], Grams]:
    """Leave features that rest on fewer than five records out of steps; give the cross-products that told it.

    Parameters
    ----------
    steps : sequence of StepRows
        With all features that the plan names.
    rows : EncodedRows
        The table.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee, where no model's features may depend on them.
    """
    asked = [step for step in steps if _flags(step, rows.layout).any()]
    shared = [step for step in asked if step.is_prefix]
    own = [step for step in asked if not step.is_prefix]
    width = max((step.reach for step in shared), default=0)
    tallies = [_Tally(step, *_kinds(step.design.features, rows.layout)) for step in own]
    whole = _Tally(None, *_kinds([(j,) for j in range(width)], rows.layout))

    def of_block(block: Block) -> Sums:
        first = whole.sums(block.X[:, :width]) if width else ()
        return (*first, *(a for tally in tallies for a in tally.sums(tally.step.X(block))))  # type: ignore[union-attr]

    sums = iter(rows.fold(of_block) if asked else ())
    found: dict[int, tuple[int, ...]] = {}
    gram = next(sums) if width else None
    if gram is not None:
        few = whole.few(gram, next(sums))
        found = {id(step): tuple(j for j in few if j < len(step.design.features)) for step in shared}
    kept: dict[tuple[Part, ...], FloatArray] = {}
    for tally, step in zip(tallies, own, strict=True):
        full = next(sums)
        found[id(step)] = tally.few(full, next(sums))
        kept[step.targets] = full
    pruned = [
        _pruned(step, {*found.get(id(step), ()), *_all_but_equal(step, rows), *_of_few_owners(step, rows)})
        for step in steps
    ]
    return pruned, Grams(gram, kept)


def _pruned(step: StepRows, few: Iterable[int]) -> StepRows:
    """Leave features out of a step."""
    without = tuple(sorted(few))
    return replace(step, design=replace(step.design, without=without)) if without else step


def _of_few_owners(step: StepRows, rows: EncodedRows) -> list[int]:
    """Positions of the features that rest on fewer than five units, where rows are of units with several."""
    owner = rows.table.owner
    if owner is None:
        return []
    dummies, sparse = _kinds(step.design.features, rows.layout)
    ones, some, whose = list[AnyArray](), list[AnyArray](), list[IntArray]()

    def take(block: Block) -> None:
        X, present = step.X(block), block.present(step.target)
        ones.append(X[:, dummies].astype(np.int8))
        some.append(X[:, sparse] != 0)
        whose.append(owner[block.rows] if present is None else owner[block.rows][present])

    rows.collect(take)
    few = rest_on_few_owners(np.concatenate(ones), np.concatenate(some), np.concatenate(whose))
    places = (*np.flatnonzero(dummies)[few[0]], *np.flatnonzero(sparse)[few[1]])
    return [int(place) for place in places]


def _all_but_equal(step: StepRows, rows: EncodedRows) -> list[int]:
    """Positions of numbers, and products with them, that all but few of a partial target's rows share.

    In the whole table such a number has become a constant; of the rows where a target is there, one may have
    another value, and the slope would be that record's.
    """
    if not (step.target.partial or step.target.gated):
        return []
    used = {position for positions in step.design.features for position in positions}
    numbers: dict[Part, list[int]] = {}
    for position, part in rows.layout.numbers.items():
        if position in used:
            numbers.setdefault(part, []).append(position)
    table, odd = rows.table, set[int]()
    look = table.to_learn(max(1, table.n // SCALE_ROWS))
    for part, own in numbers.items():
        if not _varies(_there(look, part, step.target, MANY)) and _few_differ(table, part, step.target):
            odd.update(own)
    return [place for place, positions in enumerate(step.design.features) if odd.intersection(positions)]


def _there(table: PartTable, part: Part, target: Part, most: int | None = None) -> AnyArray:
    """Values of the first rows where the target, and the number itself, is there."""
    here, kind = table.kind(target), table.kind(part)
    rows = np.ones(table.n, dtype=np.bool_)[:most]
    for there in (here, kind):
        rows = rows if there is None else rows & (there[:most] == 0)
    return np.asarray(table.parts[part.key][:most][rows])


def _varies(values: FloatArray) -> bool:
    """Whether five of some values differ from what the most of the first nine would have."""
    return len(values) >= FIRST and bool(np.count_nonzero(values != np.median(values[:FIRST])) >= FEWEST)


def _few_differ(table: PartTable, part: Part, target: Part) -> bool:
    """Whether one to four values differ from what all others share: most of the first nine then have it."""
    first = table.folded(
        lambda piece: _there(piece, part, target)[:FIRST], lambda upper, own: np.append(upper, own)[:FIRST]
    )
    if len(first) < FIRST:
        return False
    usual = np.median(first)
    return 0 < table.count(lambda piece: _there(piece, part, target) != usual) < FEWEST


def _flags(step: StepRows, layout: Layout) -> BoolArray:
    """Say which features of a step could rest on few records."""
    dummies, sparse = _kinds(step.design.features, layout)
    return dummies | sparse


def _kinds(features: Sequence[tuple[int, ...]], layout: Layout) -> tuple[BoolArray, BoolArray]:
    """Say which features are 0/1, and which numbers are zero in some rows.

    Those are absent ones, curves, and products with such or with 0/1.
    """
    dummies = np.array(layout.dummies)
    some = dummies.copy()
    some[[layout.starts[part.key] for part in layout.parts if part.numeric and part.partial]] = True
    some[[position for own in layout.curve_starts.values() for position in own]] = True
    first = np.array([positions[0] for positions in features], dtype=np.int64)
    ones, sparse = dummies[first], some[first]
    for place, positions in enumerate(features):
        if len(positions) > 1:
            ones[place], sparse[place] = dummies[list(positions)].all(), some[list(positions)].any()
    return ones, sparse & ~ones


@dataclass(frozen=True, slots=True, repr=False)
class _Tally:
    """What to add over the rows of a step, or of all steps that share one matrix."""

    step: StepRows | None
    dummies: BoolArray
    sparse: BoolArray

    def sums(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """X'X, and how many rows have each number that is zero in others."""
        some = X[:, self.sparse]
        return np.asarray(X.T @ X), np.count_nonzero(some, axis=0).astype(np.float64)

    def few(self, gram: FloatArray, support: FloatArray) -> tuple[int, ...]:
        """Positions of the features that rest on few records."""
        rare = np.flatnonzero(self.sparse)[support < FEWEST]
        ones: IntArray = np.concatenate([[0], np.flatnonzero(self.dummies)])
        few = ones[resting_on_few(gram[np.ix_(ones, ones)])]
        return tuple(int(j) for j in np.sort(np.concatenate([rare, few])))
