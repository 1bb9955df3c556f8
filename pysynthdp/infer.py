"""Infer a schema from rows, marked ``declared=False``; bounds are never inferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from pysynthdp._typing import FloatArray
from pysynthdp.design.values import EXACT, is_dated
from pysynthdp.errors import SchemaError
from pysynthdp.rows.base import Rows
from pysynthdp.schema import CategoricalColumn, Column, NumericColumn, Schema

__all__ = ["MANY_LEVELS", "infer_column", "infer_schema"]

MANY_LEVELS = (
    60  # a text column with more distinct values than this, most of them rare, is an id or free text
)
_SHARE = 0.5
_DECIMALS = 9
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
    if levels is not None or _is_category(series):
        return _category(series, name, missing, levels, may_be_missing)
    kind = _kind(series, name)
    if kind == "text":
        return _text(series, name, missing, may_be_missing, exempt)
    if kind == "empty":
        return CategoricalColumn(name, (), missing=missing, dtype=series.dtype, declared=False)
    if kind == "date":
        unit = _date_unit(series)
        return NumericColumn(
            name,
            *bounds,
            0 if decimals is None else decimals,
            (),
            (),
            may_be_missing,
            series.dtype,
            unit,
            False,
        )
    return _number(series, name, missing, tuple(spikes), bounds, decimals, may_be_missing, exempt)


def _is_category(series: pd.Series[Any]) -> bool:
    """Whether a column comes with its levels: categorical or boolean."""
    return isinstance(series.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(series.dtype)


def _category(
    series: pd.Series[Any], name: str, missing: Codes, levels: Iterable[Any] | None, may_be_missing: bool
) -> CategoricalColumn:
    """Take a categorical with its unused levels, a boolean, or levels that the user declares."""
    dtype = series.dtype
    ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    categories: tuple[Any, ...] | None = None
    if isinstance(dtype, pd.CategoricalDtype):
        categories = tuple(dtype.categories)
    codes = CategoricalColumn(name, (), missing=missing).specials
    if levels is not None:
        own = tuple(levels)
    else:
        own = tuple(level for level in categories or (False, True) if level not in codes)
    column = CategoricalColumn(name, own, ordered, None, missing, may_be_missing, dtype, levels is not None)
    return column if categories is None else _with_categories(column, categories)


def _with_categories(column: CategoricalColumn, categories: tuple[Any, ...]) -> CategoricalColumn:
    """Keep the order of the original's category set in the copies."""
    listed = (*categories, *(v for v in (*column.levels, *column.specials) if v not in set(categories)))
    return CategoricalColumn(
        column.name, column.levels, column.ordered, None, column.missing, column.may_be_missing,
        "category", column.declared, listed,
    )  # fmt: skip


def _kind(series: pd.Series[Any], name: str) -> Literal["text", "empty", "date", "number"]:
    """Sort a column by what it holds."""
    if is_dated(series.dtype):
        return "date"
    if pd.api.types.is_numeric_dtype(series.dtype):
        return "number" if series.notna().any() else "empty"
    found = pd.api.types.infer_dtype(series, skipna=True)
    if found in ("string", "boolean", "empty"):
        return "empty" if found == "empty" or not series.notna().any() else "text"
    if found in ("integer", "floating", "mixed-integer-float", "decimal"):
        return "number"
    if found in ("date", "datetime", "datetime64", "timedelta"):
        return "date"
    raise SchemaError(
        f"{name} mixes types or holds {found}; convert it to text, numbers or dates, or drop=[{name!r}]"
    )


def _text(
    series: pd.Series[Any], name: str, missing: Codes, may_be_missing: bool, exempt: bool
) -> CategoricalColumn:
    """Take the distinct texts as levels, unless they are identifiers or free text."""
    distinct = series.dropna().unique()
    if len(distinct) > MANY_LEVELS and len(distinct) > _SHARE * int(series.notna().sum()):
        return _identifier(series, name, exempt)
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
    distinct = np.unique(numbers)
    if not spikes and len(distinct) <= 2:
        own = tuple(_native(value, series.dtype) for value in distinct)
        return CategoricalColumn(name, own, False, None, missing, may_be_missing, series.dtype, False)
    if decimals is None:
        decimals = _decimals(distinct)
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


def _decimals(distinct: FloatArray) -> int | None:
    """Digits after the point that all values share; None when there are more than nine."""
    tolerance = 1e-9 * np.maximum(np.abs(distinct), 1e-6)
    for digits in range(_DECIMALS + 1):
        if bool((np.abs(np.round(distinct, digits) - distinct) <= tolerance).all()):
            return digits
    return None


def _date_unit(series: pd.Series[Any]) -> Literal["day", "second"]:
    """Days when every value is a whole day, else seconds."""
    present = series.dropna()
    if present.dtype == object:
        return "day"
    if is_dated(present.dtype) == "m":
        whole = (present.to_numpy().astype("m8[us]").astype(np.int64) % 86_400_000_000) == 0
        return "day" if bool(whole.all()) else "second"
    times = (
        present if isinstance(present.dtype, np.dtype) else present.dt.tz_convert("UTC").dt.tz_localize(None)
    )
    return "day" if bool((times.dt.normalize() == times).all()) else "second"
