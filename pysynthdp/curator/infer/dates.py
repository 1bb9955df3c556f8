"""Infer a column of dates, times or durations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from pysynthdp.base.errors import SchemaError
from pysynthdp.design.grain import date_grain
from pysynthdp.design.values import to_numbers
from pysynthdp.schema import CategoricalColumn, NumericColumn
from pysynthdp.schema.declarations import Codes

__all__ = ["infer_date"]

_ENOUGH = 5  # records behind what is learned


def infer_date(
    series: pd.Series[Any],
    name: str,
    missing: Codes,
    spikes: Iterable[Any],
    bounds: tuple[Any, Any],
    decimals: int | None,
    *,
    released: bool = False,
) -> NumericColumn:
    """Take dates, times or durations; codes, spikes and bounds may be given as such or in ticks.

    No copy has one of fewer than five; how finely those are written is not said, unless they are released.
    """
    unit, digits = date_grain(series if released or series.count() >= _ENOUGH else series[:0])
    draft = NumericColumn(name, dtype=series.dtype, unit=unit)
    codes = CategoricalColumn(name, (), missing=missing).missing
    low, high = (_tick(bound, draft) for bound in bounds)
    return NumericColumn(
        name,
        low,
        high,
        digits if decimals is None else decimals,
        tuple((_tick(code, draft), label) for code, label in codes),
        tuple(ticks for ticks in (_tick(spike, draft) for spike in spikes) if ticks is not None),
        bool(series.isna().any()),
        series.dtype,
        unit,
        False,
    )


def _tick(value: Any, draft: NumericColumn) -> float | None:
    """Write a declared date, time or duration in the column's unit; numbers are in it already."""
    if value is None or isinstance(value, int | float):
        return value
    try:
        one = pd.Series([value]).astype(draft.dtype)
        return float(to_numbers(one, draft)[0])
    except (TypeError, ValueError):
        raise SchemaError(
            (
                f"{draft.name}: codes, spikes and bounds must be of the column's type or numbers "
                f"of {draft.unit}s"
            ),
            column=draft.name,
            kind="type",
        ) from None
