"""Columns that name rows: identifiers and free text."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pysynthdp.errors import SchemaError
from pysynthdp.schema import CategoricalColumn
from pysynthdp.words import Setting, Words

__all__ = ["identifier"]


def identifier(series: pd.Series[Any], name: str, exempt: bool) -> CategoricalColumn:
    """Refuse an identifier or free text, unless it is kept or numbered anew: then nothing is modelled."""
    if exempt:
        return CategoricalColumn(name, (), dtype=series.dtype, declared=False)
    raise SchemaError(
        Words("{name} looks like an identifier or free text: most of its values occur once", name=name),
        column=name,
        kind="identifier",
        remedy=Words(
            "leave it out with {drop}, number the rows anew with {serial}, or declare its levels in the "
            "schema",
            drop=Setting("drop", [name]),
            serial=Setting("method", {name: "serial"}),
        ),
    )
