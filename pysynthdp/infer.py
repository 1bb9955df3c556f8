"""Infer a schema from rows, marked ``declared=False``; bounds are never inferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray
from pysynthdp.design.grain import date_grain, decimals_of
from pysynthdp.design.holds import holds, names_rows
from pysynthdp.design.values import EXACT, to_numbers
from pysynthdp.errors import SchemaError
from pysynthdp.rows.base import Rows
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["infer_column", "infer_schema"]

_ENOUGH = 5  # records behind a number that is released as it is
Codes = Mapping[Any, str] | Iterable[Any]


def infer_schema(
    rows: Rows,
    *,
    missing: Mapping[str, Codes] | None = None,
    spikes: Mapping[str, Iterable[float]] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    decimals: Mapping[str, int] | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    exempt: Iterable[str] = (),
    skip: Iterable[str] = (),
) -> Schema:
    """Read every column once and say what it is.

    Parameters
    ----------
    rows : Rows
        The confidential table.
    missing, spikes, bounds, decimals, levels : mappings by column
        What the user declares; all else is learned.
    exempt : iterable of str
        Columns that may be identifiers: kept or replaced by running numbers.
    skip : iterable of str
        Columns to leave out.

    Raises
    ------
    SchemaError
        If a column is an identifier or free text, or mixes types; the message names the ways out.

    Notes
    -----
    Privacy: reads real rows; the levels and decimals in the result are learned from them.
    """
    declared: dict[str, Mapping[str, Any] | None] = {
        "missing": missing,
        "spikes": spikes,
        "bounds": bounds,
        "decimals": decimals,
        "levels": levels,
    }
    _check_names(declared, rows.columns)
    free = set(exempt)
    columns = [
        infer_column(
            _gather(rows, name),
            name,
            exempt=name in free,
            **{what: given[name] for what, given in declared.items() if given and name in given},
        )
        for name in rows.columns
        if name not in set(skip)
    ]
    return Schema(tuple(columns))


def _check_names(declared: Mapping[str, Mapping[str, Any] | None], names: tuple[str, ...]) -> None:
    """Refuse a declaration for a column that is not there."""
    for what, given in declared.items():
        if given is not None and not isinstance(given, Mapping):
            raise SchemaError(f"{what} must name columns; write {what}={{'column': ...}}")
        for name in given or ():
            if name not in names:
                raise SchemaError(
                    f"{what} names {name!r}, which is no column; columns are {', '.join(names)}"
                )


def _gather(rows: Rows, name: str) -> pd.Series[Any]:
    """Collect one column."""
    pieces: list[pd.Series[Any]] = rows.fold(lambda block: [block[name]], lambda a, b: a + b)
    return pieces[0] if len(pieces) == 1 else pd.concat(pieces)


def infer_column(
    series: pd.Series[Any],
    name: str,
    *,
    missing: Codes = (),
    spikes: Iterable[float] = (),
    bounds: tuple[float | None, float | None] = (None, None),
    decimals: int | None = None,
    levels: Iterable[Any] | None = None,
    exempt: bool = False,
) -> Column:
    """Say what one column is."""
    may_be_missing = bool(series.isna().any())
    for what, given in (("spikes", spikes), ("bounds", bounds)):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise SchemaError(f"{what} of {name} must be a list; write {what}={{{name!r}: [...]}}")
    kind = "text" if levels is not None or _is_category(series) else holds(series, name, exempt)
    if kind == "text" and (tuple(spikes) or tuple(bounds) != (None, None) or decimals is not None):
        raise SchemaError(
            f"{name} is categorical: bounds, decimals and spikes are for numbers; leave them out"
        )
    if levels is not None or _is_category(series):
        return _category(series, name, missing, levels, may_be_missing, exempt)
    if kind == "text":
        return _text(series, name, missing, may_be_missing, exempt)
    if kind == "empty":
        return CategoricalColumn(name, (), missing=missing, dtype=series.dtype, declared=False)
    if kind == "date":
        return _date(series, name, missing, spikes, bounds, decimals)
    return _number(series, name, missing, tuple(spikes), bounds, decimals, may_be_missing, exempt)


def _is_category(series: pd.Series[Any]) -> bool:
    """Whether a column comes with its levels: categorical or boolean."""
    return isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(series.dtype)


def _category(
    series: pd.Series[Any],
    name: str,
    missing: Codes,
    levels: Iterable[Any] | None,
    may_be_missing: bool,
    exempt: bool,
) -> CategoricalColumn:
    """Take a categorical with its unused levels, a boolean, or levels that the user declares."""
    dtype = series.dtype
    if levels is None and not getattr(dtype, "ordered", True) and names_rows(series):
        return _identifier(series, name, exempt)
    ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    categories: tuple[Any, ...] | None = None
    if isinstance(dtype, pd.CategoricalDtype):
        categories = tuple(dtype.categories)
    codes = CategoricalColumn(name, (), missing=missing).specials
    own = () if levels is None else tuple(levels)
    if levels is None:
        own = tuple(
            level for level in ((False, True) if categories is None else categories) if level not in codes
        )
    if categories is not None:
        known = set(categories)
        categories = (*categories, *(value for value in (*own, *codes) if value not in known))
    return CategoricalColumn(
        name, own, ordered, None, missing, may_be_missing, dtype, levels is not None, categories=categories
    )


def _text(
    series: pd.Series[Any], name: str, missing: Codes, may_be_missing: bool, exempt: bool
) -> CategoricalColumn:
    """Take the distinct texts as levels, unless they are identifiers or free text."""
    if names_rows(series):
        return _identifier(series, name, exempt)
    distinct = series.dropna().unique()
    codes = CategoricalColumn(name, (), missing=missing).specials
    own = sorted((value for value in distinct if value not in codes), key=str)
    return CategoricalColumn(name, tuple(own), False, None, missing, may_be_missing, series.dtype, False)


def _identifier(series: pd.Series[Any], name: str, exempt: bool) -> CategoricalColumn:
    """Refuse an identifier or free text, unless it is kept or numbered anew: then nothing is modelled."""
    if exempt:
        return CategoricalColumn(name, (), dtype=series.dtype, declared=False)
    raise SchemaError(
        f"{name} looks like an identifier or free text: most of its values occur once. Leave it out with "
        f"drop=[{name!r}], number the rows anew with method={{{name!r}: 'serial'}}, or declare its "
        "levels in the schema"
    )


def _number(
    series: pd.Series[Any],
    name: str,
    missing: Codes,
    spikes: tuple[float, ...],
    bounds: tuple[float | None, float | None],
    decimals: int | None,
    may_be_missing: bool,
    exempt: bool,
) -> Column:
    """Take a number column; with at most two distinct values it is categorical."""
    draft = NumericColumn(
        name, *bounds, decimals, missing, spikes, may_be_missing, series.dtype, declared=False
    )
    numbers = _plain(series, draft, name)
    beyond = _whole_type(series) and bool((np.abs(numbers) >= EXACT).any())
    if _is_running_number(numbers, series) or (beyond and exempt):
        return _identifier(series, name, exempt)
    if beyond:
        raise SchemaError(
            f"{name} holds whole numbers beyond 2^53, which cannot be kept exact; "
            f"drop=[{name!r}], method={{{name!r}: 'serial'}} or declare its levels"
        )
    distinct, counts = np.unique(numbers, return_counts=True)
    plain = not spikes and tuple(bounds) == (None, None)
    if plain and len(distinct) <= 2 and (counts.min(initial=_ENOUGH) >= _ENOUGH or np.isin(distinct, (0, 1, 2)).all()):
        own = tuple(_native(value, series.dtype) for value in distinct)
        return CategoricalColumn(name, own, False, None, missing, may_be_missing, series.dtype, False)
    if decimals is None:
        decimals = decimals_of(distinct, series.dtype)
    return NumericColumn(
        name, *bounds, decimals, missing, spikes, may_be_missing, series.dtype, declared=False
    )


def _plain(series: pd.Series[Any], draft: NumericColumn, name: str) -> FloatArray:
    """Present numbers without codes and spikes."""
    values = series.dropna()
    numbers = values.to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise SchemaError(f"{name} holds infinite values; make them missing or give them a code")
    return numbers[~np.isin(numbers, np.array(draft.specials, dtype=np.float64))]


def _whole_type(series: pd.Series[Any]) -> bool:
    """Whether a column's type is of whole numbers."""
    return pd.api.types.is_integer_dtype(series.dtype) or series.dtype == np.dtype(object)


def _is_running_number(numbers: FloatArray, series: pd.Series[Any]) -> bool:
    """Whether a column counts the rows: whole, distinct, rising by one."""
    whole = pd.api.types.is_integer_dtype(series.dtype)
    return whole and len(numbers) >= 30 and bool((np.diff(numbers) == 1).all())


def _native(value: float, dtype: Any) -> int | float:
    """Write a level as the Python number that a person would type."""
    return (
        int(value) if float(value).is_integer() and not pd.api.types.is_float_dtype(dtype) else float(value)
    )


def _date(
    series: pd.Series[Any],
    name: str,
    missing: Codes,
    spikes: Iterable[Any],
    bounds: tuple[Any, Any],
    decimals: int | None,
) -> NumericColumn:
    """Take dates, times or durations; codes, spikes and bounds may be given as such or in ticks."""
    unit, digits = date_grain(series)
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
            f"{draft.name}: codes, spikes and bounds must be of the column's type or numbers of {draft.unit}s"
        ) from None
