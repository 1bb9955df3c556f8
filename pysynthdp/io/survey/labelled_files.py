"""Files of SPSS, Stata and SAS, read by pyreadstat: cells as they are stored, and what is said of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.words import Setting, Words, meant
from pysynthdp.io.survey.clocks import clock_of
from pysynthdp.io.survey.variables import Read, Variable, column_of
from pysynthdp.io.survey.xport import letters_in
from pysynthdp.schema import Kind, Labels
from pysynthdp.schema.labels import as_tag

__all__ = ["ENDINGS", "column_names", "read_labelled", "source_of"]

_READERS: Final = {
    ".sav": ("read_sav", "spss"),
    ".zsav": ("read_sav", "spss"),
    ".por": ("read_por", "spss"),
    ".dta": ("read_dta", "stata"),
    ".sas7bdat": ("read_sas7bdat", "sas"),
    ".xpt": ("read_xport", "sas"),
}
ENDINGS: Final = tuple(_READERS)
"""Endings of names of labelled files."""


def source_of(path: str | Path) -> str | None:
    """Say whose file a name is of; None for other files."""
    found = _READERS.get(Path(path).suffix.lower())
    return None if found is None else found[1]


def column_names(path: Path, encoding: str | None = None) -> Sequence[str]:
    """Name the variables of a file.

    Raises
    ------
    SchemaError
        If it is damaged.

    Notes
    -----
    Privacy: reads what the file says of itself, and no row.
    """
    reader = _reader(path)
    known = "encoding" in inspect.signature(reader).parameters and encoding is not None
    try:
        names: Sequence[str] = reader(
            str(path), metadataonly=True, **({"encoding": encoding} if known else {})
        )[1].column_names
    except Exception as error:  # of pyreadstat, which has many
        raise _damaged(path, encoding) from error
    return names


def read_labelled(
    path: Path, *, catalog: Path | None, public: bool, usecols: Sequence[str] | None, encoding: str | None
) -> list[Read]:
    """Read the variables of a labelled file.

    Raises
    ------
    PlanError
        If there is no such file, or pyreadstat is not installed.
    SchemaError
        If it is damaged, or a variable cannot be read.

    Notes
    -----
    Privacy: reads real rows.
    """
    if not path.is_file():
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise PlanError(f"there is no file {path}{where}", kind="file", remedy="check the name")
    frame, meta = _opened(path, catalog, usecols, encoding)
    source = _READERS[path.suffix.lower()][1]
    special = _special_of(path, frame, usecols) if path.suffix.lower() == ".xpt" else {}
    return [
        _column(name, frame[name], meta, source, special.get(name), public=public)
        for name in meta.column_names
    ]


def _special_of(path: Path, frame: pd.DataFrame, usecols: Sequence[str] | None) -> dict[str, Any]:
    """Give the letters of special missing values, which pyreadstat does not read from transport files."""
    names = list(frame.columns)
    if usecols is not None:
        names = _reader(path)(str(path), metadataonly=True)[1].column_names
    return dict(zip(names, letters_in(path, len(frame)), strict=False))


def _opened(
    path: Path, catalog: Path | None, usecols: Sequence[str] | None, encoding: str | None
) -> tuple[pd.DataFrame, Any]:
    """Read all cells as they are stored, and what is said of them."""
    reader = _reader(path)
    asked = {
        "user_missing": True,
        "disable_datetime_conversion": True,
        "encoding": encoding,
        "usecols": None if usecols is None else list(usecols),
    }
    known = inspect.signature(reader).parameters
    given = {name: value for name, value in asked.items() if name in known and value is not None}
    _check_asked(path, reader, usecols)
    try:
        frame, meta = reader(str(path), **given)
        _without_zeros(frame, reader, path, given)
        if catalog is not None:
            meta.variable_value_labels = _catalogued(reader, path, catalog, given)
    except (PlanError, SchemaError):
        raise
    except Exception:  # noqa: BLE001 -- of several classes, whose messages may quote a cell
        raise _damaged(path, encoding) from None
    if meta.number_rows is not None and meta.number_rows != len(frame):
        raise _damaged(path, encoding)
    if frame.empty:
        raise SchemaError(f"{path} has no columns or no rows", kind="no rows", remedy="export it anew")
    return frame, meta


def _catalogued(
    reader: Callable[..., Any], path: Path, catalog: Path, given: dict[str, Any]
) -> dict[str, dict[Any, str]]:
    """Give the value labels of a catalog by column; read with the cells, it would put them in their place."""
    if not catalog.is_file():
        raise PlanError(f"there is no catalog {catalog}", kind="file", remedy="check the name")
    try:
        _, meta = reader(str(path), **{**given, "catalog_file": str(catalog), "metadataonly": True})
    except Exception:  # noqa: BLE001 -- as of the table, which was read
        raise _damaged(catalog, None) from None
    found: dict[str, dict[Any, str]] = meta.variable_value_labels
    return found


def _without_zeros(
    frame: pd.DataFrame, reader: Callable[..., Any], path: Path, given: dict[str, Any]
) -> None:
    """Make missing what is missing beside letters: pyreadstat gives zeros there among whole numbers."""
    mixed = [name for name in frame.columns if frame[name].dtype == object] if path.suffix == ".dta" else []
    if not mixed:
        return
    plain, _ = reader(str(path), **{**given, "user_missing": False, "usecols": mixed})
    for name in mixed:
        lettered = frame[name].map(lambda cell: isinstance(cell, str)).to_numpy()
        absent = plain[name].isna().to_numpy() & ~lettered
        if absent.any():
            frame.loc[absent, name] = np.nan


def _reader(path: Path) -> Callable[..., Any]:
    """Find the function of pyreadstat for a file."""
    try:
        import pyreadstat
    except ImportError:
        raise PlanError(
            f"{path} is read by the package pyreadstat, which is not installed",
            kind="extra",
            remedy="install it with: pip install 'pysynthdp[files]'",
        ) from None
    reader: Callable[..., Any] = getattr(pyreadstat, _READERS[path.suffix.lower()][0])
    return reader


def _check_asked(path: Path, reader: Callable[..., Any], usecols: Sequence[str] | None) -> None:
    """Refuse a column that the file does not have."""
    if usecols is None:
        return
    try:
        names = reader(str(path), metadataonly=True)[1].column_names
    except Exception:  # noqa: BLE001 -- said when the whole file is read
        return
    for name in usecols:
        if name not in names:
            what = Words("{path} has no column {name}, which usecols names", path=path, name=repr(name))
            mend = meant(str(name), names, f"columns are {', '.join(names)}")
            raise SchemaError(what, column=str(name), kind="name", remedy=mend)


def _damaged(path: Path, encoding: str | None) -> SchemaError:
    """Say that a file cannot be read."""
    named = Words("export it anew, or name its encoding: {encoding}", encoding=Setting("encoding", "cp1252"))
    mend = "export it anew" if encoding else named
    return SchemaError(f"{path} is damaged, or no {path.suffix} file", kind="file", remedy=mend)


def _column(name: str, cells: Any, meta: Any, source: str, special: Any, *, public: bool) -> Read:
    """Make a column of what the file holds and says of one variable."""
    text = meta.readstat_variable_types.get(name) == "string"
    variable = _variable(name, meta, source, text=text)
    if text:
        return column_of(variable, pd.Series(np.asarray(cells, dtype=object)), None, public=public)
    numbers, letters = _apart(cells)
    return column_of(variable, pd.Series(numbers), letters if special is None else special, public=public)


def _apart(cells: Any) -> tuple[Any, Any]:
    """Split numbers from the letters that stand among them."""
    values = np.asarray(cells)
    if values.dtype != object:
        return values.astype(np.float64), None
    lettered = np.fromiter((isinstance(cell, str) for cell in values), dtype=np.bool_, count=len(values))
    plain = [np.nan if odd or cell is None else cell for odd, cell in zip(lettered, values, strict=True)]
    numbers = np.array(plain, dtype=np.float64)
    letters = np.where(lettered, values, "").astype(str)
    return numbers, np.char.lower(letters) if lettered.any() else None


def _variable(name: str, meta: Any, source: str, *, text: bool) -> Variable:
    """Say of one variable what the file says."""
    form = meta.original_variable_types.get(name)
    said = meta.variable_value_labels.get(name) or {}
    lettered = (
        {} if source == "spss" or text else {tag: said[code] for code in said if (tag := _letter(code))}
    )
    valid = {code: label for code, label in said.items() if text or not isinstance(code, str)}
    codes = {_plain(code): str(label).strip() for code, label in valid.items()}
    absent, span = _declared(meta.missing_ranges.get(name) or ())
    measure = meta.variable_measure.get(name)
    whole = meta.readstat_variable_types.get(name, "").startswith("int")
    labels = Labels(
        (meta.column_names_to_labels.get(name) or "").strip(),
        codes,
        tuple(Kind(tag, None, str(label).strip()) for tag, label in lettered.items()),
        span,
        measure if measure in ("nominal", "ordinal", "scale") else None,
        meta.variable_storage_width.get(name) if text else meta.variable_display_width.get(name) or None,
        form or None,
        source,  # type: ignore[arg-type]
    )
    bare = whole or _bare(form, source)
    stored: Literal["text", "whole", "number"] = "text" if text else "whole" if bare else "number"
    clock = None if text else clock_of(source, form)
    return Variable(name, labels, stored, whole, absent, clock)


def _letter(code: Any) -> str | None:
    """Name the kind that a labelled letter is of."""
    return as_tag(f".{code}") if isinstance(code, str) and len(code) == 1 else None


def _bare(form: str | None, source: str) -> bool:
    """Whether SPSS prints a number without decimals."""
    return source == "spss" and form is not None and form[:1] in ("F", "N") and form.endswith(".0")


def _plain(code: Any) -> Any:
    """Write a whole code without a point."""
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _declared(ranges: Iterable[dict[str, Any]]) -> tuple[tuple[Any, ...], tuple[float, float] | None]:
    """Split declared missing values into single codes and the range."""
    single: list[Any] = []
    span = None
    for each in ranges:
        if each["lo"] == each["hi"]:
            single.append(_plain(each["lo"]))
        else:
            span = (float(each["lo"]), float(each["hi"]))
    return tuple(single), span
