"""Fit one model to one copy: the same coding everywhere, and failures that name the copy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.frames import without_unused
from pysynthdp.errors import FitError, PysynthdpError

__all__ = ["Job", "fit_one", "model_kind"]

_RESOLVED = ("weights", "freq_weights", "var_weights", "offset", "exposure", "status", "entry", "strata")


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


def model_kind(model: Any, options: Mapping[str, Any]) -> str:
    """Name the model's class; ``binomial`` for a GLM with that family."""
    owner = model if inspect.isclass(model) else getattr(model, "__self__", model)
    kind = getattr(owner, "__name__", type(owner).__name__)
    family = type(options.get("family")).__name__
    return "binomial" if kind in {"GLM", "GEE"} and family == "Binomial" else str(kind)


def fit_one(job: Job, number: int, frame: pd.DataFrame) -> Any:
    """Fit one copy; a failure names the copy and the class of the error, and quotes nothing."""
    try:
        model = _build(job, frame)
        absent = _zero_columns(model)
        if absent:
            model = _rebuilt(job, frame, _names(model), absent)
        _check_rank(model)
        fit = model.fit(**_fit_arguments(job, model, frame))
    except PysynthdpError as error:
        raise FitError(f"copy {number}: {error}") from error
    except Exception as error:  # any error of the model library means that this copy has no fit
        _refuse_unknown_name(job, frame, error)
        raise FitError(
            f"copy {number}: {job.kind} failed with {type(error).__name__}; check the formula "
            f"{job.formula!r} against the columns, or simplify the model"
        ) from error
    if job.kind == "MNLogit" and job.levels is not None:
        shown = fit.model._ynames_map.items()  # noqa: SLF001 -- no public way to label outcomes
        fit.model._ynames_map = {k: str(job.levels[int(float(v))]) for k, v in shown}  # noqa: SLF001 -- the same
    return fit


def _refuse_unknown_name(job: Job, frame: pd.DataFrame, error: Exception) -> None:
    """Say which name of the formula is no column, where that is what went wrong, and the nearest that is."""
    unknown = getattr(error.__cause__ or error, "name", None)
    if isinstance(error.__cause__ or error, NameError) and unknown and unknown in job.formula:
        near = get_close_matches(unknown, map(str, frame.columns), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; mend the formula"
        raise FitError(
            f"{job.formula!r} names {unknown!r}, which is no column of the copies{hint}"
        ) from error


def _build(job: Job, frame: pd.DataFrame) -> Any:
    """Make the model, with columns in place of the names in its options."""
    options = dict(job.options)
    for key in _RESOLVED:
        value = options.get(key)
        if isinstance(value, str) and value in frame.columns:
            options[key] = frame[value].to_numpy()
    return job.maker(job.formula, data=frame, **options)


def _names(model: Any) -> list[str]:
    """Names of the design's columns."""
    return [str(name) for name in model.exog_names[: model.exog.shape[1]]]


def _zero_columns(model: Any) -> set[str]:
    """Columns of the design that are zero in this copy, as when a level does not occur."""
    empty = ~np.any(model.exog != 0, axis=0)
    return {name for name, zero in zip(_names(model), empty, strict=True) if zero}


def _rebuilt(job: Job, frame: pd.DataFrame, names: list[str], absent: set[str]) -> Any:
    """Make the model without the levels that this copy lacks, if the other columns keep their meaning."""
    model = _build(job, without_unused(frame, job.columns))
    if _names(model) != [name for name in names if name not in absent]:
        raise FitError(
            f"{', '.join(sorted(absent))} cannot be estimated, and the coding of other terms depends on it; "
            "merge rare levels, or take a reference level that occurs in every copy"
        )
    return model


def _check_rank(model: Any) -> None:
    """Refuse collinear columns, which statsmodels would share out silently."""
    X = np.asarray(model.exog, dtype=np.float64)
    if X.shape[1] == 0:
        return
    norms = np.linalg.norm(X, axis=0)
    R = np.linalg.qr(X / np.where(norms > 0, norms, 1), mode="r")
    if np.linalg.matrix_rank(R, tol=1e-10 * X.shape[1]) < X.shape[1]:
        raise FitError("columns of the model are collinear; drop a term")


def _fit_arguments(job: Job, model: Any, frame: pd.DataFrame) -> dict[str, Any]:
    """Arguments of ``fit``: silent, a method that converges for ordinal models, groups from a column."""
    arguments = dict(job.fit_options)
    accepted = inspect.signature(model.fit).parameters
    if "disp" in accepted:
        arguments.setdefault("disp", False)
    if job.kind == "OrderedModel":
        arguments.setdefault("method", "bfgs")
        arguments.setdefault("maxiter", 1000)
    kwds = dict(arguments.get("cov_kwds") or {})
    groups = kwds.get("groups")
    if isinstance(groups, str) and groups in frame.columns:
        column = frame.loc[model.data.row_labels, groups]
        kwds["groups"] = pd.factorize(column)[0]
        arguments["cov_kwds"] = kwds
    return arguments
