"""Counts and exact sums of numbers by their bits: cells of neighbouring float64 numbers.

The bits of a number, with all but the sign turned over where it is negative, are a whole number of the same
order: its key. Numbers whose keys have the same first sixteen bits have one sign and one exponent, so that
they are the first of them plus whole units in their last place, and sums of those are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["FINITE", "Cells", "Fold", "opened", "top_cells"]

FINITE: Final = "only finite numbers have ranks and sums here"
_TOP: Final = 48  # bits of a key behind its first sixteen
_TOPS: Final = 2**16
_PIECES: Final = 8  # bits by which a large cell is cut
_HALF: Final = 24  # bits of the lower half of what a number is above the first of its cell
_SPLIT: Final = 27  # bits of the lower half of a mantissa
_SHARE: Final = 6  # cells with two to the minus this of all numbers together are written out, ...
_FEW: Final = 2**16  # or with so many
_HEAVY: Final = 10  # cells with two to the minus this of all numbers are opened beside those that must be

T = TypeVar("T")


class Fold(Protocol):
    """Applies a function to every block of numbers, and merges the results in any order of neighbours."""

    def __call__(self, of_block: Callable[[FloatArray], T], merge: Callable[[T, T], T], /) -> T:
        """Give the merged results; of one empty block where there is none."""


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """Cells that hold numbers, from low to high, each with one sign and exponent.

    Parameters
    ----------
    first : array (cells,) of int64
        Smallest key that a cell may hold.
    width : array (cells,) of int64
        Logarithm, to base 2, of how many keys that are.
    counts : array (cells,) of int64
        Numbers in it.
    high, low : arrays (cells,) of int64
        Sum of what their keys are above the first one, in two halves: high 2^24 + low.
    """

    first: IntArray
    width: IntArray
    counts: IntArray
    high: IntArray
    low: IntArray

    @property
    def single(self) -> BoolArray:
        """Which cells hold one value, which is their first."""
        return np.asarray((self.high == 0) & (self.low == 0))

    def values(self) -> FloatArray:
        """Give the first number of each cell."""
        return _bits(self.first).view(np.float64)

    def take(self, which: AnyArray) -> Cells:
        """Give some of the cells."""
        parts = (self.first, self.width, self.counts, self.high, self.low)
        return Cells(*(part[which] for part in parts))

    def units(self, of: IntArray, counts: IntArray, groups: IntArray, size: int) -> list[int]:
        """Add pieces of cells by groups, in units of 2^-1074.

        Parameters
        ----------
        of : array (pieces,)
            Cell of each piece, rising.
        counts : array (pieces,)
            Numbers in it: all of its cell, but where that holds one value.
        groups : array (pieces,)
            Group of each, rising.
        size : int
            Number of groups.
        """
        totals = [0] * size
        if not len(of):
            return totals
        bits = _bits(self.first[of])
        exponent = bits >> 52 & 2047
        mantissa = (bits & (2**52 - 1)) + np.where(exponent > 0, 2**52, 0)
        mantissa = np.where(bits < 0, -mantissa, mantissa)
        place = np.maximum(exponent, 1) - 1
        new = np.flatnonzero(np.append(True, (np.diff(groups) != 0) | (np.diff(place) != 0)))
        halves = (counts * (mantissa >> _SPLIT), counts * (mantissa & (2**_SPLIT - 1)))
        sums = [np.add.reduceat(part, new).tolist() for part in (*halves, self.high[of], self.low[of])]
        for group, twos, *parts in zip(groups[new].tolist(), place[new].tolist(), *sums, strict=True):
            first = (parts[0] << _SPLIT) + parts[1]
            totals[group] += (first + (parts[2] << _HALF) + parts[3]) << twos
        return totals


_Counts: TypeAlias = tuple[IntArray, IntArray, IntArray]


def top_cells(fold: Fold) -> Cells:
    """Count all numbers by the first sixteen bits of their keys, in one pass.

    Raises
    ------
    ValueError
        If a number is not finite.
    """

    def of_block(values: FloatArray) -> _Counts:
        keys = _keys(values)
        return _counted((keys >> _TOP) + _TOPS // 2, keys & (2**_TOP - 1), _TOPS)

    counts, high, low = fold(of_block, _added)
    there = np.flatnonzero(counts)
    first = there.astype(np.int64) - _TOPS // 2 << _TOP
    if (_bits(first) >> 52 & 2047 == 2047).any():
        raise ValueError(FINITE)
    return Cells(first, np.full(len(first), _TOP), counts[there], high[there], low[there])


def opened(cells: Cells, which: IntArray, fold: Fold) -> Cells:
    """Open some cells, in one pass: small ones to single values, large ones to pieces.

    A large one that turns out to hold one value becomes that. Other cells that hold many numbers are opened
    as well, and those at both ends, for they will be asked for.
    """
    n = int(cells.counts.sum())
    also = cells.counts > n >> _HEAVY
    also[[0, -1]] = True
    which = np.union1d(which, np.flatnonzero(also & ~cells.single))
    own = cells.take(which)
    order = np.argsort(own.counts, kind="stable")
    large = np.zeros(len(which), dtype=np.bool_)
    large[order] = np.cumsum(own.counts[order]) > max(_FEW, n >> _SHARE)
    counts, found = fold(_Opening(own, large).of_block, _both_added)
    pieces = [cells.take(np.setdiff1d(np.arange(len(cells.first)), which))]
    pieces += [_written_out(found), _cut(own.take(large), counts)]
    joined = [np.concatenate(parts) for parts in zip(*map(_parts, pieces), strict=True)]
    return Cells(*joined).take(np.argsort(joined[0]))


def _parts(cells: Cells) -> tuple[IntArray, ...]:
    """Give the arrays of cells."""
    return cells.first, cells.width, cells.counts, cells.high, cells.low


def _keys(values: FloatArray) -> IntArray:
    """Write numbers as whole ones of the same order."""
    bits = (values + 0.0).view(np.int64)  # no minus zero
    bits ^= bits >> 63 & (2**63 - 1)
    return bits


def _bits(keys: IntArray) -> IntArray:
    """Write keys as the bits of numbers."""
    return np.asarray(keys ^ (keys >> 63 & (2**63 - 1)))


def _counted(places: IntArray, above: IntArray, size: int) -> _Counts:
    """Count a block's numbers by place, and add what they are above the first ones; all of it is exact."""
    counts = np.bincount(places, minlength=size)
    high = np.bincount(places, above >> _HALF, minlength=size)  # a block's sums stay below 2^53
    low = np.bincount(places, above & (2**_HALF - 1), minlength=size)
    return counts, high.astype(np.int64), low.astype(np.int64)


