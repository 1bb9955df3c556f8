"""A Parquet file, read once, column by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from pysynthdp.base.scratch import Scratch
from pysynthdp.io.sources.mapped import mapped_series
from pysynthdp.io.unchanged import Unchanged

__all__ = ["read_mapped"]


def read_mapped(path: Path, texts: bool, *, scratch: Scratch) -> pd.DataFrame:
    """Read every column as pandas would read the whole file, and put it on disk.

    Parameters
    ----------
    path : path
        Of the file.
    texts : bool
        Whether no missing cell may decide the type of a column, as under a guarantee.
    scratch : Scratch
        Where the columns lie.

    Raises
    ------
    SchemaError
        If the file changed while it was read.

    Notes
    -----
    Privacy: reads real rows.
    """
    before = Unchanged.of(path)
    kwds: dict[str, Any] = {"dtype_backend": "numpy_nullable"} if texts else {}
    found = pq.ParquetFile(path, pre_buffer=False).schema_arrow
    index = [name for name in (found.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
    names = [name for name in found.names if name not in index]
    if len(set(names)) < len(names) or not names:
        return pd.read_parquet(path, **kwds)  # refused, as in memory
    columns = {
        name: mapped_series(pd.read_parquet(path, columns=[name], **kwds)[name], scratch) for name in names
    }
    before.check()
    return pd.DataFrame(columns, copy=False)
