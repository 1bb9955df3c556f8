"""Fit a model to every copy of a release and pool: ``ols``, ``logit``, ``glm``, any other, any function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

from pysynthdp.analysis.asked import Asked, asked_by_fits
from pysynthdp.analysis.choose import model_columns
from pysynthdp.analysis.fitting import Job, fit_one, model_kind
from pysynthdp.analysis.flags import remarks_on
from pysynthdp.analysis.frames import code_response, coded, response_column
from pysynthdp.analysis.pooling import pool
from pysynthdp.analysis.results import PooledResults
from pysynthdp.errors import FitError, PysynthdpError
from pysynthdp.tags import AnalysableRelease

__all__ = ["apply", "fit_copies", "glm", "logit", "ols"]

_TO_FIT = frozenset({"cov_type", "cov_kwds", "use_t", "method", "maxiter", "start_params", "q", "scale"})
_WEIGHTS = ("weights", "freq_weights", "var_weights")
T = TypeVar("T")
R = TypeVar("R")


def fit_copies(
    formula: str,
    release: AnalysableRelease,
    model: Any,
    *,
    n_jobs: int = 1,
    rule: str = "auto",
    n_org: float | None = None,
    noise_var: Any = None,
    fit_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> PooledResults:
    """Fit a statsmodels formula model to every copy and pool the fits.

    Parameters
    ----------
    formula : str
        Model formula; factors get the same coding in every copy.
    release : release
        The copies and their tags. Where only part of the rows was replaced and the tags name the column that
        marks them, the model is fitted on those rows.
    model : callable or class
        ``smf.ols``, ``smf.poisson``, ``smf.quantreg``, ``OrderedModel`` and so on.
    n_jobs : int
        Copies fitted at a time, in threads.
    rule : str
        Combining rule; see :func:`pool`.
    n_org, noise_var
        As in :func:`pool`, where the tags do not say.
    fit_options : mapping, optional
        Arguments of the model's ``fit``.
    **options
        Arguments of the model; ``cov_type``, ``cov_kwds``, ``use_t``, ``method``, ``maxiter``,
        ``start_params``, ``q`` and ``scale`` go to its ``fit``. Weights, offsets, groups and the like may be
        given as a column's name.

    Returns
    -------
    PooledResults
        The pooled fits. A term that some copy cannot estimate, because it lacks a level, is NaN with a note.

    Raises
    ------
    FitError
        When the model fails in a copy; the message names the copy and the kind of error, never data.
    CombiningRuleError
        When no rule, or not the rule asked for, is valid.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    """
    fit_options = {**{k: options.pop(k) for k in _TO_FIT & options.keys()}, **(fit_options or {})}
    columns = model_columns(formula, [str(name) for name in release.copies[0].columns])
    named = {v for v in (*options.values(), *dict(fit_options.get("cov_kwds") or {}).values()) if _is_name(v)}
    columns |= named & {str(name) for name in release.copies[0].columns}
    used = tuple(sorted(columns))
    frames = coded(_rows(release), used)
    kind = model_kind(model, options)
    levels = code_response(frames, response_column(formula, used), kind)
    maker = getattr(model, "from_formula", model)
    job = Job(maker, kind, formula, used, levels, options, fit_options)
    fits = _each(lambda pair: fit_one(job, *pair), list(enumerate(frames, start=1)), n_jobs)
    settings = {"rule": rule, "n_org": n_org, "noise_var": noise_var}
    again = {**settings, **options, "fit_options": fit_options, "n_jobs": n_jobs}
    result = pool(
        fits,
        release=release,
        variables=used,
        rows="all" if release.tags.rows_replaced == "all" else "replaced",
        refit=lambda other: fit_copies(other, release, model, **again),
        **settings,
    )
    groups, subgroup = _groups(options, fit_options), options.get("subset") is not None
    if groups or subgroup:  # which the fits themselves do not tell
        asked = asked_by_fits(formula, fits, groups=groups, subgroup=subgroup)
        result = replace(result, flags=remarks_on(release, asked).flags)
    return replace(result, notes=(*result.notes, *_weight_notes(options, release)))


def _groups(options: Mapping[str, Any], fit_options: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns that options name as clusters."""
    named = (options.get("groups"), (fit_options.get("cov_kwds") or {}).get("groups"))
    return tuple(name for name in named if isinstance(name, str))


def _weight_notes(options: Mapping[str, Any], release: AnalysableRelease) -> list[str]:
    """Remark on weights that were synthesised as ordinary numbers."""
    named = {options.get(name) for name in _WEIGHTS if isinstance(options.get(name), str)}
    made_up = sorted(str(name) for name in named if name in release.tags.synthesised - release.tags.kept)
    return [
        f"{name} was synthesised as an ordinary number; as a survey weight it gives no design variance: "
        "release the design real and use survey_copies."
        for name in made_up
    ]


