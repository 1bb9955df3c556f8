"""Write and read one copy as Parquet or CSV, piece by piece: memory holds a group of rows, not a copy.

A copy is cut into the same pieces and groups however it comes, whole or in blocks, so the bytes of its file
do not depend on that. Parquet files want large groups: every group repeats dictionaries and its entry in the
footer. A group is as many rows as fit into 64 MB, a million at most: half a million of twelve columns, and
the file is 1 % larger than with one group.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.marks import WATERMARK, WATERMARK_LABEL
from pysynthdp.io.folder.formats import MainFormat as FileFormat
from pysynthdp.io.folder.storage import Stored
from pysynthdp.io.folder.stored_kinds import BareCsvWriter

__all__ = ["FileFormat", "Marks", "csv_rows", "read_blocks", "read_copy", "write_copy"]

_READ_BLOCK = 1 << 24  # bytes; a CSV row must fit into one
_BATCH: Final = 65_536  # rows that are read at a time
_WATERMARK: Final = pa.field(WATERMARK, pa.int32(), metadata={"label": WATERMARK_LABEL})
_PIECE: Final = 2**14  # rows that are converted at a time: the blocks in which copies are drawn
_GROUP_BYTES: Final = 2**26  # of a Parquet row group as it lies in memory, before it is encoded
_GROUP_ROWS: Final = 2**20


@dataclass(frozen=True, slots=True)
class Marks:
    """What travels inside a copy: that it is synthetic, its number, and the privacy statement.

    Parameters
    ----------
    privacy : mapping
        The statement as plain values.
    copy : int
        Number of the copy, from 1.
    place : mapping
        Its nest and its number there, where the copies stand in nests.
    """

    privacy: Mapping[str, Any]
    copy: int
    place: Mapping[str, str | int] = field(default_factory=dict)

    def attrs(self) -> dict[Hashable | None, Any]:
        """Write them as ``DataFrame.attrs``."""
        marks = {"synthetic": True, "privacy": dict(self.privacy), "copy": self.copy, **self.place}
        return {"pysynthdp": marks}


def write_copy(
    blocks: Iterable[pd.DataFrame],
    path: Path,
    *,
    storage: tuple[Stored, ...],
    marks: Marks,
    file_format: FileFormat,
    watermark: bool = True,
) -> int:
    """Write one copy.

    Parameters
    ----------
    blocks : iterable of DataFrame
        Consecutive rows, in blocks of any size.
    path : Path
        Of the file.
    storage : tuple of Stored
        How the columns lie in the file.
    marks : Marks
        Written into Parquet's own metadata.
    file_format : {"parquet", "csv"}
        Of the file.
    watermark : bool
        Whether a last column holds the number of the copy.

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    ReleaseError
        If a block has other columns or types than the first.
    """
    rows = 0
    writer: _Writer | None = None
    try:
        for piece in _pieces(blocks):
            table = _table(piece, storage, dictionary=file_format == "parquet")
            if watermark:
                table = _marked(table, marks.copy)
            if writer is None:
                shown = _metadata(piece, storage, marks, watermark=watermark)
                writer = _WRITERS[file_format](path, table, shown, storage)
            writer.write(table)
            rows += len(piece)
        if writer is not None:
            writer.finish()
    finally:
        if writer is not None:
            writer.close()
    return rows


def _pieces(blocks: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Cut blocks into pieces."""
    for block in blocks:
        for start in range(0, len(block), _PIECE):
            yield block.iloc[start : start + _PIECE]


class _Writer(Protocol):
    """Writes the tables of consecutive pieces."""

    def write(self, table: pa.Table) -> None:
        """Add rows."""

    def finish(self) -> None:
        """Write what is left."""

    def close(self) -> None:
        """Close the file, whole or not."""


