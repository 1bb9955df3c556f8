"""Blocks of the wide design matrix: encoded when asked for, kept while they fit the memory cap."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, pairwise
from threading import Lock
from typing import TypeAlias, TypeVar

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.curator.table import PartTable
from pysynthdp.design.encode import BLOCK_ROWS, Layout
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import Sums

__all__ = ["Block", "EncodedRows", "Gathered", "add"]

Piece: TypeAlias = tuple[FloatArray, ...]
Asked: TypeAlias = Callable[["Block"], Piece]
T = TypeVar("T")
_AHEAD = 2  # blocks in flight a worker: bounds the memory of unmerged sums
_SPARED = 1 / 16  # of the cap, from a table that has no room under it: for its samples, asked more often


@dataclass(frozen=True, slots=True, repr=False)
class Block:
    """Some rows: the wide X and a way to their parts and weights."""

    X: FloatArray
    rows: slice
    table: PartTable
    every_weight: FloatArray | None = None

    @property
    def weights(self) -> FloatArray | None:
        """Weights of these rows; None where each counts once."""
        return None if self.every_weight is None else self.every_weight[self.rows]

    def values(self, part: Part) -> AnyArray:
        """Values of a part on these rows."""
        return self.table.parts[part.key][self.rows]

    def present(self, part: Part) -> BoolArray | None:
        """Rows where a partial value is there; None for all."""
        kind = self.table.kind(part)
        return None if kind is None else kind[self.rows] == 0


@dataclass(frozen=True, slots=True, repr=False)
class Gathered:
    """What a step sees of all blocks.

    Parameters
    ----------
    ask : callable
        Gives it of a block: (X, y), or (X, y, w).
    pieces : list of tuple or slice
        It, block by block, or which rows they are where there was no room: these are asked anew.
    held : int
        Bytes that it takes.
    """

    ask: Asked
    pieces: list[Piece | slice]
    held: int


def _own_bytes(piece: Piece, X: FloatArray, *, kept: bool) -> int:
    """Count the bytes that a piece adds to its block's; a view of one that is not kept holds all of it."""
    views = [np.may_share_memory(array, X) for array in piece]
    own = sum(array.nbytes for array, view in zip(piece, views, strict=True) if not view)
    return own + (X.nbytes if any(views) and not kept else 0)


