"""Rows of a pandas data frame in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import pandas as pd

from pysynthdp.errors import SchemaError

__all__ = ["FrameRows"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class FrameRows:
    """Slices of a frame; without ``block_rows`` the frame is one block and nothing is copied.

    Parameters
    ----------
    frame : DataFrame
        The table; column names must be distinct strings.
    block_rows : int, optional
        Rows a block.

    Raises
    ------
    SchemaError
        If two columns share a name, or a name is not a string.
    """

    frame: pd.DataFrame
    block_rows: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.frame, pd.DataFrame):
            raise SchemaError(
                f"a table must be a pandas DataFrame, not {type(self.frame).__name__}; convert it"
            )
        size = self.block_rows
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise SchemaError("block_rows must be a whole number of at least 1, or None for one block")
        if self.frame.columns.nlevels > 1:
            raise SchemaError("the columns have several levels of names; join them to one text a column")
        names = list(self.frame.columns)
        for position, name in enumerate(names):
            if not isinstance(name, str):
                raise SchemaError(
                    f"column {position} has a name that is not text; rename it with df.columns = [...]"
                )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise SchemaError(f"two columns are called {twice!r}; rename one")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self.frame.columns)

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block in row order and merge from left to right."""
        size = self.block_rows or max(self.n_rows, 1)
        blocks = (self.frame.iloc[start : start + size] for start in range(0, max(self.n_rows, 1), size))
        return reduce(merge, (of_block(block) for block in blocks))
