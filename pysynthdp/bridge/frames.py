"""R data frames and tibbles <-> pandas, every column exactly.

=========================  ==========================================  ==================================
R column                   pandas column                               kept in the facts
=========================  ==========================================  ==================================
logical                    bool; boolean with NA
integer                    int32; Int32 with NA
double                     float64; NA and NaN stay two
character                  str; object where a text is no Unicode
factor, ordered            category (levels in order, unused too)      an NA level
Date                       datetime64[s], no zone                      storage
POSIXct                    datetime64[us or ns] with a zone            storage, tzone
difftime                   timedelta64[us or ns]                       units, storage
haven labelled             as stored; tagged NA is a NaN               labels, na_values, na_range
bit64 integer64            int64; Int64 with NA                        that it is one
complex, raw               complex128, uint8
list                       object: arrays, lists, dicts                class
anything that pandas       float64 with R's own numbers                class and all attributes
would round
=========================  ==========================================  ==================================

Labels and other attributes are kept in the facts. Without facts, a column without a zone becomes POSIXct in
UTC (never a guessed Date; ``datetime.date`` objects become Date), and int64 beyond 32 bits becomes double.
"""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.errors import BridgeError, PysynthdpWarning
from pysynthdp.base.words import Argument, Words
from pysynthdp.bridge.cells_from_r import cells_from_r
from pysynthdp.bridge.codec import (
    DEFAULT_MAX_BYTES,
    NA_INTEGER,
    RValue,
    RVector,
    character,
    load_rds,
    save_rds,
)
from pysynthdp.bridge.columns_from_r import column_from_r, text_index
from pysynthdp.bridge.columns_to_r import column_to_r
from pysynthdp.bridge.facts import FrameFacts, RFrame, column_keys
from pysynthdp.bridge.frame_shape import check_rows, checked_frame, index_of, longest
from pysynthdp.bridge.tagged import found_tags, warn_of_tags
from pysynthdp.schema import Schema

__all__ = ["frame_from_r", "frame_to_r", "read_rds", "warn_of_whole_columns", "write_rds"]


def frame_from_r(value: RValue, *, schema: Schema | None = None) -> RFrame:
    """Turn an R data frame or tibble into pandas.

    Parameters
    ----------
    value : RVector
        A list of class ``data.frame``.
    schema : Schema, optional
        Declared columns, for a formal guarantee: each cell is then read alone, as
        :mod:`~pysynthdp.bridge.cells_from_r` says. Without it a column is what all of its cells allow.

    Returns
    -------
    RFrame
        The frame, and the facts that :func:`frame_to_r` needs to give the same R object back.

    Raises
    ------
    BridgeError
        If it is no data frame, or a column is a table, a matrix, POSIXlt, S4 or a function: convert it in R.

    Notes
    -----
    Privacy: every value of the frame is passed on.

    Examples
    --------
    >>> from pysynthdp.bridge.codec import named_list
    >>> made = frame_from_r(named_list({"x": character(["a"])}, {"class": character(["data.frame"])}))
    >>> made.frame["x"].tolist()
    ['a']
    """
    if schema is not None:
        return cells_from_r(value, schema)
    vector, names = checked_frame(value)
    check_rows(longest(vector))
    columns = [column_from_r(item, name) for name, item in zip(names, vector.items, strict=True)]
    lengths = {len(column.cells) for column in columns}
    index = index_of(vector.attributes.get("row.names"), lengths)
    held = {at: _held(column.cells, index) for at, column in enumerate(columns)}
    frame = pd.DataFrame(held, index=index, copy=True)
    frame.columns = text_index(names)
    facts = {key: column.facts for key, column in zip(column_keys(names), columns, strict=True)}
    kept = {key: item for key, item in vector.attributes.items() if key not in ("names", "row.names")}
    return RFrame(frame, FrameFacts(facts, kept))


