"""What the columns of a database are, by its catalogue alone, and how each block of them is converted.

Whole numbers become ``Int64``, real ones ``float64``, truth values ``boolean``, texts ``str``, days and times
``datetime64[us]`` (in UTC with a zone), and an enumeration of the database an ordered categorical of its
labels. No cell decides a type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pysynthdp.base.arrays import AnyArray
from pysynthdp.io.csv.shelf import Shelf

__all__ = ["Kind", "absent_of"]

_TIME: Final = pa.timestamp("us")
_NEVER: Final = np.iinfo(np.int64).min  # NaT
_TYPES: Final = {
    "whole": pa.int64(), "real": pa.float64(), "flag": pa.bool_(), "text": pa.string(), "time": _TIME,
    "zoned": _TIME, "labels": pa.int32(),
}  # fmt: skip
_DAY: Final = 86_400_000_000
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 to 9999, in microseconds


@dataclass(frozen=True, slots=True)
class Kind:
    """What one column is.

    Parameters
    ----------
    name : {"whole", "real", "flag", "text", "time", "zoned", "labels"}
        Zoned: times with a zone; labels: an enumeration.
    labels : sequence of str
        Of an enumeration, in the order of the database.
    """

    name: str
    labels: Sequence[str] = ()

    @property
    def type(self) -> pa.DataType:
        """How blocks of it are kept."""
        return _TYPES[self.name]

    def of(self, cells: pa.Array | Sequence[Any]) -> pa.Array:
        """Convert a block, each cell by itself; what does not fit is missing."""
        return self._of_arrow(cells) if isinstance(cells, pa.Array) else self._of_values(cells)

    def _of_arrow(self, cells: pa.Array) -> pa.Array:
        """Convert a block as Arrow has it."""
        cells = _unwrapped(cells)
        if self.name == "labels":
            return pc.index_in(cells, pa.array(self.labels, cells.type)).cast(self.type)
        if self.name in ("time", "zoned"):
            return _within(cells)
        return cells.cast(self.type)

    def _of_values(self, cells: Sequence[Any]) -> pa.Array:
        """Convert a block of Python values."""
        if self.name in ("time", "zoned"):
            return _times(cells, zoned=self.name == "zoned")
        if self.name == "labels":
            places = {label: place for place, label in enumerate(self.labels)}
            return pa.array([places.get(cell) for cell in cells], self.type)
        exact, convert = _OF_CELL[self.name]
        if set(map(type, cells)) <= {exact, type(None)} and exact is not int:
            return pa.array(cells, self.type)
        return pa.array([_fitting(convert, cell) for cell in cells], self.type)

    def series(self, column: pa.ChunkedArray, shelf: Shelf) -> pd.Series[Any]:
        """Make the column of pandas."""
        if self.name == "text":
            return shelf.texts(column)
        if self.name == "labels":
            codes = shelf.array(np.int32, (_plain(chunk.fill_null(-1)) for chunk in column.chunks))
            levels = pd.CategoricalDtype(list(self.labels), ordered=True)
            return pd.Series(pd.Categorical.from_codes(codes, dtype=levels, validate=False), copy=False)
        if self.name == "real":
            return pd.Series(shelf.array(np.float64, map(_plain, column.chunks)), copy=False)
        if self.name in ("time", "zoned"):
            return self._times(column, shelf)
        return _masked(column, shelf, whole=self.name == "whole")

    def _times(self, column: pa.ChunkedArray, shelf: Shelf) -> pd.Series[Any]:
        """Make a column of times."""
        numbers = (_plain(chunk.cast(pa.int64()).fill_null(_NEVER)) for chunk in column.chunks)
        kind = np.dtype("M8[us]")
        times = pd.Series(shelf.array(kind, (block.view(kind) for block in numbers)), copy=False)
        if self.name == "time":
            return times
        return pd.Series(times.array.view(pd.DatetimeTZDtype("us", tz="UTC")), copy=False)


def absent_of(cells: pa.Array | Sequence[Any]) -> int:
    """Count the cells of a block that are missing in the database."""
    if isinstance(cells, pa.Array):
        return int(cells.null_count)
    return sum(cell is None for cell in cells)


def _masked(column: pa.ChunkedArray, shelf: Shelf, *, whole: bool) -> pd.Series[Any]:
    """Make a column of whole numbers or truth values, any of which may be missing."""
    kind, nothing = (np.int64, 0) if whole else (np.bool_, False)
    plain = shelf.array(kind, (_plain(chunk.fill_null(nothing)) for chunk in column.chunks))
    absent = shelf.array(np.bool_, (_plain(chunk.is_null()) for chunk in column.chunks))
    masked: Any = pd.arrays.IntegerArray if whole else pd.arrays.BooleanArray
    return pd.Series(masked(plain, absent), copy=False)


def _plain(chunk: pa.Array) -> AnyArray:
    """Give an array of numpy; a missing real number is NaN."""
    return np.asarray(chunk.to_numpy(zero_copy_only=False))


def _unwrapped(cells: pa.Array) -> pa.Array:
    """Give decimal numbers as the texts that they come as, and identifiers as texts."""
    if not isinstance(cells, pa.ExtensionArray):
        return cells
    if pa.types.is_fixed_size_binary(cells.storage.type):
        return pa.array(
            [None if cell is None else str(UUID(bytes=cell)) for cell in cells.storage.to_pylist()]
        )
    return cells.storage


def _within(cells: pa.Array) -> pa.Array:
    """Give days and times of the years 1 to 9999; a database also has endless ones, which are none."""
    days = pa.types.is_date32(cells.type)
    numbers = (cells.cast(pa.int32()) if days else cells).cast(pa.int64())
    unit = _DAY if days else 1
    fits = pc.and_(pc.greater_equal(numbers, _FIRST // unit), pc.less_equal(numbers, _LAST // unit))
    kept = pc.if_else(fits, numbers, pa.scalar(None, pa.int64()))
    return pc.multiply(kept, unit).cast(_TIME)


def _times(cells: Sequence[Any], *, zoned: bool) -> pa.Array:
    """Read days and times, or texts in ISO form."""
    plain = pd.Series(cells, dtype=object)
    times = pd.to_datetime(plain, errors="coerce", format="ISO8601", utc=True)
    named = times if zoned else times.dt.tz_localize(None)
    return _within(pa.array(named.dt.as_unit("us"), from_pandas=True).cast(pa.timestamp("us")))


def _fitting(convert: Callable[[Any], Any], cell: Any) -> Any:
    """Convert one cell; None where it is something else."""
    try:
        return None if cell is None else convert(cell)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return None


def _whole(cell: Any) -> int:
    """Take a whole number of 64 bits."""
    number = int(cell)
    if isinstance(cell, str) or number != cell or not -(2**63) <= number < 2**63:
        raise ValueError
    return number


def _real(cell: Any) -> float:
    """Take a number."""
    if isinstance(cell, str | bytes):
        raise TypeError
    return float(cell)


def _flag(cell: Any) -> bool:
    """Take a truth value, which some databases write as 0 or 1."""
    if isinstance(cell, str) or cell not in (0, 1):
        raise ValueError
    return bool(cell)


def _text(cell: Any) -> str:
    """Take a text, or what has one form as such."""
    if isinstance(cell, bytes):
        raise TypeError
    return str(cell)


_OF_CELL: Final[dict[str, tuple[type, Callable[[Any], Any]]]] = {
    "whole": (int, _whole),
    "real": (float, _real),
    "flag": (bool, _flag),
    "text": (str, _text),
}  # what is taken as it is, and how everything else is
