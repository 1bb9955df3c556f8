"""Fit a model to every copy of a release and pool: ``ols``, ``logit``, ``glm``, any other, any function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

from pysynthdp.analysis.asked import Asked, asked_by_fits
from pysynthdp.analysis.declared_codes import (
    Codes,
    checked_codes,
    coded_columns,
    note_of_codes,
    refuse_code,
    without_codes,
)
from pysynthdp.analysis.doors import check_analysis, check_release
from pysynthdp.analysis.failures import of_copy, told
from pysynthdp.analysis.fitted_copies import Analysis, each, fit_frames, read_analysis, rows_of
from pysynthdp.analysis.flags import remarks_on
from pysynthdp.analysis.pooling import pool, pool_own
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.stored import in_frames
from pysynthdp.base.errors import FitError, PysynthdpError
from pysynthdp.base.words import meant
from pysynthdp.tags import AnalysableRelease

__all__ = ["apply", "family_of", "fit_copies", "glm", "logit", "ols"]

_TO_FIT = frozenset({"cov_type", "cov_kwds", "use_t", "method", "maxiter", "start_params", "q", "scale"})
_FAMILIES = {
    kind.__name__.lower(): kind for kind in sm.families.Family.__subclasses__() if kind.__name__[0] != "_"
}
_WEIGHTS = ("weights", "freq_weights", "var_weights")


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
    codes: Codes = "missing",
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
    codes : {"missing", "keep"}
        Declared codes of the release's schema are no values, and rows with one are left out, as a note says;
        ``"keep"`` computes with them.
    **options
        Arguments of the model; ``cov_type``, ``cov_kwds``, ``use_t``, ``method``, ``maxiter``,
        ``start_params``, ``q`` and ``scale`` go to its ``fit``. Weights, offsets, groups and the like may be
        given as a column's name.

    Returns
    -------
    PooledResults
        The pooled fits. A term that some copy cannot estimate, because it lacks a level or the outcome is
        separated there, is NaN with a note.

    Raises
    ------
    FitError
        When the formula cannot be read, or the model fails in a copy; the message names the copy and why.
    CombiningRuleError
        When no rule, or not the rule asked for, is valid.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    Dates and times enter as days since 1970-01-01 (zoned ones in UTC), durations as days, unless the formula
    takes their parts (``C(day.dt.year)``) or compares them.
    Copies may stay in their files (:meth:`SyntheticRelease.open`): columns of the model are then read into
    nameless files. OLS, WLS, Logit and a GLM with its canonical link are fitted to copies of 50,000 rows and
    more by sums over blocks of rows, where these say what statsmodels says, to 1e-10 of a coefficient or its
    error: covariances nonrobust, HC0 to HC3 or of clusters in one column; weights of WLS, ``var_weights``,
    ``offset`` and ``exposure`` as columns; terms that are computed row by row, or learned from all copies.
    statsmodels fits everything else: columns that nearly depend on each other, an outcome that may be
    separated, values that are not finite. What such a fit does not hold itself (residuals, likelihood), it
    has statsmodels compute when it is asked for. Where a column that is compared is missing, the
    row is left out, as in R. True and False on the left are 1 and 0.
    """
    check_analysis(formula, release, "fit_copies(formula, release, model)")
    fit_options = {**{k: options.pop(k) for k in _TO_FIT & options.keys()}, **(fit_options or {})}
    kept = checked_codes(codes) == "keep"
    coded = coded_columns(release)
    known = [str(name) for name in release.copies[0].columns]
    asked = read_analysis(formula, known, model, options, fit_options, {} if kept else coded)
    marker = release.tags.rows_replaced
    held = in_frames(release, {*asked.columns, marker})
    fits, noted = fit_frames(asked, rows_of(held), n_jobs)
    settings = {"rule": rule, "n_org": n_org, "noise_var": noise_var}
    again = {**settings, **options, "fit_options": fit_options, "n_jobs": n_jobs, "codes": codes}
    result = pool_own(
        fits,
        release=held,
        declared=coded,
        variables=asked.columns,
        rows="all" if marker == "all" else "replaced",
        refit=lambda other: fit_copies(other, release, model, **again),
        **settings,
    )
    groups, subgroup = _groups(options, fit_options), options.get("subset") is not None
    if groups or subgroup:  # which the fits themselves do not tell
        wanted = asked_by_fits(formula, fits, groups=groups, subgroup=subgroup)
        result = replace(result, flags=remarks_on(held, wanted).flags)
    notes = (*result.notes, *noted, *_weight_notes(options, release))
    return replace(result, notes=notes, fit_table=lambda table: _fit_real(asked, table), codes=asked.declared)


