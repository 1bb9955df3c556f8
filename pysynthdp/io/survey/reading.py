"""``read``: a labelled file, or a plain one with its codebook, to a table with all that they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pandas as pd

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.marks import WATERMARK, WATERMARK_LABEL, WATERMARK_SPSS
from pysynthdp.base.remarks import Remark, say
from pysynthdp.base.words import Words, meant
from pysynthdp.design.survey_table import SurveyTable
from pysynthdp.io.survey.by_codebook import described, of_kinds, open_column
from pysynthdp.io.survey.labelled_files import read_labelled, source_of
from pysynthdp.io.tables import read_table
from pysynthdp.schema import Column, Schema

__all__ = ["read", "read_described", "reads"]

_CATALOG: Final = ".sas7bcat"


def reads(path: object) -> bool:
    """Whether a name is that of a labelled file."""
    return isinstance(path, str | Path) and source_of(path) is not None


def read(
    path: str | Path,
    codebook: str | Path | None = None,
    *,
    public: bool = False,
    usecols: Sequence[str] | None = None,
    encoding: str | None = None,
) -> SurveyTable:
    r"""Read a survey file with its labels, codes and kinds of missing values.

    Parameters
    ----------
    path : path
        SPSS (``.sav``, ``.zsav``, ``.por``), Stata (``.dta``) or SAS (``.sas7bdat``, ``.xpt``), by the extra
        ``pysynthdp[files]``; or CSV or Parquet.
    codebook : path, optional
        A codebook, CSV or TOML as :meth:`pysynthdp.Schema.from_codebook` reads it: what it says of a column
        counts before what the file says. Of a ``.sas7bdat`` it may be the catalog with its labels,
        ``.sas7bcat``.
    public : bool
        Whether labels and formats are public facts: the file is, in this respect, the published document. A
        formal guarantee asks for that. Then no cell decides what a column is: one with two labelled codes or
        more is categorical, and a cell without a label is missing.
    usecols : sequence of str, optional
        Columns to read; all by default.
    encoding : str, optional
        Of the texts, where the file does not say it or says it wrongly.

    Returns
    -------
    SurveyTable
        ``.frame``, an ordinary DataFrame, and ``.schema``.

    Raises
    ------
    PlanError
        If there is no such file, it has another ending, or pyreadstat is not installed.
    SchemaError
        If it is damaged, or the codebook contradicts it; no value is quoted.

    Warns
    -----
    PysynthdpWarning
        Once of each decision that a cell had a part in, with how to have it otherwise; none if ``public``.

    Notes
    -----
    Privacy: reads real rows into memory.

    A variable whose codes all have labels becomes categories of the labels, in the order of the codes, those
    without cases too; ordered if the file calls it ordinal. Others stay numbers or texts, and labels go along
    in ``schema[name].labels``. Missing kinds are never values: ``.a`` to ``.z`` of Stata and SAS, and what
    SPSS declares as missing, are NaN with a letter in it among numbers, see :meth:`SurveyTable.kinds`, and
    categories declared ``missing`` behind others. Whole numbers are ``Int64`` where they have no such kinds,
    dates ``datetime64[us]``. An empty text is missing, and so is a date outside the years 1 to 9999. Times of
    day and Stata's weeks, months, quarters, years and ``%tC`` stay numbers. The mark of copies, a column
    ``_synthetic``, is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "t.csv").write_text("sex,income\n1,-8\n2,1200\n1,900\n")
    >>> book = "name,codes,levels,kinds\nsex,1 = F | 2 = M,F | M,\nincome,,,.a = -8 = refused\n"
    >>> _ = (folder / "book.csv").write_text(book)
    >>> table = read(folder / "t.csv", folder / "book.csv")
    >>> table.frame["sex"].tolist(), table.kinds("income").tolist()
    (['F', 'M', 'F'], ['refused', nan, nan])
    """
    file = Path(path)
    catalog = Path(codebook) if codebook is not None and Path(codebook).suffix.lower() == _CATALOG else None
    book = None if codebook is None or catalog is not None else Schema.from_codebook(codebook)
    if catalog is not None and file.suffix.lower() != ".sas7bdat":
        mend = "give a codebook as .csv or .toml"
        what = f"{catalog} is a catalog of SAS, and {file} no .sas7bdat"
        raise PlanError(what, kind="codebook", remedy=mend)
    return read_described(file, book, catalog, public=public, usecols=usecols, encoding=encoding)


def read_described(
    file: Path,
    book: Schema | None = None,
    catalog: Path | None = None,
    *,
    public: bool = False,
    usecols: Sequence[str] | None = None,
    encoding: str | None = None,
) -> SurveyTable:
    """Read a file by a codebook that is read already.

    Notes
    -----
    Privacy: as :func:`read`.
    """
    if source_of(file) is None:
        return _plain(file, book, public=public, usecols=usecols, encoding=encoding)
    found = read_labelled(file, catalog=catalog, public=public, usecols=usecols, encoding=encoding)
    frame = pd.DataFrame({one.column.name: one.cells for one in found})
    schema = Schema(tuple(one.column for one in found))
    remarks = [remark for one in found for remark in one.remarks]
    return _with_codebook(frame, schema, book, remarks, partly=usecols is not None, public=public)


def _plain(
    file: Path, book: Schema | None, *, public: bool, usecols: Sequence[str] | None, encoding: str | None
) -> SurveyTable:
    """Read a CSV or Parquet file by its codebook."""
    frame = _table(file, book, encoding, public=public)
    if usecols is not None:
        for name in usecols:
            if name not in frame.columns:
                what = Words("{file} has no column {name}, which usecols names", file=file, name=repr(name))
                mend = meant(str(name), frame.columns, "check the name")
                raise SchemaError(what, column=str(name), kind="name", remedy=mend)
        frame = frame[list(usecols)]
    schema = Schema(tuple(open_column(frame[name], str(name)) for name in frame.columns))
    return _with_codebook(frame, schema, book, [], partly=usecols is not None, public=public)


def _table(file: Path, book: Schema | None, encoding: str | None, *, public: bool) -> pd.DataFrame:
    """Read a file, number columns with kinds as texts; all as texts where no cell may decide a type."""
    if public or file.suffix.lower() in (".parquet", ".pq"):
        return read_table(file, encoding=encoding, texts=public, schema=book)
    heads = read_table(file, encoding=encoding, texts=True).columns if of_kinds(book) else ()
    return read_table(file, encoding=encoding, schema=book, text=[n for n in of_kinds(book) if n in heads])


def _with_codebook(
    frame: pd.DataFrame,
    schema: Schema,
    book: Schema | None,
    remarks: list[Remark],
    *,
    partly: bool,
    public: bool,
) -> SurveyTable:
    """Take what the codebook says before what the file says, and warn of what was decided."""
    marks = [column.name for column in schema if _is_mark(column)]
    frame, schema = frame.drop(columns=marks), schema.without(marks)
    if book is not None:
        absent = [name for name in book.names if name not in schema]
        if absent and not partly:
            what = Words("the codebook describes '{name}', which the file does not have", name=absent[0])
            mend = "take it out of the codebook, or name the columns to read with usecols"
            raise SchemaError(what, column=absent[0], kind="codebook", remedy=mend)
        frame, schema, further = described(frame, schema, book, public=public)
        remarks = [*(remark for remark in remarks if remark.column not in book), *further]
    say(remarks)
    return SurveyTable(frame, schema, public)


def _is_mark(column: Column) -> bool:
    """Whether a column is the mark of copies, which is none of the table's."""
    label = column.labels.label if column.labels else ""
    return column.name == WATERMARK or (column.name == WATERMARK_SPSS and label == WATERMARK_LABEL)
