"""Levels that fewer than five records have: merged before the fit, or refused, where that is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, IntArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import FEWEST, Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.owners import owners_with
from pysynthdp.curator.rows import ReplacedRows
from pysynthdp.curator.spread.pieces import SpreadRows
from pysynthdp.design.groups import group_levels
from pysynthdp.design.rows import Rows
from pysynthdp.design.values import to_codes
from pysynthdp.schema import CategoricalColumn, Column, Schema

__all__ = ["Rare", "Settled", "is_scale", "scale_remark", "settle_rare"]

Rare: TypeAlias = Literal["keep", "merge", "refuse"]
OTHER = "other"


@dataclass(frozen=True, slots=True, repr=False)
class Settled:
    """A schema and tables whose rare levels were dealt with.

    Parameters
    ----------
    schema : Schema
        With the levels that are left.
    tables : tuple of Rows
        The table, or its imputations; cells merged where a schema alone cannot say into what.
    merged : tuple of str
        Columns with merged levels.
    remarks : tuple of Remark
        Of the columns whose numbers were merged unasked.
    """

    schema: Schema
    tables: tuple[Rows, ...]
    merged: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()


def settle_rare(
    schema: Schema,
    tables: Sequence[Rows],
    rare: Rare,
    *,
    exempt: Iterable[str] = (),
    guessed: Iterable[str] = (),
) -> Settled:
    """Keep, merge or refuse the levels that fewer than five records have.

    Parameters
    ----------
    schema : Schema
        Of the table.
    tables : sequence of Rows
        The table, or its imputations: a level that is rare in one of them is rare.
    rare : {"keep", "merge", "refuse"}
        ``"merge"``: into the column's ``other`` level, which is made where it has none and they have five
        records together, else into the smallest level; an ordered column's, and numbers, into neighbours.
        True/False, and what would leave one level, stay as they are.
    exempt : iterable of str
        Columns that are not modelled.
    guessed : iterable of str
        Columns of which nobody said what they are. Where they hold numbers that were taken as levels, rare
        ones go into neighbours whatever ``rare`` says: a step of a scale is published for five records, as a
        number would be.

    Raises
    ------
    SchemaError
        By ``"refuse"``, with the columns and how many levels each; no level is named.

    Notes
    -----
    Privacy: reads real rows; only without a guarantee.
    """
    apart = set(exempt)
    scales = {name for name in guessed if name not in apart and is_scale(schema[name])}
    settled = _settled(schema, tables, _counts(schema, tables, {*schema.names} - scales))
    settled = replace(settled, remarks=tuple(map(scale_remark, settled.merged)))
    if rare == "keep":
        return settled
    counts = _counts(settled.schema, settled.tables, apart)
    if rare == "refuse":
        _refuse(counts)
        return settled
    further = _settled(settled.schema, settled.tables, counts)
    return replace(further, merged=(*settled.merged, *further.merged), remarks=settled.remarks)


def scale_remark(name: str, levels: Sequence[Any] = (...,)) -> Remark:
    """Say that steps of a scale that fewer than five records have are put to their neighbours.

    Parameters
    ----------
    name : str
        Of the column.
    levels : sequence
        All its steps, to be declared, for who holds the data; left open without them.
    """
    what = "few distinct numbers, taken as levels; those of fewer than five records count as their neighbours"
    remedy = Words(
        "{levels} draws all that it lists, {number} draws a quantity",
        levels=Setting("levels", {name: [*levels]}),
        number=Setting("method", {name: "cells"}),
    )
    return Remark(name, "few values", what, remedy)


def is_scale(column: Column) -> TypeGuard[CategoricalColumn]:
    """Whether a column's levels are numbers that nobody declared as such.

    Examples
    --------
    >>> is_scale(CategoricalColumn("band", [22.0, 27.0, 32.0], declared=False))
    True
    """
    if not isinstance(column, CategoricalColumn) or column.declared or column.ordered:
        return False
    if isinstance(column.dtype, pd.CategoricalDtype) or len(column.levels) < 3:
        return False
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in column.levels)


def _settled(schema: Schema, tables: Sequence[Rows], counts: Mapping[str, IntArray]) -> Settled:
    """Merge the rare levels of some columns, as far as something sensible is left."""
    merged: dict[str, dict[Hashable, Hashable]] = {}
    for name, own in counts.items():
        column = schema[name]
        assert isinstance(column, CategoricalColumn)  # noqa: S101 -- only such are counted
        into = _into(column, own)
        if into is None:
            continue
        merged[name] = into
        schema = _amended(schema, column, into)
    return Settled(schema, tuple(_merged(rows, merged) for rows in tables), tuple(merged))


def _merged(rows: Rows, into: Mapping[str, dict[Hashable, Hashable]]) -> Rows:
    """Write the columns with merged levels anew."""
    if isinstance(rows, SpreadRows):
        return rows.rewritten(_moved, into) if into else rows
    own = {name: _moved(rows.take([name])[name], moved) for name, moved in into.items()}
    return ReplacedRows(rows, own) if own else rows


def _counts(schema: Schema, tables: Sequence[Rows], exempt: set[str]) -> dict[str, IntArray]:
    """Count the records of each level, of columns that have a rare one: the fewest where there are any."""
    found = {}
    for column in schema:
        if isinstance(column, CategoricalColumn) and column.levels and column.name not in exempt:
            if column.name not in tables[0].columns:
                continue  # refused by name when the rows are split
            each = np.stack([_counted(rows, column) for rows in tables])
            own = np.where(each > 0, each, each.max(axis=0)).min(axis=0)
            if np.any(_rare(own)):
                found[column.name] = own
    return found


def _counted(rows: Rows, column: CategoricalColumn) -> IntArray:
    """Count the records of each level in one table."""
    if isinstance(rows, SpreadRows):
        found: IntArray = rows.pieces.total(_of_piece, column)
        return found
    return _records(rows.take([column.name])[column.name], column, getattr(rows, "owner", None))


def _of_piece(piece: pd.DataFrame, start: int, column: CategoricalColumn) -> IntArray:
    """Count the records of each level in one piece of a table."""
    del start
    return _records(piece[column.name], column)


def _records(series: pd.Series[Any], column: CategoricalColumn, owner: IntArray | None = None) -> IntArray:
    """Count the records of each level among some cells: rows, or units where these have several."""
    codes = to_codes(series, column)
    if owner is not None:
        other = -1 if column.other is None else column.levels.index(column.other)
        codes = np.where(codes == -2, other, codes)
        return owners_with(codes[codes >= 0], len(column.levels), owner[codes >= 0])
    own = np.bincount(codes[codes >= 0], minlength=len(column.levels))[: len(column.levels)]
    if column.other is not None:
        own[column.levels.index(column.other)] += np.count_nonzero(codes == -2)
    return own


def _rare(counts: IntArray) -> BoolArray:
    """Say which levels have one to four records."""
    return np.asarray((counts > 0) & (counts < FEWEST))


def _refuse(counts: dict[str, IntArray]) -> None:
    """Name the columns."""
    if not counts:
        return
    listed = ", ".join(f"{name} ({np.count_nonzero(_rare(own))})" for name, own in counts.items())
    raise SchemaError(
        f"levels with fewer than {FEWEST} records, and how many: {listed}",
        kind="type",
        remedy=Words(
            "merge them yourself, or give {merge} or {keep}",
            merge=Setting("rare", "merge"), keep=Setting("rare", "keep"),
        ),
    )  # fmt: skip


def _into(column: CategoricalColumn, counts: IntArray) -> dict[Hashable, Hashable] | None:
    """Say which level goes into which; None where nothing sensible is left."""
    if any(isinstance(level, bool) for level in column.levels):
        return None
    if column.ordered:
        return _neighbours(column.levels, counts)
    if all(isinstance(level, str) for level in column.levels):
        return _others(column, counts)
    try:
        order = sorted(range(len(counts)), key=lambda code: column.levels[code])
    except TypeError:  # of several types, which have no neighbours
        return None
    return _neighbours([column.levels[code] for code in order], counts[order])


def _neighbours(levels: Any, counts: IntArray) -> dict[Hashable, Hashable] | None:
    """Name a run of neighbours by the level that most of its records have."""
    groups = group_levels(counts, ordered=True)
    if groups is None or np.count_nonzero(np.bincount(groups.codes, counts)) < 2:
        return None
    into = {}
    for group in range(groups.size):
        run = np.flatnonzero(groups.codes == group)
        largest = levels[run[np.argmax(counts[run])]]
        into.update({levels[code]: largest for code in run if levels[code] != largest and counts[code]})
    return into


def _others(column: CategoricalColumn, counts: IntArray) -> dict[Hashable, Hashable] | None:
    """Put rare levels into the one for others; fewer than five records together, into the smallest level."""
    known = next((level for level in column.levels if level.casefold() == OTHER), OTHER)
    other = column.other or known
    own = np.array([level == other for level in column.levels])
    rare = _rare(counts) & ~own
    enough = np.flatnonzero(~rare & ~own & (counts > 0))
    if column.other is None and counts[rare | own].sum() < FEWEST and enough.size:
        other = column.levels[int(enough[np.argmin(counts[enough])])]
        rare = _rare(counts)
    left = enough.size + (other not in column.levels or bool(own.any() and not rare[own].any()))
    if not rare.any() or left < 2:
        return None
    return {column.levels[code]: other for code in np.flatnonzero(rare).tolist()}


def _amended(schema: Schema, column: CategoricalColumn, into: dict[Hashable, Hashable]) -> Schema:
    """Take merged levels out of a column, and out of the category set of its copies: a name can tell, too."""
    new = [level for level in dict.fromkeys(into.values()) if level not in column.levels]
    levels = (*(level for level in column.levels if level not in into), *new)
    categories = column.categories
    if categories is not None:
        categories = (*(c for c in categories if c not in into), *(c for c in new if c not in categories))
    text = not column.ordered and isinstance(levels[0], str)
    other = next(iter(into.values())) if text else column.other if column.other in levels else None
    dtype = "category" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
    return schema.amend(column.name, levels=levels, other=other, categories=categories, dtype=dtype)


def _moved(series: pd.Series[Any], into: dict[Hashable, Hashable]) -> pd.Series[Any]:
    """Write merged cells as what they were merged into."""
    plain = series.astype(object)
    moved = plain.map(lambda cell: into.get(cell, cell))
    if isinstance(series.dtype, pd.CategoricalDtype):
        left = [level for level in series.cat.categories if level not in into]
        new = [level for level in dict.fromkeys(into.values()) if level not in left]
        return pd.Series(
            pd.Categorical(moved, [*left, *new], ordered=series.cat.ordered), series.index, name=series.name
        )
    return moved.astype(series.dtype)
