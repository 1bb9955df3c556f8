"""Rows of which some columns were written anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from pysynthdp.base.arrays import IntArray
from pysynthdp.base.scratch import Scratch
from pysynthdp.design.rows import Rows

__all__ = ["ReplacedRows"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class ReplacedRows:
    """Rows with other cells in some of their columns.

    Parameters
    ----------
    rows : Rows
        All other columns.
    own : mapping column -> Series
        What stands in the place of theirs: whole columns, with the table's index.
    """

    rows: Rows
    own: Mapping[str, pd.Series[Any]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @property
    def scratch(self) -> Scratch | None:
        """Where arrays that are made of the rows may lie on disk."""
        return getattr(self.rows, "scratch", None)

    @property
    def owner(self) -> IntArray | None:
        """Whose row each is, where units have several."""
        return getattr(self.rows, "owner", None)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return self.rows.columns

    @property
    def dtypes(self) -> Mapping[str, Any]:
        """Type of each column."""
        return {**self.rows.dtypes, **{name: series.dtype for name, series in self.own.items()}}

    def take(self, columns: Sequence[str]) -> pd.DataFrame:
        """Give some columns."""
        return self._replaced(self.rows.take(columns), 0)

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block in row order and merge from left to right."""
        start = 0

        def of_replaced(block: pd.DataFrame) -> T:
            nonlocal start
            found = of_block(self._replaced(block, start))
            start += len(block)
            return found

        return self.rows.fold(of_replaced, merge)

    def _replaced(self, block: pd.DataFrame, start: int) -> pd.DataFrame:
        """Put the own cells into a block that starts at a row."""
        own = {name: series.iloc[start : start + len(block)] for name, series in self.own.items()}
        pieces = {name: own[name].set_axis(block.index) for name in block.columns if name in own}
        return block.assign(**pieces) if pieces else block
