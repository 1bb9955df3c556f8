"""The values of a part on the rows where it is there: block by block, with no array over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.curator.reductions import Ranked, blocks_of, ranked
from pysynthdp.design.encode import Scale

__all__ = ["Present", "tally"]

T = TypeVar("T")


def tally(codes: AnyArray, size: int, kind: AnyArray | None = None) -> IntArray:
    """Count the rows with each code 0, 1, ..., at least up to ``size``, where a kind is 0.

    Notes
    -----
    Privacy: reads real rows. All codes at once would be written anew, as whole numbers of eight bytes.
    """
    counts = np.zeros(size, dtype=np.int64)
    for rows in blocks_of(codes):
        here = codes[rows] if kind is None else codes[rows][kind[rows] == 0]
        own = np.bincount(here, minlength=len(counts))
        own[: len(counts)] += counts
        counts = own
    return counts


@dataclass(frozen=True, slots=True, repr=False)
class Present:
    """Values of a part where it is there.

    Parameters
    ----------
    values : array (rows,)
        Of all rows.
    kind : array (rows,), optional
        Not 0 where the part is absent; None where it is always there.
    scale : Scale, optional
        Centre and width that are taken off the values.
    """

    values: AnyArray
    kind: AnyArray | None = None
    scale: Scale | None = None

    @property
    def n(self) -> int:
        """How many there are."""
        if self.kind is None:
            return len(self.values)
        return sum(int(np.count_nonzero(self.kind[rows] == 0)) for rows in blocks_of(self.values))

    def blocks(self) -> Iterator[FloatArray]:
        """Give them block by block, in row order; one empty block where there are no rows."""
        for rows in blocks_of(self.values):
            own = self.values[rows]
            own = np.asarray(own if self.kind is None else own[self.kind[rows] == 0], dtype=np.float64)
            yield own if self.scale is None else (own - self.scale.centre) / self.scale.width

    def fold(self, of_block: Callable[[FloatArray], T], merge: Callable[[T, T], T], /) -> T:
        """Apply a function to every block and merge from left to right."""
        return reduce(merge, map(of_block, self.blocks()))

    def every(self, step: int) -> FloatArray:
        """Take every s-th of them, from the first."""
        taken, passed = [], 0
        for own in self.blocks():
            taken.append(own[-passed % step :: step].copy())
            passed += len(own)
        return np.concatenate(taken)

    def where(self, of_block: Callable[[FloatArray], BoolArray]) -> FloatArray:
        """Take those of which a function says so."""
        return np.concatenate([own[of_block(own)] for own in self.blocks()])

    def ranked(self) -> Ranked:
        """Rank them."""
        return ranked(self.fold, self.n)

    def deviation(self) -> float:
        """Give their standard deviation; blocks have one size, so it hangs on values in row order alone."""
        n = self.n
        mean = sum(float(own.sum()) for own in self.blocks()) / n
        return float(np.sqrt(sum(float(np.square(own - mean).sum()) for own in self.blocks()) / n))
