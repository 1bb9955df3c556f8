"""Whether real rows are as the expressions of a plan say; counted, never quoted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.remarks import Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.curator.reductions import blocks_of
from pysynthdp.curator.spread.table import parts_of_rows
from pysynthdp.curator.table import Key, PartTable
from pysynthdp.design.expression_cells import cells_of, parts_from
from pysynthdp.design.expressions import Values, parsed
from pysynthdp.design.parts import digits_of
from pysynthdp.design.rows import Rows
from pysynthdp.plan import SynthesisPlan
from pysynthdp.plan.derived import Derived
from pysynthdp.schema import NumericColumn, Schema

__all__ = ["broken_remarks", "rows_unlike"]

_ROUNDING = 1e-6  # of a step of the column's grid, beyond the half that rounding moves
_STORED = 1e-9  # of a number: what float64 and a file's digits leave
_TENTH = 10


def broken_remarks(plan: SynthesisPlan, rows: Rows) -> tuple[Remark, ...]:
    """Say of each declared expression in how many rows of the table it does not hold.

    Parameters
    ----------
    plan : SynthesisPlan
        With the columns that it derives.
    rows : Rows
        The confidential table.

    Notes
    -----
    Privacy: reads real rows; not under a guarantee. Counts below ten stay vague.
    """
    derived, schema = [own for own in plan.derived if not own.found], plan.schema
    if not derived:
        return ()
    names = {name for own in derived for name in (own.column, *own.given)}
    table = parts_of_rows(rows, Schema(tuple(column for column in schema if column.name in names)))
    counts = {own: table.count(partial(rows_unlike, own, schema)) for own in derived}
    return tuple(_remark(own, count, table.n) for own, count in counts.items() if count)


def _remark(own: Derived, count: int, n: int) -> Remark:
    """Say that an expression does not hold everywhere, and what the copies will do."""
    many = "most" if count > n / 2 else f"{few(count)} of {n:,}" if count >= _TENTH else few(count)
    mend = "correct the expression or the rows, or leave it out of {derive} to have the column drawn"
    return Remark(
        own.column,
        "broken expression",
        Words("{many} rows are not as '{text}' says; all rows of a copy are", many=many, text=own.expression),
        Words(mend, derive=Setting("derive", {own.column: "..."})),
    )


def rows_unlike(own: Derived, schema: Schema, table: PartTable, *, off: float = 0.0) -> BoolArray:
    """Find the rows in which a column is not what an expression makes of others, but for rounding.

    Parameters
    ----------
    own : Derived
        The column and its expression.
    schema : Schema
        Its columns.
    table : PartTable
        All rows.
    off : float
        What a number may be off besides.

    Notes
    -----
    Privacy: reads real rows; what it returns stays in the curator.
    """
    column = schema[own.column]
    asked = {own.column, *own.given}
    parts = {key: part for key, part in table.parts.items() if key[0] in asked}
    if not parts:
        return np.zeros(table.n, dtype=np.bool_)
    blocks = (
        {key: part[rows] for key, part in parts.items()} for rows in blocks_of(next(iter(parts.values())))
    )
    try:
        return np.concatenate([_block_unlike(own, schema, block, off) for block in blocks])
    except PlanError:  # it makes what the column does not have
        if isinstance(column, NumericColumn):
            raise
        return np.ones(table.n, dtype=np.bool_)


def _block_unlike(own: Derived, schema: Schema, parts: Mapping[Key, AnyArray], off: float) -> BoolArray:
    """Find them among some rows."""
    column, n = schema[own.column], len(next(iter(parts.values())))
    expression = parsed(own.expression, own.given, column=own.column)
    made = expression.of({name: cells_of(schema[name], parts) for name in own.given}).over(n)
    if isinstance(column, NumericColumn):
        return _numbers_unlike(made, cells_of(column, parts), column, off)
    return _parts_unlike(parts_from(made, column, n), parts, n)


def _parts_unlike(
    made: Mapping[tuple[str, str], AnyArray], real: Mapping[tuple[str, str], AnyArray], n: int
) -> BoolArray:
    """Compare level codes and kinds."""
    unlike = np.zeros(n, dtype=np.bool_)
    for key, codes in made.items():
        unlike |= codes != real[key]
    return unlike


def _numbers_unlike(made: Values, real: Values, column: NumericColumn, off: float) -> BoolArray:
    """Compare numbers, of which the made ones are not yet rounded; codes count as numbers."""
    here: FloatArray = np.where(made.missing & ~np.isfinite(made.data), np.nan, made.data)
    there: FloatArray = np.where(real.missing & ~np.isfinite(real.data), np.nan, real.data)
    both_missing = np.isnan(here) & np.isnan(there)
    digits = digits_of(column)
    step = column.step or (0.0 if digits is None else 10.0**-digits)
    near = off + step * (0.5 + _ROUNDING) + _STORED * np.maximum(np.abs(here), np.abs(there))
    return ~(both_missing | (np.abs(here - there) <= near))
