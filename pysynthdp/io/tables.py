"""Read and write plain tables: CSV and Parquet."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from pysynthdp.base.errors import PlanError, PrivacyError, SchemaError
from pysynthdp.base.marks import WATERMARK
from pysynthdp.base.remarks import say
from pysynthdp.base.words import Words, meant
from pysynthdp.design.level_keys import level_key
from pysynthdp.io.arrow import to_frame
from pysynthdp.io.csv.columns import typed_columns
from pysynthdp.io.csv.form import Form, default_sep, refuse_other_head
from pysynthdp.io.csv.learned import Source, checked_heads
from pysynthdp.io.csv.local import as_declared
from pysynthdp.io.csv.other_files import no_table, refuse_content
from pysynthdp.io.csv.records import lines_as_records
from pysynthdp.io.csv.shelf import Shelf
from pysynthdp.io.csv.wishes import Declared
from pysynthdp.io.parquet_parts import PARQUET, Parts, holds_parquet
from pysynthdp.io.sql.reading import SQLTable, read_sql
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = ["read_table", "shelved_table", "write_table"]

_CSV = tuple(f"{name}{packed}" for name in (".csv", ".tsv", ".tab", ".txt") for packed in ("", ".gz"))
_BLOCK = 1 << 16  # rows
_ABSENT = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip  # what means missing under a guarantee, where a column does not declare it


def read_table(
    path: str | Path | SQLTable,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    text: Sequence[str] = (),
    day_first: bool | None = None,
    schema: Schema | None = None,
    levels: Mapping[str, Iterable[Any]] | None = None,
    missing: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Any] | None = None,
    texts: bool = False,
) -> pd.DataFrame:
    r"""Read a table from a file as it is: what is not declared is found, and said in a warning.

    Parameters
    ----------
    path : path or SQLTable
        ``.csv``, ``.tsv``, ``.tab`` or ``.txt``, packed (``.gz``) or not, or ``.parquet``; a folder of such
        (``.parquet``), of which folders may be named ``column=value``; a table of a database, or the text
        that names one: ``sql:people?order_by=id&url_env=PEOPLE_URL``.
    sep : str, optional
        Sign between the fields of a CSV, or its name: ``","``, ``";"``, ``"tab"``, ``"|"``, ``":"``,
        ``"space"``. Else the one that parts the first records into equally many fields.
    decimal : {".", ","}, optional
        Decimal mark. Else a comma where a column can be read in no other way.
    encoding : str, optional
        As Python names it; UTF-8 by default, or UTF-16 if the file begins with its mark.
    text : sequence of str
        Columns whose cells stay the texts that they are, ``01`` and ``NA`` too.
    day_first : bool, optional
        Whether 01/02/2020 is in February. Else the order that the cells of a column allow.
    schema, levels, missing, bounds
        As of :class:`pysynthdp.Synthesizer`. A column with texts as levels stays text, one with bounds or
        numbers as levels is read as numbers, and a word such as ``NA`` is a text where it is a level or code.
    texts : bool
        Read for a formal guarantee, so that no cell decides how another is read, nor how many records there
        are; then nothing is found, and all is as declared or a comma, a point and UTF-8. Every cell of a CSV
        stays a text, and every line behind the head is one record: a line ends at a line feed (a carriage
        return before it belongs to the end, any other to its cell); an empty line of a one-column table is a
        missing value; cells that a row lacks are missing, and those beyond the head are left out. Columns of
        a Parquet file have the types of the file, whether values are missing or not.

    Returns
    -------
    DataFrame
        The table. Whole numbers with missing cells are ``Int64``, flags ``boolean``; dates in ISO form, with
        a zone (in UTC) or as ``27.11.2020`` become times where every cell of the column is one. Whole numbers
        with leading zeros, or too long for 64 bits, stay texts.

    Raises
    ------
    PlanError
        If there is no such file, its name has another ending, or a setting is wrong.
    SchemaError
        If the content is not a table with distinct column names and rows, its quotes do not close or lines
        end in two ways; no value is quoted.
    PrivacyError
        With ``texts``, if it is unknown where a record ends: a quote is open at the end of a line, as in a
        cell over several lines, or a table of several columns has a blank line.

    Warns
    -----
    PysynthdpWarning
        Once of each choice that was found and not declared, with how to declare it.

    Notes
    -----
    Privacy: reads real rows into memory. Only a field that is empty and without quotes is missing. In a
    column of numbers, flags or dates the words that programs write for a missing value are missing too; in a
    column of texts ``NA`` without quotes is missing where all texts have quotes, as R writes them, and else a
    text. The last column of files of synthetic copies, ``_synthetic``, is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("plz;income\n01067;1,5\n50667;2,25\n")
    >>> read_table(path, sep=";", decimal=",", text=["plz"])
         plz  income
    0  01067    1.50
    1  50667    2.25
    """
    declared = Declared(text, levels, missing, bounds, schema)
    form = Form(sep, decimal, encoding, text, day_first)
    frame = cast("pd.DataFrame", shelved_table(path, form, declared, texts=texts))
    marked = len(frame.columns) > 1 and frame.columns[-1] == WATERMARK
    return frame.iloc[:, :-1] if marked else frame


def shelved_table(
    path: str | Path | SQLTable,
    form: Form,
    declared: Declared,
    *,
    texts: bool = False,
    shelf: Shelf | None = None,
    parquet: Callable[[Path, bool], Any] | None = None,
) -> Any:
    """Read a table as :func:`read_table` does; a CSV goes onto a shelf, in memory by default.

    ``parquet`` is the reader of a Parquet file, by its path and whether no cell may decide a type; what it
    gives is given on.

    Notes
    -----
    Privacy: reads real rows.
    """
    shelf = shelf or Shelf()
    if isinstance(path, SQLTable) or SQLTable.is_named(path):
        source = path if isinstance(path, SQLTable) else SQLTable.named(str(path))
        return read_sql(source, shelf, texts=texts)
    file = Path(path)
    kind = _kind_of(file)
    try:
        if kind == "csv":
            refuse_content(file)
        if kind == "parquet":
            return (parquet or _read_parquet)(file, texts)
        if texts:
            return _read_texts(file, declared.schema, form, shelf)
        return _read_csv(file, form, replace(declared, text=form.text), shelf)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, pa.ArrowException):  # may hold a row
        raise SchemaError(
            f"{file} is not a whole {kind} table", kind="file", remedy="export it anew"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise SchemaError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or 'damaged'}", kind="file"
        ) from error


def _read_parquet(path: Path, texts: bool) -> pd.DataFrame:
    """Read Parquet; a missing value turns no integers into floats where nothing may depend on a cell."""
    with Parts.of(path) as parts:
        return to_frame(parts.whole(), texts=texts)


def _kind_of(file: Path) -> str:
    """Tell the format of a file that is there, or of a folder of Parquet files."""
    if file.is_dir():
        if not holds_parquet(file):
            raise PlanError(f"{file} is a folder; name a file in it", kind="file")
        return "parquet"
    kind = _kind(file)
    if not file.is_file():
        where = "" if file.is_absolute() else f" in {Path.cwd()}"
        raise PlanError(f"there is no file {file}{where}", kind="file", remedy="check the name")
    return kind


def _kind(path: Path) -> str:
    """Tell the format by the name's ending."""
    name = path.name.lower()
    if name.endswith(_CSV):
        return "csv"
    if name.endswith(PARQUET):
        return "parquet"
    raise no_table(path)


