"""A distribution as a coarse table: records in groups that do not overlap, and a line through their means."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.curator.reductions import Ranked, fold_of, ranked, sorted_numbers

__all__ = ["KNOTS", "coarse_quantiles", "heaps", "weighted_quantiles"]

KNOTS = 200
ROWS_A_GROUP = 10  # on average
BENT = 1.5  # times the slope before: an end that is drawn as an exponential excess; 1 for a uniform law
PIECES = 4  # halvings of that excess
HEAVIEST = 0.5  # share of what a group weighs, that one of its records may have
_EMPTY = np.array([[1.0], [0.0], [0.0], [0.0]])


def coarse_quantiles(
    values: FloatArray | Ranked, *, knots: int = KNOTS, smallest: int = FEWEST
) -> FloatArray:
    """Return (4, groups): shares, and the quantile function at the start, the middle and the end of each.

    The records are cut at ranks into at most ``knots`` groups of equal count and at most a tenth of the
    records; a value that many share is a group of its own; the outermost groups are halved, again and again,
    while they keep ``smallest`` records. Groups do not overlap, so no two of them can be subtracted. Of each
    the mean alone is used: the function is a line that bends in the middle of each group and has its mean.
    Where it grows steeper towards an end, the outermost group is drawn as an exponential excess with its
    mean, in pieces that are no groups of records.

    Notes
    -----
    Privacy: means of ``smallest`` records or more (of all, below twice as many), which hide no value from
    who knows the others: see :mod:`pysynthdp.curator.extremes`. Ranks are exact and sums rounded once, so no
    bit hangs on how the numbers are cut into blocks.
    """
    ordered = ranked(fold_of(values), len(values)) if isinstance(values, np.ndarray) else values
    if ordered.n == 0:
        return _EMPTY.copy()
    found = heaps(ordered, knots=knots, smallest=smallest)
    groups = _groups(ordered, _edges(ordered, found, knots, smallest), found, smallest)
    return _function(ordered, *groups)


def weighted_quantiles(
    values: FloatArray, weights: FloatArray, *, knots: int = KNOTS, smallest: int = FEWEST
) -> FloatArray:
    """Return (4, groups) as :func:`coarse_quantiles` does, of records of which some count more than others.

    Groups are of records, as without weights; their shares and means are weighted. Groups of several values
    are joined until none of their records has more than half of what they weigh: a mean that is nearly one
    record's value would tell it.

    Parameters
    ----------
    values, weights : array (records,)
        Weights above zero.
    knots, smallest : int
        As there.

    Notes
    -----
    Privacy: as there; reads real rows.

    Examples
    --------
    >>> plain, equal = np.arange(40.0), np.full(40, 2.0)
    >>> bool(np.allclose(weighted_quantiles(plain, equal), coarse_quantiles(plain)))
    True
    """
    order = np.argsort(values, kind="stable")
    own, mass = np.asarray(values[order], dtype=np.float64) + 0.0, weights[order]
    ordered = sorted_numbers(own)
    if ordered.n == 0:
        return _EMPTY.copy()
    found = heaps(ordered, knots=knots, smallest=smallest)
    edges = _level_edges(_edges(ordered, found, knots, smallest), ordered, found, mass)
    return _function(ordered, *_groups(ordered, edges, found, smallest, (mass, mass * own)))


def _level_edges(edges: IntArray, ordered: Ranked, found: IntArray, mass: FloatArray) -> IntArray:
    """Join groups with the next one, the last with the one before, while one record weighs too much in it.

    Values in heaps are many records' and may weigh what they do.
    """
    free = np.ones(ordered.n, dtype=np.bool_)
    for first, end in found.T.tolist():
        free[first:end] = False
    upto = np.concatenate([[0.0], np.cumsum(np.where(free, mass, 0.0))])
    alone = np.where(free, mass, 0.0)

    def heavy(low: int, high: int) -> bool:
        first, last = ordered.at(np.array([low, high - 1]))
        return bool(first < last) and alone[low:high].max() > HEAVIEST * (upto[high] - upto[low]) * (1 + 1e-9)

    kept = [0]
    for edge in edges[1:-1].tolist():
        if not heavy(kept[-1], edge):
            kept.append(edge)
    while len(kept) > 1 and heavy(kept[-1], ordered.n):
        kept.pop()
    return np.array([*kept, ordered.n], dtype=np.int64)


def _function(ordered: Ranked, counts: AnyArray, means: FloatArray, flat: BoolArray) -> FloatArray:
    """Draw the quantile function through the means of groups."""
    first, last = ordered.at(np.array([0, ordered.n - 1])).tolist()
    line = _line(np.maximum.accumulate(means), counts, flat, (first >= 0, last <= 0))
    table = _long_end(np.stack([counts / counts.sum(), *line]), bounded=last <= 0)
    return _mirrored(_long_end(_mirrored(table), bounded=first >= 0))


def heaps(ordered: Ranked, *, knots: int = KNOTS, smallest: int = FEWEST) -> IntArray:
    """Return (2, heaps): first positions and ends of the values that at least a group of records share."""
    n = ordered.n
    least = max(smallest, -(-n // max(1, min(knots, n // ROWS_A_GROUP))))
    return ordered.shared(least) if n >= least else np.zeros((2, 0), dtype=np.int64)


def _groups(
    ordered: Ranked,
    edges: IntArray,
    found: IntArray,
    smallest: int,
    weighed: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[AnyArray, FloatArray, BoolArray]:
    """Count, mean, and whether all is one value, of each group, from low to high.

    ``weighed``: weights of the records by rank, and these times the values; then masses stand for counts.

    Where a group holds heaps beside other records, fewer than ``smallest`` on one side of them, the heaps are
    groups and the others one, at their mean: as a whole it would spread the heaps. Others that are too few
    even so, which is where all records else are in heaps, are not learned.
    """
    counts = np.diff(edges)
    sums = ordered.sums(edges) if weighed is None else _between(weighed[1], edges[:-1], edges[1:])
    low, high = ordered.at(edges[:-1]), ordered.at(edges[1:] - 1)
    flat = low == high
    of = np.searchsorted(edges, found[0], side="right") - 1
    value, end = ordered.at(found[0]), np.minimum(found[1], edges[of + 1])
    size = end - found[0]
    mixed = ~flat[of] & (size >= smallest)
    taken = np.bincount(of[mixed], size[mixed], len(counts))
    rest = (counts - taken).astype(np.int64)
    kept = (taken == 0) | (rest >= smallest)
    heap: AnyArray = size if weighed is None else _between(weighed[0], found[0], end)
    sums -= np.bincount(of[mixed], (heap * value)[mixed], len(counts))
    mass = rest if weighed is None else _between(weighed[0], edges[:-1], edges[1:])
    if weighed is not None:
        mass = mass - np.bincount(of[mixed], heap[mixed], len(counts))
    means = np.where(flat, low, sums / np.where(mass > 0, mass, 1))  # a mean of equals may round
    counts = np.concatenate([mass[kept], heap[mixed]])
    means = np.concatenate([np.clip(means, low, high)[kept], value[mixed]])
    flat = np.concatenate([flat[kept], np.ones(int(mixed.sum()), dtype=np.bool_)])
    order = np.argsort(means, kind="stable")
    return counts[order], means[order], flat[order]


def _between(terms: FloatArray, first: IntArray, end: IntArray) -> FloatArray:
    """Add terms from each rank to another one."""
    upto = np.concatenate([[0.0], np.cumsum(terms)])
    return np.asarray(upto[end] - upto[first])


def _edges(ordered: Ranked, found: IntArray, knots: int, smallest: int) -> IntArray:
    """First positions of the groups, and the number of records."""
    n = ordered.n
    size = n / max(1, min(knots, n // ROWS_A_GROUP))
    cuts = _with_outer_five(np.unique(np.concatenate([[0, n], found.ravel()])), smallest)
    lengths = np.diff(cuts)
    heaped = ordered.at(cuts[:-1]) == ordered.at(cuts[1:] - 1)
    groups = np.where(heaped, 1, np.clip(np.round(lengths / size), 1, np.maximum(lengths // smallest, 1)))
    pieces = [
        np.linspace(low, high, int(parts) + 1).astype(np.int64)[:-1]
        for low, high, parts in zip(cuts[:-1], cuts[1:], groups, strict=True)
    ]
    edges = np.append(np.concatenate(pieces), n)
    first = () if heaped[0] else _halves(int(edges[1]), smallest)
    last = () if heaped[-1] or len(edges) == 2 else _halves(int(n - edges[-2]), smallest)
    edges = np.unique(np.concatenate([edges, first, n - np.array(last)])).astype(np.int64)
    return _enough(edges, ordered, found, smallest)


def _with_outer_five(cuts: IntArray, smallest: int) -> IntArray:
    """Let fewer than five records beyond the outermost heap take some of it, to be five."""
    n = int(cuts[-1])
    first = np.where((cuts > 0) & (cuts < smallest), min(smallest, n), cuts)
    last = np.where((first < n) & (first > n - smallest), max(n - smallest, 0), first)
    return np.unique(last)


def _halves(count: int, smallest: int) -> tuple[int, ...]:
    """Ranks, from the end, at which an outermost group is halved while both halves are large enough."""
    cuts: list[int] = []
    while count // 2 >= smallest:
        count //= 2
        cuts.append(count)
    return tuple(cuts)


def _enough(edges: IntArray, ordered: Ranked, found: IntArray, smallest: int) -> IntArray:
    """Join groups with the next one, the last with the one before, until each is large enough.

    Too small is a group of fewer than ``smallest`` records, and one in which all but fewer are in heaps or
    share a value: who knows those values would know what the others sum to.
    """
    known = _Known(edges, ordered, found, smallest)
    if not any(known.too_small(low, high) for low, high in pairwise(edges.tolist())):
        return edges
    kept = [0]
    for edge in edges[1:-1].tolist():
        if not known.too_small(kept[-1], edge):
            kept.append(edge)
    while len(kept) > 1 and known.too_small(kept[-1], int(edges[-1])):
        kept.pop()
    return np.array([*kept, edges[-1]], dtype=np.int64)


class _Known:
    """How many records of a group share a value, or are in heaps.

    A value that all but fewer than ``smallest`` records of a group share is that of its fifth record from
    either end, where ``smallest`` is five; no other one matters.
    """

    def __init__(self, edges: IntArray, ordered: Ranked, found: IntArray, smallest: int) -> None:
        self.smallest, last = smallest, ordered.n - 1
        fifth = np.minimum(edges + smallest - 1, last)
        values = ordered.at(np.concatenate([fifth, np.maximum(edges - smallest, 0)]))
        firsts, ends = ordered.where(values[: len(edges)])
        columns = (values[: len(edges)], values[len(edges) :], firsts, ends, _heaped(edges, found))
        self.of = dict(zip(edges.tolist(), zip(*(c.tolist() for c in columns), strict=True), strict=True))

    def too_small(self, low: int, high: int) -> bool:
        """Whether a group has too few records, or too few beside the values that many of them share."""
        size = high - low
        value, _, first, end, heaped = self.of[low]
        _, other, _, _, heaped_high = self.of[high]
        longest = min(end, high) - max(first, low) if value == other else 0
        known = max(longest, heaped_high - heaped)
        return size < self.smallest or (known >= self.smallest and 0 < size - known < self.smallest)


def _heaped(positions: IntArray, found: IntArray) -> IntArray:
    """Count the records of heaps below each position."""
    if not found.size:
        return np.zeros(len(positions), dtype=np.int64)
    upto = np.cumsum(np.diff(found, axis=0)[0])
    at = np.stack([upto - np.diff(found, axis=0)[0], upto])
    below = np.interp(positions, found.T.ravel(), at.T.ravel())
    return np.asarray(np.rint(below), dtype=np.int64)


def _line(
    means: FloatArray, counts: AnyArray, flat: BoolArray, sign: tuple[bool, bool]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Quantile function at the start, middle and end of each group, with the group's mean.

    It goes on where two groups meet and jumps at heaps; no value has another sign than all records have.
    """
    share = counts[:-1] / (counts[:-1] + counts[1:])
    meet = means[:-1] + np.diff(means) * share
    low, high = np.concatenate([[np.nan], meet]), np.concatenate([meet, [np.nan]])
    low[1:][flat[:-1]], high[:-1][flat[1:]] = np.nan, np.nan
    low, high = _open_ends(means, low, high)
    low = np.maximum(low, 0.0) if sign[0] else low
    high = np.minimum(high, 0.0) if sign[1] else high
    low, high = np.where(flat, means, low), np.where(flat, means, high)
    middle = 2 * means - (low + high) / 2
    steep = (middle < low) | (middle > high)
    reach = np.minimum(means - low, high - means)
    low, high = np.where(steep, means - reach, low), np.where(steep, means + reach, high)
    return low, np.where(steep | flat, means, middle), high


