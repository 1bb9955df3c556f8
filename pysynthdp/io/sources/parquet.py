"""A Parquet file, or a folder of such: read once, by blocks, every column onto disk."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from pysynthdp.base.scratch import Scratch
from pysynthdp.io.arrow import attributes_of, to_frame
from pysynthdp.io.parquet_parts import BLOCK, Parts
from pysynthdp.io.sources.mapped import ArrowFile, Column, absent_column, new_column
from pysynthdp.io.sources.sealed import AbsentColumn, SealedColumn, SealedRows

__all__ = ["read_shelved"]


def read_shelved(
    path: Path, texts: bool, *, scratch: Scratch, drop: Collection[str] = ()
) -> pd.DataFrame | SealedRows:
    """Read a file or folder once, as pandas would read the whole, and put its columns on disk.

    Parameters
    ----------
    path : path
        Of the file or folder.
    texts : bool
        Whether no missing cell may decide the type of a column, as under a guarantee.
    scratch : Scratch
        Where the columns lie.
    drop : collection of str
        Columns that are not read: they stand in the table as missing values, in the memory of one.

    Returns
    -------
    DataFrame or SealedRows
        Mapped; with a key of ``scratch``, encrypted.

    Raises
    ------
    SchemaError
        If parts of a folder differ in columns or types, or a file changed while it was read.

    Notes
    -----
    Privacy: reads real rows. Memory holds a block of rows; with a key also, one by one, whole columns whose
    type only all their cells tell. Python objects (dates of days, decimals, flags with missing values) stay
    in memory.
    """
    with Parts.of(path) as parts:
        found = _Reading(parts, scratch, texts, drop).read()
    return found.frame() if scratch.key is None else found.sealed(scratch)


@dataclass(frozen=True, slots=True, repr=False)
class _Found:
    """What was read of a table: its columns but those that are left out, and how many rows there are."""

    schema: pa.Schema
    columns: Mapping[str, Column]
    n: int

    def frame(self) -> pd.DataFrame:
        """Put mapped columns together as pandas had them, with its index."""
        series = {name: column.series() for name, column in self.columns.items()}
        frame = pd.DataFrame(
            {name: series.get(name, absent_column(self.n)) for name in self._names()}, copy=False
        )
        frame.index = self._index(series)
        frame.columns = to_frame(self.schema.empty_table(), texts=False).columns
        frame.attrs.update(attributes_of(self.schema))
        return frame

    def sealed(self, scratch: Scratch) -> SealedRows:
        """Put encrypted columns together."""
        columns: dict[str, SealedColumn | AbsentColumn] = {}
        for name in self._names():
            column = self.columns.get(name)
            columns[name] = column if isinstance(column, SealedColumn) else AbsentColumn(self.n)
        heads = to_frame(self.schema.empty_table(), texts=False).columns
        index = self._index({name: self.columns[name].series() for name in self._stored()})
        return SealedRows(dict(zip(heads, columns.values(), strict=True)), scratch, index)

    def _levels(self) -> list[Any]:
        """Give what pandas wrote of the index: names of columns, or numbers that make it."""
        return list((self.schema.pandas_metadata or {}).get("index_columns", []))

    def _stored(self) -> list[str]:
        """Name the columns that are the index, but those that are not read."""
        return [each for each in self._levels() if isinstance(each, str) and each in self.columns]

    def _names(self) -> list[str]:
        """Name the columns but for those of the index."""
        levels = [each for each in self._levels() if isinstance(each, str)]
        return [name for name in self.schema.names if name not in levels]

    def _index(self, series: Mapping[str, pd.Series[Any]]) -> pd.Index[Any]:
        """Make the index, of columns or of numbers."""
        stored, levels = self._stored(), [each for each in self._levels() if isinstance(each, dict)]
        names = to_frame(self.schema.empty_table(), texts=False).index.names
        cells = [series[name] for name in stored]
        if len(stored) > 1:
            return cast("pd.Index[Any]", pd.MultiIndex.from_arrays(cells, names=names))
        if stored:
            index: pd.Index[Any] = pd.Index(cells[0], name=names[0], copy=False)
            return index
        for each in levels:
            ranged = pd.RangeIndex(each["start"], each["stop"], each["step"], name=each["name"])
            if len(ranged) == self.n:
                return ranged
        return pd.RangeIndex(self.n)


class _Reading:
    """The columns of a Parquet table on their way to disk.

    Where pandas' type of a column is known before its first cell, blocks are converted one by one; else
    (categories, Python objects, files that do not count missing values) it is kept as Arrow first.
    """

    def __init__(self, parts: Parts, scratch: Scratch, texts: bool, drop: Collection[str]) -> None:
        self.parts, self.scratch, self.texts = parts, scratch, texts
        self.names = [name for name in parts.schema.names if name not in drop]
        self.metadata = _without_index(parts.schema)
        self.types = {absent: self._converted(self._table(absent)).dtypes for absent in (False, True)}
        known = self._known()
        self.known = {name: (dtype, new_column(dtype, scratch)) for name, dtype in known.items()}
        self.spilled = {name: ArrowFile(scratch) for name in self.names if name not in known}

    def read(self) -> _Found:
        """Read all blocks."""
        self.parts.check_alike(self.names)
        self._write(self._table(absent=False))
        n = sum(self._write(table) for table in self.parts.blocks(self.names))
        found = {name: column for name, (_, column) in self.known.items()}
        for name in list(self.spilled):
            found[name] = self._settled(name, self.spilled.pop(name).array())
        return _Found(self.parts.schema, found, n)

    def _table(self, absent: bool) -> pa.Table:
        """Make a table without rows, or with a row of missing values."""
        types = [self.parts.schema.field(name).type for name in self.names]
        return pa.table([pa.nulls(int(absent), each) for each in types], names=self.names)

    def _converted(self, table: pa.Table) -> pd.DataFrame:
        """Convert some columns of some rows."""
        return to_frame(table.replace_schema_metadata(self.metadata), texts=self.texts)

    def _known(self) -> dict[str, Any]:
        """Tell the columns whose type is known beforehand, and it."""
        absent = self.parts.absent()
        without, with_some = self.types[False], self.types[True]
        types: dict[str, Any] = {}
        for name in self.names:
            dtype = with_some[name] if absent.get(name) else without[name]
            settled = absent.get(name) is not None or without[name] == with_some[name]
            if settled and dtype != np.dtype(object) and not isinstance(dtype, pd.CategoricalDtype):
                types[name] = dtype
        return types

    def _write(self, table: pa.Table) -> int:
        """Add a block to all columns; give its rows."""
        frame = self._converted(table.select(list(self.known)))
        for name, (dtype, column) in self.known.items():
            column.write(frame[name].astype(dtype))
        for name, file in self.spilled.items():
            for chunk in table.column(name).chunks:
                file.write(chunk)
        return len(table)

    def _settled(self, name: str, cells: pa.ChunkedArray) -> Column:
        """Convert a column that was kept as Arrow, now that all of it is known."""

        def convert(some: pa.ChunkedArray) -> pd.Series[Any]:
            return self._converted(pa.table({name: some}))[name]

        if pa.types.is_dictionary(cells.type):
            cells = cells.unify_dictionaries()  # of all categories in every block
        dtype = self.types[cells.null_count > 0][name]
        if isinstance(dtype, pd.CategoricalDtype):
            dtype = convert(pa.chunked_array([cells.chunk(0).slice(0, 0)])).dtype
        column = new_column(dtype, self.scratch)
        if dtype == np.dtype(object):
            column.write(convert(cells))
            return column
        for start in range(0, max(len(cells), 1), BLOCK):
            column.write(convert(cells.slice(start, BLOCK)).astype(dtype))
        return column


def _without_index(schema: pa.Schema) -> dict[bytes, bytes]:
    """Give what pandas wrote beside the table, so that its index comes as columns, under their names."""
    told = schema.pandas_metadata
    if told is None:
        return {}
    return {b"pandas": json.dumps({**told, "index_columns": [], "column_indexes": []}).encode()}
