"""A copy that stays in its file: read in blocks, only the columns that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.words import meant
from pysynthdp.io.folder.copy_files import FileFormat, Marks, read_blocks, read_copy
from pysynthdp.io.folder.storage import Stored

__all__ = ["StoredCopy", "stamp_of"]

_BLOCK: Final = 65_536


@dataclass(frozen=True, slots=True, repr=False)
class StoredCopy:
    """One synthetic copy in a release folder.

    Parameters
    ----------
    path : Path
        Of its file.
    storage : tuple of Stored
        How its columns lie there.
    marks : Marks
        What it says of itself.
    file_format : {"parquet", "csv"}
        Of the file.
    size : int
        Rows.
    stamp : tuple of int
        Size and time of the file when its checksum was compared.

    Notes
    -----
    Privacy: as the copy.
    """

    path: Path
    storage: tuple[Stored, ...]
    marks: Marks
    file_format: FileFormat
    size: int
    stamp: tuple[int, ...]

    def __len__(self) -> int:
        return self.size

    @property
    def columns(self) -> pd.Index[Any]:
        """Names of the columns in order."""
        return pd.Index([stored.name for stored in self.storage])

    def blocks(self, columns: Sequence[str] | None = None, *, rows: int = _BLOCK) -> Iterator[pd.DataFrame]:
        """Read consecutive rows, a block at a time.

        Parameters
        ----------
        columns : sequence of str, optional
            Which, and in what order; all by default.
        rows : int
            Of a block; the last one has fewer.

        Yields
        ------
        DataFrame
            With the types of the whole copy; its index counts the rows of the copy. Categories of running
            numbers are those of the block.

        Raises
        ------
        ReleaseError
            If there is no such column, or the file was changed since the folder was opened.

        Notes
        -----
        Privacy: post-processing of a release.
        """
        asked = self._asked(columns)
        self.check_unchanged()
        start = 0
        reading: dict[str, Any] = {
            "storage": self.storage,
            "asked": asked,
            "file_format": self.file_format,
            "rows": rows,
        }
        for frame in read_blocks(self.path, **reading):
            frame.index = pd.RangeIndex(start, start + len(frame))
            start += len(frame)
            yield frame
        self.check_unchanged()

    def read(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read the whole copy, or some whole columns, with the types and marks that it had.

        Raises
        ------
        ReleaseError
            As :meth:`blocks`.

        Notes
        -----
        Privacy: post-processing of a release.
        """
        asked = self._asked(columns)
        self.check_unchanged()
        reading: dict[str, Any] = {"storage": self.storage, "asked": asked, "file_format": self.file_format}
        copy = read_copy(self.path, **reading, marks=self.marks)
        self.check_unchanged()
        return copy

    def _asked(self, columns: Sequence[str] | None) -> tuple[Stored, ...]:
        """Find columns by their names."""
        if columns is None:
            return self.storage
        known = {stored.name: stored for stored in self.storage}
        for name in columns:
            if name not in known:
                raise ReleaseError(
                    f"the copies have no column {name}",
                    column=str(name),
                    kind="column",
                    remedy=meant(str(name), known, "see columns"),
                )
        return tuple(known[name] for name in columns)

    def check_unchanged(self) -> None:
        """Refuse a file that is no longer the one whose checksum was compared.

        Raises
        ------
        ReleaseError
            If it is gone, or of another size or time.

        Notes
        -----
        Privacy: looks at the file's size and time.
        """
        if stamp_of(self.path) != self.stamp:
            what = f"{self.path.name} was changed after the folder was opened"
            raise ReleaseError(what, kind="folder", remedy="open the folder again")


def stamp_of(path: Path) -> tuple[int, ...]:
    """Size and times of a file, by which a change is seen; empty where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ino
