"""Read and write plain tables: CSV and Parquet."""

from __future__ import annotations

import csv
import gzip
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from pysynthdp.errors import PlanError, SchemaError

__all__ = ["read_table", "write_table"]

_CSV = (".csv", ".csv.gz")
_PARQUET = (".parquet", ".pq")
_ISO_DAY = r"\d{4}-\d{2}-\d{2}"
_ISO_TIME = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?"


def read_table(path: str | Path, *, texts: bool = False) -> pd.DataFrame:
    """Read a table from a file.

    Parameters
    ----------
    path : path
        ``.csv``, ``.csv.gz`` (UTF-8, comma) or ``.parquet``. A CSV column in which every value is a date or
        date-time in ISO form (``2024-05-01``) becomes one.
    texts : bool
        Leave every cell of a CSV a text: a type guessed for a column would depend on each of its cells, which
        a formal guarantee rules out.

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    PlanError
        If there is no such file, or its name has another ending.
    SchemaError
        If the content is not a table with distinct column names; no value is quoted.

    Notes
    -----
    Privacy: reads real rows into memory.
    """
    file = Path(path)
    kind = _kind(file)
    if not file.is_file():
        raise PlanError(f"there is no file {file}; check the name")
    try:
        frame = _read_csv(file, texts=texts) if kind == "csv" else pd.read_parquet(file)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, pa.ArrowException) as error:
        raise SchemaError(f"{file} is not a whole {kind} table; export it anew") from error
    except UnicodeDecodeError as error:
        raise SchemaError(f"{file} is not in UTF-8; convert it, or export it as Parquet") from error
    except (OSError, EOFError) as error:
        raise SchemaError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or 'damaged'}"
        ) from error
    return frame


def _kind(path: Path) -> str:
    """Tell the format by the name's ending."""
    name = path.name.lower()
    if name.endswith(_CSV):
        return "csv"
    if name.endswith(_PARQUET):
        return "parquet"
    raise PlanError(f"{path}: the name must end in .csv, .csv.gz or .parquet")


def _read_csv(path: Path, *, texts: bool) -> pd.DataFrame:
    """Read a CSV; pandas would rename columns that share a name, so these are refused first."""
    heads = _heads(path, errors="replace" if texts else "strict")
    twice = next((name for name in heads if heads.count(name) > 1), None)
    if twice is not None:
        raise SchemaError(f"{path}: two columns are called {twice!r}; rename one")
    if "" in heads:
        raise SchemaError(
            f"{path}: column {heads.index('') + 1} has no name (a saved row number?); name or remove it"
        )
    if texts:
        return _read_texts(path, heads)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:  # index_col=False: else pandas takes the first field of longer rows for row names
            frame = pd.read_csv(path, encoding="utf-8-sig", low_memory=False, index_col=False)
        except pd.errors.ParserWarning as warning:
            raise SchemaError(
                f"{path} has rows with more fields than the head has names; mend the head"
            ) from warning
    for name in heads:
        frame[name] = _dated(frame[name])
    return frame


def _read_texts(path: Path, heads: list[str]) -> pd.DataFrame:
    """Read every cell as text; no byte and no further field of one row may end the run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        return pd.read_csv(  # usecols: further fields of a row are left out
            path, encoding="utf-8-sig", encoding_errors="replace", dtype=str, index_col=False, usecols=heads
        )


def _heads(path: Path, *, errors: str) -> list[str]:
    """Read the column names."""
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", errors=errors, newline="") as file:
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
