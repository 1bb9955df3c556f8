"""Columns in encrypted files: pieces of pandas columns, decrypted a column or a block of rows at a time."""

from __future__ import annotations

import pickle
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.scratch import Scratch, ScratchFile

__all__ = ["AbsentColumn", "SealedColumn", "SealedRows", "sealed_rows"]

BLOCK = 2**18  # rows read at a time
_ALIGNED = 64  # bytes, as Arrow asks of its buffers

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class _Piece:
    """Some rows of a column: what pickle makes of it without its arrays, and where those lie in the file."""

    rows: int
    rest: bytes
    places: tuple[tuple[int, int], ...]


@dataclass(slots=True, repr=False)
class SealedColumn:
    """A column in an encrypted file.

    Parameters
    ----------
    dtype : dtype
        Of the column.
    scratch : Scratch
        With a key.

    Notes
    -----
    Privacy: holds real cells. Arrays go to the file; what pickle says beside them (types, categories, and
    the cells themselves where a column holds Python objects) stays in memory, so nothing is unpickled that
    was on disk.
    """

    dtype: Any
    scratch: Scratch
    _file: ScratchFile = field(init=False)
    _pieces: list[_Piece] = field(default_factory=list, init=False)
    _starts: list[int] = field(default_factory=lambda: [0], init=False)
    _content: AnyArray | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._file = self.scratch.file()

    def __len__(self) -> int:
        return self._starts[-1]

    def write(self, piece: pd.Series[Any]) -> None:
        """Add cells behind those written before."""
        for start in range(0, len(piece), BLOCK):
            self._write(piece.iloc[start : start + BLOCK].reset_index(drop=True))

    def series(self) -> pd.Series[Any]:
        """Decrypt all cells."""
        return self.between(0, len(self))

    def between(self, start: int, stop: int) -> pd.Series[Any]:
        """Decrypt the cells from one row to another."""
        stop = max(start, min(stop, len(self)))
        first = max(bisect_right(self._starts, start) - 1, 0)
        found: list[pd.Series[Any]] = []
        for at in range(first, len(self._pieces)):
            begin = self._starts[at]
            if begin >= stop:
                break
            found.append(self._read(self._pieces[at]).iloc[max(start - begin, 0) : stop - begin])
        if not found:
            return cast("pd.Series[Any]", pd.Series([], dtype=self.dtype, index=pd.RangeIndex(start, start)))
        whole: pd.Series[Any] = found[0] if len(found) == 1 else pd.concat(found, ignore_index=True)
        return whole.set_axis(pd.RangeIndex(start, stop))

    def _write(self, piece: pd.Series[Any]) -> None:
        """Write a piece of at most a block."""
        buffers: list[pickle.PickleBuffer] = []
        plain = _moments(self.dtype)
        cells = piece if plain is None else piece.to_numpy(dtype=plain).view(np.int64)
        rest = pickle.dumps(cells, protocol=5, buffer_callback=buffers.append)
        places = []
        for buffer in buffers:
            content = np.frombuffer(buffer.raw(), dtype=np.uint8)
            places.append((self._file.size, len(content)))
            self._file.write(content)
            self._file.write(np.zeros(-len(content) % _ALIGNED, dtype=np.uint8))
        self._pieces.append(_Piece(len(piece), rest, tuple(places)))
        self._starts.append(self._starts[-1] + len(piece))

    def _read(self, piece: _Piece) -> pd.Series[Any]:
        """Decrypt a piece."""
        if self._content is None:
            self._content = self._file.array()
        content = self._content
        buffers = [content[start : start + size] for start, size in piece.places]
        found = pickle.loads(piece.rest, buffers=buffers)  # noqa: S301 -- what is unpickled was never on disk
        plain = _moments(self.dtype)
        if plain is not None:
            found = pd.Series(pd.Series(found.view(plain), copy=False).array.view(self.dtype), copy=False)
        return cast("pd.Series[Any]", found)


def _moments(dtype: Any) -> np.dtype[Any] | None:
    """Give the numpy type of times and durations, which pickle would keep in memory; None for the others."""
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.dtype(f"M8[{dtype.unit}]")
    return dtype if isinstance(dtype, np.dtype) and dtype.kind in "mM" else None


@dataclass(frozen=True, slots=True, repr=False)
class AbsentColumn:
    """A column that is not read: n missing values, which lie nowhere."""

    n: int
    dtype: Any = field(default=np.dtype(float), init=False)

    def between(self, start: int, stop: int) -> pd.Series[Any]:
        """Make the cells from one row to another."""
        n = max(min(stop, self.n) - start, 0)
        return pd.Series(np.broadcast_to(np.float64(np.nan), n), index=pd.RangeIndex(start, start + n))


@dataclass(frozen=True, slots=True, repr=False)
class SealedRows:
    """A table in encrypted files, as :class:`~pysynthdp.design.rows.Rows`.

    Parameters
    ----------
    sealed : mapping name -> SealedColumn or AbsentColumn
        Columns of one length, in order.
    scratch : Scratch
        Where what is made of them may lie, encrypted alike.
    index : Index
        Of the rows, in memory.

    Notes
    -----
    Privacy: passes real rows on; its repr shows none. In memory is what was asked for last: some whole
    columns, or a block of rows.
    """

    sealed: Mapping[str, SealedColumn | AbsentColumn]
    scratch: Scratch
    index: pd.Index[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.index)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self.sealed)

    @property
    def dtypes(self) -> Mapping[str, Any]:
        """Type of each column."""
        return {name: column.dtype for name, column in self.sealed.items()}

    def without(self, name: str) -> SealedRows:
        """Leave a column out."""
        kept = {each: column for each, column in self.sealed.items() if each != name}
        return SealedRows(kept, self.scratch, self.index)

    def take(self, columns: Sequence[str]) -> pd.DataFrame:
        """Decrypt some whole columns."""
        return self._between(columns, 0, self.n_rows)

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block in row order and merge from left to right."""
        starts = range(0, max(self.n_rows, 1), BLOCK)
        return reduce(
            merge, (of_block(self._between(self.columns, start, start + BLOCK)) for start in starts)
        )

    def _between(self, columns: Sequence[str], start: int, stop: int) -> pd.DataFrame:
        """Decrypt the cells of some columns from one row to another."""
        index = self.index[start:stop]
        found = {name: self.sealed[name].between(start, stop).set_axis(index) for name in columns}
        return pd.DataFrame(found, index=index, columns=list(columns), copy=False)


def sealed_rows(frame: pd.DataFrame, scratch: Scratch) -> SealedRows:
    """Encrypt the columns of a table that was read into memory."""
    found = {}
    for name in frame.columns:
        found[name] = SealedColumn(frame.dtypes[name], scratch)
        found[name].write(frame[name])
    return SealedRows(found, scratch, frame.index)
