"""Rows of which several are of one unit, such as a household or a person in a panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.scratch import Scratch
from pysynthdp.design.rows import Rows

__all__ = ["OwnedRows"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class OwnedRows:
    """Rows that say whose each is, so that what rests on few counts units.

    Parameters
    ----------
    rows : Rows
        All cells.
    owner : array of int (rows,)
        The unit of each row.
    """

    rows: Rows
    owner: IntArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @property
    def scratch(self) -> Scratch | None:
        """Where arrays that are made of the rows may lie on disk."""
        return getattr(self.rows, "scratch", None)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return self.rows.columns

    @property
    def dtypes(self) -> Mapping[str, Any]:
        """Type of each column."""
        return self.rows.dtypes

    def take(self, columns: Sequence[str]) -> pd.DataFrame:
        """Give some columns."""
        return self.rows.take(columns)

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block in row order and merge from left to right."""
        return self.rows.fold(of_block, merge)
