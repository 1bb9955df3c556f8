"""What holds a table, taken for its structure: data frames, with a schema or without, releases, files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Words
from pysynthdp.io.folder.manifest import read_json, read_manifest
from pysynthdp.io.folder.storage import Stored
from pysynthdp.io.structure.facts import Structure, structure_of
from pysynthdp.io.survey import read, reads
from pysynthdp.schema.plain import from_plain

__all__ = ["taken"]


def taken(given: Any, name: str) -> Structure:
    """Say what the structure of a given thing is.

    Raises
    ------
    PlanError
        If it is no table.
    """
    if isinstance(given, str | os.PathLike):
        return _from_path(Path(given))
    if isinstance(given, pd.DataFrame):
        return structure_of(given, None, name=name, stored=False)
    schema = getattr(given, "schema", None)
    if isinstance(getattr(given, "frame", None), pd.DataFrame):
        return structure_of(given.frame, schema, name=name, stored=False)
    copies = getattr(given, "copies", None)
    if not copies:
        what = Words("{name} is neither a table nor a release", name=name)
        raise PlanError(what, kind="table", remedy="give a data frame, a release, or the path of a file")
    first = copies[0]
    frame = first if isinstance(first, pd.DataFrame) else _without_rows(first.storage)
    return structure_of(frame, schema, name=name, stored=False)


def _from_path(path: Path) -> Structure:
    """Take a release folder by its list, or a file by its reader."""
    if path.is_dir():
        storage = tuple(Stored.from_plain(column) for column in read_manifest(path)["columns"])
        schema = from_plain(read_json(path / "schema.json"))
        return structure_of(_without_rows(storage), schema, name=str(path), stored=False)
    table = read(path)
    said = table.schema if reads(path) else None
    return structure_of(table.frame, said, name=str(path), stored=True)


def _without_rows(storage: tuple[Stored, ...]) -> pd.DataFrame:
    """Make a table of the types that copies in files have."""
    return pd.DataFrame({stored.name: pd.Series([], dtype=stored.dtype) for stored in storage})
