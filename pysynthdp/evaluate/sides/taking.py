"""What is given for the two sides, taken after a check of names and types that lists what differs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import SchemaError, SettingError
from pysynthdp.base.marks import SERIAL, WATERMARK, WATERMARK_SPSS
from pysynthdp.base.words import Words
from pysynthdp.evaluate.sides.columns import Facts, facts_of, levels_of, numbers_of, text_of
from pysynthdp.io.structure import structure_diff
from pysynthdp.io.survey import read
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags

__all__ = [
    "Sides",
    "as_table",
    "frame_of",
    "fresh_names",
    "in_levels_of",
    "real_columns",
    "taken_sides",
    "unread",
]

_MARKS: Final = (WATERMARK, WATERMARK_SPSS)
_HEADS: Final = ("column", "what", "confidential", "copies")


@dataclass(frozen=True, slots=True, repr=False)
class Sides:
    """The confidential table and the copies.

    Parameters
    ----------
    real : DataFrame
        The confidential table.
    copies : sequence of DataFrame or StoredCopy
        The copies; those in files are read one at a time.
    facts : tuple of Facts
        Of each column that is compared: those that both sides have.
    differences : DataFrame
        Where the sides differ in names, order, types, levels and missing kinds, and cells that cannot be
        read as what the column is.
    release : release or None
        Where the copies are a release of this package: it has tags, schema and statement.
    schema : Schema or None
        What is declared of the columns.

    Notes
    -----
    Privacy: holds real rows.
    """

    real: pd.DataFrame
    copies: Sequence[Any]
    facts: tuple[Facts, ...]
    differences: pd.DataFrame
    release: Any | None
    schema: Schema | None

    @property
    def names(self) -> list[str]:
        """Columns that are compared."""
        return [each.name for each in self.facts]

    @property
    def tags(self) -> ReleaseTags:
        """Tags of the release; of other copies what is taken for granted: complete synthesis, fitted once."""
        if self.release is not None:
            return self.release.tags  # type: ignore[no-any-return]  # of a release
        sizes = [len(copy) for copy in self.copies]
        return ReleaseTags(
            kind="complete",
            m=len(sizes),
            n_syn=sizes[0],
            n_org=len(self.real),
            synthesised=frozenset(self.names),
        )

    def copy(self, number: int) -> pd.DataFrame:
        """Give the columns of a copy that are compared."""
        return frame_of(self.copies[number], self.names)

    def all_copies(self) -> Iterator[pd.DataFrame]:
        """Give one copy after the other."""
        return (self.copy(number) for number in range(len(self.copies)))


def frame_of(copy: Any, names: Sequence[str]) -> pd.DataFrame:
    """Give some columns of a table that lies in memory or in its file, without what else it carries."""
    found: pd.DataFrame = copy[list(names)] if isinstance(copy, pd.DataFrame) else copy.read(list(names))
    found.attrs = {}  # pandas copies them, whatever they hold, with every column that is taken
    return found


def taken_sides(table: Any, release: Any, *, schema: Schema | None = None) -> Sides:
    """Take a table and copies of it.

    Parameters
    ----------
    table : DataFrame, SurveyTable or path
        The confidential table.
    release : SyntheticRelease, StoredRelease, path, DataFrame, or a list of DataFrame or paths
        The copies: of this package, or of another tool.
    schema : Schema, optional
        What is declared, where neither side says it.

    Returns
    -------
    Sides

    Raises
    ------
    SettingError
        If one of them is no table.
    SchemaError
        If they have no column in common, or no row.

    Notes
    -----
    Privacy: reads the confidential table.
    """
    real, said = _table(table)
    ours, copies = _copies(release)
    schema = schema or getattr(ours, "schema", None) or said
    first = copies[0]
    shared = [name for name in real.columns if name in list(first.columns) and name not in _MARKS]
    if not shared:
        what = "table and copies have no column in common"
        raise SchemaError(what, kind="columns", remedy="give the table that the copies were made of")
    if not len(real) or not all(len(copy) for copy in copies):
        raise SchemaError("table or copies have no rows", kind="rows", remedy="give all rows")
    _check_alike(copies, shared)
    fresh = fresh_names(ours)
    shared = [name for name in shared if name not in fresh] or shared
    facts = tuple(
        facts_of(real[name], schema[name] if schema and name in schema else None) for name in shared
    )
    differences = _differences(real, ours, copies, facts)
    if ours is None:
        copies = [as_table(copy, real, facts) for copy in copies]
    return Sides(frame_of(real, list(real.columns)), copies, facts, differences, ours, schema)


def _table(table: Any) -> tuple[pd.DataFrame, Schema | None]:
    """Take the confidential side."""
    if isinstance(table, str | os.PathLike):
        path = Path(table)
        if path.is_dir():
            what = f"{path} is a folder, and the first thing compared is the confidential table"
            raise SettingError(what, kind="call", remedy="write compare(table, release)")
        found = read(path)
        return found.frame, found.schema
    if isinstance(table, pd.DataFrame):
        return table, None
    if isinstance(getattr(table, "frame", None), pd.DataFrame):
        return table.frame, table.schema
    what = "the first thing compared is the confidential table: a data frame, what sdp.read gives, or a path"
    raise SettingError(what, kind="call", remedy="write compare(table, release)")


def _copies(release: Any) -> tuple[Any | None, Sequence[Any]]:
    """Take the copies, and the release where there is one."""
    if isinstance(release, str | os.PathLike) and Path(release).is_dir():
        opened = SyntheticRelease.open(Path(release))
        return opened, opened.copies
    if hasattr(release, "copies") and hasattr(release, "tags"):
        return release, release.copies
    given = list(release) if isinstance(release, list | tuple) else [release]
    copies = [_copy(one) for one in given]
    if not copies:
        raise SettingError(
            "there is no copy", kind="call", remedy="give a release, a table or a list of tables"
        )
    return None, copies


def _copy(one: Any) -> pd.DataFrame:
    """Take one copy of another tool."""
    if isinstance(one, pd.DataFrame):
        return one
    if isinstance(one, str | os.PathLike):
        return read(Path(one)).frame
    if isinstance(getattr(one, "frame", None), pd.DataFrame):
        frame: pd.DataFrame = one.frame
        return frame
    what = "copies are a release, its folder, a data frame, the path of a file, or a list of these"
    raise SettingError(what, kind="call", remedy="write compare(table, release)")


def fresh_names(release: Any | None) -> frozenset[str]:
    """Columns that hold running numbers made anew, which are like no other column by design.

    Parameters
    ----------
    release : release or None
        None for copies of another tool.

    Returns
    -------
    frozenset of str

    Notes
    -----
    Privacy: reads settings of the release.
    """
    if release is None:
        return frozenset()
    serial = {name for name, method in release.provenance.methods if method == SERIAL}
    return frozenset(serial | ({release.tags.unit} if release.tags.unit else set()))


def real_columns(tags: ReleaseTags) -> frozenset[str]:
    """Name the columns that hold real values: those kept real, and those computed from nothing else.

    Parameters
    ----------
    tags : ReleaseTags
        Of the release.

    Returns
    -------
    frozenset of str

    Notes
    -----
    Privacy: reads settings of the release.

    Examples
    --------
    >>> from pysynthdp.tags.steps import TaggedStep
    >>> log = TaggedStep(columns=("logpay",), draws="number", model="derived", terms=(("pay",),))
    >>> tags = ReleaseTags(kind="partial", m=1, n_syn=9, kept=frozenset({"pay"}), steps=(log,))
    >>> sorted(real_columns(tags))
    ['logpay', 'pay']
    """
    found = set(tags.kept)
    for step in tags.steps or ():
        if step.model != "derived" or not step.terms:
            continue
        named = {each if isinstance(each, str) else each["column"] for term in step.terms for each in term}
        if named <= found:
            found |= set(step.columns)
    return frozenset(found)


def _check_alike(copies: Sequence[Any], shared: Sequence[str]) -> None:
    """Refuse a list of copies of which one lacks a column that the first has."""
    for number, copy in enumerate(copies[1:], start=2):
        lacking = [name for name in shared if name not in list(copy.columns)]
        if lacking:
            what = Words("copy {number} has no column {name}, and copy 1 has", number=number, name=lacking[0])
            raise SchemaError(what, column=lacking[0], kind="columns", remedy="give copies of one table")


def as_table(copy: pd.DataFrame, real: pd.DataFrame, facts: Sequence[Facts]) -> pd.DataFrame:
    """Give the columns of another tool's copy the types of the table, as far as their cells can be read.

    Parameters
    ----------
    copy, real : DataFrame
        The copy, and the confidential table.
    facts : sequence of Facts
        Of the columns that both have; others are left out.

    Returns
    -------
    DataFrame

    Notes
    -----
    Privacy: takes types and levels from the table.
    """
    found = {}
    for each in facts:
        own, like = copy[each.name], real[each.name]
        if own.dtype == like.dtype or (
            each.numeric and own.dtype.kind in "iufMm" and like.dtype.kind in "iufMm"
        ):
            found[each.name] = own
        elif each.numeric:
            found[each.name] = (
                own if each.unit != "number" else pd.Series(_plain_numbers(own, each), index=own.index)
            )
        else:
            found[each.name] = _as_levels(own, like, each)
    return pd.DataFrame(found)


def _plain_numbers(series: pd.Series[Any], facts: Facts) -> Any:
    """Read numbers with their codes."""
    return numbers_of(series, Facts(facts.name, numeric=True))[0]


def _as_levels(series: pd.Series[Any], like: pd.Series[Any], facts: Facts) -> pd.Series[Any]:
    """Write levels as the table writes them, in its order; what it does not have stays as it is, behind."""
    ordered = isinstance(like.dtype, pd.CategoricalDtype)
    known = like.cat.categories if ordered else pd.unique(like.dropna())
    raw = {text_of(value): value for value in known}
    codes = levels_of(series, facts)
    cells = np.array([*(raw.get(level, level) for level in facts.levels), None], dtype=object)[
        np.maximum(codes, -1)
    ]
    written = pd.Series(np.where(codes == -2, series.astype(object), cells), index=series.index, dtype=object)
    if not ordered:
        return written
    new = [value for value in pd.unique(written.dropna()) if value not in set(known)]
    return written.astype(pd.CategoricalDtype([*known, *new], ordered=like.cat.ordered and not new))


def in_levels_of(frame: pd.DataFrame, copy: pd.DataFrame) -> pd.DataFrame:
    """Give columns of levels the order that a copy has, so that regressions have one reference level.

    Parameters
    ----------
    frame : DataFrame
        The confidential table.
    copy : DataFrame
        A copy, some of its columns.

    Returns
    -------
    DataFrame
        The table; levels that the copy does not know stand behind the others.

    Notes
    -----
    Privacy: passes real rows on.
    """
    found = {}
    for name in copy.columns:
        dtype, own = copy[name].dtype, frame[name]
        if not isinstance(dtype, pd.CategoricalDtype) or own.dtype == dtype:
            continue
        raw = {text_of(level): level for level in dtype.categories}
        cells = own.astype(object).map(lambda cell, raw=raw: raw.get(text_of(cell), cell), na_action="ignore")
        new = [value for value in pd.unique(cells.dropna()) if value not in set(dtype.categories)]
        found[name] = cells.astype(pd.CategoricalDtype([*dtype.categories, *new], dtype.ordered))
    return frame.assign(**found)


def _differences(
    real: pd.DataFrame, ours: Any | None, copies: Sequence[Any], facts: Sequence[Facts]
) -> pd.DataFrame:
    """List where the sides differ in structure, and cells that cannot be read as what the column is."""
    kept = [name for name in real.columns if name not in _MARKS]
    first = copies[0]
    other = ours
    if isinstance(first, pd.DataFrame):
        other = first[[name for name in first.columns if name not in _MARKS]]
    rows = [
        (one.column or "(table)", one.what, one.first, one.second)
        for one in structure_diff(real[kept], other)
    ]
    if isinstance(first, pd.DataFrame):
        rows += [row for each in facts for row in unread(first[each.name], real[each.name], each)]
    return pd.DataFrame(rows, columns=list(_HEADS))


def unread(copy: pd.Series[Any], real: pd.Series[Any], facts: Facts) -> Iterator[tuple[str, str, str, str]]:
    """Count the cells of a column that hold something which is not read, as a row of the differences.

    Parameters
    ----------
    copy, real : Series
        The column on both sides.
    facts : Facts
        What it is.

    Yields
    ------
    tuple of str
        Column, what differs, and how many cells on either side.

    Notes
    -----
    Privacy: counts cells of real rows.
    """
    if facts.numeric:
        lost = [_lost(series, facts) for series in (real, copy)]
        if any(lost):
            yield (facts.name, "cells that are no finite number", f"{lost[0]:,}", f"{lost[1]:,}")
        return
    new = int((levels_of(copy, facts) == -2).sum())
    if new:
        yield (facts.name, "cells with a level that the table does not have", "0", f"{new:,}")


def _lost(series: pd.Series[Any], facts: Facts) -> int:
    """Count the cells that hold something and are no number."""
    if series.dtype.kind in "iub":
        return 0
    _, kinds = numbers_of(series, facts)
    there = series.notna().to_numpy()
    return int(np.count_nonzero(there & (kinds == 1)))
