"""Columns on disk: the arrays of a pandas column, written to scratch and mapped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from pysynthdp.base.scratch import Scratch

__all__ = ["MappedRows", "mapped_series"]

BLOCK = 2**18  # rows read at a time

T = TypeVar("T")


def mapped_series(series: pd.Series[Any], scratch: Scratch) -> pd.Series[Any]:
    """Give a column with the same cells and type, its arrays on disk where the type has plain ones."""
    if not isinstance(series.dtype, np.dtype) or series.dtype.kind not in "biufM":
        return series
    file = scratch.file()
    file.write(series.to_numpy())
    return pd.Series(file.array(), index=series.index, name=series.name, copy=False)


@dataclass(frozen=True, slots=True, repr=False)
class MappedRows:
    """A data frame whose columns lie on disk, as :class:`~pysynthdp.design.rows.Rows`.

    Parameters
    ----------
    frame : DataFrame
        Its columns are mapped arrays.
    scratch : Scratch
        Where what is made of them may lie.
    """

    frame: pd.DataFrame
    scratch: Scratch

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self.frame.columns)

    @property
    def dtypes(self) -> Mapping[str, Any]:
        """Type of each column."""
        return dict(zip(self.columns, self.frame.dtypes, strict=True))

    def take(self, columns: Sequence[str]) -> pd.DataFrame:
        """Give some columns; nothing is read before it is looked at."""
        if len(columns) == 1:
            return self.frame[columns[0]].to_frame()
        return self.frame[list(columns)] if columns else pd.DataFrame(index=self.frame.index)

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block in row order and merge from left to right."""
        starts = range(0, max(self.n_rows, 1), BLOCK)
        return reduce(merge, (of_block(self.frame.iloc[start : start + BLOCK]) for start in starts))
