"""Ranks and sums of numbers that come in blocks: the same to the last bit, however they are cut.

A column in memory is sorted; a longer one is counted, block by block, by the bits of its numbers. Both answer
the same questions (:class:`Ranked`) with the same bits, since a count has no rounding and a sum is rounded
once, from the whole number of units of 2^-1074 that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Final, Protocol, TypeVar

import numpy as np

from pysynthdp.base.arrays import AnyArray, FloatArray, IntArray
from pysynthdp.curator.key_cells import FINITE, Cells, Fold, opened, top_cells

__all__ = ["BLOCK", "Fold", "Ranked", "blocks_of", "counted", "fold_of", "ranked", "sorted_numbers"]

BLOCK: Final = 2**17  # numbers looked at together: a block stays in the processor's cache
SORTED: Final = 2**24  # numbers up to which a column is sorted in memory, in 128 MB
_UNITS: Final = 2**1074  # in one: every float64 is a whole number of units

T = TypeVar("T")


class Ranked(Protocol):
    """Numbers by their ranks 0, 1, ..., n - 1, from low to high."""

    @property
    def n(self) -> int:
        """How many there are."""

    def at(self, ranks: IntArray) -> FloatArray:
        """Give the numbers at some ranks."""

    def where(self, values: FloatArray) -> IntArray:
        """Return (2, values): first rank, and rank behind the last, of values that :meth:`at` has given."""

    def shared(self, least: int) -> IntArray:
        """Return (2, runs): first ranks, and those behind the last, of values that so many numbers share."""

    def sums(self, edges: IntArray) -> FloatArray:
        """Add the numbers from each rank to the next one, rounded once."""


def blocks_of(values: AnyArray) -> Iterator[slice]:
    """Cut rows into blocks; one empty block for none."""
    for start in range(0, max(len(values), 1), BLOCK):
        yield slice(start, start + BLOCK)


def fold_of(values: AnyArray) -> Fold:
    """Give the blocks of one array of numbers."""

    def fold(of_block: Callable[[FloatArray], T], merge: Callable[[T, T], T], /) -> T:
        return reduce(merge, (of_block(values[rows]) for rows in blocks_of(values)))

    return fold


def ranked(fold: Fold, n: int | None = None) -> Ranked:
    """Rank numbers: sorted in memory where there are few, counted block by block else.

    Parameters
    ----------
    fold : Fold
        Gives blocks of finite numbers; called for each pass, of which there are about five.
    n : int, optional
        How many there are, where that is known.

    Raises
    ------
    ValueError
        If a number is not finite.

    Notes
    -----
    Privacy: reads real values. The answers do not hang on how the numbers are cut into blocks, or ordered.

    Examples
    --------
    >>> numbers = ranked(fold_of(np.array([3.0, 1.0, 2.0, 2.0])))
    >>> numbers.at(np.array([0, 3])), numbers.sums(np.array([0, 2, 4])), numbers.shared(2)
    (array([1., 3.]), array([3., 5.]), array([[1],
           [3]]))
    """
    n = fold(len, _plus) if n is None else n
    return sorted_numbers(gathered(fold, n)) if n <= SORTED else counted(fold)


def gathered(fold: Fold, n: int) -> FloatArray:
    """Put all numbers into one array, in the order in which they come."""
    found, filled = np.empty(n), [0]

    def of_block(values: FloatArray) -> int:
        found[filled[0] : filled[0] + len(values)] = values
        filled[0] += len(values)
        return 0

    fold(of_block, _plus)
    return found


def _plus(left: int, right: int) -> int:
    """Add two counts."""
    return left + right


# -- sorted ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class _Sorted:
    """Numbers in increasing order, none of them minus zero."""

    ordered: FloatArray

    @property
    def n(self) -> int:
        return len(self.ordered)

    def at(self, ranks: IntArray) -> FloatArray:
        return self.ordered[ranks]

    def where(self, values: FloatArray) -> IntArray:
        return np.stack([self.ordered.searchsorted(values, side) for side in ("left", "right")])

    def shared(self, least: int) -> IntArray:
        runs = self.where(np.unique(self.ordered[least - 1 :: least]))  # so long a run holds one of these
        return runs[:, runs[1] - runs[0] >= least]

    def sums(self, edges: IntArray) -> FloatArray:
        """Add exactly: where sign and exponent are the same, a sum of bits is exact modulo 2^64.

        A sum in floating point tells which multiple of 2^64 is missing: of k numbers it is off by less than
        k^2 units of their last place.
        """
        starts = np.union1d(edges[:-1], np.array(self._binades(), dtype=np.int64))
        starts = starts[(starts >= edges[0]) & (starts < edges[-1])]
        upto = self.ordered[: edges[-1]]
        bits, near = np.add.reduceat(upto.view(np.int64), starts), np.add.reduceat(upto, starts)
        counts, firsts = np.diff(np.append(starts, edges[-1])), upto.view(np.int64)[starts]
        groups = np.searchsorted(edges, starts, side="right") - 1
        totals = [0] * (len(edges) - 1)
        columns = (groups.tolist(), counts.tolist(), firsts.tolist(), bits.tolist(), near.tolist())
        for group, count, first, whole, about in zip(*columns, strict=True):
            totals[group] += _units(count, first, whole, about)
        return rounded(totals)

    def _binades(self) -> list[int]:
        """First ranks of numbers of another sign or exponent than the one before."""
        bits, found, rank = self.ordered.view(np.int64), [], 0
        while rank < len(bits):
            found.append(rank)
            exponent = int(bits[rank]) >> 52 & 2047
            if bits[rank] >= 0:
                rank = int(self.ordered.searchsorted(_power(exponent + 1), "left"))
            elif exponent:
                rank = int(self.ordered.searchsorted(-_power(exponent), "right"))
            else:
                rank = int(self.ordered.searchsorted(0.0, "left"))
        return found


def _power(exponent: int) -> float:
    """Give the smallest number with a biased exponent."""
    return float(np.int64(exponent << 52).view(np.float64))


def _units(count: int, first: int, whole: int, about: float) -> int:
    """Write the sum of numbers of one sign and exponent in units.

    ``first`` holds the bits of one of them, ``whole`` the sum of their bits modulo 2^64, ``about`` is nearly
    their sum.
    """
    exponent = first >> 52 & 2047
    hidden = count << 52 if exponent else 0
    place = max(exponent, 1) - 1  # of the last bit: so many twos in units
    numerator, denominator = abs(about).as_integer_ratio()
    mantissas = (numerator * _UNITS // denominator >> place) - hidden  # nearly
    rest = whole - count * (first >> 52 << 52)
    exact = mantissas + ((rest - mantissas + 2**63) % 2**64 - 2**63) + hidden
    return (-exact if first < 0 else exact) << place


def rounded(totals: Iterable[int]) -> FloatArray:
    """Round whole numbers of units, each once."""
    return np.array([total / _UNITS for total in totals], dtype=np.float64)


def sorted_numbers(values: FloatArray) -> Ranked:
    """Rank the numbers of one array, which is sorted in place.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    np.add(values, 0.0, out=values)  # no minus zero
    values.sort()
    if len(values) and not (np.isfinite(values[0]) and np.isfinite(values[-1])):
        raise ValueError(FINITE)
    return _Sorted(values)


