"""Blocks of the wide design matrix: encoded when asked for, kept while they fit the memory cap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, pairwise

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.base.blas import one_blas_thread
from pysynthdp.curator.table import PartTable
from pysynthdp.design.encode import BLOCK_ROWS, Layout
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import Sums

__all__ = ["Block", "EncodedRows", "add"]

_BATCH = 16  # blocks in flight a worker: bounds the memory of unmerged sums


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
        """Values of a part, as a step is fitted to it, on these rows."""
        return self.table.target(part)[self.rows]

    def present(self, part: Part) -> BoolArray | None:
        """Rows where a partial value is there; None for all."""
        marks = self.table.absence(part)
        return None if marks is None else marks[self.rows] == 0


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
        Bytes that kept blocks may take.
    weights : array (n,), optional
        How often each row counts in sums; once by default.
    """

    table: PartTable
    layout: Layout
    workers: int = 1
    cap: int = 256 * 2**20
    weights: FloatArray | None = None
    _kept: dict[tuple[int, int], FloatArray] = field(default_factory=dict)

    def fits(self, every: int = 1) -> bool:
        """Whether every s-th row, encoded, fits the memory cap."""
        return self.layout.n_features * 8 * (self.table.n // every) <= self.cap

    def blocks(self, every: int = 1) -> Iterator[slice]:
        """Row slices of the canonical blocks of every s-th row; one empty block for no rows."""
        for start in range(0, max(self.table.n, 1), BLOCK_ROWS * every):
            yield slice(start, min(start + BLOCK_ROWS * every, self.table.n), every)

    def fold(self, of_block: Callable[[Block], Sums], *, every: int = 1, keep: bool = False) -> Sums:
        """Apply a function to every block and add the results in block order."""
        total: Sums | None = None
        slices = list(self.blocks(every))
        size = _BATCH * self.workers
        with one_blas_thread():
            for start in range(0, len(slices), size):
                for sums in self._map(of_block, slices[start : start + size], keep=keep and self.fits(every)):
                    total = sums if total is None else add(total, sums)
        return total if total is not None else ()

    def fold_many(self, functions: Sequence[Callable[[Block], Sums]], *, every: int = 1) -> list[Sums]:
        """Fold several functions in one pass, every block encoded once."""
        sizes: list[int] = []

        def of_block(block: Block) -> Sums:
            results = [function(block) for function in functions]
            sizes[:] = [len(result) for result in results]
            return tuple(array for result in results for array in result)

        flat = self.fold(of_block, every=every, keep=every > 1)  # a subsample is asked many times
        edges = list(accumulate(sizes, initial=0))
        return [flat[start:stop] for start, stop in pairwise(edges)]

    def collect(self, take: Callable[[Block], None], *, every: int = 1) -> None:
        """Show every block, in order, to a function that keeps what it needs."""
        for rows in self.blocks(every):
            take(Block(self._encode(rows, keep=self.fits(every)), rows, self.table, self.weights))

    def sum_pieces(self, of: Callable[..., Sums], pieces: Sequence[tuple[FloatArray, ...]]) -> Sums:
        """Add a function over gathered (X, y) or (X, y, w), one block a piece, in block order."""
        with one_blas_thread():
            if self.workers == 1 or len(pieces) == 1:
                return reduce(add, (of(*piece) for piece in pieces))
            with ThreadPoolExecutor(self.workers) as pool:
                return reduce(add, pool.map(lambda piece: of(*piece), pieces))

    def _map(self, of_block: Callable[[Block], Sums], slices: list[slice], *, keep: bool) -> list[Sums]:
        """Evaluate some blocks, in threads when there are several."""

        def work(rows: slice) -> Sums:
            return of_block(Block(self._encode(rows, keep=keep), rows, self.table, self.weights))

        if self.workers == 1 or len(slices) == 1:
            return [work(rows) for rows in slices]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(work, slices))

    def _encode(self, rows: slice, *, keep: bool) -> FloatArray:
        """Encode one block, or take it from what is kept."""
        key = (rows.start, rows.step)
        if key in self._kept:
            return self._kept[key]
        X = self.layout.empty(len(range(rows.start, rows.stop, rows.step)))
        starts = self.layout.starts
        for part in self.layout.parts:
            kind = self.table.kind(part)
            values = self.table.parts[part.key][rows]
            self.layout.write(X, part, starts[part.key], values, None if kind is None else kind[rows])
        if keep:
            self._kept[key] = X
        return X
