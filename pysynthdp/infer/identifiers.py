"""Columns that name rows: identifiers and free text."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pysynthdp.errors import SchemaError
from pysynthdp.schema import CategoricalColumn

__all__ = ["identifier"]


def identifier(series: pd.Series[Any], name: str, exempt: bool) -> CategoricalColumn:
    """Refuse an identifier or free text, unless it is kept or numbered anew: then nothing is modelled."""
    if exempt:
        return CategoricalColumn(name, (), dtype=series.dtype, declared=False)
    raise SchemaError(
        f"{name} looks like an identifier or free text: most of its values occur once. Leave it out with "
        f"drop=[{name!r}], number the rows anew with method={{{name!r}: 'serial'}}, or declare its "
        "levels in the schema",
        column=name,
        kind="identifier",
    )
