"""Missing kinds of numbers in the files of a release, exactly: letters in NaN in Parquet, ``.a`` in a CSV.

A number column of a CSV that has kinds is written without quotes, as numbers are, so that other programs read
it as numbers once they are told what is missing; Arrow's own writer would put all texts into quotes.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pysynthdp.base.arrays import FloatArray
from pysynthdp.design.tagged import letters_of, tagged
from pysynthdp.schema.labels import TAGS

__all__ = ["BareCsvWriter", "kinds_from_arrow", "kinds_to_arrow"]

_TEXTS: Final = (pa.string(), pa.large_string())


def kinds_to_arrow(numbers: FloatArray, *, texts: bool) -> pa.Array:
    """Write numbers with missing kinds, as texts or as the NaN that they are; plainly missing ones as null.

    Examples
    --------
    >>> kinds_to_arrow(np.append([1.5, np.nan], tagged([".a"])), texts=True).to_pylist()
    ['1.5', None, '.a']
    """
    letters = letters_of(numbers)
    plainly = np.isnan(numbers) & (letters == 0)
    if not texts:
        return pa.array(numbers, mask=plainly)
    written = pa.array(numbers, mask=np.isnan(numbers)).cast(pa.string())
    names = np.array([f".{chr(letter)}" if letter else None for letter in range(256)], dtype=object)
    return pc.if_else(pa.array(letters > 0), pa.array(names[letters], type=pa.string()), written)


def kinds_from_arrow(values: pa.ChunkedArray) -> FloatArray:
    """Read what :func:`kinds_to_arrow` wrote.

    Raises
    ------
    ArrowInvalid
        If a text is neither a number nor a kind.
    """
    if values.type not in _TEXTS:
        return np.array(values.to_numpy(), dtype=np.float64)
    whole = values.combine_chunks()
    places = pc.index_in(whole, pa.array(TAGS)).fill_null(-1).to_numpy(zero_copy_only=False)
    plain = pc.if_else(pa.array(places >= 0), pa.scalar(None, pa.string()), whole)
    numbers = np.array(plain.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    numbers[places >= 0] = tagged(TAGS)[places[places >= 0]]
    return numbers


class BareCsvWriter:
    """Write tables as Arrow's CSV writer does, some text columns without quotes.

    Parameters
    ----------
    path : Path
        Of the file.
    schema : pyarrow.Schema
        Of every table.
    bare : collection of str
        Columns whose texts need no quotes.
    """

    def __init__(self, path: Path, schema: pa.Schema, bare: Collection[str]) -> None:
        self._file = path.open("wb")
        self._bare = set(bare)
        heads = (_quoted(pa.array([name]))[0].as_py() for name in schema.names)
        self._file.write(",".join(heads).encode() + b"\n")

    def write_table(self, table: pa.Table) -> None:
        """Add rows."""
        cells = [self._cells(name, table.column(name).combine_chunks()) for name in table.column_names]
        lines = pc.binary_join_element_wise(
            *cells, pa.scalar(",", pa.large_string()), null_handling="replace", null_replacement=""
        )
        for start in range(0, len(lines), _LINES):
            rows = lines[start : start + _LINES].to_pylist()
            self._file.write("".join(f"{row}\n" for row in rows).encode())

    def _cells(self, name: str, values: Any) -> Any:
        """Write the cells of a column."""
        array = values.chunk(0) if isinstance(values, pa.ChunkedArray) else values
        if array.type in _TEXTS and name not in self._bare:
            return _quoted(array)
        counted = array.cast(pa.int64()) if pa.types.is_duration(array.type) else array
        return counted.cast(pa.large_string())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_LINES: Final = 4096  # at a time


def _quoted(texts: pa.Array) -> pa.Array:
    """Put texts in quotes, doubling those inside."""
    inside = pc.replace_substring(texts.cast(pa.large_string()), pattern='"', replacement='""')
    quote = pa.scalar('"', pa.large_string())
    return pc.binary_join_element_wise(quote, inside, quote, pa.scalar("", pa.large_string()))
