"""One schema for several imputations of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from pysynthdp.errors import SchemaError
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["kinds_apart", "united"]


def kinds_apart(schemas: Sequence[Schema]) -> tuple[str, ...]:
    """Columns that are numbers in some of the schemas and levels in others.

    Notes
    -----
    Privacy: compares schemas.
    """
    return tuple(name for name in schemas[0].names if len({type(schema[name]) for schema in schemas}) > 1)


def united(schemas: Sequence[Schema]) -> Schema:
    """Put together what was learned from each table: all levels and spikes, the most decimals.

    Learning from the stacked tables instead would count every record M times.

    Raises
    ------
    SchemaError
        If dates are counted in another unit in one of them.

    Notes
    -----
    Privacy: reads schemas; the result is learned from all the tables, and marked so as they are.
    """
    names = schemas[0].names
    return Schema(tuple(_united([schema[name] for schema in schemas]) for name in names))


def _united(columns: Sequence[Column]) -> Column:
    """Put one column together."""
    first = columns[0]
    if all(column == first for column in columns[1:]):
        return first
    may = any(column.may_be_missing for column in columns)
    if isinstance(first, CategoricalColumn):
        levels = {
            level: None for column in cast("Sequence[CategoricalColumn]", columns) for level in column.levels
        }
        own = tuple(levels) if first.ordered else tuple(sorted(levels, key=str))
        return replace(first, levels=own, may_be_missing=may)
    return replace(_united_number(cast("Sequence[NumericColumn]", columns)), may_be_missing=may)


def _united_number(columns: Sequence[NumericColumn]) -> NumericColumn:
    """Put a number together."""
    first = columns[0]
    if len({column.unit for column in columns}) > 1:
        raise SchemaError(
            f"{first.name} holds whole days in some of the imputed tables and times in others; round the "
            "imputed ones, or declare its unit in schema="
        )
    decimals = [column.decimals for column in columns]
    spikes = dict.fromkeys(spike for column in columns for spike in column.spikes)
    return replace(
        first,
        decimals=None if None in decimals else max(cast("list[int]", decimals)),
        spikes=tuple(sorted(spikes)),
        learned_spikes=any(column.learned_spikes for column in columns),
    )
