"""The codebook: one line a column, for people and for :func:`read_codebook`."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.io.plain_values import finite_or_none
from pysynthdp.io.schema_file import WITHHELD
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = ["HEADS", "SEPARATOR", "write_codebook"]

HEADS = (
    "name", "kind", "type", "unit", "lower", "upper", "decimals", "levels", "ordered", "other", "missing",
    "may_be_missing", "spikes", "declared", "released", "method",
)  # fmt: skip
SEPARATOR = " | "


def write_codebook(
    schema: Schema, path: Path, *, methods: Mapping[str, str] | None = None, real: Collection[str] = ()
) -> Path:
    """Write a codebook as CSV.

    Parameters
    ----------
    schema : Schema
        Public facts about the columns.
    path : Path
        Of the file.
    methods : mapping column -> method, optional
        Shown beside each column; the levels of a column of method ``serial`` are identifiers and left out.
    real : collection of str
        Columns that are released as they really are.

    Notes
    -----
    Privacy: bounds are written only as declared; a schema holds no others.
    """
    given = methods or {}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADS, lineterminator="\n")
        writer.writeheader()
        for column in schema:
            row = _row(column, withhold=given.get(column.name) == WITHHELD)
            released = "REAL" if column.name in real else "synthetic"
            writer.writerow({**row, "released": released, "method": given.get(column.name, "")})
    return path


def _row(column: Column, *, withhold: bool) -> dict[str, Any]:
    """Write one column's facts."""
    shared = {
        "name": column.name,
        "type": "category" if isinstance(column.dtype, pd.CategoricalDtype) else str(column.dtype),
        "missing": SEPARATOR.join(f"{_escaped(code)} = {_escaped(label)}" for code, label in column.missing),
        "may_be_missing": _yes(column.may_be_missing),
        "declared": _yes(column.declared),
    }
    if isinstance(column, NumericColumn):
        return {**shared, **_number_facts(column)}
    levels = () if withhold else column.levels
    return {
        **shared,
        "kind": "categorical",
        "levels": SEPARATOR.join(_escaped(level) for level in levels),
        "ordered": _yes(column.ordered),
        "other": "" if column.other is None or withhold else str(column.other),
    }


def _number_facts(column: NumericColumn) -> dict[str, Any]:
    """Write what a numeric column has of its own; bounds are declared ones."""
    return {
        "kind": "numeric",
        "unit": column.unit,
        "lower": finite_or_none(column.lower),
        "upper": finite_or_none(column.upper),
        "decimals": column.decimals,
        "spikes": SEPARATOR.join(_escaped(spike) for spike in column.spikes),
    }


def _yes(flag: bool) -> str:
    """Write a flag."""
    return "yes" if flag else "no"


def _escaped(value: Any) -> str:
    """Write a level so that the separators stay readable."""
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("=", "\\=")
