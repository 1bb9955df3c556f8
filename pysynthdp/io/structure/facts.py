"""What the structure of one column is, as far as a table, its schema or its file says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.marks import WATERMARK
from pysynthdp.schema import Column, Schema
from pysynthdp.schema.labels import Labels, written

__all__ = ["ASPECTS", "ColumnFacts", "Structure", "family_of", "structure_of"]

ASPECTS: Final = (
    "type",
    "label",
    "levels",
    "ordered",
    "value labels",
    "missing kinds",
    "missing range",
    "measure",
    "format",
    "width",
)
"""In the order in which they are compared."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What is said of a column; None where nothing is.

    Parameters
    ----------
    name : str
        Of the column.
    family : str
        Kind of its type, which every program keeps.
    facts : mapping of str to Any
        The aspects that are said, by the names of ``ASPECTS``.
    source : str, optional
        Whose file it comes from: formats, widths and measures of another program are none of this one.
    """

    name: str
    family: str
    facts: dict[str, Any]
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Structure:
    """The structure of a table.

    Parameters
    ----------
    name : str
        What it is called in a comparison.
    columns : tuple of ColumnFacts
        In order.
    labelled : bool
        Whether a schema came with it; a data frame alone holds no labels.
    stored : bool
        Whether it was read from a file, so that the types are those of its reader.
    """

    name: str
    columns: tuple[ColumnFacts, ...]
    labelled: bool
    stored: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return tuple(column.name for column in self.columns)


def structure_of(frame: pd.DataFrame, schema: Schema | None, *, name: str, stored: bool) -> Structure:
    """Say what the structure of a table is.

    Notes
    -----
    Privacy: looks at names, types and category sets of a table, and at what its schema declares; at no cell.
    """
    kept = [at for at, column in enumerate(frame.columns) if column != WATERMARK]
    held = (frame.iloc[:, at] for at in kept)
    return Structure(name, tuple(_facts(series, schema) for series in held), schema is not None, stored)


def _facts(series: pd.Series[Any], schema: Schema | None) -> ColumnFacts:
    """Say what is known of one column."""
    name = str(series.name)
    facts: dict[str, Any] = {"type": _type(series.dtype)}
    if isinstance(series.dtype, pd.CategoricalDtype):
        facts["levels"] = tuple(series.dtype.categories.tolist())
        facts["ordered"] = bool(series.dtype.ordered)
    if schema is not None and name in schema:
        facts |= dict(_declared(schema[name]))
    known = schema[name].labels if schema is not None and name in schema else None
    return ColumnFacts(name, family_of(series.dtype), facts, None if known is None else known.source)


def _declared(column: Column) -> Iterator[tuple[str, Any]]:
    """Say what a schema tells of a column beside its type; programs list value labels by their codes."""
    labels = column.labels or Labels()
    yield "label", labels.label
    by_code = sorted(labels.codes, key=lambda own: (isinstance(own[0], str), own[0]))
    yield "value labels", tuple((written(code), label) for code, label in by_code)
    yield "missing kinds", _kinds(column)
    yield "missing range", labels.missing_range
    for what in ("measure", "format", "width"):
        yield what, getattr(labels, what)


def _kinds(column: Column) -> tuple[tuple[str, str], ...]:
    """Give code and label of each missing kind: of the file where it says them, else as declared."""
    if column.labels is not None and column.labels.kinds:
        return tuple((written(kind.own), kind.label) for kind in column.labels.kinds)
    return tuple((written(code), label) for code, label in column.missing)


def _type(dtype: Any) -> str:
    """Name a type as pandas does."""
    return "category" if isinstance(dtype, pd.CategoricalDtype) else str(dtype)


def family_of(dtype: Any) -> str:
    """Name the kind of a type, which does not depend on the program that holds it.

    Examples
    --------
    >>> family_of(np.dtype("int8")), family_of(pd.Int64Dtype()), family_of(np.dtype("float32"))
    ('number', 'number', 'number')
    """
    of = pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if of.is_bool_dtype(dtype):
        return "flag"
    if of.is_numeric_dtype(dtype):
        return "number"
    if of.is_datetime64_any_dtype(dtype):
        return "date or time"
    if of.is_timedelta64_dtype(dtype):
        return "duration"
    return "text" if dtype == np.dtype(object) or of.is_string_dtype(dtype) else str(dtype)
