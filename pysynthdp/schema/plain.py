"""Between a Schema and plain JSON values: ``schema.json`` of a release."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.base.marks import SERIAL
from pysynthdp.schema.columns import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.labels import labels_from_plain, labels_to_plain, shown_labels
from pysynthdp.schema.plain_values import (
    dtype_from_plain,
    dtype_to_plain,
    value_from_plain,
    value_to_plain,
)
from pysynthdp.schema.table import Schema
from pysynthdp.schema.universe import Universe

__all__ = ["SCHEMA_FILE_VERSION", "from_plain", "to_plain"]

SCHEMA_FILE_VERSION = 1


def to_plain(
    schema: Schema, *, methods: Mapping[str, str] | None = None, real: Collection[str] = ()
) -> dict[str, Any]:
    """Write a schema as plain JSON values.

    Parameters
    ----------
    schema : Schema
        Public facts about the columns.
    methods : mapping column -> method, optional
        Noted beside each column; the levels of a column of method ``serial`` are identifiers and left out.
    real : collection of str
        Columns that are released as they really are.

    Returns
    -------
    dict
        Which :func:`from_plain` reads.

    Notes
    -----
    Privacy: bounds are written only as declared; a schema holds no others.

    Examples
    --------
    >>> schema = Schema([NumericColumn("age", lower=0, missing={-8: "not asked"})])
    >>> from_plain(to_plain(schema)) == schema
    True
    """
    given = methods or {}
    columns = []
    for column in schema:
        plain = _column_to_plain(column, withhold=given.get(column.name) == SERIAL)
        plain["synthetic"] = column.name not in real
        if column.name in given:
            plain["method"] = given[column.name]
        columns.append(plain)
    return {"schema_version": SCHEMA_FILE_VERSION, "columns": columns}


def _column_to_plain(column: Column, *, withhold: bool) -> dict[str, Any]:
    """Write one column."""
    shared: dict[str, Any] = {
        "missing": [{"code": value_to_plain(code), "label": label} for code, label in column.missing],
        "may_be_missing": column.may_be_missing,
        "declared": column.declared,
        **_universe_to_plain(column),
    }
    labels = shown_labels(column.labels, withhold=withhold)
    if labels is not None:
        shared["labels"] = labels_to_plain(labels)
    if isinstance(column, CategoricalColumn):
        return {"name": column.name, "kind": "categorical", **_levels_to_plain(column, withhold), **shared}
    return {
        "name": column.name,
        "kind": "numeric",
        "lower": value_to_plain(column.lower),
        "upper": value_to_plain(column.upper),
        "decimals": column.decimals,
        "spikes": [value_to_plain(spike) for spike in column.spikes],
        "learned_spikes": column.learned_spikes,
        "unit": column.unit,
        "fallback": value_to_plain(column.fallback),
        "step": column.step,
        "offset": column.offset,
        "dtype": dtype_to_plain(column.dtype),
        **({"topped": True} if column.topped else {}),
        **shared,
    }


def _universe_to_plain(column: Column) -> dict[str, Any]:
    """Write in which rows a column is asked; nothing where in all."""
    if not isinstance(column.universe, Universe):
        return {}
    own = column.universe
    plain = {"where": own.where, "outside": value_to_plain(own.outside), "alone": own.alone}
    return {"universe": plain}


def _universe_from_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Read it."""
    if "universe" not in plain:
        return {}
    own = plain["universe"]
    return {"universe": Universe(own["where"], value_from_plain(own["outside"]), own["alone"])}


def _levels_to_plain(column: CategoricalColumn, withhold: bool) -> dict[str, Any]:
    """Write what a categorical column has of its own; identifiers have no levels to show."""
    category = isinstance(column.dtype, pd.CategoricalDtype)
    categories = None if withhold else column.categories
    return {
        "levels": [] if withhold else [value_to_plain(level) for level in column.levels],
        "ordered": column.ordered,
        "absence": column.absence,
        "form": column.form,
        "other": None if withhold else value_to_plain(column.other),
        "dtype": "category" if category else dtype_to_plain(column.dtype),
        "categories": None if categories is None else [value_to_plain(value) for value in categories],
    }


def from_plain(plain: Mapping[str, Any]) -> Schema:
    """Read what :func:`to_plain` wrote.

    Raises
    ------
    SchemaError
        For another version, or when a part is missing; read it with the version that wrote it.
    """
    if plain.get("schema_version") != SCHEMA_FILE_VERSION:
        raise SchemaError(
            f"the schema lacks schema_version {SCHEMA_FILE_VERSION}; read it with the version that wrote it",
            kind="folder",
        )
    try:
        return Schema(tuple(_column_from_plain(column) for column in plain["columns"]))
    except (KeyError, TypeError) as error:
        raise SchemaError(
            "this is not a saved schema: a part of it is missing or malformed", kind="folder"
        ) from error


def _column_from_plain(plain: Mapping[str, Any]) -> Column:
    """Read one column."""
    shared: dict[str, Any] = {
        "missing": tuple((value_from_plain(code["code"]), code["label"]) for code in plain["missing"]),
        "may_be_missing": plain["may_be_missing"],
        "declared": plain["declared"],
        "dtype": dtype_from_plain(plain["dtype"]),
        **_universe_from_plain(plain),
        "labels": labels_from_plain(plain["labels"]) if "labels" in plain else None,
    }
    if plain["kind"] == "numeric":
        spikes = tuple(value_from_plain(spike) for spike in plain["spikes"])
        facts = ("lower", "upper", "decimals", "unit", "fallback", "learned_spikes")
        own = {name: plain[name] for name in facts} | {
            "step": plain.get("step"),
            "offset": plain.get("offset", 0.0),
            "topped": plain.get("topped", False),
        }
        return NumericColumn(plain["name"], spikes=spikes, **own, **shared)
    categories = plain["categories"]
    return CategoricalColumn(
        plain["name"],
        tuple(value_from_plain(level) for level in plain["levels"]),
        ordered=plain["ordered"],
        absence=plain["absence"],
        form=plain.get("form"),
        other=value_from_plain(plain["other"]),
        categories=None if categories is None else tuple(value_from_plain(value) for value in categories),
        **shared,
    )
