"""Fill in the types that a schema leaves open: the table's own, or public ones under a formal guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["typed", "with_public_types", "with_types"]


def with_types(schema: Schema, dtypes: Mapping[str, Any]) -> Schema:
    """Give columns whose type is open the type that they have in the table."""
    return Schema(tuple(typed(column, dtypes.get(column.name)) for column in schema))


def with_public_types(schema: Schema) -> Schema:
    """Give columns whose type is open a type that does not depend on any record."""
    return Schema(tuple(typed(column, None) for column in schema))


def typed(column: Column, dtype: Any) -> Column:
    """Give one column a type where it is open; without one, a type that depends on no record."""
    if column.dtype is not None:
        return column
    if column.tags and (isinstance(column, NumericColumn) or _is_number(dtype)):
        return replace(column, dtype="float64")  # which alone holds missing kinds
    if isinstance(column, NumericColumn):
        public = "float64" if column.unit == "number" else "datetime64[us]"
        return replace(column, dtype=public if dtype is None else dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(column, dtype)
    return replace(column, dtype="category" if dtype is None else dtype)


def _is_number(dtype: Any) -> bool:
    """Whether a type is of numbers."""
    return dtype is not None and pd.api.types.is_numeric_dtype(dtype)


def _categorical(column: CategoricalColumn, dtype: pd.CategoricalDtype) -> CategoricalColumn:
    """Keep the order of the table's category set: only what is declared, with levels that it lacks behind."""
    declared = (*column.levels, *column.specials)
    own = tuple(dtype.categories)
    listed = (
        *(value for value in own if value in set(declared)),
        *(value for value in declared if value not in set(own)),
    )
    return replace(column, dtype=dtype if listed == own else "category", categories=listed)
