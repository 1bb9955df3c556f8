"""Tables outside memory, as data frames whose columns lie on disk: one file a kind of source."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import cast

import pandas as pd

from pysynthdp.base.scratch import Scratch
from pysynthdp.io.csv.form import Form
from pysynthdp.io.csv.shelf import Shelf
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.sources.parquet import read_shelved
from pysynthdp.io.sources.sealed import SealedRows, sealed_rows
from pysynthdp.io.sql.reading import SQLTable
from pysynthdp.io.tables import shelved_table

__all__ = ["read_on_disk"]


def read_on_disk(
    path: str | Path | SQLTable,
    scratch: Scratch,
    *,
    form: Form | None = None,
    declared: Declared | None = None,
    texts: bool = False,
    drop: Collection[str] = (),
) -> pd.DataFrame | SealedRows:
    """Read a file of any length: the table of :func:`pysynthdp.read_table`, with its columns on disk.

    Parameters
    ----------
    path : path or SQLTable
        Of a CSV or Parquet file, or of a folder of the latter; a table of a database, or the text that names
        one.
    scratch : Scratch
        Where columns lie, and texts of a CSV while they are typed: about three times the file, unpacked. With
        a key no cell is there in the clear; a CSV is in memory as a whole then.
    form, declared : optional
        What is declared of a CSV, and of its columns.
    texts : bool
        Whether no cell may decide how another is read, as under a guarantee.

    drop : collection of str
        Columns of Parquet that are not read; missing in the table.

    Raises
    ------
    PlanError, SchemaError, PrivacyError
        As :func:`pysynthdp.read_table`, or if the file changed while it was read or the database was lost.

    Notes
    -----
    Privacy: reads real rows. Cells, types, errors and warnings are those of :func:`pysynthdp.read_table`.
    """
    known, reader = declared or Declared(), partial(read_shelved, scratch=scratch, drop=frozenset(drop))
    shelf = Shelf(scratch) if scratch.key is None else Shelf()
    found = shelved_table(path, form or Form(), known, texts=texts, shelf=shelf, parquet=reader)
    if scratch.key is not None and isinstance(found, pd.DataFrame):
        return sealed_rows(found, scratch)
    return cast("pd.DataFrame | SealedRows", found)
