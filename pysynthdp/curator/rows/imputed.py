"""Several imputations of one confidential table: whether they are tables of the same people."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from pysynthdp.base.arrays import BoolArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.curator.rows.dask import is_dask

__all__ = ["ImputedTables", "listed"]

_ONE: Final = Said("pd.DataFrame(...)", "the file", "as.data.frame(...)")
_RESET: Final = Said("reset_index(drop=True)", "leave the names of rows out", "rownames(data) <- NULL")
_BELOW: Final = Said("pd.concat(tables)", "one file", "rbind()")
_WAY_OUT: Final = Words(
    "give the M completed tables of one imputation, in one order of rows and columns; "
    "parts of one table go in as one ({below})",
    below=_BELOW,
)


@dataclass(frozen=True, slots=True, repr=False)
class ImputedTables:
    """Several completed tables, not yet looked at.

    Parameters
    ----------
    tables : tuple of DataFrame
        At least two.
    """

    tables: tuple[pd.DataFrame, ...]

    def alike(self, *, skip: Iterable[str] = ()) -> tuple[tuple[pd.DataFrame, ...], tuple[Remark, ...]]:
        """Check that the tables are of the same people, and give categoricals one set of categories.

        Beside the tables: whether they may still be parts of one, where most columns agree by chance only.

        A cell that differs between the tables is an imputed one. Nobody can tell from the tables which cells
        were observed, but other people, or the same in another order, agree no oftener than by chance in
        every column.

        Raises
        ------
        SchemaError
            If the tables differ in columns, rows, index or types, if a cell is missing in some of them only,
            or if no column agrees between them.

        Notes
        -----
        Privacy: reads real rows; messages name columns and the numbers of tables, never a cell.
        """
        return _alike(self.tables, set(skip))


def listed(tables: object) -> ImputedTables | None:
    """Take a list or tuple of data frames; None for one table, or for what the door refuses anyway.

    Raises
    ------
    SchemaError
        For a mapping, a generator, a list of one, or a list with other things among the tables.

    Notes
    -----
    Privacy: looks at types and at the number of tables.
    """
    if isinstance(tables, pd.DataFrame) or tables is None:
        return None
    if not isinstance(tables, list | tuple):
        if isinstance(tables, dict) or hasattr(tables, "__next__"):
            kind = type(tables).__name__
            way = "list(tables.values())" if isinstance(tables, dict) else "list(tables)"
            raise SchemaError(
                Words("imputed tables must be a list of data frames, not a {kind}", kind=kind),
                kind="table",
                remedy=Words("write {way} for several, {one} for one table", way=way, one=_ONE),
            )
        return None
    if any(map(is_dask, tables)):
        raise SchemaError(
            "imputed tables are compared row by row, which Dask frames are not",
            kind="table",
            remedy="make data frames of them with compute(), or give one frame itself, not a list",
        )
    if not any(isinstance(table, pd.DataFrame) for table in tables):
        return None  # no table at all
    for number, table in enumerate(tables, start=1):
        if not isinstance(table, pd.DataFrame):
            raise SchemaError(
                Words(
                    "imputed tables must be data frames, and number {number} is a {kind}; convert it first",
                    number=number,
                    kind=type(table).__name__,
                ),
                kind="table",
            )
    if len(tables) < 2:
        raise SchemaError(
            "the list holds one table, and what imputation leaves unknown shows only between two or more",
            kind="imputed tables",
            remedy="impute M = 5 times, or give one table itself, not a list",
        )
    return ImputedTables(tuple(tables))


def _alike(
    tables: Sequence[pd.DataFrame], skip: Container[str]
) -> tuple[tuple[pd.DataFrame, ...], tuple[Remark, ...]]:
    """Compare tables column by column."""
    first = tables[0]
    for number, table in enumerate(tables[1:], start=2):
        _check_shape(first, table, number)
    used = [name for name in first.columns if name not in skip]
    for name in used:
        _check_absent([table[name] for table in tables], name)
        _check_types([table[name] for table in tables], name)
    united = _one_category_set(tables, used)
    differ = {name: _differing([table[name] for table in united]) for name in used}
    varied = [name for name in used if not _constant(first[name])]
    strange = [name for name in varied if _by_chance(first[name], differ[name])]
    if varied and len(strange) == len(varied):
        raise SchemaError(
            (
                "no column agrees between the imputed tables, so they are not of the same people "
                "in the same order"
            ),
            kind="imputed tables",
            remedy=_WAY_OUT,
        )
    if not any(cells.any() for cells in differ.values()):
        raise SchemaError(
            "the tables are equal in every cell, so nothing was imputed between them",
            kind="imputed tables",
            remedy="give one of them itself, not a list",
        )
    return united, _parts_remarks(len(strange), len(varied), n=len(first))


def _parts_remarks(strange: int, varied: int, *, n: int) -> tuple[Remark, ...]:
    """Say that tables may be parts of one, where most of their columns agree by chance only.

    One column that is the same in all, such as a month that repeats, is enough to pass the check.
    """
    if 2 * strange <= varied:
        return ()
    what = Words(
        "{strange} of {varied} columns agree between the imputed tables in so few rows as if the tables were "
        "of other people, and each counts as a whole table of {n} rows",
        strange=strange,
        varied=varied,
        n=f"{n:,}",
    )
    remedy = Words("parts of one table go in as one ({below})", below=_BELOW)
    return (Remark("", "imputed tables", what, remedy),)


def _check_shape(first: pd.DataFrame, other: pd.DataFrame, number: int) -> None:
    """Ask for the same columns in one order, same number of rows, same index, same types."""
    where = f"imputed table {number}"
    lacking = [name for name in first.columns if name not in other.columns]
    extra = [name for name in other.columns if name not in first.columns]
    if lacking or extra:
        what = f"lacks column {lacking[0]!r}" if lacking else f"has a column {extra[0]!r} more"
        raise SchemaError(f"{where} {what}", kind="imputed tables", remedy=_WAY_OUT)
    if list(first.columns) != list(other.columns):
        raise SchemaError(
            f"{where} has the columns in another order than the first",
            kind="imputed tables",
            remedy=_WAY_OUT,
        )
    if len(first) != len(other):
        raise SchemaError(
            f"{where} has another number of rows than the first", kind="imputed tables", remedy=_WAY_OUT
        )
    if not first.index.equals(other.index):
        raise SchemaError(
            Words("{where} has another index than the first", where=where),
            kind="imputed tables",
            remedy=Words(
                "sort the rows alike, or {reset} if their order is one; "
                "parts of one table go in as one ({below})",
                reset=_RESET,
                below=_BELOW,
            ),
        )


def _check_types(columns: Sequence[pd.Series[Any]], name: str) -> None:
    """Ask for the same type in all tables, and no number of the imputation."""
    for number, column in enumerate(columns[1:], start=2):
        if not _same_type(columns[0].dtype, column.dtype):
            what = Words(
                "{name} is {first} in the first imputed table and {other} in number {number}",
                name=name,
                first=_words(columns[0].dtype),
                other=_words(column.dtype),
                number=number,
            )
            mend = "convert it to one type in all of them"
            raise SchemaError(what, column=name, kind="imputed tables", remedy=mend)
    if all(map(_constant, columns)) and len({column.iloc[0] for column in columns}) == len(columns):
        what = Words(
            "{name} has one value in each imputed table and another in every one: it numbers the "
            "imputations, and says nothing of a person",
            name=name,
        )
        raise SchemaError(what, column=name, kind="imputed tables", remedy=_dropping(name))


def _dropping(name: str) -> Words:
    """Say how to leave a column out."""
    return Words("leave it out with {drop}", drop=Setting("drop", [name]))


def _constant(column: pd.Series[Any]) -> bool:
    """Whether a column has one value in all rows, or none."""
    codes = pd.factorize(column)[0]
    return bool((codes == codes[:1]).all())


def _words(dtype: Any) -> str:
    """Name a type without the categories, which may be values of records."""
    if isinstance(dtype, pd.CategoricalDtype):
        return f"{'an ordered' if dtype.ordered else 'a'} categorical"
    return str(dtype)


def _same_type(one: Any, other: Any) -> bool:
    """Whether two types are the same, but for the categories of an unordered categorical."""
    plain = [isinstance(dtype, pd.CategoricalDtype) and not dtype.ordered for dtype in (one, other)]
    return bool(one == other) or all(plain)


def _one_category_set(tables: Sequence[pd.DataFrame], used: Sequence[str]) -> tuple[pd.DataFrame, ...]:
    """Give unordered categoricals, which a file makes from what it holds, all categories of all tables."""
    sets: dict[str, pd.CategoricalDtype] = {}
    for name in used:
        dtypes = [table[name].dtype for table in tables]
        if any(not _identical(one, other) for one, other in pairwise(dtypes)):
            try:
                sets[name] = union_categoricals([table[name] for table in tables], sort_categories=True).dtype
            except TypeError:
                what = Words(
                    "the categories of {name} are of different types in the imputed tables", name=name
                )
                mend = "make them alike"
                raise SchemaError(what, column=name, kind="imputed tables", remedy=mend) from None
    return tuple(table.astype(sets) if sets else table for table in tables)


def _identical(one: Any, other: Any) -> bool:
    """Whether two types are the same, categories in one order."""
    if isinstance(one, pd.CategoricalDtype):
        return one.categories.equals(other.categories)
    return bool(one == other)


def _check_absent(columns: Sequence[pd.Series[Any]], name: str) -> None:
    """Cells that nobody imputed are missing in all tables."""
    absent = columns[0].isna().to_numpy()
    for number, column in enumerate(columns[1:], start=2):
        if (column.isna().to_numpy() != absent).any():
            what = Words(
                "{name}: cells are missing in some of the imputed tables and filled in others (see number "
                "{number})",
                name=name,
                number=number,
            )
            mend = "leave the incomplete table out (in mice: include = FALSE)"
            raise SchemaError(what, column=name, kind="imputed tables", remedy=mend)


def _differing(columns: Sequence[pd.Series[Any]]) -> BoolArray:
    """Mark the rows whose cell is not the same in all tables."""
    first, absent = columns[0], columns[0].isna().to_numpy()
    differ = np.zeros(len(first), dtype=bool)
    for column in columns[1:]:
        differ |= ~(first.eq(column).fillna(True).to_numpy(dtype=bool) | absent)
    return differ


def _by_chance(column: pd.Series[Any], differ: BoolArray) -> bool:
    """Whether a column agrees in fewer rows than half way between chance and everywhere."""
    shares = column.value_counts(normalize=True, dropna=False).to_numpy()
    chance = float(np.sum(shares**2))
    return float(np.mean(~differ)) < (1 + chance) / 2
