"""A CSV file, read once: its texts go to disk, then each column is typed by all its rows, as in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.scratch import Scratch
from pysynthdp.io.csv.form import Form
from pysynthdp.io.csv.shelf import Shelf
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.tables import shelved_table
from pysynthdp.schema import Schema

__all__ = ["read_mapped_csv"]


def read_mapped_csv(
    path: str | Path,
    scratch: Scratch,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    text: Sequence[str] = (),
    day_first: bool | None = None,
    schema: Schema | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    missing: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Any] | None = None,
    texts: bool = False,
) -> pd.DataFrame:
    """Read a CSV file of any length: the table of :func:`pysynthdp.read_table`, with its columns on disk.

    Parameters
    ----------
    path : path
        Of the file.
    scratch : Scratch
        Where its texts and columns lie; about three times the file, unpacked.
    sep, decimal, encoding, text, day_first, schema, levels, missing, bounds, texts
        As of :func:`pysynthdp.read_table`.

    Notes
    -----
    Privacy: reads real rows. Cells, types, errors and warnings are those of :func:`pysynthdp.read_table`.
    """
    form = Form(sep, decimal, encoding, text, day_first)
    declared = Declared(text, levels, missing, bounds, schema)
    return shelved_table(path, form, declared, texts=texts, shelf=Shelf(scratch))
