"""How commands that hold copies against the confidential table take both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["copies_of", "people_of", "table_side"]


def table_side(file: Path, reading: Mapping[str, Any]) -> Any:
    """Read the confidential table as the options say; without options it stays a path.

    Notes
    -----
    Privacy: reads real rows.
    """
    from pysynthdp.synthesizer.table_file import table_of

    asked = {name: value for name, value in reading.items() if value}
    return table_of(file, learns=True, **asked) if asked else file


def people_of(file: Path | None, reading: Mapping[str, Any]) -> Any:
    """Read people who had no part in the copies, as the table is read."""
    return None if file is None else table_side(file, reading)


def copies_of(files: Sequence[Path], table: Path, reading: Mapping[str, Any]) -> Any:
    """Take a release folder, or files of copies: those with the table's ending are read as it is."""
    taken = [
        table_side(file, reading) if file.is_file() and file.suffix == table.suffix else file
        for file in files
    ]
    return taken[0] if len(taken) == 1 else taken