def _fit_real(asked: Analysis, table: pd.DataFrame) -> Any:
    """Fit the same model to the confidential table; what goes wrong there is told without its values."""
    absent = [name for name in asked.columns if name not in table.columns]
    if absent:
        remedy = meant(absent[0], map(str, table.columns), "give the table that the release was made from")
        raise FitError(
            f"the confidential table has no column {absent[0]!r}",
            column=absent[0],
            kind="unknown column",
            remedy=remedy,
        )
    try:
        return fit_frames(asked, [table])[0][0]
    except Exception:  # whatever it says may quote a record  # noqa: BLE001
        raise FitError(
            "the model has no fit on the confidential table; fit it by hand to see why", kind="setting"
        ) from None


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
    check_analysis(formula, release, "ols(formula, release)")
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
    check_analysis(formula, release, "logit(formula, release)")
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
    check_analysis(formula, release, "glm(formula, release)")
    return fit_copies(formula, release, smf.glm, family=family_of(family), **options)


def family_of(family: Any) -> Any:
    """Return a family of statsmodels, by name if a string was given.

    Raises
    ------
    FitError
        For a family that statsmodels does not have.
    """
    if family is None or isinstance(family, sm.families.Family):
        return family or sm.families.Gaussian()
    named = family if isinstance(family, str) else getattr(family, "__name__", type(family).__name__)
    if named.lower() not in _FAMILIES:
        remedy = meant(named, _FAMILIES, f"known are: {', '.join(sorted(_FAMILIES))}")
        raise FitError(f"there is no family {named!r}", kind="family", remedy=remedy)
    return _FAMILIES[named.lower()]()


def apply(
    function: Callable[[pd.DataFrame], Any],
    release: AnalysableRelease,
    *,
    rule: str = "auto",
    n_org: float | None = None,
    noise_var: Any = None,
    variables: Sequence[str] | None = None,
    n_jobs: int = 1,
    codes: Codes = "missing",
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
    codes : {"missing", "keep"}
        Whether the function sees declared codes of the release's schema as missing, or as they are.

    Returns
    -------
    PooledResults
        The pooled estimates.

    Raises
    ------
    FitError
        When the function fails in a copy; the message names the copy and why.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    """
    if not callable(function):
        raise FitError(
            "apply(function, release) needs a function of one copy first, then the release", kind="call"
        )
    check_release(release, "apply(function, release)")
    release = in_frames(release, None)  # a function may look at any column
    kept = checked_codes(codes) == "keep"
    declared = {} if kept else coded_columns(release, variables or getattr(function, "columns", None))
    column, level = getattr(function, "level", (None, None))
    if column in declared:
        refuse_code(column, [level], declared[column])
    frames, counts = without_codes(rows_of(release), declared)
    fits = each(lambda pair: _call(function, *pair), list(enumerate(frames, start=1)), n_jobs)
    rows = "all" if release.tags.rows_replaced == "all" else "replaced"
    done = pool(
        fits, release=release, rule=rule, n_org=n_org, noise_var=noise_var, variables=variables, rows=rows
    )
    asked = getattr(function, "asked", None)
    remarks = remarks_on(release, asked) if isinstance(asked, Asked) else None
    flags = done.flags if remarks is None else remarks.flags
    notes = dict.fromkeys((*done.notes, *(() if remarks is None else remarks.notes)))
    noted = note_of_codes(counts, release.tags.m)
    return replace(done, flags=flags, notes=(*notes, *noted), codes=declared)


def _call(function: Callable[[pd.DataFrame], Any], number: int, frame: pd.DataFrame) -> Any:
    """Call the user's function; a failure names the copy and says why."""
    try:
        return function(frame)
    except PysynthdpError as error:
        raise of_copy(number, error) from error
    except Exception as error:  # whatever the user's function raises
        raise FitError(f"copy {number}: the function failed: {told(error)}", kind="no fit") from error