def _read_csv(path: Path, form: Form, declared: Declared, shelf: Shelf) -> pd.DataFrame:
    """Read a CSV by what its cells say, and say what was found."""
    source = Source.of(path, form, shelf)
    _check_text(form.text, source.heads, path)
    frame, remarks = typed_columns(source, declared)
    if not len(frame):
        raise SchemaError(f"{path} has a head and no rows", kind="no rows")
    say(remarks)
    return frame


def _check_text(names: Sequence[str], heads: Sequence[str], path: Path) -> None:
    """Refuse a column to be read as text that the file does not have."""
    for name in names:
        if name not in heads:
            what = Words("{path} has no column {name}, which text names", path=path, name=repr(name))
            mend = meant(name, heads, f"columns are {', '.join(heads)}")
            raise SchemaError(what, column=name, kind="name", remedy=mend)


def _read_texts(path: Path, schema: Schema | None, form: Form, shelf: Shelf) -> pd.DataFrame:
    """Read every line as one record and every cell as text; no byte and no further field may end the run."""
    sep = form.sep or default_sep(path)
    content, heads, rows = lines_as_records(path, sep=sep, encoding=form.encoding, shelf=shelf)
    if form.sep is None:
        head = re.match(rb"[^\n]*", content)
        refuse_other_head(head[0].decode("utf-8", "replace") if head else "", sep, path)
    _check_text(form.text, checked_heads(heads, path), path)
    absent = {name: _spellings(name, schema) for name in heads}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        blocks = pd.read_csv(  # usecols: further fields of a row are left out
            pa.BufferReader(content),
            sep=sep,
            encoding="utf-8",
            encoding_errors="replace",
            dtype=str,
            index_col=False,
            usecols=heads,
            skip_blank_lines=False,
            lineterminator="\n",
            keep_default_na=False,
            na_values=absent,
            chunksize=_BLOCK,
        )
        frame = shelf.frame(as_declared(block, schema, form) for block in blocks)
    if len(frame) != rows:
        raise PrivacyError(
            f"{path}: records and lines differ in number", kind="file", remedy="export it as Parquet"
        )
    return frame


def _spellings(name: str, schema: Schema | None) -> list[str]:
    """Give the texts that mean a missing value in a column: those that are no declared level or code."""
    column = schema[name] if schema is not None and name in schema else None
    if not isinstance(column, CategoricalColumn):
        return list(_ABSENT)
    declared = {level_key(value) for value in (*column.levels, *column.specials)}
    return [text for text in _ABSENT if level_key(text) not in declared]


def write_table(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a table to a file, by the name's ending; a CSV keeps every digit of a number.

    Parameters
    ----------
    frame : DataFrame
        The table.
    path : path
        ``.csv``, ``.tsv`` (also packed, ``.gz``) or ``.parquet``.

    Raises
    ------
    PlanError
        If the name has another ending, or the file cannot be written.
    """
    file = Path(path)
    try:
        if _kind(file) == "csv":
            frame.to_csv(file, index=False, sep=default_sep(file))
        else:
            frame.to_parquet(file, index=False)
    except OSError as error:
        raise PlanError(
            f"{file} cannot be written: {error.strerror or type(error).__name__}", kind="file"
        ) from error
    return file
