"""Parts of a table in pieces: split where the pieces lie, and added up over all of them.

To the process that fits come sums and counts, borders and extremes of single numbers, and systematic samples
of whole rows, of at least :data:`~pysynthdp.curator.spread.pieces.LEAST_BLOCK` and at most twice as many as
the sample that sets centres and widths has; the latter without a guarantee alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn, TypeVar

import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.curator.present import Present
from pysynthdp.curator.rows.frame import rows_of
from pysynthdp.curator.spread.pieces import (
    LEAST_BLOCK,
    Pieces,
    SpreadRows,
    below,
    check_length,
    check_type,
    refused,
)
from pysynthdp.curator.spread.present import SpreadPresent
from pysynthdp.curator.table import SCALE_ROWS, Key, PartTable, Totals, split_rows
from pysynthdp.design.encode import Scale
from pysynthdp.design.parts import Part
from pysynthdp.design.rows import Rows
from pysynthdp.schema import Schema

__all__ = ["SpreadTable", "parts_of_rows", "split_spread"]

T = TypeVar("T")


class _Elsewhere(Mapping[Key, AnyArray]):
    """Arrays that are not here."""

    def __getitem__(self, key: Key) -> NoReturn:
        refused(key[0])

    def __iter__(self) -> Iterator[Key]:
        return iter(())

    def __len__(self) -> int:
        return 0


@dataclass(frozen=True, slots=True, repr=False)
class SpreadTable(PartTable):
    """Parts of a table in pieces, each a :class:`~pysynthdp.curator.table.PartTable` elsewhere.

    Parameters
    ----------
    n : int
        Rows of all pieces.
    pieces : Pieces
        Where they lie.
    samples : dict int -> PartTable
        Every s-th row, as far as somebody asked for them.
    """

    parts: Mapping[Key, AnyArray] = field(default_factory=_Elsewhere)
    pieces: Pieces = field(kw_only=True)
    samples: dict[int, PartTable] = field(default_factory=dict, kw_only=True, compare=False)
    here: ClassVar[bool] = False

    def total(self, of_table: Callable[[PartTable], Totals]) -> Totals:
        """Add up over the pieces, in order."""
        found: Totals = self.pieces.total(_of_piece, of_table)
        return found

    def folded(self, of_table: Callable[[PartTable], T], merge: Callable[[T, T], T]) -> T:
        """Merge over the pieces, in order."""
        found: T = self.pieces.folded(_of_piece, merge, of_table)
        return found

    def changed_by(self, of_table: Callable[[PartTable], PartTable]) -> PartTable:
        """Change each piece where it lies."""
        return replace(self, pieces=self.pieces.each(_of_piece, of_table), samples={})

    def present(self, part: Part, scale: Scale | None = None) -> Present:
        """Give a way to ask of the values where they lie."""
        return SpreadPresent.of(self.pieces, part, scale)

    def sample(self, part: Part, every: int) -> tuple[AnyArray, AnyArray | None]:
        """Take them of a systematic sample of whole rows."""
        rows = self.to_learn(every)
        return rows.parts[part.key], rows.kind(part)

    def to_learn(self, every: int) -> PartTable:
        """Give every s-th row, met here; of all rows only where these are few."""
        if not LEAST_BLOCK <= -(-self.n // every) <= 3 * SCALE_ROWS:
            refused(next(iter(self.parts), ("the table", ""))[0])
        if every not in self.samples:
            self.samples[every] = self.pieces.folded(_every, _joined, every)
        return self.samples[every]


def _of_piece(piece: PartTable, start: int, of_table: Callable[[PartTable], T]) -> T:
    """Apply a function to one piece."""
    del start
    return of_table(piece)


def _every(piece: PartTable, start: int, every: int) -> PartTable:
    """Take of a piece those rows that a systematic sample of all has."""
    rows = slice(min(-start % every, piece.n), None, every)
    parts = {key: values[rows].copy() for key, values in piece.parts.items()}
    absent = {name: there[rows].copy() for name, there in piece.absent.items()}
    return PartTable(len(range(piece.n)[rows]), parts, absent=absent)


def _joined(upper: PartTable, lower: PartTable) -> PartTable:
    """Put the rows of two tables one below the other."""
    parts, absent = below(upper.parts, lower.parts), below(upper.absent, lower.absent)
    return PartTable(upper.n + lower.n, parts, absent=absent)


def parts_of_rows(rows: Rows, schema: Schema) -> PartTable:
    """Split rows into parts, to learn from them, wherever they lie.

    Raises
    ------
    SchemaError, FitError
        As :func:`~pysynthdp.curator.table.split_rows`; and for too short a table in pieces.
    """
    check_length(rows)
    return split_spread(rows, schema) if isinstance(rows, SpreadRows) else split_rows(rows, schema)


def split_spread(rows: SpreadRows, schema: Schema, *, tolerant: bool = False) -> SpreadTable:
    """Split all pieces into parts where they lie, as :func:`~pysynthdp.curator.table.split_rows` does.

    Raises
    ------
    SchemaError
        As it does, of a piece; nothing is compared by type where every cell is made to fit.
    """
    types = {} if tolerant else {name: dtype for name, dtype in rows.dtypes.items() if name in schema}
    for name, dtype in types.items():
        check_type(name, dtype)
    return SpreadTable(rows.n_rows, pieces=rows.pieces.each(_split, schema, types, tolerant))


def _split(
    piece: pd.DataFrame, start: int, schema: Schema, types: Mapping[str, Any], tolerant: bool
) -> PartTable:
    """Split one piece."""
    del start
    for name, dtype in types.items():
        check_type(name, dtype, piece[name].dtype)
    return split_rows(rows_of(piece), schema, tolerant=tolerant)
