"""Fit one model to one copy: the same coding everywhere, and failures that name the copy."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import patsy
import statsmodels.formula
from statsmodels.tools.sm_exceptions import PerfectSeparationError

from pysynthdp.analysis.failures import Job, of_copy, reason_of
from pysynthdp.analysis.formula import NAMES
from pysynthdp.analysis.frames import without_unused
from pysynthdp.analysis.sums import fitted_by_sums
from pysynthdp.base.errors import FitError, PysynthdpError
from pysynthdp.base.words import Said, Words, meant

__all__ = ["fit_one", "model_kind"]

_FINITE = Said("np.log1p(x) or np.sqrt(x)", "np.log1p(x) or np.sqrt(x)", "log1p(x) or sqrt(x)")

_FEW = 15  # rounds after which the other coefficients stand, and the information is still there
# statsmodels shares out what collinear columns have together; which terms these are is told by the pooling
_SHARED_OUT = frozenset({"OLS", "WLS", "GLS", "GLM", "binomial"})
_COLUMNS = ("weights", "freq_weights", "var_weights", "offset", "exposure")
_RESOLVED = ("weights", "freq_weights", "var_weights", "offset", "exposure", "status", "entry", "strata")


def model_kind(model: Any, options: Mapping[str, Any]) -> str:
    """Name the model's class; ``binomial`` for a GLM with that family."""
    owner = model if inspect.isclass(model) else getattr(model, "__self__", model)
    kind = getattr(owner, "__name__", type(owner).__name__)
    family = type(options.get("family")).__name__
    return "binomial" if kind in {"GLM", "GEE", "GLMGam"} and family == "Binomial" else str(kind)


def fit_one(job: Job, number: int, frame: pd.DataFrame) -> Any:
    """Fit one copy, by sums where these say the same; a failure names the copy, the column and the reason."""
    by_library = partial(_by_library, job, number, frame)
    found = fitted_by_sums(job, frame, by_library)
    return by_library() if found is None else found


def _by_library(job: Job, number: int, frame: pd.DataFrame) -> Any:
    """Fit one copy by statsmodels."""
    try:
        with np.errstate(divide="ignore"):  # said by term
            model = _build(job, frame)
        _refuse_infinite(model)
        absent = _zero_columns(model)
        if absent:
            model = _rebuilt(job, frame, _names(model), absent)
        if job.kind not in _SHARED_OUT:
            _check_rank(model)
        fit = _fitted(model, _fit_arguments(job, model, frame))
    except PysynthdpError as error:
        raise of_copy(number, error) from error
    except Exception as error:  # any error of the model library means that this copy has no fit
        raise of_copy(number, reason_of(job, frame, error)) from error
    if job.kind == "MNLogit" and job.levels is not None:
        shown = fit.model._ynames_map.items()  # noqa: SLF001 -- no public way to label outcomes
        fit.model._ynames_map = {k: str(job.levels[int(float(v))]) for k, v in shown}  # noqa: SLF001 -- the same
    return fit


def _fitted(model: Any, arguments: dict[str, Any]) -> Any:
    """Fit; where the information vanishes on the way, as with a separated outcome, stop before it does."""
    try:
        return model.fit(**arguments)
    except (np.linalg.LinAlgError, PerfectSeparationError):
        if "maxiter" not in inspect.signature(model.fit).parameters or "method" in arguments:
            raise
        return model.fit(**{**arguments, "maxiter": _FEW})


def _build(job: Job, frame: pd.DataFrame) -> Any:
    """Make the model, with columns in place of the names in its options."""
    options = dict(job.options)
    for key in _RESOLVED:
        value = options.get(key)
        if isinstance(value, str) and value in frame.columns:
            options[key] = frame[value].to_numpy()
        elif isinstance(value, str) and key in _COLUMNS:
            log = "; an exposure takes the logarithm of its column itself" if key == "offset" else ""
            raise FitError(
                f"{key} names {value!r}, which is no column",
                column=value,
                kind="unknown column",
                remedy=meant(value, job.known, "give a column's name") + log,
            )
    return job.maker(job.formula, data=frame, eval_env=_environment(), **options)


def _refuse_infinite(model: Any) -> None:
    """Name what is infinite in the design, as the logarithm of zero is; missing rows are left out before."""
    values = [np.asarray(model.endog), *model.exog.T]
    names = [str(model.endog_names), *_names(model)]
    term = next((name for name, own in zip(names, values, strict=False) if np.isinf(own).any()), None)
    if term is not None:
        what = f"{term} is infinite in some rows, as the logarithm of 0 is"
        raise FitError(what, kind="formula", remedy=Words("take {it} in its place", it=_FINITE))


def _environment() -> Any:
    """Names that formulas find besides the columns: numpy and pandas."""
    return NAMES if hasattr(statsmodels.formula, "options") else patsy.EvalEnvironment([NAMES])


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
            f"{', '.join(sorted(absent))} cannot be estimated, and the coding of other terms depends on it",
            kind="level",
            remedy="merge rare levels, or take a reference level that occurs in every copy",
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
        raise FitError(
            "columns of the model are collinear, as when a level has too few rows for its terms",
            kind="collinear",
            remedy="drop a term, or merge rare levels",
        )


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
    if isinstance(groups, str) and groups not in frame.columns:
        remedy = meant(groups, job.known, "give a column's name")
        what = f"groups names {groups!r}, which is no column"
        raise FitError(what, column=groups, kind="unknown column", remedy=remedy)
    if isinstance(groups, str):
        column = frame.loc[model.data.row_labels, groups]
        if column.isna().any():
            raise FitError(
                f"{groups}, the column of groups, has missing cells, and rows without a group have no place "
                "in a covariance of groups",
                column=groups,
                kind="missing",
                remedy="take complete rows, or another column",
            )
        kwds["groups"] = pd.factorize(column)[0]
        arguments["cov_kwds"] = kwds
    return arguments
