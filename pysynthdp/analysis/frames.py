"""Give a formula the same coding in every copy, though a level be absent in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import patsy

from pysynthdp.base.errors import FitError
from pysynthdp.base.words import Said, Words
from pysynthdp.design.values import TICKS, is_dated, microseconds

__all__ = [
    "code_left",
    "code_response",
    "coded",
    "dated_kind",
    "days_of",
    "in_days",
    "note_of_levels",
    "without_unused",
]

_BINARY = frozenset(["Logit", "Probit", "binomial", "ConditionalLogit", "BinaryModel"])


def coded(copies: Sequence[pd.DataFrame], columns: Iterable[str]) -> list[pd.DataFrame]:
    """Return the copies with the given columns in types that formulas understand, coded alike.

    Text and categories become a Categorical whose levels are those that occur in at least one copy, in
    their declared order (sorted for text); nullable numbers become floats.
    """
    frames = [copy.copy(deep=False) for copy in copies]
    for name in columns:
        if dated_kind(frames[0][name]) is not None:
            continue
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
    kept = [level for level in levels if level in present]
    dtype = pd.CategoricalDtype(kept, ordered=ordered)
    return [_recoded(part, dtype) for part in parts]


def _recoded(part: pd.Series[Any], dtype: pd.CategoricalDtype) -> pd.Series[Any]:
    """Give a column other levels, by its codes where it has some: all of its cells are among them."""
    if part.dtype == dtype:
        return part
    if not isinstance(part.dtype, pd.CategoricalDtype):
        return part.astype(object).astype(dtype)
    place = {level: i for i, level in enumerate(dtype.categories)}
    places = np.array([*(place.get(level, -1) for level in part.cat.categories), -1], dtype=np.int32)
    codes = places[part.cat.codes.to_numpy()]
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=part.index, name=part.name)


def without_unused(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Drop levels that do not occur in this copy."""
    frame = frame.copy(deep=False)
    for name in columns:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            frame[name] = frame[name].cat.remove_unused_categories()
    return frame


def code_response(frames: list[pd.DataFrame], name: str | None, model: str) -> tuple[Any, ...] | None:
    """Code a response of levels as its model wants it, in place; return its levels.

    A two-level response of a binary model becomes 0 and 1 (the second level, or True); that of a multinomial
    model becomes 0, 1, ...; an ordinal one keeps its levels, which must occur in every copy; True and False
    become 1 and 0 for all others, and other levels are refused.
    """
    if name is None:
        return None
    if frames[0][name].dtype == np.bool_:
        _set(frames, name, _categories([frame[name] for frame in frames], [False, True], ordered=False))
    if not isinstance(frames[0][name].dtype, pd.CategoricalDtype):
        _check_share(frames, name, model)
        return None
    levels = tuple(frames[0][name].cat.categories)
    if model in _BINARY and len(levels) != 2:
        remedy = (
            Words(
                "use {models}the indicator of one level",
                models=Said("mnlogit or OrderedModel, or ", "", "multinom or polr, or "),
            )
            if len(levels) > 2
            else "take another response"
        )
        many = "1 level" if len(levels) == 1 else f"{len(levels)} levels"
        what = f"{name} has {many} in the copies, and a binary model needs two"
        raise FitError(what, column=name, kind="response", remedy=remedy)
    if model == "OrderedModel" and not frames[0][name].cat.ordered and not _are_truths(levels):
        raise FitError(
            f"{name} is of levels without an order, and OrderedModel needs one",
            column=name,
            kind="response",
            remedy="declare the order of its levels for the synthesis, or use mnlogit",
        )
    needed = {"MNLogit": levels[:1], "OrderedModel": levels}.get(model, ())
    _check_levels(frames, name, needed)
    if model in _BINARY or model == "MNLogit":
        _set(frames, name, [_numbered(frame[name]) for frame in frames])
        return levels
    if _are_truths(levels):
        _set(frames, name, [_truths(frame[name]) for frame in frames])
    elif model != "OrderedModel":
        what, remedy = _no_number(name, levels, model)
        raise FitError(what, column=name, kind="response", remedy=remedy)
    return None


def _check_share(frames: Sequence[pd.DataFrame], name: str, model: str) -> None:
    """Refuse numbers beyond 0 and 1 as response of a binary model."""
    if model in _BINARY and any(((frame[name] < 0) | (frame[name] > 1)).any() for frame in frames):
        raise FitError(
            f"{name} has numbers beyond 0 and 1, and a binary model needs two values",
            column=name,
            kind="response",
            remedy=Words(
                "use {models}, or an indicator such as I({name} > number)",
                models=Said("ols or glm", "--model ols or --model glm", "lm or glm"),
                name=name,
            ),
        )


