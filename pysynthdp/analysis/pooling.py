"""Pool the fits of m copies into one result, by a rule that is right for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pysynthdp.analysis.asked import asked_by_fits
from pysynthdp.analysis.choose import choose, facts_of, model_columns, take, why
from pysynthdp.analysis.combining import combine_stack, plain_rule
from pysynthdp.analysis.declared_codes import coded_columns
from pysynthdp.analysis.doors import check_release, listed_fits, unreadable
from pysynthdp.analysis.estimates import Estimates, adapter_for
from pysynthdp.analysis.failures import of_copy
from pysynthdp.analysis.flags import Remarks, remarks_on
from pysynthdp.analysis.pool_notes import absent_terms, kept_codes, overwritten_columns
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.rules.base import Facts, Rule
from pysynthdp.analysis.same_model import compare_models
from pysynthdp.analysis.same_rows import check_equal, check_rows, lost_rows
from pysynthdp.analysis.separation import without_outlying
from pysynthdp.analysis.stack import Stack, stack
from pysynthdp.analysis.stored import in_frames
from pysynthdp.base.errors import CombiningRuleError, FitError, PysynthdpError, PysynthdpWarning
from pysynthdp.base.remarks import outside
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.words import Said, Setting, Words
from pysynthdp.schema import Column
from pysynthdp.tags import AnalysableRelease, ReleaseTags

__all__ = ["pool", "pool_own"]

_UNCHECKED = Words(
    "Chosen without the release's tags; give {release} to have it checked.",
    release=Said("release=", "release=", "data ="),
)
_ONE_RULE = Said(
    "rules() shows raab_simple and raab_proper beside it",
    "--rule raab_simple and --rule raab_proper show others",
    'rule = "raab_simple" and rule = "raab_proper" show others',
)


@answers_slips
def pool(
    fits: Sequence[Any],
    *,
    release: AnalysableRelease | None = None,
    rule: str = "auto",
    n_syn: float | None = None,
    n_org: float | None = None,
    nests: Sequence[Any] | None = None,
    noise_var: Any = None,
    variables: Sequence[str] | None = None,
    rows: str = "all",
    refit: Callable[[str], PooledResults] | None = None,
) -> PooledResults:
    """Combine the m analyses of a release into one table.

    Parameters
    ----------
    fits : sequence of length m
        One fitted model a copy, in order: statsmodels results, scikit-learn estimators with a covariance,
        objects with ``params`` and ``cov_params()``, ``(estimates, variances)`` or
        ``(estimates, covariance)`` pairs, or :class:`Estimates`. They must be of one model.
    release : release, optional
        The release that the copies come from; its tags choose the rule, and its rows show whether the fits
        were made from its copies, in their order.
    rule : str
        ``"auto"``, a rule or an alias: ``"partial"`` is ``"partial_size_adjusted"``, ``"T_p"``
        ``"partial_reiter2003"``, ``"T_s"`` ``"raab_simple"``, ``"T_PPD"`` ``"raab_proper"``, ``"T_f"``
        ``"full_rrr2003"``, ``"T_m"`` ``"missing_rubin1987"``, ``"nested"``
        ``"missing_then_partial_reiter2004"``, ``"census"`` and ``"shared_noise"``.
    n_syn, n_org : float, optional
        Rows in a copy and in the confidential table, where the tags do not say.
    nests : sequence of length m, optional
        Nest of each copy, where the tags do not say.
    noise_var : float, array (p,) or (p, p), optional
        Variance that privacy noise shared by all copies gives the estimates.
    variables : sequence of str, optional
        Columns that the model uses; read from the formula by default, all columns when there is none.
    rows : {"all", "replaced"}
        ``"replaced"`` states that the fits used the replaced rows only, where the release replaced some.
    refit : callable, optional
        Fits and pools another formula on the same copies, for ``lr_test``.

    Returns
    -------
    PooledResults
        Estimates, standard errors, degrees of freedom, and why they are right.

    Raises
    ------
    CombiningRuleError
        When the rule asked for, or every rule, is not valid for these copies; the message names one that is
        or what to change.
    FitError
        When a fit cannot be read, is of another model than the others (formula, response, family,
        covariance), or was made from other rows than its copy's; when models say the same in all copies
        though these differ. The message names the copy.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    T = f ubar + b/m by default (Drechsler 2018), T_s or T_PPD for one copy (Raab, Nowok and Dibben 2016).

    Examples
    --------
    >>> done = pool([([0.41], [0.0018]), ([0.55], [0.0017])], n_syn=500, n_org=500)
    >>> done.rule
    'partial_size_adjusted'
    """
    listed = listed_fits(fits)
    if release is not None:
        check_release(release, "pool(fits, release=release)")
        release = in_frames(release, None)
    return _pooled(
        listed,
        release,
        {} if release is None else coded_columns(release),
        rule=rule,
        n_syn=n_syn,
        n_org=n_org,
        nests=nests,
        noise_var=noise_var,
        variables=variables,
        rows=rows,
        refit=refit,
        own=False,
    )


def pool_own(
    fits: Sequence[Any], *, release: AnalysableRelease, declared: Mapping[str, Column], **options: Any
) -> PooledResults:
    """Pool fits that this package made from the copies of a release itself, in order.

    Parameters
    ----------
    fits : sequence of length m
        One a copy.
    release : release
        The copies, checked by whoever fitted.
    declared : mapping column -> Column
        Columns of the release with declared codes.
    **options
        As in :func:`pool`.

    Returns
    -------
    PooledResults
        The pooled fits.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    """
    return _pooled(list(fits), release, declared, **options, own=True)


def _pooled(
    fits: list[Any],
    release: AnalysableRelease | None,
    declared: Mapping[str, Column],
    *,
    rule: str = "auto",
    n_syn: float | None = None,
    n_org: float | None = None,
    nests: Sequence[Any] | None = None,
    noise_var: Any = None,
    variables: Sequence[str] | None = None,
    rows: str = "all",
    refit: Callable[[str], PooledResults] | None = None,
    own: bool,
) -> PooledResults:
    """Read, compare, combine; ``own`` fits are known to be of the release's copies."""
    read = _read(fits)
    tags = None if release is None else release.tags
    _check_release(read, tags, rows)
    compared = compare_models(read)
    found = compared.found
    used = _used(found, release, variables)
    part, about_rows = ([], []) if own else _check_rows(found, release, used)
    values = _stack(found, tags, n_syn, n_org, nests, noise_var)
    facts = _facts(release, values, used)
    picked, notes = _pick(rule, facts, values)
    done = combine_stack(values, picked)
    if own and release is not None and rows == "all" and not used & declared.keys():
        about_rows = lost_rows(found, release, used)
    asked = asked_by_fits(found[0].formula, fits, subgroup=bool(part))
    said = Remarks() if release is None else remarks_on(release, asked)
    _caution(picked, rule, float(np.nanmin(np.append(done.df, np.inf))), values.m)
    return PooledResults(
        combined=done,
        terms=found[0].terms,
        design_terms=found[0].design_terms,
        model=found[0].model,
        why=why(facts, picked, n_syn=values.n_syn, n_org=values.n_org, m=values.m),
        facts=facts,
        notes=(
            *notes,
            *compared.notes,
            *absent_terms(found, compared.masked),
            *part,
            *about_rows,
            *kept_codes(fits, declared, variables),
            *overwritten_columns(release, used),
            *said.notes,
        ),
        flags=said.flags,
        estimates=tuple(found),
        fits=tuple(fits),
        refit=refit,
    )


