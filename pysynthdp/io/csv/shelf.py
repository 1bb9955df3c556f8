"""Where the columns of a CSV file stand while it is read: in memory, or mapped from files on disk."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.scratch import Scratch, ScratchFile

__all__ = ["Content", "Shelf"]

Content = bytes | memoryview
_ALIGNED: Final = 64
_TEXT: Final = pd.StringDtype(na_value=np.nan)  # the type that pandas gives to texts


@dataclass(frozen=True, slots=True)
class Shelf:
    """Keeps what is made of a file, block by block, and gives it back whole.

    Parameters
    ----------
    scratch : Scratch, optional
        Where it lies on disk; in memory without it.

    Notes
    -----
    Privacy: holds real values, as ``scratch`` says. On disk memory holds one block at a time.

    Examples
    --------
    >>> Shelf().keep(pa.int64(), [pa.array([1]), pa.array([2])]).to_pylist()
    [1, 2]
    """

    scratch: Scratch | None = None

    def content(self, pieces: Iterable[bytes]) -> Content:
        """Keep bytes, one piece behind the other."""
        if self.scratch is None:
            whole = io.BytesIO()
            whole.writelines(pieces)
            return whole.getvalue()
        file = self.scratch.file()
        for piece in pieces:
            file.write(np.frombuffer(piece, np.uint8))
        return file.array().data.cast("B") if file.size else b""

    def array(self, dtype: Any, pieces: Iterable[AnyArray]) -> AnyArray:
        """Keep the pieces of an array."""
        if self.scratch is None:
            return np.concatenate([np.zeros(0, dtype), *pieces])
        file, kind = self.scratch.file(), np.dtype(dtype)
        written = np.dtype(np.int64) if kind.kind == "M" else kind
        file.write(np.zeros(0, written))
        for piece in pieces:
            file.write(piece.astype(kind, copy=False).view(written))
        return file.array().view(kind)

    def keep(self, kind: pa.DataType, chunks: Iterable[pa.Array]) -> pa.ChunkedArray:
        """Keep the chunks of a column."""
        if self.scratch is None:
            return pa.chunked_array(list(chunks), type=kind)
        box = _Box(self.scratch.file())
        places = [box.put(chunk) for chunk in chunks]
        return _given(kind, places, box.buffer())

    def read(self, file: pa.NativeFile, **options: Any) -> dict[str, pa.ChunkedArray]:
        """Read columns of a CSV file; on disk, with the types that the options name, block by block."""
        if self.scratch is None:
            table = pa_csv.read_csv(file, **options)
            return {name: table.column(name) for name in table.column_names}
        blocks = pa_csv.open_csv(file, **options)
        return self.blocks(blocks.schema, blocks)

    def blocks(self, kinds: pa.Schema, blocks: Iterable[pa.RecordBatch]) -> dict[str, pa.ChunkedArray]:
        """Keep all columns of a table that comes in blocks."""
        if self.scratch is None:
            table = pa.Table.from_batches(list(blocks), schema=kinds)
            return {name: table.column(name) for name in kinds.names}
        box = _Box(self.scratch.file())
        places: dict[str, list[_Place]] = {name: [] for name in kinds.names}
        for block in blocks:
            for name, found in places.items():
                found.append(box.put(block.column(name)))
        whole = box.buffer()
        return {name: _given(kinds.field(name).type, found, whole) for name, found in places.items()}

    def frame(self, blocks: Iterable[pd.DataFrame]) -> pd.DataFrame:
        """Keep a table whose columns are all texts."""
        if self.scratch is None:
            return pd.concat(list(blocks), ignore_index=True)
        box = _Box(self.scratch.file())
        places: dict[str, list[_Place]] = {}
        for block in blocks:
            for name in block.columns:
                texts = pa.array(block[name], pa.large_string(), from_pandas=True)
                places.setdefault(name, []).append(box.put(texts))
        whole = box.buffer()
        columns = {name: _pandas(_given(pa.large_string(), found, whole)) for name, found in places.items()}
        return pd.DataFrame(columns, copy=False)

    def texts(self, texts: pa.ChunkedArray) -> pd.Series[Any]:
        """Make a pandas column of texts that this shelf keeps; on disk only offsets are written anew."""
        if self.scratch is None:
            return _pandas(texts.cast(pa.large_string()))
        box = _Box(self.scratch.file())
        places = [box.write(chunk.cast(pa.large_string()).buffers()[1]) for chunk in texts.chunks]
        whole = box.buffer()
        pairs = zip(texts.chunks, places, strict=True)
        parts = [_large(chunk, whole.slice(*at)) for chunk, at in pairs if at]
        return _pandas(pa.chunked_array(parts, type=pa.large_string()))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the buffers of a chunk begin and how long they are; None where there is none."""

    size: int
    buffers: Sequence[tuple[int, int] | None]

    def chunk(self, kind: pa.DataType, whole: pa.Buffer) -> pa.Array:
        """Give the chunk as it was, read from where it lies."""
        found = [None if at is None else whole.slice(*at) for at in self.buffers]
        return pa.Array.from_buffers(kind, self.size, found)


@dataclass(slots=True)
class _Box:
    """A file of buffers under way."""

    file: ScratchFile
    at: int = field(default=0)

    def put(self, chunk: pa.Array | pa.ChunkedArray) -> _Place:
        """Write the buffers of a chunk, which pandas may give in pieces."""
        joined = chunk.combine_chunks() if isinstance(chunk, pa.ChunkedArray) else chunk
        whole = pa.concat_arrays([joined, joined.slice(0, 0)]) if joined.offset else joined
        return _Place(len(whole), [self.write(buffer) for buffer in whole.buffers()])

    def buffer(self) -> pa.Buffer:
        """Give all that was written."""
        return pa.py_buffer(self.file.array())

    def write(self, buffer: pa.Buffer | None) -> tuple[int, int] | None:
        """Write one, and what fills up to the next place where one may begin."""
        if buffer is None:
            return None
        start, gap = self.at, -buffer.size % _ALIGNED
        self.file.write(np.frombuffer(buffer, np.uint8))
        self.file.write(np.zeros(gap, np.uint8))
        self.at += buffer.size + gap
        return start, buffer.size


def _given(kind: pa.DataType, places: Sequence[_Place], whole: pa.Buffer) -> pa.ChunkedArray:
    """Put a column together."""
    return pa.chunked_array([place.chunk(kind, whole) for place in places], type=kind)


def _large(chunk: pa.Array, offsets: pa.Buffer) -> pa.Array:
    """Give the same texts with long offsets, which are read from elsewhere."""
    absent, _, data = chunk.buffers()
    return pa.Array.from_buffers(pa.large_string(), len(chunk), [absent, offsets, data], chunk.null_count)


def _pandas(column: pa.ChunkedArray) -> pd.Series[Any]:
    """Make a pandas column of large texts; nothing is copied."""
    made: Any = pd.arrays.ArrowStringArray  # whose stubs know no type of texts
    return pd.Series(made(column, dtype=_TEXT), copy=False)
