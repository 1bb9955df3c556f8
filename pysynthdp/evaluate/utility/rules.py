"""How many rows of either side break the rules and universes that are declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from pysynthdp.base.errors import PysynthdpError
from pysynthdp.design.expressions import parsed
from pysynthdp.evaluate.sides import Sides, frame_of
from pysynthdp.release.rules import checked_rules
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

__all__ = ["broken_rules"]


def broken_rules(sides: Sides, rules: Sequence[str]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Count the rows that break a rule, on both sides.

    Parameters
    ----------
    sides : Sides
        The table and the copies.
    rules : sequence of str
        Besides those of the release.

    Returns
    -------
    DataFrame, tuple of str
        One row a rule: shares of rows that break it; and what was not computed, and why.

    Raises
    ------
    PlanError
        If a rule cannot be read.

    Notes
    -----
    Privacy: of real rows.
    """
    told = [] if sides.release is None else list(sides.tags.details.get("rules", ()))
    own = [
        {"rule": rule, "columns": list(parsed(rule, tuple(sides.names), column="rules").columns)}
        for rule in rules
    ]
    asked = [rule for rule in [*told, *own] if set(rule["columns"]) <= set(sides.names)]
    heads = ["rule", "confidential", "copies"]
    if not asked and not _limited(sides.schema):
        return pd.DataFrame(columns=heads), ()
    schema = sides.schema if sides.release is not None and sides.schema else _plain(sides)
    copies = [frame_of(copy, sides.names) for copy in sides.copies]
    try:
        real = checked_rules([sides.real[sides.names]], schema, asked)
        made = checked_rules(copies, schema, asked)
    except PysynthdpError as error:
        return pd.DataFrame(columns=heads), (f"rules: {error}",)
    rows = [
        (one.rule, one.broken[0] / len(sides.real), sum(two.broken) / sum(map(len, copies)))
        for one, two in zip(real.checks, made.checks, strict=True)
    ]
    return pd.DataFrame(rows, columns=heads), ()


def _limited(schema: Schema | None) -> bool:
    """Whether a universe is declared."""
    return schema is not None and any(column.universe is not None for column in schema)


def _plain(sides: Sides) -> Schema:
    """Make a schema of what both sides hold, for copies that came without one."""
    first = frame_of(sides.copies[0], sides.names)
    columns: list[Any] = []
    for each in sides.facts:
        declared = sides.schema[each.name] if sides.schema and each.name in sides.schema else None
        if declared is not None:
            columns.append(declared)
        elif each.numeric:
            columns.append(NumericColumn(each.name, unit=each.unit))  # type: ignore[arg-type]  # a unit
        else:
            levels = pd.unique(
                pd.concat([sides.real[each.name].astype(object), first[each.name].astype(object)]).dropna()
            )
            columns.append(CategoricalColumn(each.name, tuple(levels)))
    return Schema(tuple(columns))