def frame_to_r(frame: pd.DataFrame, facts: FrameFacts | None = None) -> RVector:
    """Turn a pandas frame into an R data frame.

    Parameters
    ----------
    frame : DataFrame
        Its index becomes row names if it is text or integers; any other must be reset first.
    facts : FrameFacts, optional
        What :func:`frame_from_r` gave for this frame or for the one that it was modelled on; columns are
        matched by name, and facts that a column's values contradict are left out.

    Returns
    -------
    RVector
        A list of class ``data.frame``, for :func:`~pysynthdp.bridge.codec.dumps`.

    Raises
    ------
    BridgeError
        If R has no vector for a column, which the message names, or no place for so many rows.

    Notes
    -----
    Privacy: every value of the frame is passed on; the facts add levels, labels and attributes.

    Examples
    --------
    >>> frame_to_r(pd.DataFrame({"x": [1, 2]})).names
    ('x',)
    """
    check_rows(len(frame))
    if isinstance(frame.columns, pd.MultiIndex):
        raise BridgeError(
            "the columns have several levels of names; join them to one, which R needs", kind="no table"
        )
    names = [name if isinstance(name, str) else str(name) for name in frame.columns]
    known = facts.columns if facts is not None else {}
    items = tuple(
        column_to_r(frame.iloc[:, at], key[0], known.get(key)) for at, key in enumerate(column_keys(names))
    )
    own = facts.attributes if facts is not None else {"class": character(["data.frame"])}
    return RVector("list", items, {"names": character(names), "row.names": _row_names(frame.index), **own})


def read_rds(
    path: str | PathLike[str], *, schema: Schema | None = None, max_bytes: int = DEFAULT_MAX_BYTES
) -> RFrame:
    """Read a data frame that R saved with ``saveRDS()``.

    Parameters
    ----------
    path : path
        The ``.rds`` file.
    schema : Schema, optional
        Declared columns, for a formal guarantee, as in :func:`frame_from_r`.
    max_bytes : int
        Bytes of memory that the unpacked file may take.

    Returns
    -------
    RFrame
        The frame and its facts.

    Raises
    ------
    BridgeError
        If the file is damaged or holds no data frame.

    Warns
    -----
    PysynthdpWarning
        If a column holds haven's tagged missing values, which are all NaN in pandas, or a cell
        decides how its whole column is read; never where a schema is given.

    Notes
    -----
    Privacy: reads every row of the file; nothing in it is run.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.rds"
    >>> write_rds(pd.DataFrame({"x": [1, 2]}), path)
    >>> read_rds(path).frame["x"].tolist()
    [1, 2]
    """
    made = frame_from_r(load_rds(path, max_bytes=max_bytes), schema=schema)
    if schema is not None:
        return made
    warn_of_whole_columns(made)
    warn_of_tags(found_tags(made), "are all NaN in pandas, where pysynthdp.missing_kinds tells them apart")
    return made


def write_rds(frame: pd.DataFrame, path: str | PathLike[str], *, facts: FrameFacts | None = None) -> None:
    """Write a data frame for R's ``readRDS()``.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    path : path
        Overwritten if it exists.
    facts : FrameFacts, optional
        As for :func:`frame_to_r`.

    Raises
    ------
    BridgeError
        If R has no vector for a column; the message names it.

    Notes
    -----
    Privacy: the file holds every row of the frame.

    Examples
    --------
    >>> write_rds(pd.DataFrame({"x": [1, 2]}), "x.rds")  # doctest: +SKIP
    """
    save_rds(frame_to_r(frame, facts), path)


def warn_of_whole_columns(made: RFrame) -> None:
    """Warn where some cell decides how all others of its column are read; under a guarantee none may."""
    facts = made.facts.columns.items()
    names = [name for (name, _), own in facts if own.is_plain_time or own.na_label is not None]
    if names:
        what = (
            f"{', '.join(map(repr, names))}: for some cell the whole column is read otherwise: dates and "
            "times of which one is none in pandas stay R's numbers, an NA level beside missing codes is a "
            "category"
        )
        remedy = Words(
            "mend such cells in R, or give {schema}, which reads each cell alone, as a formal "
            "guarantee needs",
            schema=Argument("schema"),
        )
        warnings.warn(PysynthdpWarning(what, column=str(names[0]), kind="cells", remedy=remedy), stacklevel=3)


def _held(cells: Any, index: pd.Index[Any]) -> Any:
    """Keep pandas from guessing what objects are."""
    is_objects = isinstance(cells, np.ndarray) and cells.dtype == object
    return pd.Series(cells, index=index, dtype=object) if is_objects else cells


def _row_names(index: pd.Index[Any]) -> RVector:
    """Write an index as row names."""
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return RVector("integer", np.array([NA_INTEGER, -len(index)], dtype=np.int32))
    if not index.is_unique or index.hasnans:
        raise BridgeError(
            "the index has duplicates or gaps, which row names cannot; use frame.reset_index()",
            kind="no table",
        )
    if index.dtype.kind in "iu" and (
        not len(index) or (index.min() > NA_INTEGER and index.max() < -NA_INTEGER)
    ):
        return RVector("integer", index.to_numpy().astype(np.int32))
    if index.inferred_type in ("string", "empty"):
        return character(index.tolist())
    raise BridgeError("R's row names are texts or 32-bit integers; use frame.reset_index()", kind="no table")
