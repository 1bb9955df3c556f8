"""Parts of a table in pieces: split where the pieces lie, and added up over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Words
from pysynthdp.curator.rows.frame import rows_of
from pysynthdp.curator.spread.pieces import Pieces, SpreadRows, refused
from pysynthdp.curator.table import Key, PartTable, Totals, split_rows
from pysynthdp.schema import Schema

__all__ = ["SpreadTable", "split_spread"]

_UNKNOWN: Final = "__UNKNOWN_CATEGORIES__"  # Dask's sign


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
    """

    parts: Mapping[Key, AnyArray] = field(default_factory=_Elsewhere)
    pieces: Pieces = field(kw_only=True)

    def total(self, of_table: Callable[[PartTable], Totals]) -> Totals:
        """Add up over the pieces, in order."""
        found: Totals = self.pieces.total(_of_piece, of_table)
        return found


def _of_piece(piece: PartTable, start: int, of_table: Callable[[PartTable], Totals]) -> Totals:
    """Add up over one piece."""
    del start
    return of_table(piece)


def split_spread(rows: SpreadRows, schema: Schema, *, tolerant: bool = False) -> SpreadTable:
    """Split all pieces into parts where they lie, as :func:`~pysynthdp.curator.table.split_rows` does.

    Raises
    ------
    SchemaError
        As it does, of a piece; nothing is compared by type where every cell is made to fit.
    """
    types = {} if tolerant else {name: dtype for name, dtype in rows.dtypes.items() if name in schema}
    _check_types(types)
    return SpreadTable(rows.n_rows, pieces=rows.pieces.each(_split, schema, types, tolerant))


def _check_types(types: Mapping[str, Any]) -> None:
    """Refuse categories that only the pieces know: each may have others."""
    for name, dtype in types.items():
        if isinstance(dtype, pd.CategoricalDtype) and _UNKNOWN in dtype.categories:
            raise SchemaError(
                Words("{name} has categories that the table as a whole does not know", name=name),
                column=name,
                kind="table",
                remedy="name them (frame.categorize() of Dask does), or read the column as text",
            )


def _split(
    piece: pd.DataFrame, start: int, schema: Schema, types: Mapping[str, Any], tolerant: bool
) -> PartTable:
    """Split one piece."""
    del start
    for name, dtype in types.items():
        if piece[name].dtype != dtype:
            raise SchemaError(
                Words("{name} has another type in a partition than the table says", name=name),
                column=name,
                kind="table",
                remedy="give all partitions one type, as frame.astype does",
            )
    return split_rows(rows_of(piece), schema, tolerant=tolerant)
