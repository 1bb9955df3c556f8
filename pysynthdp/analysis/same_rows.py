"""Was the k-th fit made from the k-th copy of the release? Its own rows say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.estimates import Estimates
from pysynthdp.analysis.same_model import all_equal, copy_numbers
from pysynthdp.base.errors import FitError
from pysynthdp.tags import AnalysableRelease

__all__ = ["check_equal", "check_rows", "lost_rows"]

_FEW = 0.1  # a share of rows that differs by less may come from logs and the like
_SIGMAS = 8.0
_EQUAL = (
    "the fits say the same in all copies, to the last digit, though the copies differ: something else than "
    "the copies was analysed, perhaps the confidential table. Fit the k-th model to the rows of copy k"
)
_MAYBE_EQUAL = (
    "All copies say the same, to the last digit. That is right for columns that are the same in all copies, "
    "and for medians of rounded numbers; else something other than the copies was analysed."
)
_ALIKE = "The columns of the model are the same in all copies, and so are the fits: b is zero."


def check_rows(
    found: Sequence[Estimates], release: AnalysableRelease, columns: frozenset[str]
) -> tuple[bool, list[str]]:
    """Hold the rows of each fit against those of its copy.

    Parameters
    ----------
    found : sequence of Estimates
        One a copy.
    release : release
        The copies, in their order.
    columns : frozenset of str
        Columns in the model.

    Returns
    -------
    seen : bool
        Whether the rows of every fit are known to be those of its copy.
    notes : list of str
        What is odd about the number of rows.

    Raises
    ------
    FitError
        When a fit was made from another copy, from no copy of this release, or from far fewer rows than the
        other fits.

    Notes
    -----
    Privacy: reads synthetic copies and the fits' own rows; messages quote no value of either.
    """
    copies = release.copies
    if len(copies) != len(found):
        return False, []
    seen = [_own(number, one, copies, columns) for number, one in enumerate(found)]
    return all(seen), _sizes(found, copies, columns)


def _own(number: int, one: Estimates, copies: Sequence[pd.DataFrame], columns: frozenset[str]) -> bool:
    """Whether the rows are those of the copy; refuse those of another."""
    rows = one.about.rows() if one.about and one.about.rows else None
    if rows is None:
        return False
    elsewhere = set(range(len(copies))) - {number}
    foreign = False
    for name in _in_order(columns, rows):
        if not _one_kind(rows[name], copies[number][name]):
            continue  # recoded by the user
        next_copy = copies[(number + 1) % len(copies)][name]
        if _aligned(rows[name], copies[number][name]):
            if len(copies) == 1 or not _equal(copies[number][name], next_copy):
                return True
        elif _contained(rows[name], copies[number][name]):
            if not _contained(rows[name], next_copy):
                return True
        else:
            foreign = True
            elsewhere = {i for i in elsewhere if _within(rows[name], copies[i][name])}
    if foreign:
        raise FitError(_whose(number, elsewhere), kind="other rows")
    return False


def _in_order(columns: frozenset[str], rows: pd.DataFrame) -> list[str]:
    """Columns that the rows have, numbers first, which tell most and are compared fastest."""
    shared = columns & {str(column) for column in rows.columns}
    return sorted(shared, key=lambda name: (not pd.api.types.is_numeric_dtype(rows[name].dtype), name))


def _whose(number: int, elsewhere: set[int]) -> str:
    """Say whose rows they are."""
    if elsewhere:
        other = copy_numbers(i + 1 for i in elsewhere)
        return (
            f"the fit of copy {number + 1} was made from copy {other}; give one fit a copy, in the order of "
            "the release's copies"
        )
    return (
        f"the fit of copy {number + 1} was made from rows that no copy of this release has, or from columns "
        "recoded under their own names; fit release.copies in order, and give a recoded column another name"
    )


def _one_kind(first: pd.Series[Any], second: pd.Series[Any]) -> bool:
    """Whether both are numbers, or neither."""
    kinds = [pd.api.types.is_numeric_dtype(column.dtype) for column in (first, second)]
    return kinds[0] == kinds[1]


def _within(rows: pd.Series[Any], copy: pd.Series[Any]) -> bool:
    """Whether the values are the copy's at the same labels, or at least all found in it as often."""
    return _aligned(rows, copy) or _contained(rows, copy)


def _aligned(rows: pd.Series[Any], copy: pd.Series[Any]) -> bool:
    """Whether the values are the copy's, row by row."""
    if len(rows) == len(copy):
        return _equal(rows, copy)
    if len(rows) > len(copy) or not copy.index.is_unique or not rows.index.isin(copy.index).all():
        return False
    return _equal(rows, copy.loc[rows.index])


