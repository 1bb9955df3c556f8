"""Why a model has no fit in a copy, in words: the column, and the reason that the library gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final

import pandas as pd
from statsmodels.tools.sm_exceptions import ValueWarning

from pysynthdp.base.errors import FitError, PysynthdpError
from pysynthdp.base.words import Said, Words, meant, nearest

__all__ = ["OWN", "Job", "of_copy", "reason_of", "told"]

OWN: Final = ("rule", "n_org", "noise_var", "codes", "n_jobs", "fit_options", "cov_type", "cov_kwds", "use_t")
"""Settings of a pooled fit that are none of the model's own."""
_LONG = 240
_LOG: Final = Said("those of numpy np.log(x)", "those of numpy np.log(x)", "log(x)")
_COVARIANCES = ("nonrobust", "HC0", "HC1", "HC2", "HC3", "HAC", "cluster", "robust", "naive")


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


def of_copy(number: int, error: PysynthdpError) -> FitError:
    """Make the error of one copy, with the fields of what went wrong in it."""
    what = Words("copy {number}: {error}", number=number, error=error.what)
    return FitError(what, column=error.column, kind=error.kind, remedy=error.remedy)


def reason_of(job: Job, frame: pd.DataFrame, error: BaseException) -> FitError:
    """Say why a copy has no fit: what is known of its columns first, else what the library says.

    The copies are synthetic, so the library's sentence may quote them.
    """
    unknown = _unknown_name(job, frame, error) or _unknown_option(job, error) or _unknown_covariance(job)
    if unknown:
        return unknown
    empty = [name for name in job.columns if frame[name].isna().all()]
    if empty:
        remedy = "leave it out of the model"
        return FitError(f"{empty[0]} is missing in every row", column=empty[0], kind="missing", remedy=remedy)
    if frame[list(job.columns)].isna().any(axis=1).all():
        remedy = "leave out the column that is missing most"
        return FitError(f"no row has all of {', '.join(job.columns)}", kind="missing", remedy=remedy)
    return FitError(f"{job.kind} of {job.formula!r} has no fit: {told(error)}", kind="no fit")


def told(error: BaseException) -> str:
    """Give the sentence of a foreign error, on one line and without the name of its class."""
    text = " ".join(str(error).split()) or "the library gives no reason"
    return text if len(text) <= _LONG else f"{text[:_LONG]} ..."


def _unknown_name(job: Job, frame: pd.DataFrame, error: BaseException) -> FitError | None:
    """Say which name of the formula is no column, where that is what went wrong, and the nearest that is."""
    cause = error.__cause__ or error
    unknown = getattr(cause, "name", None)
    if not isinstance(cause, NameError) or not unknown or unknown not in job.formula:
        return None
    if f"{unknown}(" in job.formula.replace(" ", ""):
        what = f"{job.formula!r} calls {unknown!r}, which is no function here"
        forms = Words("write {log}, levels C(x), sums I(x + z)", log=_LOG)
        return FitError(what, kind="formula", remedy=forms)
    near = nearest(unknown, dict.fromkeys([*map(str, frame.columns), *job.known]))
    remedy = f"did you mean {_as_written(near)}?" if near else f"columns are {_first(job.known)}"
    what = f"{job.formula!r} names {unknown!r}, which is no column of the copies"
    return FitError(what, column=unknown, kind="unknown column", remedy=remedy)


def _unknown_option(job: Job, error: BaseException) -> FitError | None:
    """Say which setting nobody knows, where statsmodels warned that it leaves one aside."""
    if not isinstance(error, ValueWarning):
        return None
    named = _arguments(job.maker)
    unknown = next((name for name in job.options if name not in named), None)
    if unknown is None:
        return None
    remedy = meant(unknown, [*OWN, *named], "see what the model takes in the help of statsmodels")
    return FitError(f"{job.kind} has no setting {unknown!r}", kind="setting", remedy=remedy)


def _unknown_covariance(job: Job) -> FitError | None:
    """Say that statsmodels has no such covariance, where one was asked for by a name that few models know."""
    kind = job.fit_options.get("cov_type")
    if kind is None or str(kind).lower() in map(str.lower, _COVARIANCES):
        return None
    remedy = meant(str(kind), _COVARIANCES, f"most models have {', '.join(_COVARIANCES)}")
    return FitError(f"{job.kind} has no cov_type {kind!r}", kind="setting", remedy=remedy)


def _arguments(maker: Callable[..., Any]) -> list[str]:
    """Names of the arguments that a model takes."""
    owner = getattr(maker, "__self__", maker)
    return [*signature(maker).parameters, *signature(owner).parameters]


def _first(names: Sequence[str], most: int = 12) -> str:
    """List names, the first of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _as_written(name: str) -> str:
    """Write a name as formulas take it."""
    return repr(name) if name.isidentifier() else f"Q({name!r})"
