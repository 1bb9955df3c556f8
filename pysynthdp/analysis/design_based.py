"""Means, totals, ratios and regressions under the design of a survey, in every copy, and pooled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd
import statsmodels.formula.api as smf

from pysynthdp.analysis.asked import Asked, Factor, Term, asked_by_formula
from pysynthdp.analysis.declared_codes import (
    Codes,
    checked_codes,
    coded_columns,
    note_of_codes,
    without_codes,
)
from pysynthdp.analysis.designs.regression import under_design
from pysynthdp.analysis.designs.sample import Lonely, checked_lonely, sample_of
from pysynthdp.analysis.designs.sums import check_names, domains_of, means, measured, ratios, totals
from pysynthdp.analysis.doors import check_analysis, check_release
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.analysis.expressions import Call, Name
from pysynthdp.analysis.failures import of_copy
from pysynthdp.analysis.fitted_copies import each, fit_frames, read_analysis, rows_of
from pysynthdp.analysis.flags import remarks_on
from pysynthdp.analysis.pooling import pool_own
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.stored import in_frames
from pysynthdp.analysis.wrappers import family_of
from pysynthdp.base.errors import FitError, PysynthdpError
from pysynthdp.base.words import Words
from pysynthdp.schema import Design
from pysynthdp.tags import AnalysableRelease

__all__ = ["svyglm", "svymean", "svyratio", "svytotal"]

_EXACT: Final = {"tol": 1e-12, "rtol": 1e-12}  # of the deviance, below which an iteration stops
_GIVE: Final = Words(
    "give design=Design(weight='...', strata='...'), of columns of the copies, or release the design real"
)


def svymean(
    x: str | Sequence[str], release: AnalysableRelease, *, by: str | None = None, **options: Any
) -> PooledResults:
    """Estimate weighted means in every copy, with the variance of the design, and pool.

    Parameters
    ----------
    x : str or sequence of str
        Columns: the mean of a number, of any other column the share of each of its levels.
    release : release
        The copies and their tags.
    by : str, optional
        A column of domains.
    **options
        ``design``, a :class:`pysynthdp.Design` where the release was not made with one; ``lonely``, what a
        stratum with one sampling unit adds to the variance: ``"fail"`` (the default), ``"certainty"``
        (nothing), ``"adjust"`` (its distance from the mean of all) or ``"average"`` (as the others), as
        survey.lonely.psu in R; ``rule``, ``n_org``, ``n_jobs``, ``codes`` as in
        :func:`pysynthdp.analysis.apply`.

    Returns
    -------
    PooledResults
        Terms such as ``mean(income)[region=north]``.

    Raises
    ------
    FitError
        For a column that is not there, weights that are none, a stratum with one sampling unit or without
        rows in some copy.
    CombiningRuleError
        When no rule, or not the rule asked for, is valid.

    Notes
    -----
    Privacy: post-processing of the copies; reads no real row but what the release keeps real.
    T = f ubar + b/m with ubar the mean design-based variance (Reiter 2003; Drechsler 2018): right where the
    copies carry the real design. Where weights were synthesised the table says so. Rows where a column is
    missing are left out of it; rows where any is missing, of several means at once, as in R.
    """
    return _pooled("svymean", means, x, release, by, options)


def svytotal(
    x: str | Sequence[str], release: AnalysableRelease, *, by: str | None = None, **options: Any
) -> PooledResults:
    """Estimate weighted totals in every copy, with the variance of the design, and pool.

    Parameters
    ----------
    x, release, by, **options
        As in :func:`svymean`; of a column of levels the number of each is estimated.

    Returns
    -------
    PooledResults
        Terms such as ``total(income)[region=north]``.

    Notes
    -----
    Privacy: post-processing of the copies; reads no real row but what the release keeps real.
    """
    if options.get("design") is None and release.tags.nesting == "pseudo_population":
        raise FitError(
            "copies of synthetic populations are samples of equal weights, not as large as the population",
            kind="design",
            remedy="multiply svymean(), estimate and limits, by the size of the population",
        )
    return _pooled("svytotal", totals, x, release, by, options)


def svyratio(numerator: str, denominator: str, release: AnalysableRelease, **options: Any) -> PooledResults:
    """Estimate a ratio of two weighted totals in every copy, with the variance of the design, and pool.

    Parameters
    ----------
    numerator, denominator : str
        Columns of numbers.
    release : release
        The copies and their tags.
    **options
        ``by`` and others as in :func:`svymean`.

    Returns
    -------
    PooledResults
        The term ``ratio(income/hours)``.

    Notes
    -----
    Privacy: post-processing of the copies; reads no real row but what the release keeps real.
    """
    by = options.pop("by", None)

    def estimate(what: Sequence[Any], domains: Sequence[Any], sample: Any, lonely: Lonely) -> Estimates:
        if len(what) != 2:
            raise FitError("a ratio is of two numbers, and a column holds levels", kind="estimand")
        return ratios(what[0], what[1], domains, sample, lonely)

    return _pooled("svyratio", estimate, (numerator, denominator), release, by, options)


def svyglm(
    formula: str,
    release: AnalysableRelease,
    *,
    family: Any = None,
    design: Design | None = None,
    lonely: Lonely = "fail",
    rule: str = "auto",
    n_org: float | None = None,
    n_jobs: int = 1,
    codes: Codes = "missing",
) -> PooledResults:
    """Fit a weighted generalised linear model to every copy, with the variance of the design, and pool.

    Parameters
    ----------
    formula : str
        Model formula.
    release : release
        The copies and their tags.
    family : statsmodels family or str, optional
        As in :func:`pysynthdp.glm`; Gaussian by default.
    design, lonely
        As in :func:`svymean`.
    rule, n_org, n_jobs, codes
        As in :func:`pysynthdp.analysis.fit_copies`.

    Returns
    -------
    PooledResults
        The pooled regression; ``compare_fits(result, table)`` fits it to the confidential table by the same
        design.

    Raises
    ------
    FitError
        As :func:`svymean`, and when the model fails in a copy.

    Notes
    -----
    Privacy: post-processing of the copies; reads no real row but what the release keeps real. The variance is
    that of the linearised estimating equations (Binder 1983), as in svyglm of R's package survey.
    """
    check_analysis(formula, release, "svyglm(formula, release)")
    roles = _roles(release, design)
    kept = checked_codes(codes) == "keep"
    coded = coded_columns(release)
    known = [str(name) for name in release.copies[0].columns]
    weight = roles.get("weight")
    options = {"family": family_of(family), **({} if weight is None else {"freq_weights": weight})}
    asked = read_analysis(formula, known, smf.glm, options, dict(_EXACT), {} if kept else coded)
    used = tuple(dict.fromkeys((*asked.columns, *roles.values())))
    held = in_frames(release, {*used, release.tags.rows_replaced})
    word = checked_lonely(lonely)

    def estimates(frames: Sequence[pd.DataFrame]) -> tuple[list[Estimates], tuple[str, ...]]:
        plain = [frame.reset_index(drop=True) for frame in frames]
        fits, noted = fit_frames(asked, plain, n_jobs)
        pairs = zip(fits, plain, strict=True)
        samples = [sample_of(frame, roles) for frame in plain]
        found = [
            under_design(fit, frame, sample, word)
            for (fit, frame), sample in zip(pairs, samples, strict=True)
        ]
        return found, noted

    frames = rows_of(held)
    _check_strata(frames, roles)
    found, noted = estimates(frames)
    straight = type(options["family"].link).__name__ == "Identity"
    wanted = asked_by_formula(formula, canonical=True, straight=straight)
    settings = {"rule": rule, "n_org": n_org}
    result = _told(found, held, used, coded, settings, wanted)
    return replace(
        result,
        notes=(*result.notes, *noted),
        fit_table=lambda table: _of_table(lambda: estimates([table])[0][0], table, used),
        codes=asked.declared,
    )


@dataclass(frozen=True, slots=True)
class _Options:
    """What an estimate takes besides its columns."""

    design: Design | None = None
    lonely: Lonely = "fail"
    rule: str = "auto"
    n_org: float | None = None
    n_jobs: int = 1
    codes: Codes = "missing"


def _pooled(
    called: str,
    estimate: Callable[..., Estimates],
    x: str | Sequence[str],
    release: AnalysableRelease,
    by: str | None,
    options: Mapping[str, Any],
) -> PooledResults:
    """Estimate sums in every copy, and pool them."""
    check_release(release, f"{called}(columns, release)")
    own = _Options(**options)
    roles, word = _roles(release, own.design), checked_lonely(own.lonely)
    columns = (x,) if isinstance(x, str) else tuple(x)
    used = tuple(dict.fromkeys((*columns, *(() if by is None else (by,)), *roles.values())))
    held = in_frames(release, {*used, release.tags.rows_replaced})
    check_names(held.copies[0], used)
    kept = checked_codes(own.codes) == "keep"
    coded = {} if kept else coded_columns(release, used)
    frames, counts = without_codes(rows_of(held), coded)
    _check_strata(frames, roles)
    levels = [_levels(frames, name) for name in columns]
    domains = () if by is None else _all_levels(frames, by)

    def of_one(frame: pd.DataFrame) -> Estimates:
        what = measured(frame, columns, levels)
        return estimate(what, domains_of(frame, by, domains), sample_of(frame, roles), word)

    found = each(lambda pair: _of_copy(of_one, *pair), list(enumerate(frames, start=1)), own.n_jobs)
    settings = {"rule": own.rule, "n_org": own.n_org}
    result = _told(found, held, used, {}, settings, _asked(columns, by, levels))
    notes = (*result.notes, *note_of_codes(counts, release.tags.m))
    return replace(
        result,
        notes=notes,
        codes=coded,
        fit_table=lambda table: _of_table(lambda: of_one(without_codes([table], coded)[0][0]), table, used),
    )


def _of_copy(of_one: Callable[[pd.DataFrame], Estimates], number: int, frame: pd.DataFrame) -> Estimates:
    """Estimate in one copy; a failure names it."""
    try:
        return of_one(frame)
    except PysynthdpError as error:
        raise of_copy(number, error) from error


def _roles(release: AnalysableRelease, design: Design | None) -> dict[str, str]:
    """Say which column has which role: as given, or as the release says."""
    if design is not None:
        if not isinstance(design, Design):
            raise FitError("design must be a Design", kind="design", remedy=_GIVE)
        return dict(design.told)
    told = release.tags.details.get("design")
    if not isinstance(told, Mapping) or not isinstance(told.get("columns"), Mapping):
        raise FitError("the release has no design", kind="design", remedy=_GIVE)
    return {str(role): str(name) for role, name in told["columns"].items()}


def _check_strata(frames: Sequence[pd.DataFrame], roles: Mapping[str, str]) -> None:
    """Refuse copies of which one has no rows in a stratum of the others."""
    name = roles.get("strata")
    if name is None or any(name not in frame.columns for frame in frames):
        return
    there = [frozenset(frame[name].dropna().unique()) for frame in frames]
    every = frozenset[Any]().union(*there)
    for number, own in enumerate(there, start=1):
        if own != every:
            what = f"copy {number} has no rows in {len(every - own):,} of the {len(every):,} strata of {name}"
            remedy = "draw as many rows as the table has, merge strata, or keep the design real"
            raise FitError(what, column=name, kind="design", remedy=remedy)


def _levels(frames: Sequence[pd.DataFrame], name: str) -> Sequence[Any]:
    """Levels of a column over all copies; none of a number."""
    dtype = frames[0][name].dtype
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        return ()
    return _all_levels(frames, name)


def _all_levels(frames: Sequence[pd.DataFrame], name: str) -> Sequence[Any]:
    """Levels of a column over all copies, in its order or sorted."""
    dtype = frames[0][name].dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return list(dtype.categories)
    found = pd.concat([frame[name] for frame in frames]).dropna().unique()
    return sorted(found.tolist(), key=lambda level: (str(type(level)), level))


def _asked(columns: Sequence[str], by: str | None, levels: Sequence[Sequence[Any]]) -> Asked:
    """Say what an estimate asks of the copies, for flags: columns, by the levels of another."""
    tree = Call("compare", (Name(columns[0]), "")) if len(levels[0]) else Name(columns[0])
    terms = () if by is None else (Term((Factor(by, Call("C", (Name(by),))),)),)
    return Asked(response=Factor(columns[0], tree), terms=terms, canonical=True, straight=True)


def _told(
    found: Sequence[Estimates],
    release: AnalysableRelease,
    used: Sequence[str],
    declared: Mapping[str, Any],
    settings: Mapping[str, Any],
    asked: Asked,
) -> PooledResults:
    """Pool, with what the release's models hold of what was asked."""
    rows = "all" if release.tags.rows_replaced == "all" else "replaced"
    result = pool_own(found, release=release, declared=declared, variables=used, rows=rows, **settings)
    if settings["rule"] == "auto" and result.rule == "partial_size_adjusted":
        under = {**settings, "rule": "partial_design"}  # the same T, with the design's degrees of freedom
        result = pool_own(found, release=release, declared=declared, variables=used, rows=rows, **under)
    said = remarks_on(release, asked)
    notes = tuple(dict.fromkeys((*result.notes, *said.notes)))
    return replace(result, flags=said.flags, notes=notes)


def _of_table(estimate: Callable[[], Estimates], table: pd.DataFrame, used: Sequence[str]) -> Estimates:
    """Estimate from the confidential table by the same design; what goes wrong is told without its values."""
    check_names(table, used)
    try:
        return estimate()
    except Exception:  # whatever it says may quote a record  # noqa: BLE001
        raise FitError(
            "there is no estimate from the confidential table; estimate by hand to see why", kind="setting"
        ) from None
