"""The wide design matrix of a table in pieces: encoded, and added up, where the pieces lie.

Blocks start anew at each piece, so sums differ from those of one table by rounding alone; which rows a
subsample has is the same for every number of pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.curator.spread.pieces import Pieces
from pysynthdp.curator.spread.table import SpreadTable
from pysynthdp.curator.table import PartTable
from pysynthdp.design.encode import Layout
from pysynthdp.models.ask import Sums

__all__ = ["SpreadEncoded", "encoded_rows"]


def encoded_rows(
    table: PartTable, layout: Layout, workers: int = 1, weights: FloatArray | None = None
) -> EncodedRows:
    """Give the rows of a table as encoded blocks, wherever they lie; weights are of rows that lie here."""
    if isinstance(table, SpreadTable):
        return SpreadEncoded(table, layout, workers)
    return EncodedRows(table, layout, workers, weights=weights)


@dataclass(slots=True, repr=False)
class SpreadEncoded(EncodedRows):
    """Blocks of a table in pieces; a function of blocks is sent to them, and its sums come back."""

    def fits(self, every: int = 1) -> bool:  # noqa: ARG002
        """No row is gathered here."""
        return False

    def fold(
        self,
        of_block: Callable[[Block], Sums],
        *,
        every: int = 1,
        keep: bool = False,
        used: IntArray | None = None,
    ) -> Sums:
        """Apply a function to every block, and add the results in order where they arise."""
        del keep
        return self.fold_many([of_block], every=every, used=used)[0]

    def fold_many(
        self,
        functions: Sequence[Callable[[Block], Sums]],
        *,
        every: int = 1,
        used: IntArray | None = None,
    ) -> list[Sums]:
        """Fold several functions in one pass, every block encoded once."""
        return list(self._pieces.total(_folded, self.layout, tuple(functions), every, used))

    def collect(self, take: Callable[[Block], None], *, every: int = 1) -> None:
        """Show the blocks of a systematic sample, which comes here; of all rows only where these are few."""
        EncodedRows(self.table.to_learn(every), self.layout).collect(take)

    @property
    def _pieces(self) -> Pieces:
        """Where the rows lie."""
        table = self.table
        if not isinstance(table, SpreadTable):
            msg = "only a table in pieces is folded elsewhere"
            raise TypeError(msg)
        return table.pieces


def _folded(
    piece: PartTable,
    start: int,
    layout: Layout,
    functions: Sequence[Callable[[Block], Sums]],
    every: int,
    used: IntArray | None,
) -> tuple[Sums, ...]:
    """Fold functions over one piece: of a subsample those rows that it would have of the whole table."""
    rows = EncodedRows(piece.after(min(-start % every, piece.n)), layout)
    return tuple(rows.fold_many(functions, every=every, used=used))