def _is_name(value: Any) -> bool:
    """Whether an option may be a column's name."""
    return isinstance(value, str)


def _rows(release: AnalysableRelease) -> list[pd.DataFrame]:
    """Give the copies, or the replaced rows of each where only those carry the synthesis."""
    marker = release.tags.rows_replaced
    if marker == "all":
        return list(release.copies)
    if marker not in release.copies[0].columns:
        raise FitError(
            "only part of the rows was replaced, and the tags do not name a column that marks them; fit the "
            "model on the replaced rows of each copy and pool with rows='replaced'"
        )
    return [copy[copy[marker].astype(bool)] for copy in release.copies]


def _each(function: Callable[[T], R], items: Sequence[T], n_jobs: int) -> list[R]:
    """Call a function on every item, in order, in threads if asked."""
    if n_jobs <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_jobs) as threads:
        return list(threads.map(function, items))


def ols(formula: str, release: AnalysableRelease, **options: Any) -> PooledResults:
    """Fit a linear regression to every copy by least squares and pool.

    Parameters
    ----------
    formula : str
        Model formula.
    release : release
        The copies and their tags.
    **options
        As in :func:`fit_copies`; ``cov_type="HC3"`` for robust standard errors.

    Returns
    -------
    PooledResults
        The pooled regression.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    """
    return fit_copies(formula, release, smf.ols, **options)


def logit(formula: str, release: AnalysableRelease, **options: Any) -> PooledResults:
    """Fit a logistic regression to every copy and pool; a two-level response is 1 at its second level.

    Parameters
    ----------
    formula : str
        Model formula.
    release : release
        The copies and their tags.
    **options
        As in :func:`fit_copies`.

    Returns
    -------
    PooledResults
        The pooled regression.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    """
    return fit_copies(formula, release, smf.logit, **options)


def glm(formula: str, release: AnalysableRelease, *, family: Any = None, **options: Any) -> PooledResults:
    """Fit a generalised linear model to every copy and pool.

    Parameters
    ----------
    formula : str
        Model formula.
    release : release
        The copies and their tags.
    family : statsmodels family or str, optional
        ``sm.families.Poisson()`` and so on, or ``"poisson"``, ``"binomial"``, ``"gamma"``, ``"gaussian"``
        (the default). A two-level response of a binomial model is 1 at its second level.
    **options
        As in :func:`fit_copies`.

    Returns
    -------
    PooledResults
        The pooled regression.

    Raises
    ------
    FitError
        For a family that statsmodels does not have.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    """
    return fit_copies(formula, release, smf.glm, family=_family(family), **options)


def _family(family: Any) -> Any:
    """Return a family of statsmodels, by name if a string was given."""
    if not isinstance(family, str):
        return sm.families.Gaussian() if family is None else family
    found = {name.lower(): getattr(sm.families, name) for name in dir(sm.families) if name[0].isupper()}
    if family.lower() not in found:
        raise FitError(f"there is no family {family!r}; known are: {', '.join(sorted(found))}")
    return found[family.lower()]()


def apply(
    function: Callable[[pd.DataFrame], Any],
    release: AnalysableRelease,
    *,
    rule: str = "auto",
    n_org: float | None = None,
    noise_var: Any = None,
    variables: Sequence[str] | None = None,
    n_jobs: int = 1,
) -> PooledResults:
    """Compute any estimand with its variance in every copy, and pool.

    Parameters
    ----------
    function : callable
        Takes a copy; returns ``(estimates, variances)``, ``(estimates, covariance)``, Estimates or a fit.
    release : release
        The copies and their tags.
    rule, n_org, noise_var
        As in :func:`pool`.
    variables : sequence of str, optional
        Columns that the function uses; all by default.
    n_jobs : int
        Copies at a time, in threads.

    Returns
    -------
    PooledResults
        The pooled estimates.

    Raises
    ------
    FitError
        When the function fails in a copy; the message names the copy and the kind of error.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    """
    frames = list(enumerate(_rows(release), start=1))
    fits = _each(lambda pair: _call(function, *pair), frames, n_jobs)
    rows = "all" if release.tags.rows_replaced == "all" else "replaced"
    result = pool(
        fits, release=release, rule=rule, n_org=n_org, noise_var=noise_var, variables=variables, rows=rows
    )
    asked = getattr(function, "asked", None)
    if not isinstance(asked, Asked):
        return result
    said = remarks_on(release, asked)
    return replace(result, flags=said.flags, notes=tuple(dict.fromkeys((*result.notes, *said.notes))))


def _call(function: Callable[[pd.DataFrame], Any], number: int, frame: pd.DataFrame) -> Any:
    """Call the user's function; a failure names the copy and quotes nothing."""
    try:
        return function(frame)
    except PysynthdpError as error:
        raise FitError(f"copy {number}: {error}") from error
    except Exception as error:  # whatever the user's function raises
        raise FitError(f"copy {number}: the function failed with {type(error).__name__}") from error
