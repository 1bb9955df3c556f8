"""What is evaluated, however it was given: a table, and a release or copies of any other tool."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.errors import FitError, SchemaError
from pysynthdp.base.words import Words
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.evaluate.risk.coding import Files
from pysynthdp.evaluate.risk.wording import CALL
from pysynthdp.evaluate.sides import Facts, as_table, facts_of, fresh_names, real_columns, unread
from pysynthdp.io.structure import structure_diff
from pysynthdp.io.survey import read, reads
from pysynthdp.io.tables import read_table
from pysynthdp.privacy.statements.claim import Claim
from pysynthdp.release import SyntheticRelease

__all__ = ["Given", "given", "people_of"]

_HOW = "give a release, its folder, a data frame or a list of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Table and copies, and what is known of how the copies were made.

    Parameters
    ----------
    files : Files
        Table and copies.
    releases : tuple of int
        For each copy of the source that is known, the number of its release; this one is the last.
    every : tuple
        Copies of all of them, earlier ones first.
    kept : tuple of str
        Columns released as they really are.
    anew : tuple of str
        Columns of running numbers that the release made anew; they tell nothing of a record.
    unit : str or None
        Column of the units that rows belong to.
    claim : Claim or None
        The privacy statement; None of copies of another tool.
    differences : DataFrame
        Where copies of another tool differ from the table in names, types and levels.
    """

    files: Files
    every: tuple[Any, ...]
    releases: tuple[int, ...]
    kept: tuple[str, ...]
    anew: tuple[str, ...]
    unit: str | None
    claim: Claim | None
    differences: pd.DataFrame


def given(table: Any, release: Any, earlier: Sequence[Any]) -> Given:
    """Take a table and copies.

    Parameters
    ----------
    table : DataFrame, SurveyTable or path
        The confidential table.
    release : SyntheticRelease, StoredRelease, DataFrame, sequence of DataFrame, or path
        The copies.
    earlier : sequence of the same
        What was released before from the same source.

    Returns
    -------
    Given
        What is held against what.

    Raises
    ------
    SchemaError, FitError
        When one of them is nothing of the kind, or they have no column in common.

    Notes
    -----
    Privacy: reads real rows.
    """
    rows, own = _table(table), _release(release)
    if not len(rows):
        raise SchemaError("the confidential table has no rows", kind="rows")
    parts = [_alike(rows, each, _copies(each)) for each in (*map(_release, earlier), own)]
    files = Files(rows, parts[-1])
    if not files.names:
        what = "table and copies have no column in common"
        raise SchemaError(what, kind="columns", remedy="give copies of this table")
    tags = getattr(own, "tags", None)
    return Given(
        files=files,
        every=tuple(copy for part in parts for copy in part),
        releases=tuple(at for at, part in enumerate(parts, start=1) for _ in part),
        kept=() if tags is None else tuple(name for name in files.names if name in real_columns(tags)),
        anew=tuple(sorted(fresh_names(own))) if hasattr(own, "provenance") else (),
        unit=None if tags is None else tags.unit,
        claim=getattr(own, "privacy", None),
        differences=_differences(rows, None if tags is not None else _copies(own)[0]),
    )


def people_of(given: Any) -> Any:
    """Take people who were never used as a data frame; what is none is given back, to be refused by name.

    Parameters
    ----------
    given : DataFrame, SurveyTable, path or None
        The hold-out.

    Returns
    -------
    object
        A data frame, if it is one.

    Notes
    -----
    Privacy: reads real rows.
    """
    return _table(given) if isinstance(given, SurveyTable | str | os.PathLike) else given


def _differences(table: pd.DataFrame, copy: Any) -> pd.DataFrame:
    """List where the structure of a copy of another tool is not that of the table."""
    found = structure_diff(table, copy) if isinstance(copy, pd.DataFrame) else ()
    rows = [(each.column or "(table)", each.what, each.first, each.second) for each in found]
    if isinstance(copy, pd.DataFrame):
        rows += [
            row for each in _facts(table, copy) for row in unread(copy[each.name], table[each.name], each)
        ]
    return pd.DataFrame(rows, columns=["column", "what", "confidential", "copies"])


def _facts(table: pd.DataFrame, copy: pd.DataFrame) -> list[Facts]:
    """Say what the columns are that both have."""
    return [facts_of(table[name], None) for name in table.columns if name in copy.columns]


def _alike(table: pd.DataFrame, release: Any, copies: tuple[Any, ...]) -> tuple[Any, ...]:
    """Read columns of another tool's copies as what they are in the table; a release has its own types."""
    if hasattr(release, "tags"):
        return copies
    return tuple(_read_as(table, copy) if isinstance(copy, pd.DataFrame) else copy for copy in copies)


def _read_as(table: pd.DataFrame, copy: pd.DataFrame) -> pd.DataFrame:
    """Read a copy; a column of which nothing can be read stays, and is refused by name if asked for."""
    found = as_table(copy, table, _facts(table, copy))
    for name in found:
        if found[name].isna().all() and copy[name].notna().any():
            found[name] = copy[name]
    return found


def _table(given: Any) -> pd.DataFrame:
    """Take the confidential table."""
    if reads(given):
        given = read(given)
    if isinstance(given, SurveyTable):
        given = given.frame
    if isinstance(given, str | os.PathLike):
        given = read_table(os.fspath(given))
    if not isinstance(given, pd.DataFrame):
        what = f"the confidential table must be a data frame or a file, not {type(given).__name__}"
        raise FitError(what, kind="call", remedy=Words("write {call}", call=CALL))
    return given.reset_index(drop=True)


def _release(given: Any) -> Any:
    """Open a release by its folder, and read a file of copies."""
    if not isinstance(given, str | os.PathLike):
        return given
    return SyntheticRelease.open(Path(given)) if os.path.isdir(given) else _table(given)  # noqa: PTH112


def _copies(release: Any) -> tuple[Any, ...]:
    """List the copies."""
    if isinstance(release, pd.DataFrame | SurveyTable):
        return (release if isinstance(release, pd.DataFrame) else release.frame,)
    copies = getattr(release, "copies", release)
    if not isinstance(copies, Sequence) or isinstance(copies, str) or not len(copies):
        raise FitError(f"{type(release).__name__} holds no copies", kind="no release", remedy=_HOW)
    taken = tuple(
        _table(each) if isinstance(each, str | os.PathLike | SurveyTable) else each for each in copies
    )
    if not all(hasattr(each, "columns") and len(each) for each in taken):
        raise FitError("a copy is no table with rows", kind="no release", remedy=_HOW)
    return taken
