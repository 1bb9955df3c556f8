"""Pieces of a table that lie in other processes, and what the curator asks of whoever keeps them.

A backend (Dask is one, in ``curator/rows/``) runs functions where the pieces lie and merges what they give
where it arises, in the order of the rows; the process that fits is handed the last result alone, a sum
over all rows. Scheduling, repeating after a loss and moving are the backend's own business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, Self, TypeVar

import numpy as np
import pandas as pd

from pysynthdp.base.errors import FitError, PysynthdpError, SchemaError
from pysynthdp.base.words import Words
from pysynthdp.design.rows import Rows

__all__ = [
    "LEAST_BLOCK",
    "Lost",
    "Pieces",
    "SpreadRows",
    "added",
    "below",
    "check_length",
    "check_type",
    "done",
    "of_column",
    "refused",
]

LEAST_BLOCK: Final = 1_000  # rows: fewer never leave the place where they lie
_UNKNOWN: Final = "__UNKNOWN_CATEGORIES__"  # Dask's sign

T = TypeVar("T")


class Pieces(ABC):
    """Handles of the pieces of a table, in the order of its rows.

    Notes
    -----
    Privacy: functions read real rows where these lie. What :meth:`folded` and :meth:`one` give arrives in the
    process that fits, so it must be a sum over all rows, a fact that is learned from them, or, without a
    guarantee, a systematic sample of at least :data:`LEAST_BLOCK` of them.
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
    def folded(self, function: Callable[..., T], merge: Callable[[T, T], T], *args: Any) -> T:
        """Merge ``function(piece, start, *args)`` in order; neighbours first."""

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Add ``function(piece, start, *args)`` up in order: tuples of arrays, or of such tuples."""
        return self.folded(function, added, *args)

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

    @property
    def index_name(self) -> str | None:
        """Name of what stands beside the columns, and goes into no copy."""
        return None

    @abstractmethod
    def rewritten(self, function: Callable[..., pd.Series[Any]], told: Mapping[str, Any]) -> Self:
        """Give rows with ``function(cells, told[column])`` in the place of some columns."""

    def of_column(self, name: str, function: Callable[..., T], *args: Any, **named: Any) -> T:
        """Give ``function(cells, *args, **named)``: one column meets in one of the places where rows lie.

        Raises
        ------
        SchemaError
            If the column has another type in a piece than the table says.
        """
        check_type(name, self.dtypes[name])
        cells = self.pieces.each(_cells, name, self.dtypes[name])
        found: T = self.pieces.one(_applied, cells.gathered(_column, name), function, args, named)
        return found

    def take(self, columns: Sequence[str]) -> pd.DataFrame:
        """Give the index, of which the name alone has a meaning here; columns stay where they are."""
        if columns:
            refused(columns[0])
        return pd.DataFrame(index=pd.RangeIndex(self.n_rows, name=self.index_name))

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:  # noqa: ARG002
        """Refuse: a function that keeps what it sees would keep it elsewhere."""
        refused(self.columns[0])


def of_column(rows: Rows, name: str, function: Callable[..., T], *args: Any, **named: Any) -> T:
    """Give ``function(cells, *args, **named)`` of a whole column, where its rows lie.

    Notes
    -----
    Privacy: reads real values. Of a table in pieces the column meets in one place among these, and what the
    function gives arrives here: it must be a fact that is learned from the column.
    """
    if isinstance(rows, SpreadRows):
        return rows.of_column(name, function, *args, **named)
    return function(rows.take([name])[name], *args, **named)


def check_length(rows: Rows) -> None:
    """Refuse to learn from a table in pieces that is shorter than any block of rows that may move.

    Raises
    ------
    FitError
        Names the way out.
    """
    if isinstance(rows, SpreadRows) and rows.n_rows < LEAST_BLOCK:
        raise FitError(
            f"a table in pieces has fewer than {LEAST_BLOCK:,} rows, and no fewer may move between processes",
            kind="pieces",
            remedy="fit it in memory: compute() makes a data frame of it",
        )


def check_type(name: str, declared: Any, found: Any = None) -> None:
    """Refuse a column that has another type in a piece, or categories that only the pieces know.

    Raises
    ------
    SchemaError
        Names the column and the way out.
    """
    if isinstance(declared, pd.CategoricalDtype) and _UNKNOWN in declared.categories:
        raise SchemaError(
            Words("{name} has categories that the table as a whole does not know", name=name),
            column=name,
            kind="table",
            remedy="name them (frame.categorize() of Dask does), or read the column as text",
        )
    if found is not None and found != declared:
        raise SchemaError(
            Words("{name} has another type in a partition than the table says", name=name),
            column=name,
            kind="table",
            remedy="give all partitions one type, as frame.astype does",
        )


def _cells(piece: pd.DataFrame, start: int, name: str, declared: Any) -> pd.Series[Any] | tuple[Any, Any]:
    """Take a column of a piece; of texts each once, and which row has which."""
    del start
    cells = piece[name]
    check_type(name, declared, cells.dtype)
    if cells.dtype == np.dtype(object) and pd.api.types.infer_dtype(cells, skipna=True) == "string":
        codes, texts = pd.factorize(cells)
        return codes.astype(np.int32), np.append(np.asarray(texts, dtype=object), np.nan)
    return cells


def _column(pieces: Sequence[Any], name: str) -> pd.Series[Any]:
    """Put the cells of all pieces together."""
    cells = [pd.Series(each[1][each[0]]) if isinstance(each, tuple) else each for each in pieces]
    whole: pd.Series[Any] = pd.concat(cells, ignore_index=True)
    whole.name = name
    return whole


def _applied(cells: pd.Series[Any], function: Callable[..., T], args: Any, named: Any) -> T:
    """Apply a function to a column."""
    return function(cells, *args, **named)


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


def below(upper: Any, lower: Any) -> Any:
    """Put arrays, or those of two mappings, one below the other."""
    if isinstance(upper, Mapping):
        return {key: below(values, lower[key]) for key, values in upper.items()}
    return np.concatenate([upper, lower])
