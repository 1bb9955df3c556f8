"""Pieces of a table that lie in other processes, and what the curator asks of whoever keeps them.

A backend (Dask is one, in ``curator/rows/``) runs functions where the pieces lie and merges what they give
where it arises, in the order of the rows; the process that fits is handed the last result alone, a sum
over all rows. Scheduling, repeating after a loss and moving are the backend's own business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
import pandas as pd

from pysynthdp.base.errors import FitError, PysynthdpError

__all__ = ["Lost", "Pieces", "SpreadRows", "added", "done", "refused"]

T = TypeVar("T")


class Pieces(ABC):
    """Handles of the pieces of a table, in the order of its rows.

    Notes
    -----
    Privacy: functions read real rows where these lie. What :meth:`total` and :meth:`one` give arrives in the
    process that fits, so it must be a sum over all rows or a fact that is learned from them.
    """

    @property
    @abstractmethod
    def starts(self) -> tuple[int, ...]:
        """Number of the first row of each piece."""

    @abstractmethod
    def measured(self, length: Callable[[Any], int]) -> tuple[Self, int]:
        """Give the pieces with their first rows, and the number of rows of all."""

    @abstractmethod
    def each(
        self, function: Callable[..., Any], *args: Any, along: Pieces | None = None, beside: Any = None
    ) -> Self:
        """Make another piece of each: ``function(piece, start, *args)``.

        The function is given besides the piece in the same place of ``along``, and what the handle ``beside``
        stands for, where there are any.
        """

    @abstractmethod
    def running(self, function: Callable[..., Any], state: Any, *args: Any) -> tuple[Self, Any]:
        """Walk through the pieces: ``function(state, piece, *args)`` gives the next state and a piece.

        Beside the pieces comes a handle of the last state.
        """

    @abstractmethod
    def gathered(self, function: Callable[..., Any], *args: Any) -> Any:
        """Give a handle of what ``function(pieces, *args)`` makes of all pieces, met in one process."""

    @abstractmethod
    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Add ``function(piece, start, *args)`` up in order: tuples of arrays, or of such tuples."""

    @abstractmethod
    def one(self, function: Callable[..., T], handle: Any, *args: Any) -> T:
        """Give ``function(what the handle stands for, *args)``."""


class SpreadRows(ABC):
    """Rows in pieces elsewhere: :class:`~pysynthdp.design.rows.Rows` of which no row is handed out."""

    @property
    @abstractmethod
    def pieces(self) -> Pieces:
        """Data frames, one below the other."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""

    @property
    @abstractmethod
    def dtypes(self) -> Mapping[str, Any]:
        """Type of each whole column."""

    def take(self, columns: Sequence[str]) -> pd.DataFrame:
        """Give the index, which is of no meaning here; columns stay where they are."""
        if columns:
            refused(columns[0])
        return pd.DataFrame(index=pd.RangeIndex(self.n_rows))

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:  # noqa: ARG002
        """Refuse: a function that keeps what it sees would keep it elsewhere."""
        refused(self.columns[0])


def refused(name: str) -> NoReturn:
    """Refuse what needs a whole column in one process.

    Raises
    ------
    FitError
        Names the column and the way out.
    """
    raise FitError(
        f"{name}: what is asked of it needs the whole column in one place, and this table lies in pieces",
        column=name,
        kind="pieces",
        remedy="write the table to Parquet and fit that, or choose another method for the column",
    )


class Lost:
    """What became of a piece whose function failed: an error that quotes no value, handed on in its place.

    A backend logs errors that it meets, with what the function was given; so it meets none.
    """

    def __init__(self, error: PysynthdpError) -> None:
        self.error = error


def done(function: Callable[..., Any], piece: Any, *args: Any) -> Any:
    """Apply a function to a piece; what it raises is given back, without texts that may quote a cell."""
    for given in (piece, *args):
        if isinstance(given, Lost):
            return given
    try:
        return function(piece, *args)
    except PysynthdpError as error:
        return Lost(error)
    except MemoryError:
        raise  # which is the backend's business
    except Exception as problem:  # noqa: BLE001 -- its text may quote a cell
        name = type(problem).__name__
        return Lost(
            FitError(f"a piece of the table could not be worked on ({name})", kind="pieces", remedy="ask us")
        )


def added(left: Any, right: Any) -> Any:
    """Add two tuples of arrays, or of such tuples; whole numbers exactly."""
    if isinstance(left, tuple):
        return tuple(added(a, b) for a, b in zip(left, right, strict=True))
    return np.add(left, right)