def _check_rows(
    found: list[Estimates], release: AnalysableRelease | None, used: frozenset[str]
) -> tuple[list[str], list[str]]:
    """Hold fits made elsewhere against the copies; remark on parts of the rows, and on what is odd."""
    seen = all(one.about is not None and bool(one.about.own) for one in found)
    part: list[str] = []
    if release is not None and release.tags.rows_replaced == "all":
        by_rows, part = check_rows(found, release, used)
        seen = seen or by_rows
    return part, [] if seen else check_equal(found, release, used)


def _used(
    found: list[Estimates], release: AnalysableRelease | None, variables: Sequence[str] | None
) -> frozenset[str]:
    """Columns in the model; none without a release."""
    if release is None:
        return frozenset()
    columns = [str(name) for name in release.copies[0].columns]
    return frozenset(variables) if variables is not None else model_columns(found[0].formula, columns)


def _read(fits: Sequence[Any]) -> list[Estimates]:
    """Read every fit, and bring all to the same terms in the same order."""
    if len(fits) == 0:
        raise FitError("there are no fits", kind="fits", remedy="give one a copy")
    found = []
    for number, fit in enumerate(fits, start=1):
        try:
            adapter = adapter_for(fit)
        except FitError as error:
            wrong = unreadable(fit)
            raise of_copy(number, error if wrong is None else FitError(wrong, kind="fit")) from error
        try:
            found.append(adapter.estimates(fit))
        except PysynthdpError as error:
            raise of_copy(number, error) from error
    pairs = {
        term: inner
        for estimate in found
        for term, inner in zip(estimate.terms, estimate.design_terms, strict=True)
    }
    terms, inner = tuple(pairs), tuple(pairs.values())
    return without_outlying([estimate.aligned(terms, inner) for estimate in found])


