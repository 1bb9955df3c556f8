"""The table of a command or a job, read by what is declared of it, or refused as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from pysynthdp.base.errors import PlanError, PrivacyError, SchemaError
from pysynthdp.design.rows import Rows
from pysynthdp.io.csv.form import Form
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.sql.reading import SQLTable
from pysynthdp.io.survey import read_described, reads
from pysynthdp.io.tables import read_table
from pysynthdp.synthesizer.opening import opened_file

__all__ = ["count_rows", "rows_of_file", "table_of"]


def count_rows(table: Any) -> int:
    """Count the rows of a table in memory or elsewhere."""
    return int(table.n_rows) if hasattr(table, "n_rows") else len(table)


def table_of(file: Path, *, learns: bool, **asked: Any) -> Any:
    """Read a table; a file without rows, or in which they cannot be told apart, is at fault itself.

    Notes
    -----
    Privacy: reads real rows.
    """
    if reads(file):
        return _labelled(file, learns=learns, **asked)
    return _whole(file, lambda: read_table(file, texts=not learns, **asked), learns=learns)


def rows_of_file(
    file: Path | SQLTable,
    declared: Mapping[str, Any],
    form: Mapping[str, Any],
    *,
    learns: bool,
    drop: Collection[str],
    disk: Mapping[str, Any],
) -> Any:
    """Read a table onto disk; one with labels into memory.

    Parameters
    ----------
    file : path or SQLTable
        Where it is.
    declared : mapping
        ``schema``, ``levels``, ``missing`` and ``bounds``, where they are.
    form : mapping
        How a CSV is written.
    learns : bool
        Whether anything may be learned from rows.
    drop : collection of str
        Columns that are not needed.
    disk : mapping
        ``scratch`` and ``scratch_encrypt``.

    Notes
    -----
    Privacy: reads real rows.
    """
    if isinstance(file, Path) and reads(file):
        return table_of(file, learns=learns, **declared, **form)
    known, scratch, encrypt = Declared(**declared), disk["scratch"], bool(disk["scratch_encrypt"])

    def read() -> Rows:
        return opened_file(
            file, known, form=Form(**form), learns=learns, drop=drop, scratch=scratch, encrypt=encrypt
        )

    return _whole(file, read, learns=learns)


def _whole(file: Path | SQLTable, read: Callable[[], Any], *, learns: bool) -> Any:
    """Read; what is wrong with a file, in which nobody can tell the rows apart, is no matter of privacy."""
    try:
        table = read()
    except PrivacyError as error:
        raise SchemaError(error.what, column=error.column, kind=error.kind, remedy=error.remedy) from error
    if learns and not count_rows(table):
        raise SchemaError(f"{file} has no rows behind its head", kind="empty", remedy="export it anew")
    return table


def _labelled(file: Path, *, learns: bool, **asked: Any) -> Any:
    """Read a labelled file; how a CSV is written says nothing of it."""
    of_csv = [name for name in ("sep", "decimal", "text", "day_first") if asked.get(name)]
    if of_csv:
        mend = "leave it out, of the plan too"
        raise PlanError(f"{of_csv[0]} is for CSV files, and {file} is none", kind="setting", remedy=mend)
    return read_described(file, asked.get("schema"), public=not learns, encoding=asked.get("encoding"))
