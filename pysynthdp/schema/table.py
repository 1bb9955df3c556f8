"""The columns of a table, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.display import Printable, Table, number
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.words import CODEBOOK, Words, meant
from pysynthdp.schema.codebook import codebook_columns
from pysynthdp.schema.columns import CategoricalColumn, Column, NumericColumn

__all__ = ["Schema"]


@answers_slips
@dataclass(frozen=True, repr=False)
class Schema(Printable):
    """The columns of a table, in order.

    Parameters
    ----------
    columns : sequence of NumericColumn or CategoricalColumn
        In the order of the table.

    Examples
    --------
    >>> from pysynthdp.schema.columns import NumericColumn
    >>> schema = Schema([NumericColumn("age", lower=0, upper=120), CategoricalColumn("sex", ["F", "M"])])
    >>> schema.names
    ('age', 'sex')
    >>> schema["age"].upper
    120
    """

    columns: Sequence[Column]
    _by_name: dict[str, Column] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _checked(self.columns))
        object.__setattr__(self, "_by_name", {column.name: column for column in self.columns})
        if len(self._by_name) < len(self.columns):
            names = [column.name for column in self.columns]
            twice = next(name for name in names if names.count(name) > 1)
            what = Words("two columns are called '{name}'", name=twice)
            raise SchemaError(what, column=twice, kind="names", remedy="rename one")

    @classmethod
    def from_codebook(cls, path: str | Path) -> Schema:
        """Read a codebook, CSV or TOML: the public document that a guarantee takes bounds and levels from.

        Parameters
        ----------
        path : path
            One row (CSV) or table (TOML) a column; see the documentation of the codebook's heads.

        Raises
        ------
        SchemaError
            If the file is no codebook; the message names the column and the mend.

        Notes
        -----
        Privacy: reads no record. Labels written by hand from the data do not count as public.
        """
        return cls(codebook_columns(path))

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self._by_name)

    @property
    def declared(self) -> bool:
        """Whether every column is declared."""
        return all(column.declared for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            mend = meant(str(name), self.names, f"the schema has {', '.join(self.names) or 'none'}")
            what = Words("there is no column '{name}'", name=name)
            raise SchemaError(what, column=str(name), kind="columns", remedy=mend)
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def without(self, names: Iterable[str]) -> Schema:
        """Return the schema without some columns."""
        gone = set(names)
        return Schema(tuple(column for column in self.columns if column.name not in gone))

    def amend(self, name: str, **changes: Any) -> Schema:
        """Return the schema with one column changed."""
        new = replace(self[name], **changes)
        return Schema(tuple(new if column.name == name else column for column in self.columns))

    def to_table(self) -> Table:
        """One row a column; no bound or level that was not declared is a number here."""
        rows = tuple(_row(column) for column in self.columns)
        return Table(
            f"Schema of {len(self)} columns",
            ("column", "kind", "type", "levels", "missing", "spikes", "bounds", "decimals", "declared"),
            rows,
        )


def _checked(columns: object) -> tuple[Column, ...]:
    """Take columns and nothing that merely names one."""
    given = tuple(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else (None,)
    for column in given:
        if not isinstance(column, NumericColumn | CategoricalColumn):
            mend = Words("write {schema}", schema=CODEBOOK)
            what = "a schema is a list of columns, each a NumericColumn or a CategoricalColumn"
            raise SchemaError(what, kind="setting", remedy=mend)
    return given


def _row(column: Column) -> tuple[str | int | None, ...]:
    """Write one column's public facts."""
    missing = [label for _, label in column.missing] + (["NA"] if column.may_be_missing else [])
    common = (", ".join(missing), "yes" if column.declared else "inferred")
    category = isinstance(column.dtype, pd.CategoricalDtype)
    dtype = "category" if category else "as in the table" if column.dtype is None else str(column.dtype)
    if isinstance(column, CategoricalColumn):
        kind = "ordered" if column.ordered else "categorical"
        return (column.name, kind, dtype, len(column.levels), common[0], None, None, None, common[1])
    bounds = None
    if column.lower is not None or column.upper is not None:
        bounds = f"{number(column.lower)} to {number(column.upper)}"
    spikes = ", ".join(str(spike) for spike in column.spikes)
    kind = "numeric" if column.unit == "number" else "date or time"
    return (column.name, kind, dtype, None, common[0], spikes, bounds, column.grain, common[1])