def add(left: Sums, right: Sums) -> Sums:
    """Add two tuples of sums."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


@dataclass(slots=True, repr=False)
class EncodedRows:
    """All rows of a part table, as encoded blocks.

    Parameters
    ----------
    table : PartTable
        The rows.
    layout : Layout
        Where features lie.
    workers : int
        Threads over blocks; sums are merged in block order, so it never changes a bit.
    cap : int
        Bytes that kept blocks may take, together with what is gathered of them: the first ones are kept until
        none are left, so that memory grows with the rows to the cap and no further.
    weights : array (n,), optional
        How often each row counts in sums; once by default.
    """

    table: PartTable
    layout: Layout
    workers: int = 1
    cap: int = 256 * 2**20
    weights: FloatArray | None = None
    _kept: dict[tuple[int, int], FloatArray] = field(default_factory=dict)
    _held: int = 0
    _pool: ThreadPoolExecutor | None = None
    _lock: Lock = field(default_factory=Lock)

    def fits(self, every: int = 1) -> bool:
        """Whether every s-th row, encoded, fits the memory cap."""
        return self._size(every) <= self.cap

    def _size(self, every: int) -> int:
        """Count the bytes of every s-th row, encoded."""
        return self.layout.n_features * 8 * (self.table.n // every)

    def blocks(self, every: int = 1) -> Iterator[slice]:
        """Row slices of the canonical blocks of every s-th row; one empty block for no rows."""
        for start in range(0, max(self.table.n, 1), BLOCK_ROWS * every):
            yield slice(start, min(start + BLOCK_ROWS * every, self.table.n), every)

    def fold(
        self,
        of_block: Callable[[Block], Sums],
        *,
        every: int = 1,
        keep: bool = False,
        used: IntArray | None = None,
    ) -> Sums:
        """Apply a function to every block and add the results in block order.

        Of features that are not ``used`` blocks hold anything, unless they are kept.
        """
        means = self._meant(used)

        def work(rows: slice) -> Sums:
            return of_block(self._block(rows, keep=keep, used=means))

        with one_blas_thread():
            return reduce(add, self._in_order(work, list(self.blocks(every))))

    def _meant(self, used: IntArray | None) -> BoolArray | None:
        """Say of each feature whether it is used; None for all."""
        if used is None or used.size == self.layout.n_features:
            return None
        means = np.zeros(self.layout.n_features, dtype=np.bool_)
        means[used] = True
        return means

    def fold_many(
        self,
        functions: Sequence[Callable[[Block], Sums]],
        *,
        every: int = 1,
        used: IntArray | None = None,
    ) -> list[Sums]:
        """Fold several functions in one pass, every block encoded once."""
        sizes: list[int] = []

        def of_block(block: Block) -> Sums:
            results = [function(block) for function in functions]
            sizes[:] = [len(result) for result in results]
            return tuple(array for result in results for array in result)

        flat = self.fold(of_block, every=every, keep=True, used=used)  # all are asked many times
        edges = list(accumulate(sizes, initial=0))
        return [flat[start:stop] for start, stop in pairwise(edges)]

    def collect(self, take: Callable[[Block], None], *, every: int = 1) -> None:
        """Show every block, in order, to a function that keeps what it needs."""
        for rows in self.blocks(every):
            take(self._block(rows, keep=self.fits(every)))

    def gather(self, ask: Asked, *, every: int = 1) -> Gathered:
        """Ask of every block what a step sees of it, and hold what there is room for."""
        held = 0
        pieces: list[Piece | slice] = []
        for rows in self.blocks(every):
            block = self._block(rows, keep=True)
            piece = ask(block)
            size = _own_bytes(piece, block.X, kept=self._is_kept(rows))
            fits = self._takes(size)
            held += size if fits else 0
            pieces.append(piece if fits else rows)
        return Gathered(ask, pieces, held)

    def let_go(self, gathered: Gathered) -> None:
        """Take back the room of what a step held."""
        with self._lock:
            self._held -= gathered.held

    def sum_gathered(self, of: Callable[..., Sums], gathered: Gathered) -> Sums:
        """Add a function over gathered (X, y) or (X, y, w), one block a piece, in block order."""

        def work(piece: Piece | slice) -> Sums:
            return of(*(gathered.ask(self._block(piece)) if isinstance(piece, slice) else piece))

        with one_blas_thread():
            return reduce(add, self._in_order(work, gathered.pieces))

    def _in_order(self, work: Callable[[T], Sums], items: Sequence[T]) -> Iterator[Sums]:
        """Give the sums of some blocks in their order, a few ahead of who adds them."""
        if self.workers == 1 or len(items) == 1:
            yield from map(work, items)
            return
        ahead: deque[Future[Sums]] = deque()
        try:
            for item in items:
                ahead.append(self._threads().submit(work, item))
                if len(ahead) > _AHEAD * self.workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:  # after an error nobody works on
            wait([future for future in ahead if not future.cancel()])

    def _threads(self) -> ThreadPoolExecutor:
        """Give the threads of this table: started once, ended when it is let go."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.workers)
            return self._pool

    def _takes(self, size: int) -> bool:
        """Take room under the cap, if it is there."""
        with self._lock:
            fits = self._held + size <= self.cap
            self._held += size if fits else 0
            return fits

    def _may_stay(self, rows: slice, size: int) -> bool:
        """Take room for a block, if there is some for its kind."""
        spared = 0 if rows.step > 1 or self.fits() else int(_SPARED * self.cap)
        return self._held + size + spared <= self.cap and self._takes(size)

    def _is_kept(self, rows: slice) -> bool:
        """Whether a block is kept."""
        return (rows.start, rows.step) in self._kept

    def _block(self, rows: slice, *, keep: bool = False, used: BoolArray | None = None) -> Block:
        """Give one block, encoded."""
        return Block(self._encode(rows, keep=keep, used=used), rows, self.table, self.weights)

    def _encode(self, rows: slice, *, keep: bool, used: BoolArray | None = None) -> FloatArray:
        """Encode one block, whole if it is kept from now on, or take it from what is kept."""
        kept = self._kept.get((rows.start, rows.step))
        if kept is not None:
            return kept
        X = self.layout.empty(len(range(rows.start, rows.stop, rows.step)))
        stays = keep and self._may_stay(rows, X.nbytes)
        self._write(X, rows, None if stays else used)
        return self._keep(rows, X) if stays else X

    def _write(self, X: FloatArray, rows: slice, used: BoolArray | None) -> None:
        """Write the features that are used into X."""
        starts = self.layout.starts
        for part in self.layout.parts if used is None else self.layout.holders(used):
            kind = self.table.kind(part)
            values = self.table.parts[part.key][rows]
            own = None if kind is None else kind[rows]
            self.layout.write(X, part, starts[part.key], values, own, used)

    def _keep(self, rows: slice, X: FloatArray) -> FloatArray:
        """Keep a block; where another thread was faster, its own."""
        with self._lock:
            kept = self._kept.setdefault((rows.start, rows.step), X)
            self._held -= 0 if kept is X else X.nbytes
            return kept