def _contained(rows: pd.Series[Any], copy: pd.Series[Any]) -> bool:
    """Whether every value is in the copy as often, wherever."""
    if len(rows) > len(copy):
        return False
    ours, theirs = (column.dropna().astype(object).value_counts() for column in (rows, copy))
    return bool((ours <= theirs.reindex(ours.index).fillna(0)).all())


def _equal(first: pd.Series[Any], second: pd.Series[Any]) -> bool:
    """Whether two columns hold the same values in the same order."""
    if pd.api.types.is_numeric_dtype(first.dtype):
        ours, theirs = (column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (first, second))
        return np.array_equal(ours, theirs, equal_nan=True)
    pair = [column.astype(object).where(column.notna(), None).to_numpy() for column in (first, second)]
    return bool((pair[0] == pair[1]).all())


def _sizes(found: Sequence[Estimates], copies: Sequence[pd.DataFrame], columns: frozenset[str]) -> list[str]:
    """Compare the number of rows of each fit with the complete rows of its copy."""
    if any(one.nobs is None for one in found) or not columns or found[0].formula is None:
        return []
    used = np.array([one.nobs for one in found], dtype=np.float64)
    rows = np.array([len(copy) for copy in copies])
    if np.any(used > rows) or np.all(used == rows):
        return []  # more observations than rows, as weights can give
    complete = np.array([int(copy[sorted(columns)].notna().all(axis=1).sum()) for copy in copies])
    share = used / np.maximum(complete, 1)
    if np.all(share >= 1):
        return []
    middle = float(np.median(np.minimum(share, 1)))
    allowed = np.maximum(_FEW, _SIGMAS * np.sqrt(middle * (1 - middle) / np.maximum(complete, 1)))
    odd = np.flatnonzero(np.abs(share - middle) > allowed)
    if odd.size:
        raise FitError(
            f"the fit of copy {odd[0] + 1} used {used[odd[0]]:.0f} of {complete[odd[0]]} complete rows, and "
            "those of the other copies another share; fit the same rows of every copy",
            kind="other rows",
        )
    low, high = (f"{100 * end:.0f}" for end in (share.min(), share.max()))
    return [f"The fits used {low} to {high} % of the copies' complete rows: the table speaks of those."]


def lost_rows(found: Sequence[Estimates], release: AnalysableRelease, columns: frozenset[str]) -> list[str]:
    """Count the complete rows that fits left out: where a term of the formula has no value.

    Parameters
    ----------
    found : sequence of Estimates
        One a copy, fitted by this package.
    release : release
        The copies.
    columns : frozenset of str
        Columns in the model.

    Returns
    -------
    list of str
        One note, or none.

    Notes
    -----
    Privacy: reads synthetic copies.
    """
    if found[0].formula is None or not columns or any(one.nobs is None for one in found):
        return []
    names = sorted(columns)
    complete = np.array([_complete(copy, names) for copy in release.copies])
    lost = complete - np.array([float(one.nobs or 0) for one in found])
    if lost.sum() < 1 or (lost < 0).any():
        return []
    note = (
        f"{lost.sum():,.0f} of {complete.sum():,} complete rows of the copies were left out, by a subset or "
        "because a term has no value there (the logarithm of a negative number, say)."
    )
    return [note]


def _complete(copy: pd.DataFrame, names: Sequence[str]) -> int:
    """Count the rows that lack none of some columns, one column at a time."""
    whole = np.ones(len(copy), dtype=np.bool_)
    for name in names:
        whole &= copy[name].notna().to_numpy()
    return int(whole.sum())


def check_equal(
    found: Sequence[Estimates], release: AnalysableRelease | None, columns: frozenset[str]
) -> list[str]:
    """Refuse models that are equal in all copies, unless their columns are; remark on other estimates.

    Parameters
    ----------
    found : sequence of Estimates
        One a copy, of which it is not known that they read their copies.
    release : release or None
        The copies.
    columns : frozenset of str
        Columns in the model.

    Returns
    -------
    list of str
        Notes.

    Raises
    ------
    FitError
        When something else than the copies was analysed.

    Notes
    -----
    Privacy: post-processing of fits; this is where a confidential table that was fitted m times is caught.
    """
    if not all_equal(found):
        return []
    if release is not None and _alike(release.copies, columns):
        return [_ALIKE]
    if all(one.about is not None and len(one.terms) > 1 for one in found):
        raise FitError(_EQUAL, kind="other rows")
    return [_MAYBE_EQUAL]


def _alike(copies: Sequence[pd.DataFrame], columns: frozenset[str]) -> bool:
    """Whether the columns are the same in all copies; copies without rows tell nothing."""
    first = copies[0]
    if len(copies) < 2 or not len(first):
        return False
    return all(_equal(copy[name], first[name]) for copy in copies[1:] for name in columns)
