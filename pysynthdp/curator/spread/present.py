"""The values of a part of a table in pieces, asked of where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.curator.present import Present
from pysynthdp.curator.reductions import Ranked, counted
from pysynthdp.curator.spread.pieces import Pieces, below, refused
from pysynthdp.design.encode import Scale
from pysynthdp.design.parts import Part

if TYPE_CHECKING:
    from pysynthdp.curator.table import PartTable

__all__ = ["SpreadPresent"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class SpreadPresent(Present):
    """Values of a part in pieces, each :class:`~pysynthdp.curator.present.Present` elsewhere.

    Parameters
    ----------
    pieces : Pieces
        Of a table of parts.
    part : Part
        Which.
    passed : mapping int -> int
        Values in all pieces before the one that starts at a row.
    many : int
        Of all.
    """

    values: AnyArray = field(default_factory=lambda: np.zeros(0))
    pieces: Pieces = field(kw_only=True)
    part: Part = field(kw_only=True)
    passed: dict[int, int] = field(kw_only=True)
    many: int = field(kw_only=True)

    @classmethod
    def of(cls, pieces: Pieces, part: Part, scale: Scale | None) -> Self:
        """Count the values of each piece."""
        starts, counts = pieces.folded(_counted, below, part).T
        before = np.cumsum(counts) - counts
        there = counts > 0  # empty pieces start where the next one does
        passed = dict(zip(starts[there].tolist(), before[there].tolist(), strict=True))
        return cls(scale=scale, pieces=pieces, part=part, passed=passed, many=int(counts.sum()))

    @property
    def n(self) -> int:
        """How many there are."""
        return self.many

    def blocks(self) -> Iterator[FloatArray]:
        """Refuse: no block comes here."""
        self._stays()

    def fold(self, of_block: Callable[[FloatArray], T], merge: Callable[[T, T], T], /) -> T:
        """Apply a function to every block, and merge where the pieces lie."""
        found: T = self.pieces.folded(_folded, merge, self.part, self.scale, of_block, merge)
        return found

    def every(self, step: int) -> FloatArray:
        """Take every s-th of them, from the first."""
        return self.pieces.folded(_every, below, self.part, self.scale, step, self.passed)

    def where(self, of_block: Callable[[FloatArray], BoolArray]) -> FloatArray:
        """Take those of which a function says so."""
        return self.pieces.folded(_where, below, self.part, self.scale, of_block)

    def ranked(self) -> Ranked:
        """Rank them by counting passes."""
        return counted(self.fold)

    def deviation(self) -> float:
        """Give their standard deviation."""
        mean = float(self.fold(lambda own: own.sum(), np.add)) / self.n
        squares = self.fold(lambda own: np.square(own - mean).sum(), np.add)
        return float(np.sqrt(float(squares) / self.n))

    def _stays(self) -> NoReturn:
        refused(self.part.column)


def _counted(piece: PartTable, start: int, part: Part) -> AnyArray:
    """Count the values of a piece: (1, 2), with where it starts."""
    return np.array([[start, piece.present(part).n]], dtype=np.int64)


def _folded(piece: PartTable, start: int, part: Part, scale: Scale | None, of_block: Any, merge: Any) -> Any:
    """Fold one piece."""
    del start
    return piece.present(part, scale).fold(of_block, merge)


def _every(
    piece: PartTable, start: int, part: Part, scale: Scale | None, step: int, passed: dict[int, int]
) -> FloatArray:
    """Take of a piece what every s-th value of all is."""
    return piece.present(part, scale).every(1)[-passed.get(start, 0) % step :: step]


def _where(
    piece: PartTable, start: int, part: Part, scale: Scale | None, of_block: Callable[[FloatArray], BoolArray]
) -> FloatArray:
    """Take some values of one piece."""
    del start
    return piece.present(part, scale).where(of_block)
