"""The records that a number would give away: its extremes, and the few beside values that many share.

Any exact sum over all records gives the largest value to whoever knows the others, however many records the
sum is over. So no sum holds it: before anything is fitted, each end of a number is replaced by what the
*other* records let one expect there. What is fitted is then the same whatever the extreme value is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST, Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.functions import LinearFunction, linear_functions
from pysynthdp.curator.owners import lowest_and_highest
from pysynthdp.curator.present import Present
from pysynthdp.curator.quantiles import KNOTS, heaps
from pysynthdp.curator.reductions import Ranked
from pysynthdp.curator.table import SCALE_ROWS, Key, PartTable
from pysynthdp.design.parts import Part, settle
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = ["drawn_in", "extremes_remarked"]

DOMINANT = 2  # (n, k) rule: that many largest deviations of a group of five ...
DOMINANCE = 0.85  # ... may make up at most this share of their sum; implies the p % rule with p = 15
SPACINGS = 12  # between order statistics, from which the next one is expected
CLOSE = 0.05  # of its deviation from the median: a neighbour that near tells a value anyway
EXPECTED = 0.01  # of that deviation: spacings so small that a neighbour is always that near
FAR = 0.5  # standard errors of the mean: an end that moved it further is reported ...
LONE = 3.0  # ... where its deviation from the median was more than so many times what was expected
TELLING = 20  # records, below which an end is too loosely expected, ...
LONE_OF_FEW = 30.0  # ... and only so many times is told: 6 % of tables of five lognormal(1.5) values are
FEW = 8  # values, up to which each is looked for by itself
LONG = 100_000  # records, above which a sample says whether values are shared by many


@dataclass(frozen=True, slots=True)
class _Moves:
    """Values of one column that are replaced, and what is to be said of it."""

    old: FloatArray
    new: FloatArray
    few: bool = False
    far: bool = False


def drawn_in(table: PartTable, parts: Iterable[Part], schema: Schema) -> tuple[PartTable, tuple[Remark, ...]]:
    """Replace extremes, and values of fewer than five records beside heaps, in the numbers of some parts.

    Parameters
    ----------
    table : PartTable
        All rows.
    parts : iterable of Part
        Which numbers; the others stay as they are.
    schema : Schema
        Their columns: grids and declared bounds are kept.

    Returns
    -------
    PartTable, tuple of Remark
        And what moved so much that whoever fits should know.

    Notes
    -----
    Privacy: reads real rows; for fits without a guarantee only. Where all but four share a value, all get it.
    Fewer than five records between two heaps, values that many records share
    (:func:`pysynthdp.curator.quantiles.heaps`), go to the nearer one. Then the largest value is replaced by
    the second largest plus the spacing that the next twelve lead one to expect: a line through the points
    (log j, j (X_(j) - X_(j+1))), read at j = 1; their mean is constant for an exponential tail (Renyi 1953,
    Acta Math. Acad. Sci. Hung. 4, 191). Of the five most extreme, the two largest deviations from the median
    (from a heap that they reach into, since it is known) are cut where they are over 85 % of the sum: the
    (n, k) rule with n = 2, k = 85, which implies the p % rule with p = 100 (100 - k) / k = 17.6, above 15
    (Hundepool et al. 2012, Statistical Disclosure Control, section 4.2). A value stays where spacings are
    below a hundredth of its deviation from the median and the next one is within a twentieth, or the same:
    then its neighbour tells it anyway. The smallest value is treated like the largest, of the negated
    numbers, and keeps its sign. A number that is a linear function of earlier ones follows them instead, so
    that it stays one.
    """
    if table.owner is not None:
        table = _within_owners(table, table.owner, parts, schema)
    found = {part: _moves(values, schema[part.column]) for part, values in _numbers(table, parts)}
    moved = {part: moves for part, moves in found.items() if moves.old.size}
    functions = linear_functions(table, tuple(found)) if moved else ()
    for function in functions:
        moved.pop(function.part, None)
    after = table.changed_by(lambda piece: _after(piece, moved, functions)) if moved else table
    return after, tuple(remark for part, moves in moved.items() for remark in _remarks(part.column, moves))


def _within_owners(table: PartTable, owner: IntArray, parts: Iterable[Part], schema: Schema) -> PartTable:
    """Cut the numbers of rows that are of few units at what the highest and lowest of units become.

    The largest of all rows may be several rows of one unit, each of which hides behind the others. So the
    largest value of each unit is treated as the largest values of records are, and the smallest likewise.
    """
    own: list[tuple[Key, AnyArray]] = []
    for part in parts:
        if not part.numeric:
            continue
        kind, values = table.absence(part), np.asarray(table.parts[part.key][:])
        there = np.ones(table.n, dtype=np.bool_) if kind is None else np.asarray(kind[:]) == 0
        whose = owner[there]
        if len(np.unique(whose)) < FEWEST:
            continue
        place, low, high = lowest_and_highest(values[there], whose)
        top, bottom = (_after_moves(ends, schema[part.column]) for ends in (high, low))
        cut = values.copy()
        cut[there] = np.clip(values[there], np.maximum(bottom, low)[place], np.minimum(top, high)[place])
        own.append((part.key, cut))
    return table.with_parts(own)


def _after_moves(values: FloatArray, column: Column) -> FloatArray:
    """Give values as they are treated, each of one record."""
    moves = _moves(Present(values), column)
    moved = values.copy()
    for old, new in zip(moves.old, moves.new, strict=True):
        moved[values == old] = new
    return moved


def extremes_remarked(values: FloatArray, column: NumericColumn) -> tuple[Remark, ...]:
    """Say what :func:`drawn_in` will say of one column's present values, without codes and spikes.

    Notes
    -----
    Privacy: reads real values; for the person who holds the data.
    """
    return tuple(_remarks(column.name, _moves(Present(values), column))) if len(values) >= FEWEST else ()


def _numbers(table: PartTable, parts: Iterable[Part]) -> Iterator[tuple[Part, Present]]:
    """Present values of each numeric part, where there are enough."""
    for part in parts:
        if part.numeric:
            present = table.present(part)
            if present.n >= FEWEST:
                yield part, present


def _after(table: PartTable, moved: Mapping[Part, _Moves], functions: Iterable[LinearFunction]) -> PartTable:
    """Replace values in a table or a piece of one, and what follows them."""
    after = table.with_parts((part.key, _moved(table, part, moves)) for part, moves in moved.items())
    for function in functions:
        after = after.with_parts([(function.part.key, function.followed(table, after))])
    return after


def _moved(table: PartTable, part: Part, moves: _Moves) -> FloatArray:
    """Replace the old values where they are there."""
    values, kind = table.parts[part.key], table.kind(part)
    if moves.old.size <= FEW:
        moved = values.copy()
        for old, new in zip(moves.old, moves.new, strict=True):
            moved[values == old] = new
    else:
        at = np.minimum(np.searchsorted(moves.old, values), len(moves.old) - 1)
        moved = np.where(moves.old[at] == values, moves.new[at], values)
    return moved if kind is None else np.where(kind == 0, moved, values)


def _moves(values: Present, column: Column) -> _Moves:
    """Find what is replaced in one number: beside heaps first, then at both ends."""
    n = values.n
    sample = np.sort(values.every(max(1, n // SCALE_ROWS)))
    middle, ordered = float(sample[len(sample) // 2]), _ordered(values, n, sample)
    runs = heaps(ordered) if ordered is not None else np.zeros((2, 0), np.int64)
    shared = ordered.at(runs[0]) if ordered is not None else np.zeros(0)
    if ordered is not None and (n - FEWEST < runs[1] - runs[0]).any():
        return _all_but_few(ordered, runs, shared)
    old, new = _to_heaps(ordered, runs) if ordered is not None else (shared, shared)
    low, high = _both_ends(values, n, sample)
    upper = _upper_end(high, middle, shared, n)
    lower = -_upper_end(-low, -middle, -shared, n)
    old, new = np.concatenate([old, high, low]), np.concatenate([new, upper, lower])
    shift = float((new - old).sum()) / n
    old, new = _distinct(old[new != old], new[new != old])
    if not old.size:
        return _Moves(old, new)
    times = LONE if n >= TELLING else LONE_OF_FEW
    lone = bool((np.abs(old - middle) > times * np.abs(new - middle)).any())
    far = lone and abs(shift) > FAR * values.deviation() / np.sqrt(n)
    return _Moves(old, settle(new, column) if isinstance(column, NumericColumn) else new, far=far)


def _all_but_few(ordered: Ranked, runs: IntArray, shared: FloatArray) -> _Moves:
    """Give all records the value that all but fewer than five of them share."""
    most = int(np.argmax(runs[1] - runs[0]))
    ranks = np.concatenate([np.arange(runs[0, most]), np.arange(runs[1, most], ordered.n)])
    old = ordered.at(ranks)
    return _Moves(*_distinct(old, np.full(len(old), shared[most])), few=bool(old.size))


def _ordered(values: Present, n: int, sample: FloatArray) -> Ranked | None:
    """Rank all values; none where there are many and, as a sample says, no heap among them."""
    least = max(len(sample) // (2 * KNOTS), 2)
    if n > LONG and not (sample[least - 1 :] == sample[: len(sample) - least + 1]).any():
        return None
    return values.ranked()


def _both_ends(values: Present, n: int, sample: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest values, rising, and the highest, falling; the sample, in order, is some of them."""
    count = min(SPACINGS + 2, (n + 1) // 2)
    first, last = sample[min(count, len(sample)) - 1], sample[-min(count, len(sample))]
    low = np.sort(values.where(lambda own: own <= first))[:count]
    high = np.sort(values.where(lambda own: own >= last))[::-1][:count]
    return low, high


def _distinct(old: FloatArray, new: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each replaced value once, in order."""
    found, first = np.unique(old, return_index=True)
    return found, new[first]


def _to_heaps(ordered: Ranked, runs: IntArray) -> tuple[FloatArray, FloatArray]:
    """Move fewer than five records between two heaps to the nearer one: return the values, old and new."""
    first, last = runs[1, :-1], runs[0, 1:]
    lengths = last - first
    few = np.flatnonzero((lengths > 0) & (lengths < FEWEST))
    if not few.size:
        return np.zeros(0), np.zeros(0)
    between = np.repeat(few, lengths[few])
    here = ordered.at(np.concatenate([np.arange(first[index], last[index]) for index in few]))
    low, high = ordered.at(runs[0, between]), ordered.at(runs[0, between + 1])
    return here, np.where(here - low <= high - here, low, high)


def _upper_end(top: FloatArray, middle: float, shared: FloatArray, n: int) -> FloatArray:
    """Replace the largest of falling values by what the others let one expect; cut what dominates five."""
    moved = top.copy()
    if not _told_by_the_next(top, middle):
        moved[0] = _expected(top[1 : 2 + n // 4])
    if n >= 2 * FEWEST:
        known = float(top[FEWEST - 1]) if top[FEWEST - 1] in shared else middle
        moved[:DOMINANT] = known + _undominated(moved[:FEWEST] - known)
    return moved


def _told_by_the_next(top: FloatArray, middle: float) -> bool:
    """Whether the largest value is that of the next record, or must be near it and is."""
    gap, far = top[0] - top[1], top[1] - middle
    usual = float(_spacings(top[1:])[1].mean())
    return bool(gap == 0.0 or (usual <= EXPECTED * far and gap <= CLOSE * far))


def _spacings(others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log j and j (X_(j) - X_(j+1)) for j = 2, 3, ...; the others begin with X_(2)."""
    j = np.arange(2, len(others) + 1)
    return np.log(j), j * -np.diff(others)


def _expected(others: FloatArray) -> float:
    """Expect the largest value from the next ones: as far off as they are, and of the sign that they have."""
    place, spacing = _spacings(others)
    if len(place) >= FEWEST - 1:
        step = max(float(np.polyval(np.polyfit(place, spacing, 1), 0.0)), 0.0)
    else:
        step = float(others[0] - others[-1]) / max(len(place), 1)  # too few for more than an even law
    found = float(others[0]) + step
    return min(found, float(others[0]) / 2) if others[0] <= 0 else found


def _undominated(away: FloatArray) -> FloatArray:
    """Cut the two largest of five deviations to the largest share of their sum that they may have."""
    most = float(away[DOMINANT:].sum()) * DOMINANCE / (1 - DOMINANCE)
    second = min(float(away[1]), most / DOMINANT)
    return np.array([min(float(away[0]), most - second), second])


def _remarks(name: str, moves: _Moves) -> Iterator[Remark]:
    """Say what moved the mean."""
    if moves.few:
        yield Remark(
            name,
            "few records",
            "fewer than five records differ from the value that all others share; they got that value",
            Words(
                "leave it out with {drop}, or name the other values in {spikes} if they may be known",
                drop=Setting("drop", [name]),
                spikes=Setting("spikes", {name: [...]}),
            ),
        )
    elif moves.far:
        yield Remark(
            name,
            "extreme records",
            "the largest or smallest numbers lie so far from all others that any sum would tell them; they "
            f"were drawn in, which moved the mean by more than {FAR:g} of its standard error",
            "transform the column (its logarithm, say), or cut it at a bound of your own before the fit",
        )
