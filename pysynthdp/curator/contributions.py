"""At most so many rows of each unit take part: enforced before any sum, by a rule inside the unit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, BoolArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.scratch import stored
from pysynthdp.curator.rows import rows_of
from pysynthdp.curator.spread.pieces import SpreadRows
from pysynthdp.curator.spread.table import SpreadTable, split_spread
from pysynthdp.curator.table import PartTable, split_rows
from pysynthdp.design.rows import Rows
from pysynthdp.design.unit_keys import places_in_unit, unit_codes, unit_keys
from pysynthdp.privacy.unit import PrivacyUnit
from pysynthdp.schema import Schema

__all__ = ["bounded_rows", "check_key_column"]


def bounded_rows(rows: Rows, schema: Schema, unit: PrivacyUnit) -> PartTable:
    """Split all rows into parts, every cell made to fit, with at most ``rows_per_unit`` rows of each unit.

    Without a key nothing can be enforced, and all rows are taken.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    schema : Schema
        The columns that are modelled; the key is none of them.
    unit : PrivacyUnit
        Its key, its limit, and what neighbours are.

    Returns
    -------
    PartTable
        Under replacement all rows, with the public row in place of each beyond the limit; when units are
        added or removed, without those.

    Raises
    ------
    SchemaError
        If the table has no such column.

    Notes
    -----
    Privacy: passes confidential rows through; nothing leaves here without noise or a priced draw.

    Claim. Let neighbours differ in one unit u, all other rows having the same keys and cells in the same
    order (under replacement u's rows too have the same keys and places, and n is the same). Then the bounded
    tables differ in at most k = ``rows_per_unit`` rows.

    Proof. Whether a row takes part depends on its place among the rows with its own key. Rows of other
    units have the same places in both tables, so they take part, or not, in both, with the same cells. Of u
    at most k rows take part. When u is added or removed the bounded tables differ in these rows alone. Under
    replacement the rows of u beyond the first k are the public row in both tables, where they lie in both,
    so again the tables differ in at most k rows, and both have n rows.

    Hence a mechanism that is rho-zCDP for one row is k^2 rho-zCDP for u (Bun and Steinke 2016, Prop. 1.9),
    epsilon-DP becomes k epsilon and mu-GDP k mu: what group privacy states for k rows.

    The public row is what a row becomes of which every cell is missing: missing where missing values are
    declared, else the fallback or ``other``. It depends on nothing but the schema, so the sums keep n rows
    of bounded length. Rows without a readable key take no part: were each a unit of its own, or all of them
    one, a unit could have k rows with its key and more without.

    Counted as changed are the rows that became the public row; where they are left out, the rows that take
    part of a unit that has more. Either way a unit moves that count by at most k: under replacement its rows
    beyond the limit count in both tables.
    """
    check_key_column(rows, unit)
    if isinstance(rows, SpreadRows):
        return _bounded_spread(rows, schema, unit)
    table = split_rows(rows, schema, tolerant=True)
    if unit.key is None:
        return table
    codes = unit_codes(_keys(rows, unit.key))
    beyond = (places_in_unit(codes) >= unit.rows_per_unit) | (codes < 0)
    if unit.relation == "replace_one":
        return _with_public_rows(table, schema, beyond)
    return _without(table, beyond, (np.bincount(codes + 1) > unit.rows_per_unit)[codes + 1])


def _bounded_spread(rows: SpreadRows, schema: Schema, unit: PrivacyUnit) -> SpreadTable:
    """Bound the rows of units that lie in several pieces: the same rows take part as if they lay in one.

    Whether a row takes part depends on its place among those with its own key, in the order of all rows. So a
    count of each key walks through the pieces in their order, from worker to worker; and how many rows a unit
    has in all is known at its end. What is done to a row is then what :func:`bounded_rows` does to it.
    """
    table = split_spread(rows, schema, tolerant=True)
    if unit.key is None:
        return table
    keys = rows.pieces.each(_keys_of, unit.key)
    places, counts = keys.running(_places_after, {}, unit.rows_per_unit)
    beside = None if unit.relation == "replace_one" else counts
    pieces = table.pieces.each(_bounded_piece, schema, unit, along=places, beside=beside)
    pieces, n = pieces.measured(_length)
    return SpreadTable(n, pieces=pieces)


def _keys_of(piece: pd.DataFrame, start: int, key: str) -> AnyArray:
    """Keys of the rows of a piece."""
    del start
    return unit_keys(piece[key])


def _places_after(
    before: Mapping[Hashable, int], keys: AnyArray, most: int
) -> tuple[dict[Hashable, int], tuple[AnyArray, BoolArray]]:
    """Count on from the pieces before; rows without a key, and those after so many of their unit, are out."""
    counts = dict(before)
    beyond = np.zeros(len(keys), dtype=np.bool_)
    for row, key in enumerate(keys):
        place = counts.get(key, 0)
        beyond[row] = key is None or place >= most
        counts[key] = place + 1
    return counts, (keys, beyond)


def _bounded_piece(
    piece: PartTable,
    start: int,
    schema: Schema,
    unit: PrivacyUnit,
    placed: tuple[AnyArray, BoolArray],
    counts: Mapping[Hashable, int] | None = None,
) -> PartTable:
    """Bound one piece; ``counts`` are those of all rows, where rows beyond the limit are left out."""
    del start
    keys, beyond = placed
    if counts is None:
        return _with_public_rows(piece, schema, beyond)
    cut = np.array([counts[key] > unit.rows_per_unit for key in keys], dtype=np.bool_)
    return _without(piece, beyond, cut)


def _length(piece: PartTable) -> int:
    """Count the rows of a piece."""
    return piece.n


def check_key_column(rows: Rows, unit: PrivacyUnit) -> None:
    """Refuse a table that lacks the column which says whose a row is.

    Raises
    ------
    SchemaError
        Names the column; name one of the table.

    Notes
    -----
    Privacy: reads the names of columns only.
    """
    if unit.key is not None and unit.key not in rows.columns:
        raise SchemaError(
            f"the table has no column {unit.key!r}, which the unit names as its key",
            kind="rows",
            remedy="name a column of the table",
        )


def _keys(rows: Rows, key: str) -> AnyArray:
    """Keys of all rows."""
    return rows.fold(lambda block: unit_keys(block[key]), lambda left, right: np.concatenate([left, right]))


def _with_public_rows(table: PartTable, schema: Schema, beyond: BoolArray) -> PartTable:
    """Put the public row in place of each that lies beyond the limit."""
    missing = pd.DataFrame({name: pd.Series([None], dtype=object) for name in schema.names})
    public = split_rows(rows_of(missing), schema, tolerant=True).parts
    after = table.with_parts(
        (key, np.where(beyond, public[key][0], values).astype(values.dtype, copy=False))
        for key, values in table.parts.items()
    )
    return replace(after, changed=stored(beyond | _changed(table), table.scratch))


def _without(table: PartTable, beyond: BoolArray, cut: BoolArray) -> PartTable:
    """Leave rows beyond the limit out; what is left of the units that have such rows counts as changed."""
    taken = ~beyond
    after = table.with_parts((key, values[taken]) for key, values in table.parts.items())
    changed = stored((cut | _changed(table))[taken], table.scratch)
    return replace(after, n=int(np.count_nonzero(taken)), changed=changed)


def _changed(table: PartTable) -> BoolArray:
    """Rows with a cell that was made to fit."""
    return np.zeros(table.n, dtype=np.bool_) if table.changed is None else table.changed
