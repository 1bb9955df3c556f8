"""Give a formula the same coding in every copy, though a level be absent in one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.errors import FitError

__all__ = ["code_response", "coded", "response_column", "without_unused"]


def coded(copies: Sequence[pd.DataFrame], columns: Iterable[str]) -> list[pd.DataFrame]:
    """Return the copies with the given columns in types that formulas understand, coded alike.

    Text and categories become a Categorical whose levels are those that occur in at least one copy, in
    their declared order (sorted for text); nullable numbers become floats.
    """
    frames = [copy.copy(deep=False) for copy in copies]
    for name in columns:
        parts = _alike([frame[name] for frame in frames])
        for frame, part in zip(frames, parts, strict=True):
            frame[name] = part
    return frames


def _alike(parts: list[pd.Series[Any]]) -> list[pd.Series[Any]]:
    """Bring one column of all copies to one type and one set of levels."""
    first = parts[0]
    if isinstance(first.dtype, pd.CategoricalDtype):
        declared = list(dict.fromkeys(level for part in parts for level in part.cat.categories))
        return _categories(parts, declared, ordered=bool(first.cat.ordered))
    if pd.api.types.is_bool_dtype(first.dtype) and not isinstance(first.dtype, np.dtype):
        return _categories(parts, [False, True], ordered=False)
    if pd.api.types.is_numeric_dtype(first.dtype):
        if isinstance(first.dtype, np.dtype):
            return parts
        return [part.astype("float64") for part in parts]
    if pd.api.types.is_string_dtype(first.dtype) or first.dtype == object:
        found = {level for part in parts for level in part.dropna().unique()}
        return _categories(parts, sorted(found, key=str), ordered=False)
    return parts


def _categories(parts: list[pd.Series[Any]], levels: list[Any], *, ordered: bool) -> list[pd.Series[Any]]:
    """Set the levels that occur anywhere, in the given order."""
    present = {level for part in parts for level in part.dropna().unique()}
    dtype = pd.CategoricalDtype([level for level in levels if level in present], ordered=ordered)
    return [part.astype(object).astype(dtype) for part in parts]


def without_unused(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Drop levels that do not occur in this copy."""
    frame = frame.copy(deep=False)
    for name in columns:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            frame[name] = frame[name].cat.remove_unused_categories()
    return frame


def response_column(formula: str, columns: Iterable[str]) -> str | None:
    """Column on the left of a formula when it stands there alone."""
    left = formula.split("~", maxsplit=1)[0].strip()
    quoted = re.fullmatch(r"Q\(\s*['\"](.*)['\"]\s*\)|`(.*)`", left)
    name = next((part for part in quoted.groups() if part), left) if quoted else left
    return name if name in set(columns) else None


def code_response(frames: list[pd.DataFrame], name: str | None, model: str) -> tuple[Any, ...] | None:
    """Code a categorical response as its model wants it, in place; return its levels.

    A two-level response of a binary model becomes 0 and 1 (the second level); that of a multinomial model
    becomes 0, 1, ...; an ordinal one keeps its levels, which must occur in every copy.
    """
    if name is None or not isinstance(frames[0][name].dtype, pd.CategoricalDtype):
        return None
    levels = tuple(frames[0][name].cat.categories)
    if model in {"Logit", "Probit", "binomial"} and len(levels) != 2:
        raise FitError(f"{name} has {len(levels)} levels in the copies; a binary model needs two")
    needed = {"MNLogit": levels[:1], "OrderedModel": levels}.get(model, ())
    _check_levels(frames, name, needed)
    if model in {"Logit", "Probit", "binomial", "MNLogit"}:
        for frame in frames:
            codes = frame[name].cat.codes.astype("float64")
            frame[name] = codes.where(codes >= 0)
        return levels
    return None


def _check_levels(frames: list[pd.DataFrame], name: str, needed: tuple[Any, ...]) -> None:
    """Refuse a response whose coding would differ between copies."""
    for number, frame in enumerate(frames, start=1):
        present = set(frame[name].dropna().unique())
        if not present.issuperset(needed):
            raise FitError(
                f"copy {number} lacks a level of {name} that the model's coding needs; merge rare levels"
            )
