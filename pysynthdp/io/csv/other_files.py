"""Files that are no tables for us, and the line that makes one of them a file that is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pysynthdp.base.errors import PlanError, SchemaError
from pysynthdp.base.words import Said, Words

__all__ = ["ENDINGS", "no_table", "refuse_content"]

ENDINGS: Final = ".csv, .tsv, .tab, .txt (also .gz) or .parquet"
_PANDAS: Final = 'pandas.{read}("{name}").to_parquet("{stem}.parquet")'
_READ: Final = {
    ".xlsx": "read_excel", ".xls": "read_excel", ".xlsm": "read_excel", ".ods": "read_excel",
    ".feather": "read_feather", ".orc": "read_orc",
}  # fmt: skip
_HAVEN: Final = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta",
    ".sas7bdat": "read_sas", ".xpt": "read_xpt",
}  # fmt: skip
_SHEETS: Final = (".xlsx", ".xls", ".xlsm", ".ods")


def no_table(path: Path) -> PlanError:
    """Make the error of a file with another ending, with the one line that converts it.

    Examples
    --------
    >>> print(no_table(Path("wave.sav")))
    wave.sav: the name must end in .csv, .tsv, .tab, .txt (also .gz) or .parquet; read it with its labels \
by pysynthdp.read("wave.sav")
    """
    if path.suffix.lower() in _HAVEN:
        return _labelled(path)
    python, r = _in_python(path), _in_r(path)
    remedy: str | None = None
    if python or r:
        shell = f"python -c '{_imported(python or r)}'" if python else f"Rscript -e '{r}'"
        remedy = Words("{how} {line}", how=_how(path), line=Said(python or r, shell, r or python))
    return PlanError(
        Words("{path}: the name must end in {endings}", path=path, endings=ENDINGS),
        kind="file format",
        remedy=remedy,
    )


def _labelled(path: Path) -> PlanError:
    """Make the error of a file that has labels."""
    r = f'haven::{_HAVEN[path.suffix.lower()]}("{path}")'
    how = Said(f'pysynthdp.read("{path}")', f"pysynthdp synth {path}", r)
    return PlanError(
        Words("{path}: the name must end in {endings}", path=path, endings=ENDINGS),
        kind="file format",
        remedy=Words("read it with its labels by {how}", how=how),
    )


_CONTENT: Final = {
    b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture", b"%PDF": "a PDF file",
    b"PK\x03\x04": "an Excel sheet or a packed file", b"\xd0\xcf\x11\xe0": "an old Excel sheet",
    b"\x1f\x8b": "a gzip file", b"PAR1": "a Parquet file", b"$FL2": "an SPSS file", b"SQLite": "a database",
}  # fmt: skip


def refuse_content(path: Path) -> None:
    """Refuse a file called CSV that begins as files of another kind do.

    Raises
    ------
    SchemaError
        With what to do.

    Notes
    -----
    Privacy: looks at the first bytes only, which are of the head.
    """
    with path.open("rb") as file:
        first = file.read(8)
    kind = next((kind for mark, kind in _CONTENT.items() if first.startswith(mark)), None)
    if kind is None or (kind == "a gzip file" and path.name.lower().endswith(".gz")):
        return
    raise SchemaError(
        Words("{path} is no CSV: it begins as {kind} does", path=path, kind=kind),
        kind="file format",
        remedy="export the table as CSV, or give the file the ending that is its own",
    )


def _how(path: Path) -> str:
    """Say what to do before the line."""
    if path.suffix.lower() in _SHEETS:
        return "save the sheet as CSV (UTF-8), or convert it with"
    return "convert it with"


def _imported(line: str) -> str:
    """Put the import before a line of Python."""
    return f"import {line.partition('.')[0]}; {line}"


def _in_python(path: Path) -> str:
    """Write the line of Python; empty where Python has none."""
    ending, stem = path.suffix.lower(), path.with_suffix("")
    if ending in _READ:
        return _PANDAS.format(read=_READ[ending], name=path, stem=stem)
    return ""


def _in_r(path: Path) -> str:
    """Write the line of R; empty where it needs none or has none."""
    ending, stem = path.suffix.lower(), path.with_suffix("")
    write = f', "{stem}.csv", row.names = FALSE)'
    if ending == ".rds":
        return f'write.csv(readRDS("{path}"){write}'
    if ending in (".rdata", ".rda"):
        return f'write.csv(get(load("{path}")){write}'
    return f'write.csv(readxl::read_excel("{path}"){write}' if ending in _SHEETS[:2] else ""
