"""A table as rows: those of a pandas data frame in memory, or an object that has rows already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final, TypeVar, cast

import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.scratch import Scratch
from pysynthdp.base.words import TABLE, Said, Words
from pysynthdp.curator.rows.dask import DaskRows, is_dask
from pysynthdp.curator.spread.pieces import check_length
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import SurveyTable

__all__ = ["FrameRows", "check_table", "rows_of"]

_READ: Final = Said("pysynthdp.read_table(path)", "give its name", "read.csv(path)")
_COPY: Final = Said("release[0]", "a file of it", "release[[1]]")
_CONVERT: Final = Said("pd.DataFrame(...)", "another program", "as.data.frame(...)")
_RENAME: Final = Said("df.columns = [...]", "an editor", "names(data) <- ...")

BLOCK: Final = 2**18  # rows read at a time where arrays lie on disk

T = TypeVar("T")


def check_table(given: Any) -> None:
    """Refuse what is no data frame and has no rows of its own, with the way to make it a data frame.

    Raises
    ------
    SchemaError
        Names the type that was given.

    Notes
    -----
    Privacy: looks at the type alone.
    """
    if not isinstance(given, pd.DataFrame | Rows) and not is_dask(given):
        what = Words("a table must be {table}, not {given}", table=TABLE, given=type(given).__name__)
        raise SchemaError(what, kind="table", remedy=_to_table(given))


def _to_table(given: Any) -> Words:
    """Say how to make a table of something."""
    if given is None:
        return Words("give the table")
    if isinstance(given, str | os.PathLike):
        return Words("read the file first: {read}", read=_READ)
    if hasattr(given, "to_pandas"):  # polars, Arrow and others
        return Words("convert it with .to_pandas()")
    if isinstance(given, pd.Series):
        return Words("convert it with .to_frame()")
    return _of_ours(given) or Words("convert it with {convert}", convert=_CONVERT)


def _of_ours(given: Any) -> Words | None:
    """Say what to take in the place of a release or a fit; None for anything else."""
    if hasattr(given, "copies"):
        return Words("take one copy, {copy}", copy=_COPY)
    return Words("give the table that it was fitted to") if hasattr(given, "draw") else None


def _check_names(names: Iterable[Any]) -> None:
    """Refuse names of columns that are no text, are empty, or stand twice."""
    names = list(names)
    for position, name in enumerate(names):
        if not isinstance(name, str) or not name:
            what = "no name" if isinstance(name, str) else "a name that is not text"
            raise SchemaError(
                Words("column {position} has {what}", position=position, what=what),
                kind="names",
                remedy=Words("rename it with {rename}", rename=_RENAME),
            )
    for name in names:
        if names.count(name) > 1:
            what = Words("two columns are called '{name}'", name=name)
            raise SchemaError(what, column=name, kind="names", remedy="rename one")


def _dense(table: pd.DataFrame) -> pd.DataFrame:
    """Write sparse columns in full, as copies have them; the same table where there is none."""
    inside = {
        name: dtype.subtype for name, dtype in table.dtypes.items() if isinstance(dtype, pd.SparseDtype)
    }
    return table.astype(inside) if inside else table


@dataclass(frozen=True, slots=True, repr=False)
class FrameRows:
    """Slices of a frame; without ``block_rows`` the frame is one block and nothing is copied.

    Parameters
    ----------
    frame : DataFrame
        The table; column names must be distinct strings.
    block_rows : int, optional
        Rows a block.
    scratch : Scratch, optional
        Where arrays that are made of the rows lie on disk; in memory without it. The frame is then read in
        blocks, so that none of them is there as a whole.

    Raises
    ------
    SchemaError
        If two columns share a name, or a name is not a string.
    """

    frame: pd.DataFrame
    block_rows: int | None = None
    scratch: Scratch | None = None

    def __post_init__(self) -> None:
        check_table(self.frame)
        size = self.block_rows
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise SchemaError("block_rows must be a whole number of at least 1", kind="setting")
        if self.frame.columns.nlevels > 1:
            raise SchemaError(
                "the columns have several levels of names",
                kind="names",
                remedy="join them to one text a column",
            )
        _check_names(self.frame.columns)

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
        """Give some columns, with the frame's index; the index alone without looking at a cell."""
        if len(columns) == 1:  # most calls; shares the column until somebody writes
            return self.frame[columns[0]].to_frame()
        return self.frame[list(columns)] if columns else pd.DataFrame(index=self.frame.index)

    def fold(self, of_block: Callable[[pd.DataFrame], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to every block in row order and merge from left to right."""
        size = self.block_rows or (max(self.n_rows, 1) if self.scratch is None else BLOCK)
        blocks = (self.frame.iloc[start : start + size] for start in range(0, max(self.n_rows, 1), size))
        return reduce(merge, (of_block(block) for block in blocks))


def rows_of(
    table: Any, block_rows: int | None = None, *, full: bool = False, scratch: Scratch | None = None
) -> Rows:
    """Take a table as rows; what has rows of its own (:class:`~pysynthdp.design.rows.Rows`) stays itself.

    Parameters
    ----------
    table : DataFrame, SurveyTable or Rows
        The table; of one with labels the rows alone.
    block_rows : int, optional
        Of a data frame: rows read at a time.
    full : bool
        Whether sparse columns are written in full, for which the types of all columns are looked at.
    scratch : Scratch, optional
        Of a data frame: where what is made of it lies.

    Raises
    ------
    SchemaError
        If it is no table, if its columns do not have one name each, or if the size of a block is no whole
        number, or asked of rows that have blocks of their own.

    Notes
    -----
    Privacy: looks at types and names of columns.
    """
    if isinstance(table, SurveyTable):
        table = table.frame
    if is_dask(table):
        _check_names(table.columns)
        table = DaskRows.of(table)
        if full:
            check_length(table)
    check_table(table)
    if isinstance(table, pd.DataFrame):
        rows = FrameRows(table, block_rows, scratch)
        return replace(rows, frame=_dense(table)) if full else rows
    if block_rows is not None:
        raise SchemaError(
            "block_rows is for data frames, and these rows come in blocks of their own",
            kind="setting",
            remedy="leave it out",
        )
    _check_names(table.columns)
    return cast("Rows", table)
