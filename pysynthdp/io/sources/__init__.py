"""Tables outside memory, as data frames whose columns lie on disk: one file a kind of source."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from pysynthdp.base.scratch import Scratch
from pysynthdp.io.csv.form import Form
from pysynthdp.io.csv.shelf import Shelf
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.sources.mapped import MappedRows
from pysynthdp.io.sources.parquet import read_mapped
from pysynthdp.io.tables import shelved_table

__all__ = ["opened_source"]


def opened_source(given: Any, scratch: Scratch, declared: Declared, *, texts: bool) -> Any:
    """Take what names a table as rows of it, their columns on disk; anything else stays as it is.

    Parameters
    ----------
    given : object
        A path, or anything that a table may be.
    scratch : Scratch
        Where columns lie.
    declared : Declared
        What is declared of columns, for a CSV.
    texts : bool
        Whether no cell may decide how another is read, as under a guarantee.

    Raises
    ------
    PlanError, SchemaError
        As :func:`pysynthdp.read_table`, or if the file changed while it was read.

    Notes
    -----
    Privacy: reads real rows.
    """
    if not isinstance(given, str | os.PathLike):
        return given
    reader = partial(read_mapped, scratch=scratch)
    form, shelf = Form(None, None, None, (), None), Shelf(scratch)
    frame = shelved_table(os.fspath(given), form, declared, texts=texts, shelf=shelf, parquet=reader)
    return MappedRows(frame, scratch)
