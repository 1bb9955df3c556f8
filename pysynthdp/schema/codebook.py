"""The codebook: one line a column, for people and for :meth:`Schema.from_codebook`; CSV or TOML."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.marks import SERIAL
from pysynthdp.base.toml_text import read_toml, refuse_unknown
from pysynthdp.base.words import Words
from pysynthdp.schema.codebook_entry import KEYS, column_of
from pysynthdp.schema.codebook_labels import LABEL_KEYS, labels_entry
from pysynthdp.schema.columns import CategoricalColumn, Column, NumericColumn
from pysynthdp.schema.labels import shown_labels
from pysynthdp.schema.universe import Universe

__all__ = ["HEADS", "codebook_columns", "released_real", "write_codebook"]

HEADS = (*KEYS, "released", "method", "note")
_LISTS = ("levels", "spikes", "missing_range")
_CODED = ("missing", "codes")
_REAL = "REAL"
_BETWEEN = re.compile(r"(?<!\\)\s*\|\s*")  # a bar that is not escaped
_EQUALS = re.compile(r"(?<!\\)\s*=\s*")
_ESCAPED = re.compile(r"\\(.)")


def write_codebook(
    columns: Iterable[Column],
    path: Path,
    *,
    methods: Mapping[str, str] | None = None,
    real: Collection[str] = (),
    notes: Mapping[str, str] | None = None,
) -> Path:
    """Write a codebook as CSV.

    Parameters
    ----------
    columns : iterable of Column
        A schema: public facts about the columns.
    path : Path
        Of the file.
    methods : mapping column -> method, optional
        Shown beside each column; the levels of a column of method ``serial`` are identifiers and left out.
    real : collection of str
        Columns that are released as they really are.
    notes : mapping column -> sentence, optional
        What a reader should know of a column besides.

    Notes
    -----
    Privacy: bounds are written only as declared; a schema holds no others.
    """
    given, said = methods or {}, notes or {}
    rows = []
    for column in columns:
        row = _row(column, withhold=given.get(column.name) == SERIAL)
        released = _REAL if column.name in real else "synthetic"
        own = {"method": given.get(column.name, ""), "note": said.get(column.name, "")}
        rows.append({**row, "released": released, **own})
    heads = [head for head in HEADS if head not in LABEL_KEYS or any(head in row for row in rows)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, heads, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def released_real(path: Path) -> set[str]:
    """Names of the columns that a CSV codebook calls real.

    Raises
    ------
    SchemaError
        If the file cannot be read.
    """
    return {name for name, entry in _csv_entries(path).items() if entry.get("released") == _REAL}


def _type(column: Column) -> str:
    """Name a column's type; empty where it is open."""
    if column.dtype is None:
        return ""
    return "category" if isinstance(column.dtype, pd.CategoricalDtype) else str(column.dtype)


def _row(column: Column, *, withhold: bool) -> dict[str, Any]:
    """Write one column's facts."""
    shared = {
        "name": column.name,
        "type": _type(column),
        "missing": " | ".join(f"{_escaped(code)} = {_escaped(label)}" for code, label in column.missing),
        "may_be_missing": _yes(column.may_be_missing),
        "declared": _yes(column.declared),
        **labels_entry(shown_labels(column.labels, withhold=withhold), _escaped),
    }
    if isinstance(own_universe := column.universe, Universe):
        shared |= {"universe": own_universe.where, "outside": own_universe.outside}
        only_there = own_universe.alone and own_universe.outside is None
        shared |= {"may_be_missing": _yes(column.may_be_missing and not only_there)}
    if isinstance(column, NumericColumn):
        facts = ("unit", "lower", "upper", "decimals", "fallback", "step")
        own = {name: getattr(column, name) for name in facts} | {"offset": column.offset or None}
        own |= {"topped": "yes"} if column.topped else {}
        spikes = " | ".join(_escaped(spike) for spike in column.spikes)
        return {**shared, **own, "kind": "numeric", "spikes": spikes}
    return {**shared, **_level_facts(column, () if withhold else tuple(column.levels))}


def _level_facts(column: CategoricalColumn, levels: tuple[Any, ...]) -> dict[str, Any]:
    """Write what a categorical column has of its own."""
    return {
        "kind": "categorical",
        "levels": " | ".join(_escaped(level) for level in levels),
        "values": _kind_of(levels),
        "ordered": _yes(column.ordered),
        "other": "" if column.other is None or not levels else str(column.other),
    }


