"""The files of a Parquet table: one, or a folder of parts that must be alike and stay what they are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Words
from pysynthdp.io.unchanged import Unchanged

__all__ = ["BLOCK", "PARQUET", "Parts", "holds_parquet"]

BLOCK: Final = 2**17  # rows read at a time
PARQUET: Final = (".parquet", ".pq")
_MARKS: Final = (b"PAR1", b"PARE")  # by which files begin; the second, encrypted ones


def holds_parquet(folder: Path) -> bool:
    """Whether a folder has a Parquet file, or folders that are named ``column=value`` and have one."""
    inside = list(folder.iterdir())
    named = (each for each in inside if "=" in each.name and each.is_dir())
    return any(each.name.lower().endswith(PARQUET) for each in inside) or any(map(holds_parquet, named))


@dataclass(frozen=True, slots=True, repr=False)
class Parts:
    """The files of a table while they are read; at the end of ``with`` they must be those that were opened.

    Parameters
    ----------
    path : Path
        A file, or a folder.
    dataset : ParquetDataset
        As pandas opens it: folders named ``column=value`` are columns.
    seen : mapping Path -> (Unchanged, digest of the footer)
        What the files were.
    """

    path: Path
    dataset: pq.ParquetDataset
    seen: Mapping[Path, tuple[Unchanged, bytes]]

    @classmethod
    def of(cls, path: Path) -> Parts:
        """Open a file or folder, of which all files must be Parquet, in folders that are named alike."""
        files = _files(path)
        seen = {file: (Unchanged.of(file), _footer(file)) for file in files}
        if path.is_dir():
            _check_places(path, files)
        _check_once(files[0], pq.ParquetFile(files[0], pre_buffer=False).schema_arrow.names)
        return cls(path, pq.ParquetDataset(path, pre_buffer=False), seen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Refuse files that changed, came or went; also in the place of the error that this led to."""
        if set(_files(self.path)) != set(self.seen):
            raise _changed(self.path)
        for file, (unchanged, footer) in self.seen.items():
            unchanged.check()
            if _footer(file) != footer:
                raise _changed(file)

    @property
    def schema(self) -> pa.Schema:
        """Columns of the whole table, those that folders are named for at the end."""
        return self.dataset.schema

    def whole(self) -> pa.Table:
        """Read all of it into memory."""
        self.check_alike(self.schema.names)
        levels = self._levels()
        own = [name for name in self.schema.names if name not in levels]
        table = self.dataset.read(columns=own, use_pandas_metadata=True)
        for name, dictionary in levels.items():
            cells = [
                _constant(_keys(fragment)[name], dictionary, fragment.metadata.num_rows)
                for fragment in self.dataset.fragments
            ]
            table = table.append_column(name, pa.chunked_array(cells))
        return table

    def check_alike(self, names: Iterable[str]) -> None:
        """Refuse parts of which one lacks a column, has one more, or has it in another type."""
        wanted, (first, *others) = set(names), self.dataset.fragments
        types = {each.name: each.type for each in first.physical_schema if each.name in wanted}
        for part in others:
            own = {each.name: each.type for each in part.physical_schema}
            for name, type_ in types.items():
                if own.get(name) != type_:
                    how, but = ("has another type in", "than in") if name in own else ("is not in", "but in")
                    raise _unlike(name, how, Path(part.path), Path(first.path), but)
            further = [name for name in own if name not in self.schema.names]
            if further:
                raise _unlike(further[0], "is in", Path(part.path), Path(first.path), "and not in")

    def absent(self) -> dict[str, int | None]:
        """Count missing values a column by what the files say of themselves; None where one does not say."""
        counts: dict[str, int | None] = {}
        for fragment in self.dataset.fragments:
            metadata = fragment.metadata
            for number in range(metadata.num_row_groups):
                group = metadata.row_group(number)
                for position in range(group.num_columns):
                    column = group.column(position)
                    told = column.statistics is not None and column.statistics.has_null_count
                    before = counts.get(column.path_in_schema, 0)
                    more = column.statistics.null_count if told else None
                    counts[column.path_in_schema] = None if before is None or more is None else before + more
        return counts

    def blocks(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Read some columns of all rows in order, once."""
        levels = self._levels()
        own = [name for name in names if name not in levels]
        for fragment in self.dataset.fragments:
            keys = _keys(fragment)
            file = pq.ParquetFile(fragment.path, pre_buffer=False)
            for batch in file.iter_batches(BLOCK, columns=own, use_threads=False):
                table = pa.Table.from_batches([batch])
                for name in names:
                    if name in levels:
                        table = table.append_column(name, _constant(keys[name], levels[name], len(table)))
                yield table.select(names)

    def _levels(self) -> dict[str, pa.Array]:
        """Give the values of each column that folders are named for."""
        found = self.dataset.partitioning
        names = found.schema.names if found else []
        dictionaries = found.dictionaries if found else []
        pairs = zip(names, dictionaries, strict=True)
        return {name: each.drop_null() for name, each in pairs if each is not None}


def _keys(fragment: Any) -> dict[str, Any]:
    """Give the values that the folders of a file are named for."""
    return dict(ds.get_partition_keys(fragment.partition_expression))


def _constant(value: Any, dictionary: pa.Array, n: int) -> pa.Array:
    """Make the column of a folder that is named for its value."""
    if value is None:
        return pa.DictionaryArray.from_arrays(pa.nulls(n, pa.int32()), dictionary)
    code = pc.index_in(pa.scalar(value, dictionary.type), dictionary).as_py()
    return pa.DictionaryArray.from_arrays(np.full(n, code, dtype=np.int32), dictionary)


def _files(path: Path) -> list[Path]:
    """List the files of a table; names that begin with a dot or an underscore are no part of it."""
    if not path.is_dir():
        return [path]
    inside = ((each, each.relative_to(path).parts) for each in path.rglob("*"))
    return sorted(
        each for each, parts in inside if not any(one[0] in "._" for one in parts) and each.is_file()
    )


def _footer(path: Path) -> bytes:
    """Digest the end of a Parquet file, which says where its columns lie; sixteen bytes of any other."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(size - 8 - length, 0))
        return hashlib.sha256(file.read()).digest()


def _check_places(path: Path, files: Sequence[Path]) -> None:
    """Refuse a file of another kind, of which nobody knows whether it is of the table, and unlike folders."""
    wanted = _named_for(path, files[0])
    for file in files:
        with file.open("rb") as opened:
            if opened.read(4) not in _MARKS:
                what = f"{file} is no Parquet file"
                raise SchemaError(what, kind="parts", remedy="take it out of the folder")
        if _named_for(path, file) != wanted:
            what = f"{file} lies in folders that name other columns than those of {files[0]}"
            raise SchemaError(what, kind="parts", remedy="name a folder below it, or move the file")
    own = pq.ParquetFile(files[0], pre_buffer=False).schema_arrow.names
    for name in {*wanted} & {*own}:
        what = Words("{name} is in {file} and in the name of its folder", name=name, file=str(files[0]))
        raise SchemaError(what, column=name, kind="parts", remedy="write it once: leave it out of the files")


def _named_for(path: Path, file: Path) -> list[str]:
    """Name the columns whose values are folders on the way to a file."""
    folders = file.relative_to(path).parts[:-1]
    return [folder.partition("=")[0] for folder in folders if "=" in folder]


def _check_once(file: Path, names: Sequence[str]) -> None:
    """Refuse a column that stands twice."""
    for name in names:
        if names.count(name) > 1:
            what = Words("{file} has two columns that are called {name}", file=str(file), name=repr(name))
            raise SchemaError(what, column=name, kind="names", remedy="rename one")


def _changed(path: Path) -> SchemaError:
    """Say that a file or folder is not what it was."""
    return SchemaError(f"{path} changed while it was read", kind="file", remedy="wait until it is whole")


def _unlike(name: str, how: str, part: Path, first: Path, but: str) -> SchemaError:
    """Say of a part of a folder how a column differs."""
    what = Words("{name} {how} {part} {but} {first}", name=name, how=how, part=part, but=but, first=first)
    return SchemaError(
        what, column=name, kind="parts", remedy="write all parts with the same columns and types"
    )
