"""A report that is ready: shown in a notebook, written as HTML, JSON, CSV tables or .docx."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import pandas as pd

from pysynthdp.base.display import Cell, Printable, Table
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Setting, Words
from pysynthdp.evaluate.internal import INTERNAL, internal_frame, internal_path
from pysynthdp.evaluate.report.parts import Block, Grid, Mark, Section, written
from pysynthdp.evaluate.report.plain import to_json
from pysynthdp.evaluate.report.web import to_html
from pysynthdp.evaluate.report.word import write_docx

__all__ = ["Document", "Format"]

Format = Literal["html", "json", "csv", "docx"]
_USUAL: Final[tuple[Format, ...]] = ("html", "json", "csv")


@dataclass(frozen=True, slots=True, repr=False)
class Document(Printable):
    """A board report or a public note.

    Parameters
    ----------
    name : str
        Beginning of its files' names.
    title : str
        On top.
    mark : {"INTERNAL", "public"}
        Who may read it.
    lead : tuple of blocks
        Page one.
    sections : tuple of Section
        All else.

    Notes
    -----
    Privacy: a board report shows numbers of the confidential table; a public note only those of the copies.
    """

    name: str
    title: str
    mark: Mark
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]

    def tables(self) -> dict[str, pd.DataFrame]:
        """All frames of the report by name, whole."""
        blocks = (block for part in self.sections for block in part.blocks)
        found = {block.name: block.frame for block in (*self.lead, *blocks) if isinstance(block, Grid)}
        return {name: internal_frame(frame) for name, frame in found.items()} if self._internal else found

    def to_html(self) -> str:
        """Write one self-contained page."""
        return to_html(self.title, self.mark, self.lead, self.sections)

    def to_json(self) -> str:
        """Write plain values."""
        return to_json(self.title, self.mark, self.lead, self.sections)

    def save(self, folder: str | Path, *, formats: Sequence[Format] = _USUAL) -> list[Path]:
        """Write the report into a folder: one page, one JSON file, one CSV file a table.

        Parameters
        ----------
        folder : path
            An existing folder. A board report is refused by the folder of a release.
        formats : sequence of {"html", "json", "csv", "docx"}
            ``"docx"`` needs python-docx (``pip install 'pysynthdp[docx]'``).

        Returns
        -------
        list of Path
            What was written; the names of a board report begin with INTERNAL.

        Raises
        ------
        FitError
            When there is no such folder, or its files go out with a release and the report is INTERNAL.
        PlanError
            For a format that is not listed, or without the package that it needs.

        Notes
        -----
        Privacy: a board report holds numbers of the confidential table.
        """
        unknown = [form for form in formats if form not in get_args(Format)]
        if unknown or isinstance(formats, str):
            mend = Words("write {formats}", formats=Setting("formats", [*_USUAL]))
            raise PlanError("formats must list some of html, json, csv, docx", kind="setting", remedy=mend)
        paths: list[Path] = []
        for form in formats:
            paths += self._written(Path(folder), form)
        return paths

    def _written(self, folder: Path, form: Format) -> Iterator[Path]:
        """Write one format."""
        if form == "csv":
            for name, frame in self.tables().items():
                path = self._path(folder, f"{self.name}_{name}", ".csv")
                written(frame).to_csv(path, index=False, lineterminator="\n")
                yield path
            return
        path = self._path(folder, self.name, f".{form}")
        if form == "docx":
            write_docx(path, self.title, self.mark, self.lead, self.sections)
        else:
            path.write_text(self.to_html() if form == "html" else self.to_json(), encoding="utf-8")
        yield path

    def _path(self, folder: Path, name: str, suffix: str) -> Path:
        """Name a file."""
        if self._internal:
            return internal_path(folder, name, suffix)
        if not folder.is_dir():
            raise PlanError(f"{folder} is no folder; make it first, or choose another", kind="setting")
        return folder / f"{name}{suffix}"

    @property
    def _internal(self) -> bool:
        """Whether it must stay with the agency."""
        return self.mark == INTERNAL

    def to_table(self) -> Table:
        """Build page one: what it says, its first table, and where the rest is."""
        texts = tuple(block for block in self.lead if isinstance(block, str))
        first = next((block for block in self.lead if isinstance(block, Table)), Table(""))
        title = f"{self.mark}: {self.title}" if self._internal else self.title
        facts: tuple[tuple[str, Cell], ...] = (("sections", len(self.sections)),)
        return Table(title, first.columns, first.rows, facts, texts)

    def _repr_html_(self) -> str:
        return self.to_table().to_html()
