"""A table with what its file says of its columns: labels, meanings of codes, kinds of missing values."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

from pysynthdp.base.display import Printable, Table, number
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Words
from pysynthdp.design.tagged import missing_kinds
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema
from pysynthdp.schema.declarations import Declarations

__all__ = ["SurveyTable", "declarations_of", "label_of", "labelled"]

_LONGEST: Final = 40  # letters of a label in a table


@dataclass(frozen=True, slots=True, repr=False)
class SurveyTable(Printable):
    """A confidential table and its labels, as :func:`pysynthdp.read` gives it.

    Parameters
    ----------
    frame : DataFrame
        The rows; an ordinary data frame. Missing kinds of numbers are NaN, see :meth:`kinds`.
    schema : Schema
        What the file, or its codebook, says of each column, in the order of the frame.
    public : bool
        Whether no cell had a part in that, because labels and formats are public facts.

    Raises
    ------
    SchemaError
        If frame and schema name different columns.

    Notes
    -----
    Privacy: holds real rows; its repr shows none, and no count of them but how many there are.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": ["F", "M"]})
    >>> SurveyTable(frame, Schema([CategoricalColumn("sex", ["F", "M"])])).schema.names
    ('sex',)
    """

    frame: pd.DataFrame
    schema: Schema
    public: bool = False

    def __post_init__(self) -> None:
        names = tuple(self.frame.columns)
        if names != self.schema.names:
            other = next((name for name in (*names, *self.schema.names)
                          if (name in names) != (name in self.schema)), names[0])  # fmt: skip
            what = Words("frame and schema differ in their columns, in '{name}' first", name=other)
            mend = "give a schema of the frame's columns in its order; table[[...]] takes some of both"
            raise SchemaError(what, column=str(other), kind="columns", remedy=mend)

    def __getitem__(self, names: Sequence[str]) -> SurveyTable:
        """Take some columns, in the order that is asked for."""
        if isinstance(names, str):
            what = "a survey table gives several columns"
            mend = f"write table[[{names!r}]] or table.frame[{names!r}]"
            raise SchemaError(what, kind="columns", remedy=mend)
        return SurveyTable(
            self.frame[list(names)], Schema([self.schema[name] for name in names]), self.public
        )

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @property
    def dtypes(self) -> dict[str, Any]:
        """Types of the columns."""
        return dict(zip(self.schema.names, self.frame.dtypes, strict=True))

    def drop(self, columns: Collection[str]) -> SurveyTable:
        """Leave some columns out."""
        return self[[name for name in self.schema.names if name not in columns]]

    def kinds(self, name: str) -> pd.Series[Any]:
        """Say of every cell of a column for which reason it has no value.

        Parameters
        ----------
        name : str
            Of a column with kinds of missing values.

        Returns
        -------
        Series
            Of categories, the labels of the kinds; NaN where there is a value, or where nobody says why there
            is none.

        Raises
        ------
        SchemaError
            If there is no such column, or it has no kinds.

        Notes
        -----
        Privacy: real cells.
        """
        column = self.schema[name]
        if not column.missing:
            mend = "isna() of the frame's column shows where it is missing"
            what = Words("{name} has no kinds of missing values", name=name)
            raise SchemaError(what, column=name, kind="columns", remedy=mend)
        return missing_kinds(self.frame[[name]], Schema([column]))[name]

    def to_table(self) -> Table:
        """One line a column: label, kind, number of levels, labels of its missing kinds; no cell."""
        rows = tuple(_line(column) for column in self.schema)
        size = f"{number(len(self.frame))} rows, {number(len(self.schema))} columns"
        title = f"Survey table: {size} (confidential)"
        return Table(title, ("column", "label", "kind", "type", "levels", "missing", "declared"), rows)


def label_of(column: Column) -> str:
    """Give the label of a variable, as long as a table of them shows it."""
    return textwrap.shorten(column.labels.label, _LONGEST, placeholder=" ...") if column.labels else ""


def _line(column: Column) -> tuple[str | int | None, ...]:
    """Write one column's labels."""
    said = label_of(column)
    missing = ", ".join(label for _, label in column.missing)
    dtype = "category" if isinstance(column.dtype, pd.CategoricalDtype) else str(column.dtype or "")
    public = "yes" if column.declared else "no"
    if isinstance(column, NumericColumn):
        kind = "numeric" if column.unit == "number" else "date or time"
        return (column.name, said, kind, dtype, None, missing, public)
    kind = "ordered" if column.ordered else "categorical" if column.levels else "text"
    return (column.name, said, kind, dtype, len(column.levels) or None, missing, public)


def declarations_of(schema: Schema) -> Declarations:
    """Give what a labelled file declares of its columns as a user would: levels and missing codes."""
    listed = [column for column in schema if isinstance(column, CategoricalColumn) and column.levels]
    return Declarations(
        missing={column.name: dict(column.missing) for column in schema if column.missing},
        levels={column.name: tuple(column.levels) for column in listed},
    )


def labelled(schema: Schema, labels: Schema) -> Schema:
    """Put labels beside what was learned of the columns of a table.

    Parameters
    ----------
    schema : Schema
        As it was learned, with the declarations of :func:`declarations_of`.
    labels : Schema
        Of the labelled file.
    """
    return Schema(tuple(_with_labels(column, labels) for column in schema))


def _with_labels(column: Column, labels: Schema) -> Column:
    """Put one column's labels beside it, and the facts that only a file tells: its order and its unit."""
    if column.name not in labels:
        return column
    said = labels[column.name]
    if isinstance(column, CategoricalColumn):
        if isinstance(said, CategoricalColumn) and said.levels:
            column = replace(column, declared=said.declared, ordered=said.ordered)
        return replace(column, labels=said.labels)
    if isinstance(said, NumericColumn) and column.unit == "number":
        column = replace(column, unit=said.unit)
    return replace(column, labels=said.labels)
