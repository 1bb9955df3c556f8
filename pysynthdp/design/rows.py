"""Where the rows lie: one function over all blocks is the whole interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import pandas as pd

__all__ = ["Rows"]

T = TypeVar("T")


class Rows(Protocol):
    """A confidential table that is read block by block."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        ...

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block, in row order, and merge the results from left to right."""
        ...
