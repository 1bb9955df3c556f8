"""Why a model has no fit in a copy, in words: the column, and the reason that the library gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pandas as pd

__all__ = ["Job", "reason_of", "said"]

_LONG = 240


@dataclass(frozen=True, slots=True)
class Job:
    """One model for all copies."""

    maker: Callable[..., Any]
    kind: str
    formula: str
    columns: tuple[str, ...]
    levels: tuple[Any, ...] | None
    options: Mapping[str, Any]
    fit_options: Mapping[str, Any]
    known: tuple[str, ...] = ()


def reason_of(job: Job, frame: pd.DataFrame, error: BaseException) -> str:
    """Say why a copy has no fit: what is known of its columns first, else what the library says.

    The copies are synthetic, so the library's sentence may quote them.
    """
    unknown = _unknown_name(job, frame, error)
    if unknown:
        return unknown
    empty = [name for name in job.columns if frame[name].isna().all()]
    if empty:
        return f"{empty[0]} is missing in every row; leave it out of the model"
    if frame[list(job.columns)].isna().any(axis=1).all():
        return f"no row has all of {', '.join(job.columns)}; leave out the column that is missing most"
    return f"{job.kind} of {job.formula!r} has no fit: {said(error)}"


def said(error: BaseException) -> str:
    """Give the sentence of a foreign error, on one line and without the name of its class."""
    text = " ".join(str(error).split()) or "the library gives no reason"
    return text if len(text) <= _LONG else f"{text[:_LONG]} ..."


def _unknown_name(job: Job, frame: pd.DataFrame, error: BaseException) -> str | None:
    """Say which name of the formula is no column, where that is what went wrong, and the nearest that is."""
    cause = error.__cause__ or error
    unknown = getattr(cause, "name", None)
    if not isinstance(cause, NameError) or not unknown or unknown not in job.formula:
        return None
    near = get_close_matches(unknown, map(str, frame.columns), n=1) or get_close_matches(
        unknown, job.known, n=1
    )
    hint = f"; did you mean {_as_written(near[0])}?" if near else "; mend the formula"
    return f"{job.formula!r} names {unknown!r}, which is no column of the copies{hint}"


def _as_written(name: str) -> str:
    """Write a name as formulas take it."""
    return repr(name) if name.isidentifier() else f"Q({name!r})"
