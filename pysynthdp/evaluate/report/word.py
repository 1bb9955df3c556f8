"""A report as a .docx file, for offices whose boards edit what they sign; needs python-docx."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pysynthdp.base.display import Table, number
from pysynthdp.base.errors import PlanError
from pysynthdp.evaluate.report.drawing import drawn_png
from pysynthdp.evaluate.report.parts import Blank, Block, Grid, Mark, Picture, Section, shown_rows

__all__ = ["write_docx"]


def write_docx(
    path: Path, title: str, mark: Mark, lead: Sequence[Block], sections: Sequence[Section]
) -> None:
    """Write the report; blanks are empty lines under what belongs there.

    Raises
    ------
    PlanError
        Without python-docx.
    """
    try:
        from docx import Document
    except ImportError as error:
        raise PlanError(
            "a .docx file needs the package python-docx",
            kind="package",
            remedy="pip install 'pysynthdp[docx]', or take html",
        ) from error
    document = Document()
    document.core_properties.title, document.core_properties.category = title, mark
    document.add_paragraph(mark)
    document.add_heading(title, level=0)
    for block in lead:
        _add(document, block)
    for place, part in enumerate(sections, 1):
        document.add_heading(f"{place}. {part.head}", level=1)
        for block in part.blocks:
            _add(document, block)
    document.save(str(path))


def _add(document: Any, block: Block) -> None:
    """Add one block."""
    if isinstance(block, Table):
        _add_table(document, block)
    elif isinstance(block, Grid):
        _add_table(document, shown_rows(block)[0])
    elif isinstance(block, Picture):
        drawn = drawn_png(block)
        if drawn is not None:
            document.add_picture(io.BytesIO(drawn), width=5_500_000)  # in units of 1/914,400 inch
        document.add_paragraph(block.title, style="Caption")
    elif isinstance(block, Blank):
        document.add_paragraph(block.label).runs[0].bold = True
        document.add_paragraph(block.hint)
        document.add_paragraph(block.given or "\n\n")
    else:
        document.add_paragraph(block)


def _add_table(document: Any, table: Table) -> None:
    """Add a table with its facts and notes."""
    document.add_paragraph(table.title).runs[0].bold = True
    for label, value in table.facts:
        document.add_paragraph(f"{label}: {number(value)}")
    if table.rows:
        grid = document.add_table(rows=1, cols=len(table.columns), style="Light Grid")
        for cell, head in zip(grid.rows[0].cells, table.columns, strict=True):
            cell.text = head
        for row in table.rows:
            for cell, value in zip(grid.add_row().cells, row, strict=True):
                cell.text = number(value)
    for note in table.notes:
        document.add_paragraph(note, style="List Bullet")