def _added(left: _Counts, right: _Counts) -> _Counts:
    """Add counts and sums of two runs of blocks."""
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


_Opened: TypeAlias = tuple[tuple[IntArray, ...], list[tuple[IntArray, IntArray]]]


def _both_added(left: _Opened, right: _Opened) -> _Opened:
    """Add what two runs of blocks have."""
    return tuple(a + b for a, b in zip(left[0], right[0], strict=True)), left[1] + right[1]


class _Opening:
    """What a block adds to cells that are opened.

    Parameters
    ----------
    own : Cells
        Which are opened.
    large : array of bool (cells,)
        Those that are cut into pieces.
    """

    def __init__(self, own: Cells, large: BoolArray) -> None:
        self.first, self.width, self.large = own.first, own.width, large
        self.place = np.cumsum(large) - 1  # among the large ones
        self.only = _if_single(own)
        tops = (own.first >> _TOP) + _TOPS // 2
        whole, parts = own.width == _TOP, own.width == _TOP - _PIECES
        self.of_top = np.full(_TOPS, -1, dtype=np.int32)
        self.of_top[tops[whole]] = np.flatnonzero(whole)
        rows, row = np.unique(tops[~whole], return_inverse=True)
        self.of_top[rows] = -2 - np.arange(len(rows))  # parts of it are opened: a row of the next table
        self.of_piece = np.full((len(rows), 2**_PIECES), -1, dtype=np.int32)
        self.of_piece[row, _piece(own.first[~whole])] = np.where(
            parts[~whole], np.flatnonzero(~whole), -2
        )  # -2: parts of that are opened

    def of_block(self, values: FloatArray) -> _Opened:
        """Count the pieces of large cells, and numbers that may be all of theirs; write out the others."""
        keys = _keys(values)
        of = self.of_top[(keys >> _TOP) + _TOPS // 2]
        inside = np.flatnonzero(of != -1)
        keys, of = self._placed(keys[inside], of[inside])
        cut = self.large[of]
        large, at = keys[cut], of[cut]
        size = int(self.large.sum())
        alone = np.bincount(self.place[at[large == self.only[at]]], minlength=size)
        rest = np.maximum(self.width[at] - _PIECES, 0)
        above = large - self.first[at]
        piece = self.place[at] * 2**_PIECES + (above >> rest)
        counted = _counted(piece, above & ((1 << rest) - 1), size * 2**_PIECES)
        return (alone, *counted), [np.unique(keys[~cut], return_counts=True)]

    def _placed(self, keys: IntArray, of: IntArray) -> tuple[IntArray, IntArray]:
        """Find the cell of each key, and leave out those that are in none."""
        cut = np.flatnonzero(of < -1)
        if not len(cut):
            return keys, of
        of[cut] = self.of_piece[-2 - of[cut], _piece(keys[cut])]
        fine = np.flatnonzero(of == -2)
        some = keys[fine]
        near = np.maximum(np.searchsorted(self.first, some, side="right") - 1, 0)
        of[fine] = np.where(some >> self.width[near] == self.first[near] >> self.width[near], near, -1)
        kept = np.flatnonzero(of >= 0)
        return keys[kept], of[kept]


def _piece(keys: IntArray) -> IntArray:
    """Which piece of the cell of its first sixteen bits a key lies in."""
    return np.asarray(keys >> (_TOP - _PIECES) & (2**_PIECES - 1))


def _if_single(cells: Cells) -> IntArray:
    """Key of the one value that a cell holds, if it holds one."""
    above = (cells.high // cells.counts << _HALF) + cells.low // cells.counts
    return np.asarray(cells.first + above)


def _singles(keys: IntArray, counts: IntArray) -> Cells:
    """Make cells of one value each."""
    none = np.zeros(len(keys), dtype=np.int64)
    return Cells(keys, none, counts, none, none)


def _written_out(found: list[tuple[IntArray, IntArray]]) -> Cells:
    """Put the values of all blocks together, each with its count."""
    keys, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    new = np.flatnonzero(np.append(True, np.diff(keys) != 0)) if len(keys) else np.zeros(0, dtype=np.int64)
    return _singles(keys[new], np.add.reduceat(counts, new) if len(keys) else counts)


def _cut(own: Cells, counts: tuple[IntArray, ...]) -> Cells:
    """Put pieces in the place of large cells, or their one value."""
    alone, sizes, high, low = counts
    one = alone == own.counts
    there = np.flatnonzero((sizes > 0) & ~np.repeat(one, 2**_PIECES))
    cell, piece = there >> _PIECES, there & (2**_PIECES - 1)
    width = np.maximum(own.width[cell] - _PIECES, 0)
    parts = Cells(own.first[cell] + (piece << width), width, sizes[there], high[there], low[there])
    single = _singles(_if_single(own)[one], own.counts[one])
    return Cells(*(np.concatenate(both) for both in zip(_parts(parts), _parts(single), strict=True)))
