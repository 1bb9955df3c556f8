"""Read and write plain tables: CSV and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from pysynthdp.design.level_keys import level_key
from pysynthdp.errors import PlanError, PrivacyError, SchemaError
from pysynthdp.io.csv_records import check_records, lines_as_records
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = ["read_table", "write_table"]

_CSV = (".csv", ".csv.gz")
_PARQUET = (".parquet", ".pq")
_ABSENT = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip  # what pandas takes for missing
_ISO_DAY = r"\d{4}-\d{2}-\d{2}"
_ISO_TIME = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?"


def read_table(path: str | Path, *, texts: bool = False, schema: Schema | None = None) -> pd.DataFrame:
    """Read a table from a file.

    Parameters
    ----------
    path : path
        ``.csv``, ``.csv.gz`` (UTF-8, comma) or ``.parquet``. A CSV column in which every value is a date or
        date-time in ISO form (``2024-05-01``) becomes one.
    texts : bool
        Read for a formal guarantee, so that no cell decides how another is read, nor how many records there
        are. Every cell of a CSV stays a text, and every line behind the head is one record: a line ends at a
        line feed (a carriage return before it belongs to the end, any other to its cell); an empty line of a
        one-column table is a missing value; cells that a row lacks are missing, and those beyond the head are
        left out. Columns of a Parquet file have the types of the file, whether values are missing or not.
    schema : Schema, optional
        With ``texts``: spellings of a missing value, such as ``NA``, ``None`` and ``null``, are texts in a
        column that declares them as levels or codes.

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    PlanError
        If there is no such file, or its name has another ending.
    SchemaError
        If the content is not a table with distinct column names, its quotes do not close or lines end in two
        ways; no value is quoted.
    PrivacyError
        With ``texts``, if it is unknown where a record ends: a quote is open at the end of a line, as in a
        cell over several lines, or a table of several columns has a blank line.

    Notes
    -----
    Privacy: reads real rows into memory.
    """
    file = Path(path)
    kind = _kind(file)
    if not file.is_file():
        raise PlanError(f"there is no file {file}; check the name")
    try:
        frame = _read_csv(file, texts, schema) if kind == "csv" else _read_parquet(file, texts)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, pa.ArrowException) as error:
        raise SchemaError(f"{file} is not a whole {kind} table; export it anew") from error
    except UnicodeDecodeError as error:
        raise SchemaError(f"{file} is not in UTF-8; convert it, or export it as Parquet") from error
    except (OSError, EOFError) as error:
        raise SchemaError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or 'damaged'}"
        ) from error
    return frame


def _read_parquet(path: Path, texts: bool) -> pd.DataFrame:
    """Read Parquet; a missing value turns no integers into floats where nothing may depend on a cell."""
    return pd.read_parquet(path, dtype_backend="numpy_nullable") if texts else pd.read_parquet(path)


def _kind(path: Path) -> str:
    """Tell the format by the name's ending."""
    name = path.name.lower()
    if name.endswith(_CSV):
        return "csv"
    if name.endswith(_PARQUET):
        return "parquet"
    raise PlanError(f"{path}: the name must end in .csv, .csv.gz or .parquet")


def _read_csv(path: Path, texts: bool, schema: Schema | None) -> pd.DataFrame:
    """Read a CSV, by pandas' guess of the types or as texts."""
    if texts:
        return _read_texts(path, schema)
    heads = _checked_heads(_heads(path), path)
    check_records(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:  # index_col=False: else pandas takes the first field of longer rows for row names
            frame = pd.read_csv(
                path,
                encoding="utf-8-sig",
                low_memory=False,
                index_col=False,
                skip_blank_lines=len(heads) > 1,  # in one column such a line is a missing value
            )
        except pd.errors.ParserWarning as warning:
            raise SchemaError(
                f"{path} has rows with more fields than the head has names; mend the head"
            ) from warning
    for name in heads:
        frame[name] = _dated(frame[name])
    return frame


def _checked_heads(heads: list[str], path: Path) -> list[str]:
    """Refuse names that are absent or stand twice, which pandas would change."""
    twice = next((name for name in heads if heads.count(name) > 1), None)
    if twice is not None:
        raise SchemaError(f"{path}: two columns are called {twice!r}; rename one")
    if "" in heads:
        raise SchemaError(
            f"{path}: column {heads.index('') + 1} has no name (a saved row number?); name or remove it"
        )
    return heads


def _read_texts(path: Path, schema: Schema | None) -> pd.DataFrame:
    """Read every line as one record and every cell as text; no byte and no further field may end the run."""
    content, heads, rows = lines_as_records(path)
    absent = {name: _spellings(name, schema) for name in _checked_heads(heads, path)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        frame = pd.read_csv(  # usecols: further fields of a row are left out
            io.BytesIO(content),
            encoding="utf-8",
            encoding_errors="replace",
            dtype=str,
            index_col=False,
            usecols=heads,
            skip_blank_lines=False,
            lineterminator="\n",
            keep_default_na=False,
            na_values=absent,
        )
    if len(frame) != rows:
        raise PrivacyError(f"{path}: records and lines differ in number; export it as Parquet")
    return frame


def _spellings(name: str, schema: Schema | None) -> list[str]:
    """Give the texts that mean a missing value in a column: those that are no declared level or code."""
    column = schema[name] if schema is not None and name in schema else None
    if not isinstance(column, CategoricalColumn):
        return list(_ABSENT)
    declared = {level_key(value) for value in (*column.levels, *column.specials)}
    return [text for text in _ABSENT if level_key(text) not in declared]


def _heads(path: Path) -> list[str]:
    """Read the column names."""
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file), [])


def _dated(series: pd.Series[Any]) -> pd.Series[Any]:
    """Turn a text column of ISO dates or date-times into one; anything else stays."""
    if not pd.api.types.is_string_dtype(series.dtype) or not series.notna().any():
        return series
    present = series.dropna()
    for form in (_ISO_DAY, _ISO_TIME):
        if bool(present.str.fullmatch(form).all()):
            times = pd.to_datetime(series, format="ISO8601", errors="coerce")
            return times if bool(times.notna().equals(series.notna())) else series
    return series


def write_table(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a table to a file, by the name's ending; a CSV keeps every digit of a number.

    Parameters
    ----------
    frame : DataFrame
        The table.
    path : path
        ``.csv``, ``.csv.gz`` or ``.parquet``.

    Raises
    ------
    PlanError
        If the name has another ending, or the file cannot be written.
    """
    file = Path(path)
    try:
        if _kind(file) == "csv":
            frame.to_csv(file, index=False)
        else:
            frame.to_parquet(file, index=False)
    except OSError as error:
        raise PlanError(f"{file} cannot be written: {error.strerror or type(error).__name__}") from error
    return file