# -- counted -----------------------------------------------------------------------------------------------


@dataclass(slots=True, repr=False)
class _Counted:
    """Numbers in cells of neighbours, which are opened in further passes where a question needs it."""

    fold: Fold
    cells: Cells

    @property
    def n(self) -> int:
        return int(self.cells.counts.sum())

    def at(self, ranks: IntArray) -> FloatArray:
        self._open(lambda: self._holding(ranks))
        return self.cells.values()[self._holding(ranks)]

    def where(self, values: FloatArray) -> IntArray:
        ends = np.cumsum(self.cells.counts)
        place = np.searchsorted(self.cells.values(), values)
        return np.stack([ends[place] - self.cells.counts[place], ends[place]])

    def shared(self, least: int) -> IntArray:
        self._open(lambda: np.flatnonzero(self.cells.counts >= least))
        ends, large = np.cumsum(self.cells.counts), self.cells.counts >= least
        return np.stack([(ends - self.cells.counts)[large], ends[large]])

    def sums(self, edges: IntArray) -> FloatArray:
        """Add whole cells, and parts of those that hold one value."""
        inner = edges[(edges > 0) & (edges < self.n)]
        self._open(lambda: self._holding(inner))
        cells, ends = self.cells, np.cumsum(self.cells.counts)
        cuts = np.union1d(np.append(0, ends), edges)
        cuts = cuts[(cuts >= edges[0]) & (cuts <= edges[-1])]
        of, groups = (np.searchsorted(each, cuts[:-1], side="right") for each in (ends, edges))
        return rounded(cells.units(of, np.diff(cuts), groups - 1, len(edges) - 1))

    def _holding(self, ranks: IntArray) -> IntArray:
        """Cells that hold some ranks."""
        return np.searchsorted(np.cumsum(self.cells.counts), ranks, side="right")

    def _open(self, wanted: Callable[[], IntArray]) -> None:
        """Open cells until those wanted hold one value each."""
        while True:
            open_ = np.unique(wanted())
            open_ = open_[~self.cells.single[open_]]
            if not len(open_):
                return
            self.cells = opened(self.cells, open_, self.fold)


def counted(fold: Fold) -> Ranked:
    """Rank numbers by counting passes over their blocks; memory is for cells and a block.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    return _Counted(fold, top_cells(fold))