class _CsvWriter:
    """Write each piece as it comes; the format has no room for metadata."""

    def __init__(
        self,
        path: Path,
        first: pa.Table,
        metadata: Mapping[str, str],  # noqa: ARG002
        storage: tuple[Stored, ...],
    ) -> None:
        bare = [stored.name for stored in storage if stored.tags]
        self._file = BareCsvWriter(path, first.schema, bare) if bare else pa_csv.CSVWriter(path, first.schema)

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        self._file.write_table(table)

    def finish(self) -> None:
        """Nothing is left."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _ParquetWriter:
    """Gather pieces until they are a row group."""

    def __init__(
        self, path: Path, first: pa.Table, metadata: Mapping[str, str], storage: tuple[Stored, ...]
    ) -> None:
        plain = [stored.name for stored in storage if not stored.tags]
        coded: Any = plain if len(plain) < len(storage) else True  # a dictionary has one NaN for all
        schema = first.schema.with_metadata(dict(metadata))
        self._file = pa_parquet.ParquetWriter(path, schema, use_dictionary=coded)
        self._group = rows_of_group(first.nbytes / max(first.num_rows, 1))
        self._left: list[pa.Table] = []
        self._rows = 0

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        self._left.append(table.cast(self._file.schema))
        self._rows += table.num_rows
        if self._rows >= self._group:
            self._write(self._group)

    def finish(self) -> None:
        """Write the last group."""
        if self._rows:
            self._write(self._rows)

    def _write(self, rows: int) -> None:
        """Write some rows as a group and keep the others."""
        whole = pa.concat_tables(self._left).unify_dictionaries()
        self._file.write_table(whole.slice(0, rows), row_group_size=rows)
        self._rows -= rows
        self._left = [whole.slice(rows)] if self._rows else []

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def rows_of_group(width: float) -> int:
    """Say how many rows a Parquet row group has, by the bytes of a row in memory.

    Examples
    --------
    >>> rows_of_group(8 * 8), rows_of_group(120)
    (1048576, 557056)
    """
    pieces = int(min(_GROUP_BYTES / max(width, 1.0), _GROUP_ROWS) // _PIECE)
    return max(pieces, 1) * _PIECE


_WRITERS: Final[Mapping[str, type[_CsvWriter | _ParquetWriter]]] = {
    "csv": _CsvWriter,
    "parquet": _ParquetWriter,
}


def _table(block: pd.DataFrame, storage: tuple[Stored, ...], *, dictionary: bool) -> pa.Table:
    """Put a block's columns into an Arrow table."""
    if list(block.columns) != [stored.name for stored in storage]:
        raise ReleaseError("the copies differ in their columns; draw all of them from one fit", kind="folder")
    arrays = [stored.to_arrow(block[stored.name], dictionary=dictionary) for stored in storage]
    return pa.Table.from_arrays(
        arrays, schema=pa.schema([stored.field(dictionary=dictionary) for stored in storage])
    )


def _marked(table: pa.Table, copy: int) -> pa.Table:
    """Add the last column, which says that the rows are synthetic."""
    numbers = pa.array(np.full(table.num_rows, copy, dtype=np.int32))
    return table.append_column(_WATERMARK, numbers)


def _metadata(
    block: pd.DataFrame, storage: tuple[Stored, ...], marks: Marks, *, watermark: bool
) -> dict[str, str]:
    """Write the marks, and what pandas reads to restore types and attrs without this package."""
    texts = {
        stored.name: pd.Series([None], dtype="category" if _is_category(stored) else "object")
        for stored in storage
        if stored.labels is not None
    }
    plain = block.head(1).reset_index(drop=True).assign(**texts)
    if watermark:
        plain[WATERMARK] = np.int32(marks.copy)
    plain.attrs = marks.attrs()
    pandas_json = pa.Schema.from_pandas(plain, preserve_index=False).metadata[b"pandas"].decode()
    return {
        "pandas": pandas_json,
        "PANDAS_ATTRS": json.dumps(plain.attrs),
        "pysynthdp": json.dumps(marks.attrs()["pysynthdp"]),
    }


def _is_category(stored: Stored) -> bool:
    """Whether the copies have a categorical here."""
    return isinstance(stored.dtype, pd.CategoricalDtype)