def _kind_of(levels: tuple[Any, ...]) -> str:
    """Name the type that the levels share."""
    names = {bool: "yes/no", int: "number", float: "number", str: "text", pd.Timestamp: "time"}
    found = {names.get(type(level), "other") for level in levels}
    return found.pop() if len(found) == 1 else "mixed" if found else ""


def _yes(flag: bool) -> str:
    """Write a flag."""
    return "yes" if flag else "no"


def _escaped(value: Any) -> str:
    """Write a level so that the separators stay readable."""
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("=", "\\=")


def codebook_columns(path: str | Path) -> tuple[Column, ...]:
    """Read the columns that a codebook describes; :meth:`Schema.from_codebook` makes a schema of them.

    Parameters
    ----------
    path : path
        ``.csv``: one line a column with heads such as ``name, kind, levels, missing, lower, upper``; lists
        are separated by ``|``, codes written ``-8 = not applicable``. ``.toml``: one table a column,
        ``[columns.income]``, with the same keys.

    Returns
    -------
    tuple of Column
        In the file's order, declared unless the file says ``declared = no``.

    Raises
    ------
    SchemaError
        If the file cannot be read, or a key or value is not understood; the message names the column.
    PlanError
        If there is no such file.

    Notes
    -----
    Privacy: reads no record. A codebook supports a formal guarantee only if it was written from public
    documents, not from the confidential data.
    """
    file = Path(path)
    if file.suffix in (".csv", ".toml") and not file.is_file():
        mend = "name it by its path from where the plan is"
        raise PlanError(Words("there is no codebook {file}", file=file), kind="codebook", remedy=mend)
    if file.suffix == ".toml":
        content = read_toml(file, SchemaError)
        refuse_unknown(content, ("columns",), where=str(file), error=SchemaError)
        entries = _toml_entries(content.get("columns", {}), str(file))
    elif file.suffix == ".csv":
        entries = _csv_entries(file)
    else:
        mend = "write it as one of them"
        raise SchemaError(Words("{file} is no .csv or .toml file", file=file), kind="codebook", remedy=mend)
    if not entries:
        mend = "add one line or table for each"
        raise SchemaError(Words("{file} describes no column", file=file), kind="codebook", remedy=mend)
    return tuple(column_of(name, entry, where=str(file)) for name, entry in entries.items())


def _toml_entries(columns: Any, where: str) -> dict[str, dict[str, Any]]:
    """Take one table a column."""
    if not isinstance(columns, Mapping) or not all(isinstance(entry, Mapping) for entry in columns.values()):
        raise SchemaError(
            Words("{where}: columns must be one table a column", where=where),
            kind="codebook",
            remedy='write [columns.income] and below it kind = "numeric" and so on',
        )
    return {name: dict(entry) for name, entry in columns.items()}


def _csv_entries(path: Path) -> dict[str, dict[str, Any]]:
    """Read the lines of a CSV codebook by column name."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            refuse_unknown(reader.fieldnames or (), HEADS, where=str(path), error=SchemaError)
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no CSV file in UTF-8"
        raise SchemaError(
            Words("{path} cannot be read: {why}", path=path, why=why),
            kind="codebook",
            remedy="export it anew",
        ) from error
    entries: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = row.pop("name", None)
        if not name or None in row:
            what = Words("{path} has a line without a name or with too many fields", path=path)
            raise SchemaError(what, kind="codebook", remedy="mend it")
        if name in entries:
            what = Words("{path} describes '{name}' twice", path=path, name=name)
            raise SchemaError(what, column=name, kind="codebook", remedy="keep one line")
        entries[name] = {key: _cell(key, text, str(path), name) for key, text in row.items() if text}
    return entries


def _cell(key: str, text: str, where: str, name: str) -> Any:
    """Split a cell that holds a list or codes."""
    if key in _LISTS:
        return [_plain(part) for part in _BETWEEN.split(text.strip())]
    if key == "kinds":
        kinds = _BETWEEN.split(text.strip())
        return [[_plain(each) for each in _EQUALS.split(kind.strip())] for kind in kinds]
    if key not in _CODED:
        return text
    pairs = [_EQUALS.split(part, maxsplit=1) for part in _BETWEEN.split(text.strip())]
    codes = {_plain(pair[0]): _plain(pair[-1]) for pair in pairs}
    if len(codes) < len(pairs):
        mend = "write each code once"
        what = f"{where}: {name}: {key} has two labels for one code"
        raise SchemaError(what, column=name, kind="codebook", remedy=mend)
    return codes


def _plain(text: str) -> str:
    """Undo the escapes."""
    return _ESCAPED.sub(r"\1", text)
