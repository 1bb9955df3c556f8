"""What names a confidential table, opened: its rows, with columns on disk; and a look at them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import pandas as pd

from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.scratch_folder import opened_scratch
from pysynthdp.base.slips import answers_slips
from pysynthdp.base.words import CODEBOOK, Said, Words
from pysynthdp.curator.look import Look
from pysynthdp.curator.look import look as look_at
from pysynthdp.curator.rows import rows_of
from pysynthdp.design.rows import Rows
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.io.csv.form import Form
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.sources import read_on_disk
from pysynthdp.io.sql.reading import SQLTable
from pysynthdp.io.survey import read, reads
from pysynthdp.schema import Schema
from pysynthdp.schema.declarations import Codes
from pysynthdp.synthesizer.settings import Settings

__all__ = ["look", "opened_file", "opened_table", "undeclared"]

_PUBLICLY: Final = Said(
    "read it with pysynthdp.read(path, public=True)",
    "give the name of the file",
    "give the data frame and a codebook",
)


def opened_file(
    given: str | os.PathLike[str] | SQLTable,
    declared: Declared,
    *,
    form: Form | None = None,
    learns: bool = True,
    drop: Collection[str] = (),
    scratch: str | os.PathLike[str] | None = None,
    encrypt: bool = False,
) -> Rows:
    """Take what names a table as the rows in it.

    Parameters
    ----------
    given : path or SQLTable
        Of a file or a folder of Parquet files, or a table of a database.
    declared, form : optional
        What is declared of columns, and of a CSV.
    learns : bool
        Whether anything may be learned from rows; else no cell decides how another is read.
    drop : collection of str
        Columns of Parquet that are not read.
    scratch, encrypt
        Where columns lie meanwhile, and whether encrypted.

    Notes
    -----
    Privacy: reads real rows.
    """
    place = opened_scratch(scratch, encrypt=encrypt)
    path = given if isinstance(given, SQLTable) else os.fspath(given)
    found = read_on_disk(path, place, form=form, declared=declared, texts=not learns, drop=drop)
    return rows_of(found, full=learns, scratch=place)


@answers_slips
def look(
    table: pd.DataFrame | SurveyTable | Rows | str | os.PathLike[str] | SQLTable,
    *,
    missing: Mapping[str, Codes] | None = None,
    spikes: Mapping[str, Iterable[float]] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    decimals: Mapping[str, int] | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    exempt: Iterable[str] = (),
    drop: Iterable[str] = (),
    scratch: str | Path | None = None,
    scratch_encrypt: bool = False,
) -> Look:
    """Show how every column is understood, before anything is fitted.

    Parameters
    ----------
    table : DataFrame, SurveyTable, Rows, path or SQLTable
        The confidential table, with labels as :func:`pysynthdp.read` gives it; or a file, a folder of Parquet
        files or a table of a database with it, which is read as :meth:`pysynthdp.Synthesizer.fit` reads it:
        its columns lie on disk meanwhile.
    missing, spikes, bounds, decimals, levels : mappings by column
        Declarations to try out, as :class:`pysynthdp.Synthesizer` takes them.
    exempt : iterable of str
        Columns that may be identifiers, because they are kept or replaced by running numbers.
    drop : iterable of str
        Columns that are not looked at; of Parquet they are not read.
    scratch, scratch_encrypt
        As of :class:`pysynthdp.Synthesizer`, for a table that is not a data frame.

    Returns
    -------
    Look
        Prints as a table; ``to_frame()`` gives a DataFrame.

    Raises
    ------
    SchemaError
        If two columns share a name, or a declaration names no column. A column that cannot be modelled is
        shown with the ways out instead.

    Notes
    -----
    Privacy: reads real rows and shows shares and codes of them: for the person who holds the data. Nothing
    of it enters a fit or a release.

    Numbers with at most 12 distinct values are levels, if at least 95 % of the records have a value that five
    or more share; the others count as their neighbours. Among more values a spike
    is a zero or usual code (-8, 99) at an end of the range that at least 0.5 % and 20 records hold, if it is
    three times as frequent as any other value within an interquartile range of it. Declared spikes, or a
    method for numbers, win.

    Examples
    --------
    >>> df = pd.DataFrame({"wage": [-8, -8, -8, *range(1000, 1060, 2)], "sex": ["F", "M", None] * 11})
    >>> seen = look(df, missing={"wage": {-8: "no job"}})
    >>> seen.columns[0].missing
    (('no job', 0.09090909090909091),)
    """
    left = frozenset(drop)
    if reads(table):
        table = read(cast("str | Path", table))
    if isinstance(table, str | os.PathLike | SQLTable):
        declared = Declared((), levels, missing, bounds, None)
        table = opened_file(table, declared, drop=left, scratch=scratch, encrypt=scratch_encrypt)
    wishes = {"missing": missing, "spikes": spikes, "bounds": bounds, "decimals": decimals, "levels": levels}
    return look_at(table, exempt=exempt, drop=left, **wishes)


def opened_table(settings: Settings, given: Any) -> tuple[Any, Schema | None]:
    """Take the name of a file as the rows in it; beside it what a labelled file says of them."""
    learns = settings.protection.learns
    if reads(given):
        if not learns and settings.schema is None:
            raise undeclared()
        given = read(given, public=not learns)
    several = given if isinstance(given, list | tuple) else [given]
    if several and all(isinstance(one, SurveyTable) for one in several):
        if not learns and not all(one.public for one in several):
            raise _not_public()
        frames = [one.frame for one in several]
        return (frames if several is given else frames[0]), several[0].schema
    if not isinstance(given, str | os.PathLike | SQLTable):
        return given, None
    rows = opened_file(
        given,
        Declared((), settings.levels, settings.declarations.missing or {}, settings.bounds, settings.schema),
        learns=learns,
        drop={*settings.drop} - {settings.protection.unit.key},
        scratch=settings.scratch,
        encrypt=settings.scratch_encrypt,
    )
    return rows, None


def undeclared() -> PrivacyError:
    """Say that nothing is declared."""
    return PrivacyError(
        "a formal guarantee takes nothing from the data",
        kind="undeclared",
        remedy=Words("declare every column in {schema}", schema=CODEBOOK),
    )


def _not_public() -> PrivacyError:
    """Say that cells had a part in how a labelled file was read."""
    return PrivacyError(
        "cells of the table decided what its columns are, which a formal guarantee does not allow",
        kind="undeclared",
        remedy=Words("if its labels are public facts, {how}", how=_PUBLICLY),
    )
