"""A table in pieces that lie in this process, though what is sent to them goes there as bytes."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, pairwise
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd

from pysynthdp.curator.spread.pieces import Lost, Pieces, SpreadRows, done


def sent(given: Any) -> Any:
    """Send something to where the pieces lie, and back."""
    return pickle.loads(cloudpickle.dumps(given))  # noqa: S301 -- our own


def arrived(found: Any) -> Any:
    """Raise what arrived in the place of a result."""
    if isinstance(found, Lost):
        raise found.error
    return found


@dataclass(frozen=True, slots=True)
class PiecesHere(Pieces):
    """Pieces in a list; what arrives is noted by its bytes."""

    held: tuple[Any, ...]
    arrivals: list[int]
    starts: tuple[int, ...]

    def measured(self, length):
        sizes = [length(piece) for piece in self.held]
        return replace(self, starts=tuple(accumulate(sizes, initial=0))[:-1]), sum(sizes)

    def each(self, function, *args, along=None, beside=None):
        work, others = sent((function, args)), [()] * len(self.held)
        if along is not None:
            others = [(other,) for other in along.held]
        own = () if beside is None else (beside,)
        made = [
            done(work[0], piece, start, *work[1], *other, *own)
            for piece, start, other in zip(self.held, self.starts, others, strict=True)
        ]
        return replace(self, held=tuple(made))

    def running(self, function, state, *args):
        made = []
        for piece in self.held:
            state, new = done(function, state, piece, *args)
            made.append(new)
        return replace(self, held=tuple(made)), state

    def gathered(self, function, *args):
        lost = [piece for piece in self.held if isinstance(piece, Lost)]
        return lost[0] if lost else done(function, list(self.held), *args)

    def folded(self, function, merge, *args):
        merge = sent(merge)
        found = reduce(lambda a, b: done(merge, a, b), self.each(function, *args).held)
        self.arrivals.append(len(pickle.dumps(found)))
        return arrived(found)

    def one(self, function, handle, *args):
        return arrived(done(*sent((function,)), handle, *args))


@dataclass(frozen=True, slots=True)
class RowsHere(SpreadRows):
    """A data frame cut into pieces."""

    held: PiecesHere
    length: int
    types: Any

    @classmethod
    def of(cls, frame: pd.DataFrame, cuts: Sequence[int]) -> RowsHere:
        """Cut a frame after some numbers of rows."""
        edges = [0, *cuts, len(frame)]
        pieces = [frame.iloc[a:b] for a, b in pairwise(edges)]
        held, n = PiecesHere(tuple(pieces), [], (0,) * len(pieces)).measured(len)
        return cls(held, n, dict(frame.dtypes))

    @property
    def pieces(self) -> PiecesHere:
        return self.held

    @property
    def n_rows(self) -> int:
        return self.length

    @property
    def dtypes(self) -> Any:
        return self.types

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.types)

    def rewritten(self, function, told):
        empty = {name: function(pd.Series([], dtype=self.types[name]), each) for name, each in told.items()}
        types = {**self.types, **{name: cells.dtype for name, cells in empty.items()}}
        return replace(self, held=self.held.each(_rewritten, function, told), types=types)


def _rewritten(piece, start, function, told):
    del start
    return piece.assign(**{name: function(piece[name], each) for name, each in told.items()})


def cuts_of(n: int, number: int, seed: int = 0) -> list[int]:
    """Cut rows at random places, twice at one of them, so that a piece is empty."""
    places = np.sort(np.random.default_rng(seed).integers(0, n, number - 1)).tolist()
    return [*places, places[-1]] if places else []
