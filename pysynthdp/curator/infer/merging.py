"""One schema for several imputations of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.words import Argument, Words
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
        return replace(_united_levels(cast("Sequence[CategoricalColumn]", columns)), may_be_missing=may)
    return replace(_united_number(cast("Sequence[NumericColumn]", columns)), may_be_missing=may)


def _united_levels(columns: Sequence[CategoricalColumn]) -> CategoricalColumn:
    """Put levels together, in the order that they have in every table; those of texts are sorted."""
    first = columns[0]
    levels = _interleaved([column.levels for column in columns])
    own = levels if first.ordered or first.categories is not None else tuple(sorted(levels, key=str))
    if not isinstance(first.dtype, pd.CategoricalDtype):
        return replace(first, levels=own)
    categories = _interleaved([column.categories or () for column in columns])
    known = _interleaved([tuple(column.dtype.categories) for column in columns])
    dtype = pd.CategoricalDtype(list(known), ordered=first.dtype.ordered)
    return replace(first, levels=own, dtype=dtype, categories=categories or None)


def _interleaved(lists: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Put together what are parts of one order: what is new comes behind what it stood behind."""
    found: list[Any] = []
    for own in lists:
        place = 0
        for item in own:
            if item in found:
                place = found.index(item) + 1
            else:
                found.insert(place, item)
                place += 1
    return tuple(found)


def _united_number(columns: Sequence[NumericColumn]) -> NumericColumn:
    """Put a number together."""
    first = columns[0]
    if len({column.unit for column in columns}) > 1:
        raise SchemaError(
            Words(
                "{column} holds whole days in some of the imputed tables and times in others",
                column=first.name,
            ),
            column=first.name,
            kind="imputed",
            remedy=Words(
                "round the imputed ones, or declare its unit in {schema}", schema=Argument("schema")
            ),
        )
    decimals = [column.decimals for column in columns]
    spikes = dict.fromkeys(spike for column in columns for spike in column.spikes)
    steps = {(column.step, column.offset) for column in columns}
    return replace(
        first,
        decimals=None if None in decimals else max(cast("list[int]", decimals)),
        step=first.step if len(steps) == 1 else None,
        offset=first.offset if len(steps) == 1 else 0.0,
        spikes=tuple(sorted(spikes)),
        learned_spikes=any(column.learned_spikes for column in columns),
    )
