"""A Parquet file, read once, column by column."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from pysynthdp.base.scratch import Scratch
from pysynthdp.io.sources.mapped import mapped_series

__all__ = ["read_mapped"]


def read_mapped(path: Path, scratch: Scratch) -> pd.DataFrame:
    """Read every column as pandas would read the whole file, and map it."""
    columns = {}
    for name in pq.ParquetFile(path, pre_buffer=False).schema_arrow.names:
        columns[name] = mapped_series(pd.read_parquet(path, columns=[name])[name], scratch)
    return pd.DataFrame(columns, copy=False)
