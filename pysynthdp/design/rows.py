"""Where the rows lie: the whole of what the package asks of a confidential table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import pandas as pd

__all__ = ["Rows"]

T = TypeVar("T")


@runtime_checkable
class Rows(Protocol):
    """A confidential table, wherever its rows lie: in one data frame, in several, in a file.

    A class with these five is a backend: an object of it goes wherever a table goes, to ``fit``, ``plan`` or
    ``look``. It need not inherit from here.

    Notes
    -----
    Privacy: passes real rows on; nobody but the curator reads them.

    Every backend must

    - have the same rows, in the same order, however often it is read: a fit goes through them several
      times;
    - give columns that are the same cell by cell, types too, by ``take`` and by ``fold``; types are those
      that pandas has for the whole column, so that categories are the same in every block, and none is
      sparse;
    - call the function of ``fold`` at least once: a table without rows is one block without rows, which has
      all columns;
    - give blocks that nobody else changes; what is done with a block never changes it;
    - raise its own errors, which quote no value of a record.

    A backend may have a sixth, ``scratch`` (:class:`~pysynthdp.base.scratch.Scratch`): where the parts of its
    columns, which are kept during a fit, lie on disk; without it they lie in memory.

    How many blocks there are changes no result to the last bit: what the package makes of a block are the
    parts of its columns, which are put together again before anything is summed.

    Examples
    --------
    >>> class Nothing:
    ...     n_rows, columns, dtypes = 0, (), {}
    ...     def take(self, columns):
    ...         return pd.DataFrame(columns=list(columns))
    ...     def fold(self, of_block, merge):
    ...         return of_block(self.take(()))
    >>> isinstance(Nothing(), Rows)
    True
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order: texts, each once."""
        ...

    @property
    def dtypes(self) -> Mapping[str, Any]:
        """Type of each whole column, without reading a cell."""
        ...

    def take(self, columns: Sequence[str]) -> pd.DataFrame:
        """Give some whole columns as one data frame of its own: all rows in order, with the table's index.

        Without a column it tells the index alone.
        """
        ...

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block, in row order, and merge the results from left to right."""
        ...
