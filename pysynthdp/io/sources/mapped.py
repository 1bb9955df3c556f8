"""Columns on disk: what a pandas column holds, written to scratch piece by piece and mapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from pysynthdp.base.scratch import Scratch, ScratchFile
from pysynthdp.io.sources.sealed import SealedColumn

__all__ = ["ArrowFile", "Column", "absent_column", "new_column"]


class Column(Protocol):
    """A column under way: pieces of one type are written, then it is there as a whole."""

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells behind those written before."""
        ...

    def series(self) -> pd.Series[Any]:
        """Give all cells: mapped ones without reading them, encrypted ones in memory."""
        ...


def new_column(dtype: Any, scratch: Scratch) -> Column:
    """Begin a column of a type; what pandas holds as Python objects, or as intervals, stays in memory."""
    if scratch.key is not None:
        return SealedColumn(dtype, scratch)
    for takes, column in _KINDS:
        if takes(dtype):
            return cast("Column", column(dtype, scratch))
    return _InMemory(dtype)


def absent_column(n: int) -> pd.Series[Any]:
    """Make the column that stands for one that is not read: n missing values, in the memory of one."""
    return pd.Series(np.broadcast_to(np.float64(np.nan), n), copy=False)


class _Plain:
    """Numbers, flags, times without a zone and durations."""

    def __init__(self, dtype: np.dtype[Any], scratch: Scratch) -> None:
        self.file = _begun(scratch, dtype)

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells."""
        self.file.write(piece.to_numpy())

    def series(self) -> pd.Series[Any]:
        """Give all cells."""
        return pd.Series(self.file.array(), copy=False)


class _Zoned:
    """Times with a zone: their moments."""

    def __init__(self, dtype: pd.DatetimeTZDtype, scratch: Scratch) -> None:
        self.dtype, self.plain = dtype, np.dtype(f"M8[{dtype.unit}]")
        self.file = _begun(scratch, self.plain)

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells."""
        self.file.write(piece.to_numpy(dtype=self.plain))

    def series(self) -> pd.Series[Any]:
        """Give all cells."""
        moments = pd.Series(self.file.array(), copy=False).array
        return pd.Series(moments.view(self.dtype), copy=False)


class _Masked:
    """Nullable numbers and flags: values, and which are missing."""

    def __init__(self, dtype: Any, scratch: Scratch) -> None:
        self.dtype = dtype
        self.values, self.absent = _begun(scratch, dtype.numpy_dtype), _begun(scratch, np.dtype(bool))

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells."""
        self.values.write(piece.array.to_numpy(dtype=self.dtype.numpy_dtype, na_value=0))
        self.absent.write(np.asarray(piece.array.isna()))

    def series(self) -> pd.Series[Any]:
        """Give all cells."""
        make = self.dtype.construct_array_type()
        return pd.Series(make(self.values.array(), self.absent.array(), copy=False), copy=False)


class _Levels:
    """Categories: codes on disk, the categories themselves in memory."""

    def __init__(self, dtype: pd.CategoricalDtype, scratch: Scratch) -> None:
        self.dtype = dtype
        self.file = _begun(scratch, pd.Categorical([], dtype=dtype).codes.dtype)

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells."""
        self.file.write(piece.cat.codes.to_numpy())

    def series(self) -> pd.Series[Any]:
        """Give all cells."""
        codes = self.file.array()
        return pd.Series(pd.Categorical.from_codes(codes, dtype=self.dtype, validate=False), copy=False)


class _Arrow:
    """Texts and all else that pandas holds as Arrow does."""

    def __init__(self, dtype: Any, scratch: Scratch) -> None:
        self.dtype, self.file = dtype, ArrowFile(scratch)

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells."""
        cells = pa.array(piece.array)
        for chunk in cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]:
            self.file.write(chunk)

    def series(self) -> pd.Series[Any]:
        """Give all cells."""
        cells = self.file.array()
        if isinstance(self.dtype, pd.StringDtype):
            return pd.Series(cast("Any", pd.arrays.ArrowStringArray)(cells, dtype=self.dtype), copy=False)
        return pd.Series(pd.arrays.ArrowExtensionArray(cells), copy=False)


class _InMemory:
    """Python objects and intervals, which have no plain arrays."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.pieces: list[pd.Series[Any]] = []

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells."""
        self.pieces.append(piece)

    def series(self) -> pd.Series[Any]:
        """Give all cells."""
        whole = pd.concat(self.pieces, ignore_index=True) if self.pieces else pd.Series([])
        return whole.astype(self.dtype)


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Scratch], Any]], ...] = (
    (lambda dtype: isinstance(dtype, np.dtype) and dtype.kind in "biufcmM", _Plain),
    (lambda dtype: isinstance(dtype, pd.DatetimeTZDtype), _Zoned),
    (lambda dtype: isinstance(dtype, pd.CategoricalDtype), _Levels),
    (lambda dtype: isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow", _Arrow),
    (lambda dtype: isinstance(dtype, pd.ArrowDtype), _Arrow),
    (lambda dtype: hasattr(dtype, "numpy_dtype") and not isinstance(dtype, np.dtype), _Masked),
)
"""Which types are kept how; the first that fits."""


def _begun(scratch: Scratch, dtype: np.dtype[Any]) -> ScratchFile:
    """Open a file for an array of a type, which has it also without a value."""
    file = scratch.file()
    file.write(np.zeros(0, dtype=dtype))
    return file


class ArrowFile:
    """Arrow arrays of one type on disk, one behind the other, as a stream of record batches."""

    closed = False

    def __init__(self, scratch: Scratch) -> None:
        self.file = _begun(scratch, np.dtype(np.uint8))
        self.stream: Any = None

    def write(self, cells: Any) -> None:
        """Add an array, or the bytes of the stream."""
        if not isinstance(cells, pa.Array):
            self.file.write(np.frombuffer(cells, dtype=np.uint8))
            return
        if self.stream is None:
            self.stream = pa.ipc.new_stream(pa.PythonFile(self, mode="w"), pa.schema([("cells", cells.type)]))
        self.stream.write_batch(pa.record_batch([cells], names=["cells"]))

    def flush(self) -> None:
        """Do nothing; the file is flushed when it is mapped."""

    def array(self) -> pa.ChunkedArray:
        """Give all cells, read-only: mapped, or decrypted in memory; one array at least was written."""
        self.stream.close()
        self.stream = None
        return pa.ipc.open_stream(pa.py_buffer(np.asarray(self.file.array()))).read_all().column(0)