def _check_release(found: list[Estimates], tags: ReleaseTags | None, rows: str) -> None:
    """Refuse fits that do not belong to the release."""
    if rows not in {"all", "replaced"}:
        raise CombiningRuleError("rows must be 'all' or 'replaced'", kind="estimates")
    if tags is None:
        return
    if len(found) != tags.m:
        raise CombiningRuleError(
            f"there are {len(found)} fits for {tags.m} copies",
            kind="fits",
            remedy="give one a copy, in their order",
        )
    if tags.rows_replaced != "all" and rows != "replaced":
        raise CombiningRuleError(
            Words(
                "only part of the rows was replaced; fit the model on the replaced rows of each copy and "
                "give {rows}, since no rule holds for all rows together",
                rows=Setting("rows", "replaced"),
            ),
            kind="estimates",
        )


def _stack(
    found: list[Estimates],
    tags: ReleaseTags | None,
    n_syn: float | None,
    n_org: float | None,
    nests: Sequence[Any] | None,
    noise_var: Any,
) -> Stack:
    """Stack the estimates; what is given by hand fills in what the tags do not say."""
    if tags is not None:
        n_syn, n_org = tags.n_syn, tags.n_org if tags.n_org is not None else n_org
        nests = tags.nests if tags.nests is not None else nests
    n_eff = None if tags is None else tags.details.get("n_eff")
    df = [estimate.df for estimate in found if estimate.df is not None]
    values = stack(
        np.array([estimate.values for estimate in found]),
        np.array([estimate.cov for estimate in found]),
        n_syn=n_syn,
        n_org=n_org,
        df_com=min(df) if df else None,
        noise_var=noise_var,
        nests=nests,
    )
    return replace(values, n_eff=n_eff)


def _facts(release: AnalysableRelease | None, values: Stack, used: frozenset[str]) -> Facts | None:
    """Facts from the tags and the columns in the model; None without a release."""
    if release is None:
        return None
    return facts_of(release.tags, used, n_org=values.n_org, noise_var_known=values.noise_var is not None)


def _pick(rule: str, facts: Facts | None, values: Stack) -> tuple[Rule, list[str]]:
    """Choose or check the rule, with the notes that belong to the choice."""
    if facts is None:
        combine_stack(values, plain_rule(values, rule))  # refused before anything is noted
        return plain_rule(values, rule), [_UNCHECKED]
    if rule != "auto":
        picked = take(rule, facts, values)
        notes = [] if facts.bias == "none" else [f"The variance does not count the bias: {facts.bias}."]
        return picked, notes
    picked = choose(facts, values)
    notes = []
    if picked.name == "partial_size_adjusted" and facts.m < 5:
        notes.append(
            Words(
                "With m = {m} the variance between copies is itself uncertain; {others} where they apply. "
                "Five copies or more are better.",
                m=facts.m,
                others=_ONE_RULE,
            )
        )
    return picked, notes


def _caution(picked: Rule, asked: str, smallest_df: float, m: int) -> None:
    """Warn who takes a rule by name that is often of no use."""
    text = None if asked == "auto" else picked.caution(m, smallest_df)
    if text:
        warnings.warn(text, PysynthdpWarning, stacklevel=outside())
