"""What there is to say of a table as a whole: its size, its index, and categories that no record has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from pysynthdp.base.errors import FitError
from pysynthdp.base.remarks import FEWEST, Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.design.rows import Rows
from pysynthdp.schema import Schema

__all__ = ["SMALL", "check_rows", "index_remarks", "rare_words", "size_remarks", "unused_remarks"]

SMALL = 20  # rows below which a table is too small to model, whatever its columns
ROWS_A_FEATURE = 2


def check_rows(n: int) -> None:
    """Refuse a table of so few records that every part of it is one of a few.

    Raises
    ------
    FitError
        For fewer than five rows.
    """
    if n < FEWEST:
        raise FitError(
            "the table has fewer than five rows, so that copies would repeat its records",
            kind="rows",
            remedy="fit a larger table",
        )


def size_remarks(n: int, features: int) -> tuple[Remark, ...]:
    """Say that a table is too small to model: below 20 rows, or 2 rows a feature of its largest model.

    Parameters
    ----------
    n : int
        Rows of the table.
    features : int
        Of the step that reads the most: the intercept, numbers, and levels but one.
    """
    if n >= max(SMALL, ROWS_A_FEATURE * features):
        return ()
    if n < SMALL:
        what = f"the table has fewer than {SMALL} rows, too small to model"
    else:
        what = f"the table has {few(n)} rows and a model of {features:,} features, too few to fit it"
    return (
        Remark(
            "",
            "small table",
            f"{what}: copies repeat its records more than they tell of a population",
            Words(
                "take fewer predictors, merge levels, or leave columns out with {drop}",
                drop=Setting("drop", [...]),
            ),
        ),
    )


def rare_words(count: int) -> tuple[str, Words, Words]:
    """Say that levels are rare: the kind of the remark, what, and the way out; no level is named.

    Examples
    --------
    >>> print(rare_words(1)[1][:48])
    1 level has fewer than 5 records: copies show th
    """
    have, exist = (
        ("1 level has", "such a record exists, not what it alone holds elsewhere")
        if count == 1
        else (
            f"{count:,} levels have",
            "such records exist and about how many, not what they alone hold elsewhere",
        )
    )
    what = Words(
        "{have} fewer than {few} records: copies show that {exist}", have=have, few=FEWEST, exist=exist
    )
    merge, refuse = Setting("rare", "merge"), Setting("rare", "refuse")
    remedy = Words("{merge} puts such levels together, {refuse} stops there", merge=merge, refuse=refuse)
    return "rare levels", what, remedy


def index_remarks(rows: Rows) -> tuple[Remark, ...]:
    """Say which columns stand in the index, where no copy has them.

    Notes
    -----
    Privacy: names of the index only.
    """
    index = rows.take(()).index
    names = [str(name) for name in index.names if name is not None and name not in rows.columns]
    if not names:
        return ()
    verb = "stands" if len(names) == 1 else "stand"
    what = Words(
        "{names} {verb} in the index of the table, so no copy has it", names=", ".join(names), verb=verb
    )
    return (Remark("", "index", what, "reset_index() makes columns of an index"),)


def unused_remarks(dtypes: Mapping[str, Any], schema: Schema, names: Iterable[str]) -> tuple[Remark, ...]:
    """Say which columns list categories that no record has and nobody declared: they were left out.

    Notes
    -----
    Privacy: counts categories of real columns; names none.
    """
    found = []
    for name in names:
        column, dtype = schema[name], dtypes[name]
        if column.declared or not isinstance(dtype, pd.CategoricalDtype):
            continue
        known = set(getattr(column.dtype, "categories", ()))
        left = sum(category not in known for category in dtype.categories)
        if left:
            occur, are = ("occurs", "is") if left == 1 else ("occur", "are")
            what = f"{left:,} of its categories {occur} in no record and {are} left out"
            remedy = Words("{levels} declares what may be there", levels=Setting("levels", {name: [...]}))
            found.append(Remark(name, "unused categories", what, remedy))
    return tuple(found)
