"""Declared codes are no values: take them out of the copies before anything is computed, and count them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.words import Said, Setting, Words, meant
from pysynthdp.design.tagged import holds_tags
from pysynthdp.design.values import to_numbers
from pysynthdp.schema import Column, NumericColumn

__all__ = [
    "Codes",
    "checked_codes",
    "coded_columns",
    "count_codes",
    "note_of_codes",
    "refuse_code",
    "without_codes",
]

Codes = Literal["missing", "keep"]
_KEEP = Setting("codes", "keep")
_LEAVE_OUT = Said(
    "without codes='keep', ols, glm, fit and apply leave them out",
    "pysynthdp pool leaves them out",
    'with(s, ...) without codes = "keep" leaves them out',
)


def checked_codes(codes: Any) -> Codes:
    """Take one of the two words."""
    if codes not in get_args(Codes):
        remedy = meant(str(codes), get_args(Codes), "leave it out to have them missing")
        raise FitError(
            "codes must be 'missing' (declared codes are no values) or 'keep'", kind="setting", remedy=remedy
        )
    return "missing" if codes == "missing" else "keep"


def coded_columns(release: Any, columns: Collection[str] | None = None) -> dict[str, Column]:
    """Columns with declared codes, by the schema of a release that has one."""
    schema: Iterable[Column] = getattr(release, "schema", None) or ()
    held = set(release.copies[0].columns) if schema else set()
    return {
        column.name: column
        for column in schema
        if column.missing and column.name in held and (columns is None or column.name in columns)
    }


def without_codes(
    frames: Sequence[pd.DataFrame], declared: Mapping[str, Column]
) -> tuple[list[pd.DataFrame], dict[str, int]]:
    """Make declared codes missing in every frame.

    Parameters
    ----------
    frames : sequence of DataFrame
        Copies, which are left as they are.
    declared : mapping of column name to column
        As :func:`coded_columns` gives.

    Returns
    -------
    frames, counts
        Frames without codes, and the number of cells by column over all of them.
    """
    counts = dict.fromkeys(declared, 0)
    cleaned = [frame.copy(deep=False) for frame in frames]
    for frame in cleaned:
        for name, column in declared.items():
            coded = is_code(frame[name], column)
            counts[name] += int(coded.sum())
            frame[name] = _without(frame[name], coded, column)
    return cleaned, counts


def is_code(values: pd.Series[Any], column: Column) -> BoolArray:
    """Mark the cells that hold a declared code."""
    kinds = column.tags if isinstance(column, NumericColumn) or holds_tags(values) else ()  # NaN already
    listed = [code for code, _ in column.missing if code not in kinds]
    if isinstance(column, NumericColumn) and not isinstance(values.dtype, pd.CategoricalDtype):
        if column.unit != "number":
            return np.isin(to_numbers(values, column), np.array(listed, dtype=np.float64))
        if pd.api.types.is_numeric_dtype(values.dtype):
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            return np.isin(numbers, np.array(listed, dtype=np.float64))
    return np.asarray(values.isin(listed), dtype=np.bool_)


def _without(values: pd.Series[Any], coded: BoolArray, column: Column) -> pd.Series[Any]:
    """Blank the cells, and take the codes out of the set of categories."""
    if coded.any():
        values = values.mask(coded)
    if isinstance(values.dtype, pd.CategoricalDtype):
        own = {code for code, _ in column.missing}
        return values.cat.remove_categories([one for one in values.cat.categories if one in own])
    return values


def count_codes(fits: Iterable[Any], declared: Mapping[str, Column]) -> dict[str, int]:
    """Count the codes among the rows that entered fits made by hand, where a fit holds its own table."""
    counts = dict.fromkeys(declared, 0)
    for fit in fits:
        data = getattr(getattr(fit, "model", None), "data", None)
        frame, labels = getattr(data, "frame", None), getattr(data, "row_labels", None)
        if not isinstance(frame, pd.DataFrame):
            continue
        rows = frame if labels is None else frame.loc[labels]
        for name, column in declared.items():
            if name in rows.columns and rows[name].dtype.kind != "b":
                counts[name] += int(is_code(rows[name], column).sum())
    return {name: count for name, count in counts.items() if count}


def refuse_code(name: str, asked: Collection[Any], column: Column) -> None:
    """Refuse to look for a code where codes are missing: there would be none."""
    if any(code in asked for code, _ in column.missing):
        raise FitError(
            Words("this asks for a declared code of {name}, which is no value and left out", name=name),
            column=name,
            kind="code",
            remedy=Words("with {keep} it is there", keep=_KEEP),
        )


def note_of_codes(counts: Mapping[str, int], m: int, *, kept: bool = False) -> list[str]:
    """Say how many cells were no values; nothing where there were none."""
    found = {name: int(count) for name, count in counts.items() if count}
    if not found:
        return []
    listed = ", ".join(f"{name} {count:,}" for name, count in found.items())
    over = "the copy" if m == 1 else f"the {m} copies"
    if kept:
        what = "Cells with declared codes were computed with as if they were values ({where}); {how}."
        return [Words(what, where=f"{listed}, over {over}", how=_LEAVE_OUT)]
    what = "Cells with declared codes were left out as missing ({where}); {keep} takes them as values."
    return [Words(what, where=f"{listed}, over {over}", keep=_KEEP)]