def _set(frames: Sequence[pd.DataFrame], name: str, parts: Sequence[pd.Series[Any]]) -> None:
    """Put a column into every frame."""
    for frame, part in zip(frames, parts, strict=True):
        frame[name] = part


def _numbered(values: pd.Series[Any]) -> pd.Series[Any]:
    """Positions of the levels."""
    codes = values.cat.codes.astype("float64")
    return codes.where(codes >= 0)


def _are_truths(levels: Sequence[Any]) -> bool:
    """Whether levels are True and False, or one of them."""
    return bool(levels) and all(isinstance(level, bool | np.bool_) for level in levels)


def _truths(values: pd.Series[Any]) -> pd.Series[Any]:
    """Write True as 1 and False as 0."""
    return values.astype(object).map({True: 1.0, False: 0.0}).astype("float64")


def _no_number(name: str, levels: Sequence[Any], model: str) -> tuple[str, str]:
    """Say why levels are no response of a model of numbers, and what to do."""
    if all(isinstance(level, int | float) for level in levels):
        how = f"write I({name}.astype(float)) to take them so"
        return f"{name} is of levels, and {model} needs numbers", how
    how = Words(
        "use {models}, or the indicator of one level, I({name} == 'level')",
        models=Said(
            "logit, mnlogit or OrderedModel", "--model logit for two levels", "glm, multinom or polr"
        ),
        name=name,
    )
    return f"{name} is text, and {model} needs a number on the left", how


def note_of_levels(name: str, levels: Sequence[Any], model: str) -> list[str]:
    """Say which level of a response of text counts as what."""
    if _are_truths(levels):
        return []
    if model in _BINARY:
        return [f"{name}: {levels[1]} counts as 1, {levels[0]} as 0."]
    return [f"{name}: the other levels are compared with {levels[0]}."] if model == "MNLogit" else []


def code_left(frames: list[pd.DataFrame], left: str, names: Mapping[str, Any], model: str) -> str:
    """Write an expression on the left that is true or false as 1 and 0; refuse one that is text."""
    try:
        made = patsy.dmatrix(f"0 + {left}", frames[0], patsy.EvalEnvironment([dict(names)]))
    except Exception:  # the same error comes from the fit, which words it  # noqa: BLE001
        return left
    kinds = list(made.design_info.factor_infos.values())
    if len(kinds) != 1 or kinds[0].type != "categorical":
        return left
    if not _are_truths(kinds[0].categories):
        raise FitError(
            f"{left} is text or levels",
            kind="response",
            remedy="write the column alone as response of a model of levels, or an indicator such as "
            "I(column == 'level')",
        )
    return f"I(({left}) * 1.0)" if model != "OrderedModel" else left


def in_days(frames: Sequence[pd.DataFrame], columns: Iterable[str]) -> list[str]:
    """Write points in time and durations as days, in place; return a note on each.

    Days since 1970-01-01, of zoned times in UTC; R counts a Date in the same way.
    """
    notes = []
    for name in columns:
        kind = dated_kind(frames[0][name])
        if kind is None:
            continue
        zoned = " in UTC" if is_zoned(frames[0][name].dtype) else ""
        _set(frames, name, [days_of(frame[name]) for frame in frames])
        since = f" since 1970-01-01{zoned}" if kind == "M" else ""
        notes.append(f"{name} is counted in days{since}.")
    return notes


def dated_kind(values: pd.Series[Any]) -> str | None:
    """Give "M" for points in time, "m" for durations, None for anything else."""
    if values.dtype == object:
        return "M" if pd.api.types.infer_dtype(values, skipna=True) in ("date", "datetime") else None
    return is_dated(values.dtype)


def is_zoned(dtype: Any) -> bool:
    """Whether a dtype of times has a zone."""
    return getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None) is not None


def days_of(values: pd.Series[Any]) -> pd.Series[Any]:
    """Write a column of times or durations as days."""
    days = microseconds(values, "second") / TICKS["day"]
    return pd.Series(np.where(values.isna(), np.nan, days), index=values.index)


def _check_levels(frames: list[pd.DataFrame], name: str, needed: tuple[Any, ...]) -> None:
    """Refuse a response whose coding would differ between copies."""
    for number, frame in enumerate(frames, start=1):
        present = set(frame[name].dropna().unique())
        if not present.issuperset(needed):
            raise FitError(
                f"copy {number} lacks a level of {name} that the model's coding needs",
                column=name,
                kind="level",
                remedy="merge rare levels",
            )
