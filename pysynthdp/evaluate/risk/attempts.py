"""A list of what was tried on a source, kept by whoever evaluates: one line an evaluation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.errors import FitError
from pysynthdp.evaluate.internal import INTERNAL, internal_path

__all__ = ["logged_attempt"]


def logged_attempt(folder: str | Path, table: pd.DataFrame, what: Mapping[str, Any]) -> int:
    """Add a line to ``INTERNAL_attempts.jsonl`` and count those on the same table.

    Parameters
    ----------
    folder : path
        An existing folder of the agency's own, never that of a release.
    table : DataFrame
        The confidential table, which a line names by a digest.
    what : mapping
        What is tried, as plain values: settings, no measure.

    Returns
    -------
    int
        Evaluations of this table so far, with this one.

    Raises
    ------
    FitError
        When the folder goes out with a release, or the list cannot be read.

    Notes
    -----
    Privacy: reads all rows for the digest; the list is INTERNAL, as a digest tells whoever has a table
    whether it is this one.
    """
    path = internal_path(folder, "attempts", ".jsonl")
    source = _digest(table)
    before = _lines(path)
    line = {
        "classification": INTERNAL,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "source": source,
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**line, **what}, ensure_ascii=False) + "\n")
    return 1 + len([each for each in before if each.get("source") == source])


def _lines(path: Path) -> list[dict[str, Any]]:
    """Read the list; empty where there is none."""
    if not path.exists():
        return []
    try:
        return [dict(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except ValueError as problem:
        what = f"{path} is no list of attempts"
        raise FitError(what, kind="file", remedy="move it away, or choose another folder") from problem


def _digest(table: pd.DataFrame) -> str:
    """Name a table by its columns and cells."""
    found = hashlib.sha256("\x1f".join(map(str, table.columns)).encode())
    for name in table.columns:
        column = table[name]
        plain = column.astype(str) if column.dtype == object else column
        found.update(pd.util.hash_pandas_object(plain, index=False).to_numpy().tobytes())
    return found.hexdigest()[:32]
