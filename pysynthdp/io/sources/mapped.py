"""Columns on disk: the arrays of a pandas column, written to scratch and mapped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.scratch import Scratch

__all__ = ["mapped_series"]


def mapped_series(series: pd.Series[Any], scratch: Scratch) -> pd.Series[Any]:
    """Give a column with the same cells and type, its arrays on disk where the type has plain ones."""
    if not isinstance(series.dtype, np.dtype) or series.dtype.kind not in "biufM":
        return series
    file = scratch.file()
    file.write(series.to_numpy())
    return pd.Series(file.array(), index=series.index, name=series.name, copy=False)
