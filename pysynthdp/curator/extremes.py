"""The records that a number would give away: its extremes, and the few beside values that many share.

Any exact sum over all records gives the largest value to whoever knows the others, however many records the
sum is over. So no sum holds it: before anything is fitted, each end of a number is replaced by what the
*other* records let one expect there. What is fitted is then the same whatever the extreme value is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp._typing import AnyArray, FloatArray, IntArray
from pysynthdp.curator.quantiles import SMALLEST, heaps
from pysynthdp.curator.table import Key, PartTable
from pysynthdp.design.parts import Part, settle
from pysynthdp.remarks import Remark
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["drawn_in"]

DOMINANT = 2  # (n, k) rule: that many largest deviations of a group of five ...
DOMINANCE = 0.85  # ... may make up at most this share of their sum
P_PERCENT = 0.15  # p % rule: the three smallest must leave this uncertainty on the largest; implied
SPACINGS = 12  # between order statistics, from which the next one is expected
CLOSE = 0.05  # of its deviation from the median: a neighbour that near tells a value anyway
EXPECTED = 0.01  # of that deviation: spacings so small that a neighbour is always that near
FAR = 0.5  # standard errors of the mean: an end that moved it further is reported ...
TELLING = 20  # records, below which an end is too loosely expected to say so
LONE = 3.0  # ... where its deviation from the median was more than so many times what was expected


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
    numbers, and keeps its sign.
    """
    replaced: dict[Key, AnyArray] = {}
    remarks: list[Remark] = []
    for part, values in _numbers(table, parts):
        column = schema[part.column]
        if not isinstance(column, NumericColumn) or len(values) < SMALLEST:
            continue
        moves = _moves(values, column)
        if moves.old.size:
            replaced[part.key] = _moved(table, part, moves)
            remarks += _remarks(part.column, moves)
    return replace(table, parts={**table.parts, **replaced}), tuple(remarks)


def _numbers(table: PartTable, parts: Iterable[Part]) -> Iterator[tuple[Part, FloatArray]]:
    """Present values of each numeric part."""
    for part in parts:
        if part.numeric:
            kind, values = table.kind(part), table.parts[part.key]
            yield part, values if kind is None else values[kind == 0]


def _moved(table: PartTable, part: Part, moves: _Moves) -> FloatArray:
    """Replace the old values where they are there."""
    values = table.parts[part.key]
    at = np.minimum(np.searchsorted(moves.old, values), len(moves.old) - 1)
    hit = moves.old[at] == values
    kind = table.kind(part)
    hit = hit if kind is None else hit & (kind == 0)
    return np.where(hit, moves.new[at], values)


def _moves(values: FloatArray, column: NumericColumn) -> _Moves:
    """Find what is replaced in one number: beside heaps first, then at both ends."""
    ordered = np.sort(values)
    starts, ends = heaps(ordered)
    shared = ordered[starts]
    if (len(ordered) - SMALLEST < ends - starts).any():
        ended = np.full(len(ordered), shared[np.argmax(ends - starts)])
    else:
        inner = _to_heaps(ordered, starts, ends)
        ended = -_upper_end(-_upper_end(inner, shared)[::-1], -shared)[::-1]
    changed = ended != ordered
    old, first = np.unique(ordered[changed], return_index=True)
    new = settle(ended[changed][first].copy(), column)
    if not old.size:
        return _Moves(old, new)
    error, middle = float(ordered.std()) / np.sqrt(len(ordered)), float(ordered[len(ordered) // 2])
    lone = bool((np.abs(old - middle) > LONE * np.abs(new - middle)).any())
    far = lone and len(ordered) >= TELLING and abs(float(ended.mean() - ordered.mean())) > FAR * error
    return _Moves(old, new, few=bool(ended[0] == ended[-1]), far=far)


def _to_heaps(ordered: FloatArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """Move fewer than five records between two heaps to the nearer one."""
    first, last = ends[:-1], starts[1:]
    lengths = last - first
    few = np.flatnonzero((lengths > 0) & (lengths < SMALLEST))
    if not few.size:
        return ordered
    between = np.repeat(few, lengths[few])
    at = np.concatenate([np.arange(first[index], last[index]) for index in few])
    low, high, here = ordered[starts[between]], ordered[starts[between + 1]], ordered[at]
    moved = ordered.copy()
    moved[at] = np.where(here - low <= high - here, low, high)
    return moved


def _upper_end(ordered: FloatArray, shared: FloatArray) -> FloatArray:
    """Replace the largest value by what the others let one expect, and cut what dominates the last five."""
    top, middle = ordered[::-1][: SPACINGS + 2], float(ordered[len(ordered) // 2])
    moved = top.copy()
    if not _told_by_the_next(top, middle):
        moved[0] = _expected(top[1 : 2 + len(ordered) // 4])
    known = float(top[SMALLEST - 1]) if top[SMALLEST - 1] in shared else middle
    if len(ordered) >= 2 * SMALLEST:
        moved[:DOMINANT] = known + _undominated(moved[:SMALLEST] - known)
    if np.array_equal(moved, top):
        return ordered
    return np.concatenate([ordered[: -len(top)], moved[::-1]])


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
    if len(place) >= SMALLEST - 1:
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
            f"leave it out with drop=[{name!r}], or name the other values in spikes= if they may be known",
        )
    elif moves.far:
        yield Remark(
            name,
            "extreme records",
            "the largest or smallest numbers lie so far from all others that any sum would tell them; they "
            f"were drawn in, which moved the mean by more than {FAR:g} of its standard error",
            "transform the column (its logarithm, say), or cut it at a bound of your own before the fit",
        )