def read_copy(
    path: Path,
    *,
    storage: tuple[Stored, ...],
    marks: Marks,
    file_format: FileFormat,
    asked: tuple[Stored, ...] | None = None,
) -> pd.DataFrame:
    """Read one copy with the types that it had, or those of its columns that are asked for.

    Raises
    ------
    ReleaseError
        If the file is missing, damaged or changed.
    """
    wanted = storage if asked is None else asked
    names = [stored.name for stored in wanted]
    with _readable(path):
        if file_format == "parquet":
            _check_columns(path, pa_parquet.read_schema(path).names, storage)
            table = pa_parquet.read_table(path, columns=names)
        else:
            table = _read_csv(path, storage).select(names)
    frame = _frame(table, wanted)
    frame.attrs = marks.attrs()
    return frame


def read_blocks(
    path: Path,
    *,
    storage: tuple[Stored, ...],
    asked: tuple[Stored, ...],
    file_format: FileFormat,
    rows: int,
) -> Iterator[pd.DataFrame]:
    """Read some columns of one copy, so many rows at a time; memory holds a row group of them at most.

    Raises
    ------
    ReleaseError
        If the file is missing, damaged or changed.
    """
    with _readable(path):
        left: list[pa.RecordBatch] = []
        for batch in _batches(path, storage, asked, file_format):
            left.append(batch)
            while sum(map(len, left)) >= rows:
                whole = pa.Table.from_batches(left)
                yield _frame(whole.slice(0, rows), asked)
                left = whole.slice(rows).to_batches()
        if sum(map(len, left)):
            yield _frame(pa.Table.from_batches(left), asked)


def _batches(
    path: Path, storage: tuple[Stored, ...], asked: tuple[Stored, ...], file_format: FileFormat
) -> Iterator[pa.RecordBatch]:
    """Read some columns as they come."""
    names = [stored.name for stored in asked]
    if file_format == "parquet":
        with pa_parquet.ParquetFile(path, pre_buffer=False) as file:
            _check_columns(path, file.schema_arrow.names, storage)
            yield from file.iter_batches(_BATCH, columns=names)
        return
    options = _csv_options(storage)
    options["convert_options"].include_columns = names
    with pa_csv.open_csv(path, **options) as reader:
        yield from reader


def _check_columns(path: Path, found: list[str], storage: tuple[Stored, ...]) -> None:
    """Refuse a file with other columns than the list of the folder names."""
    names = [stored.name for stored in storage]
    if found not in (names, [*names, WATERMARK]):
        raise ReleaseError(
            f"{path.name} has other columns than release.json says; was it edited?", kind="folder"
        )


def _frame(table: pa.Table, wanted: tuple[Stored, ...]) -> pd.DataFrame:
    """Give columns of a file their types back."""
    columns = {stored.name: stored.from_arrow(table.column(stored.name)) for stored in wanted}
    return pd.DataFrame(columns, columns=[stored.name for stored in wanted], copy=False)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say in our words that a file is missing or damaged."""
    try:
        yield
    except FileNotFoundError as error:
        raise ReleaseError(
            f"{path.name} is missing; take the folder anew from its source", kind="folder"
        ) from error
    except pa.ArrowException as error:
        raise ReleaseError(
            f"{path.name} is damaged; take the folder anew from its source", kind="folder"
        ) from error


def csv_rows(path: Path, storage: tuple[Stored, ...]) -> int:
    """Count the rows of a CSV copy, block by block, reading the values of its first column.

    Raises
    ------
    OSError, pyarrow.ArrowException
        If the file is missing, or is no CSV file with that column.
    """
    options = _csv_options(storage)
    options["convert_options"].include_columns = [storage[0].name]
    with pa_csv.open_csv(path, **options) as reader:
        return sum(batch.num_rows for batch in reader)


def _read_csv(path: Path, storage: tuple[Stored, ...]) -> pa.Table:
    """Read a CSV by the types noted beside it."""
    return pa_csv.read_csv(path, **_csv_options(storage))


def _csv_options(storage: tuple[Stored, ...]) -> dict[str, Any]:
    """Give the types noted beside a CSV; an empty field is missing, a quoted empty one is a text."""
    return {
        "read_options": pa_csv.ReadOptions(block_size=_READ_BLOCK),
        "parse_options": pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        "convert_options": pa_csv.ConvertOptions(
            column_types=pa.schema([stored.field(dictionary=False) for stored in storage]),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }
