"""The copies of a release once more, in the formats of other programs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pysynthdp.base.marks import SERIAL
from pysynthdp.base.remarks import Remark, say
from pysynthdp.io.folder.copy_files import Marks, read_blocks, read_copy, write_copy
from pysynthdp.io.folder.formats import Wishes
from pysynthdp.io.folder.storage import Stored, storage_of
from pysynthdp.io.survey.planned import FilePlan
from pysynthdp.io.survey.to_sas import PROGRAM, format_program
from pysynthdp.io.survey.writing import planned, write_files

__all__ = ["Copies", "Others", "checked_copies", "write_others"]

_SURVEY: Final = ("sav", "dta", "xpt")
_ROWS: Final = 2**14


@dataclass(frozen=True, slots=True)
class Others:
    """Files of the copies for other programs.

    Parameters
    ----------
    files : mapping of str to list of str
        By format.
    fallbacks : list of mapping
        What a format holds otherwise: ``format``, ``column``, ``what``.
    """

    files: Mapping[str, list[str]] = field(default_factory=dict)
    fallbacks: Sequence[Mapping[str, str]] = ()


def checked_copies(parts: Mapping[str, Any], wished: Wishes) -> dict[str, FilePlan] | None:
    """Look whether all formats hold copies that lie in memory; None for copies that are still to be drawn.

    Raises
    ------
    ReleaseError
        If a format cannot hold a column.
    """
    formats = [one for one in wished.others if one in _SURVEY]
    copies = parts["copies"]
    whole = isinstance(copies, tuple) and all(isinstance(copy, pd.DataFrame) for copy in copies)
    if not formats or not whole or not copies:
        return None
    return _planned(copies[0], copies, parts, formats, wished)


def _planned(
    first: pd.DataFrame, copies: Any, parts: Mapping[str, Any], formats: Sequence[str], wished: Wishes
) -> dict[str, FilePlan]:
    """Say what the formats make of copies; levels that are running numbers are texts."""
    texts = {name for name, method in parts["provenance"].methods if method == SERIAL}
    return planned(first, copies, parts["schema"], formats, watermark=wished.watermark, texts=texts)


def write_others(
    parts: Mapping[str, Any],
    folder: Path,
    names: Sequence[str],
    storage: tuple[Stored, ...],
    wished: Wishes,
    plans: dict[str, FilePlan] | None,
) -> Others:
    """Write the copies in the further formats, from the files that are there.

    Parameters
    ----------
    parts : mapping
        Of the release.
    folder : Path
        With the files of the copies.
    names : sequence of str
        Of these files.
    storage : tuple of Stored
        How columns lie in them.
    wished : Wishes
        Formats and mark.
    plans : dict, optional
        What each format makes of the copies, where that is known already.

    Returns
    -------
    Others
        What was written.

    Raises
    ------
    ReleaseError
        If a format cannot hold a column.
    """
    written: dict[str, list[str]] = {}
    copies = Copies(folder, names, storage, wished, parts)
    for name in wished.others:
        if name not in _SURVEY:
            written[name] = [copies.rewritten(at, name) for at in range(len(names))]
    formats = [one for one in wished.others if one in _SURVEY]
    if not formats:
        return Others(written)
    plans = plans or _planned(copies[0], (copies[at] for at in range(len(names))), parts, formats, wished)
    for at in range(len(names)):
        how: dict[str, Any] = {"number": at + 1 if wished.watermark else None, "title": copies.title(at)}
        for file in write_files(plans, copies[at], folder, Path(names[at]).stem, **how):
            written.setdefault(Path(file).suffix[1:], []).append(file)
    if "xpt" in plans:
        (folder / PROGRAM).write_text(format_program(plans["xpt"], written["xpt"]), encoding="utf-8")
    _warn(plans)
    return Others(written, list(_plain(plans)))


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies in the files that are there.

    Parameters
    ----------
    folder : Path
        Of the release.
    names : sequence of str
        Of the files.
    storage : tuple of Stored
        How columns lie in them.
    wished : Wishes
        Formats and mark.
    parts : mapping
        Of the release.
    """

    folder: Path
    names: Sequence[str]
    storage: tuple[Stored, ...]
    wished: Wishes
    parts: Mapping[str, Any]

    def marks(self, at: int) -> Marks:
        """Give what one says of itself."""
        return Marks(self.parts["privacy"].to_dict(), at + 1, self.parts["tags"].place_of(at + 1))

    def title(self, at: int) -> str:
        """Label of the file of one."""
        return f"Synthetic data, copy {at + 1} of {len(self.names)}"

    def __getitem__(self, at: int) -> pd.DataFrame:
        path, main = self.folder / self.names[at], self.wished.main
        return read_copy(path, storage=self.storage, marks=self.marks(at), file_format=main)

    def blocks(self) -> Iterator[pd.DataFrame]:
        """Read all of them, one after the other, a block at a time."""
        how: dict[str, Any] = {"file_format": self.wished.main, "rows": _ROWS}
        for name in self.names:
            yield from read_blocks(self.folder / name, storage=self.storage, asked=self.storage, **how)

    def rewritten(self, at: int, file_format: Any) -> str:
        """Write one as Parquet or CSV, from the other."""
        path = self.folder / self.names[at]
        how: dict[str, Any] = {"file_format": self.wished.main, "rows": _ROWS}
        blocks = read_blocks(path, storage=self.storage, asked=self.storage, **how)
        first = next(blocks)
        changing = _changing(self.parts)
        storage = storage_of(first, self.parts["schema"], dated=file_format == "csv", changing=changing)
        target = path.with_suffix(f".{file_format}")
        marked: dict[str, Any] = {"marks": self.marks(at), "watermark": self.wished.watermark}
        write_copy(chain([first], blocks), target, storage=storage, file_format=file_format, **marked)
        return target.name


def _changing(parts: Mapping[str, Any]) -> Collection[str]:
    """Name columns whose categories differ from block to block."""
    return {name for name, method in parts["provenance"].methods if method == SERIAL}


def _plain(plans: Mapping[str, FilePlan]) -> Iterator[dict[str, str]]:
    """Give what formats hold otherwise as plain values."""
    for name, plan in plans.items():
        for one in plan.fallbacks:
            yield {"format": name, "column": one.column, "what": one.what}


def _warn(plans: Mapping[str, FilePlan]) -> None:
    """Warn of what is lost."""
    remedy = "README.txt and release.json list it; other formats hold it"
    say(
        Remark(one.column, f"format {name}", f"in .{name} files it {one.what}", remedy)
        for name, plan in plans.items()
        for one in plan.fallbacks
        if one.lossy
    )