def _open_ends(means: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Let a group at a heap or at an end reach as far as on its other side, up to the heap."""
    before, after = np.append(-np.inf, means[:-1]), np.append(means[1:], np.inf)
    neighbour = np.minimum(means - before, after - means)
    far = np.where(np.isfinite(neighbour), neighbour, 0.0)
    below, above = means - low, high - means
    below = np.where(np.isnan(low), np.where(np.isnan(high), far, above), below)
    above = np.where(np.isnan(high), np.where(np.isnan(low), far, below), above)
    return np.maximum(means - below, before), np.minimum(means + above, after)


def _long_end(table: FloatArray, *, bounded: bool) -> FloatArray:
    """Draw the last group as an exponential excess over the group before, where the function bends up there.

    ``bounded``: no value may be above 0. Of an exponential excess e over b the group before, with
    the share that makes b - b' = e L, has the mean b - e (L - 1 + L / (exp(L) - 1)).
    """
    shares, low, middle, high = table
    means = (low + 2 * middle + high) / 4
    if len(shares) < 3 or low[-1] == high[-1] or low[-2] == high[-2]:
        return table
    slope = np.diff(means[-3:]) / (shares[-3:-1] + shares[-2:])
    length = np.log1p(shares[-2] / shares[-1])
    excess = (means[-1] - means[-2]) / (length + length / np.expm1(length))
    start = means[-1] - excess
    bend = 2 * means[-2] - (low[-2] + start) / 2
    reach = start + excess * (np.log(2) * PIECES + 2)
    if slope[1] < BENT * slope[0] or not low[-2] <= bend <= start or (bounded and reach > 0):
        return table
    before = np.array([[shares[-2]], [low[-2]], [bend], [start]])
    return np.hstack([table[:, :-2], before, _excess(shares[-1], start, excess)])


def _excess(share: float, start: float, excess: float) -> FloatArray:
    """Halve the rest again and again: each half has the mean of its part of an exponential law."""
    at = start + excess * np.log(2) * np.arange(PIECES + 1)
    parts = share * 0.5 ** np.minimum(np.arange(1, PIECES + 2), PIECES)
    high = np.append(at[1:], at[-1] + 2 * excess)
    means = at + excess * np.append(np.full(PIECES, 1 - np.log(2)), 1.0)
    return np.stack([parts, at, 2 * means - (at + high) / 2, high])


def _mirrored(table: FloatArray) -> FloatArray:
    """Table of the negated values."""
    shares, low, middle, high = table[:, ::-1]
    return np.stack([shares, -high, -middle, -low])
