"""What is handed to an analysis by mistake, told in one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pandas as pd

from pysynthdp.base.errors import FitError
from pysynthdp.base.words import Words
from pysynthdp.tags import AnalysableRelease

__all__ = ["check_analysis", "check_release", "listed_fits", "unreadable"]

_OWN_COPIES = "to pool fits of copies of your own, give pool() one fit a copy, with n_syn and n_org"
_SUBSET = (
    "leave the copies whole and analyse a part of the rows by a subset, or take it in the function of apply()"
)
_READ = "read the release first, by SyntheticRelease.load(path), or open(path) where memory is short"
_ONE_EACH = (
    "pool needs a list with one fit for each copy, such as "
    "[smf.ols(formula, copy).fit() for copy in release.copies]"
)


def check_analysis(formula: Any, release: Any, called: str) -> None:
    """Refuse a formula that is no text, and what is no release.

    Parameters
    ----------
    formula, release : object
        What was given.
    called : str
        How the call should look.

    Raises
    ------
    FitError
        One sentence on what was given and what is wanted.

    Notes
    -----
    Privacy: names types only.
    """
    if _is_release(formula) and not _is_release(release):
        what = "the release stands in the place of the formula"
        raise FitError(what, kind="call", remedy=f"write {called}")
    if not isinstance(formula, str):
        what = f"the formula must be text such as 'income ~ age', not {_a(formula)}"
        raise FitError(what, kind="call", remedy=f"write {called}")
    check_release(release, called)


def check_release(release: Any, called: str) -> None:
    """Refuse what is no release, and copies of which rows were taken away, as rules count on their size.

    Parameters
    ----------
    release : object
        What was given.
    called : str
        How the call should look.

    Raises
    ------
    FitError
        One sentence on what was given and what is wanted.

    Notes
    -----
    Privacy: names types only.
    """
    if not _is_release(release):
        what = f"{called} needs a release of synthetic copies, not {_a(release)}"
        raise FitError(what, kind="no release", remedy=_way_out(release))
    if hasattr(release, "check_unchanged"):  # a stand-in, as where R holds the copies, has no rows to count
        _check_sizes(release)


def _check_sizes(release: AnalysableRelease) -> None:
    """Refuse copies of another length than was drawn."""
    drawn, unit = release.tags.n_syn, release.tags.unit
    for number, copy in enumerate(release.copies, start=1):
        rows = len(copy)
        if unit is not None:  # how many rows a unit has is drawn too
            rows = copy[unit].nunique() if isinstance(copy, pd.DataFrame) and unit in copy else drawn
        if rows != drawn:
            parts = {"number": number, "rows": rows, "drawn": drawn}
            what = Words("copy {number} has {rows} rows, and {drawn} were drawn", **parts)
            raise FitError(what, kind="changed copies", remedy=_SUBSET)


def _is_release(value: Any) -> bool:
    """Whether it has copies and their tags."""
    return hasattr(value, "copies") and hasattr(value, "tags")


def _way_out(value: Any) -> str:
    """Say what to do about it."""
    if isinstance(value, pd.DataFrame) or (_is_list(value) and len(value) and _all_frames(value)):
        return f"a release is what Synthesizer().fit(table).draw(m=5) gives; {_OWN_COPIES}"
    if isinstance(value, str | os.PathLike):
        return _READ
    if hasattr(value, "draw"):
        return "draw copies first, by fitted.draw(m=5)"
    if hasattr(value, "fit"):
        return "fit it to the table and draw copies first, by .fit(table).draw(m=5)"
    return "a release is what Synthesizer().fit(table).draw(m=5) gives"


def _is_list(value: Any) -> bool:
    """Whether it is a list or a tuple."""
    return isinstance(value, list | tuple)


def _all_frames(values: Iterable[Any]) -> bool:
    """Whether all are data frames."""
    return all(isinstance(value, pd.DataFrame) for value in values)


def _a(value: Any) -> str:
    """Name what was given by its type."""
    if value is None:
        return "None"
    if _is_list(value) and len(value) and _all_frames(value):
        return "a list of DataFrames"
    return f"an object of type {type(value).__name__}"


def listed_fits(fits: Any) -> list[Any]:
    """Give the fits as a list; a generator is run through.

    Parameters
    ----------
    fits : object
        What was given to ``pool``.

    Returns
    -------
    list
        The fits.

    Raises
    ------
    FitError
        When it is no collection of fits.

    Notes
    -----
    Privacy: names types only.
    """
    if _is_release(fits):
        what = "pool was given a release"
        raise FitError(what, kind="call", remedy=f"{_ONE_EACH}, or call ols(formula, release)")
    if hasattr(fits, "rule") and hasattr(fits, "params"):
        raise FitError(
            "this is a pooled result already", kind="call", remedy="pool takes the fits of the copies"
        )
    wrong = isinstance(fits, str | bytes | os.PathLike | pd.DataFrame | dict) or hasattr(fits, "params")
    if wrong or not isinstance(fits, Iterable):
        one = "one fit" if hasattr(fits, "params") else _a(fits)
        raise FitError(f"{_ONE_EACH}, not {one}", kind="call")
    return list(fits)


def unreadable(fit: Any) -> str | None:
    """Say what is wrong with something that can be no fit; None for what an adapter may read.

    Parameters
    ----------
    fit : object
        One element of what was given to ``pool``.

    Returns
    -------
    str or None
        One sentence.

    Notes
    -----
    Privacy: names types only.
    """
    kind = type(fit).__name__
    frames = isinstance(fit, pd.DataFrame) or (_is_list(fit) and len(fit) and _all_frames(fit))
    unfitted = hasattr(fit, "fit") and not hasattr(fit, "params") and not hasattr(fit, "coef_")
    cases = (
        (frames, "a table is no fit; fit a model to each copy, or call ols(formula, release)"),
        (isinstance(fit, str | bytes | os.PathLike), "a text is no fit; give the fitted model itself"),
        (
            isinstance(fit, int | float | complex) or fit is None,
            f"{_a(fit)} is no fit; give (estimate, variance) for each copy",
        ),
        (hasattr(fit, "rule") and hasattr(fit, "params"), "this is pooled already; give the fit of one copy"),
        ("Summary" in kind, "a summary is no fit; give the fitted model itself"),
        (unfitted, f"{kind} is not fitted; call its fit() first"),
        (
            hasattr(fit, "params"),
            f"{kind} has params and no covariance; give it cov_params(), or give (estimates, covariance)",
        ),
    )
    return next((says for is_case, says in cases if is_case), None)
