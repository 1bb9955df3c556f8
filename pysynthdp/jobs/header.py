"""Names in a job's plan that no column of its table has, by the header of the file alone."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from pysynthdp.base.errors import PysynthdpError, together
from pysynthdp.design.expressions import parsed
from pysynthdp.design.parts import absent_columns
from pysynthdp.io.csv.form import CANDIDATES, Form, raw_records
from pysynthdp.io.survey import column_names, reads
from pysynthdp.jobs.checked import CheckedJob
from pysynthdp.plan.terms import check_known
from pysynthdp.schema.declarations import DECLARATIONS
from pysynthdp.synthesizer.synthesizer import Synthesizer

__all__ = ["check_columns", "headers_of"]

_TEXTS: Final = (".csv", ".tsv", ".tab", ".txt")
_MOST: Final = 1 << 20  # bytes of a header
_LISTS: Final = ("keep", "drop", "visit_sequence", "strata")
_BY_COLUMN: Final = (*DECLARATIONS, "method", "universe", "top_code", "round", "nested")


def check_columns(checked: CheckedJob) -> None:
    """Refuse a plan that names what is no column, before a row is read; all of it together.

    Parameters
    ----------
    checked : CheckedJob
        The job; of a database nothing is looked at, nor under a guarantee, where the codebook says which
        columns there are.

    Raises
    ------
    PysynthdpError
        Names each setting, and the nearest column.

    Notes
    -----
    Privacy: reads the header of the file, and no row.
    """
    path, reading = checked.job.input.path, checked.job.reading()
    if path is None or not checked.protection.learns:
        return
    headers = headers_of(path, Form(**reading))
    if not headers:
        return
    names = list(dict.fromkeys(name for header in headers for name in header))
    faults = [*_unknown("text", reading.get("text", ()), names)]
    faults += _faults(Synthesizer(**checked.settings), names)
    if faults:
        raise together(faults)


def headers_of(path: Path, form: Form) -> list[list[str]]:
    """Read the names of the columns: one list for each separator that a CSV may have, else one.

    Returns
    -------
    list of lists
        Empty where they cannot be told without the rows, or the file is damaged.

    Notes
    -----
    Privacy: reads the header of the file, and no row.
    """
    try:
        if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
            file = path if path.is_file() else min(path.rglob("*.parquet"))
            return [[str(name) for name in pa_parquet.read_schema(file).names]]
        return [[*column_names(path, form.encoding)]] if reads(path) else _first_line(path, form)
    except (OSError, ValueError, pa.ArrowException, PysynthdpError):
        return []  # said when the file is read


def _first_line(path: Path, form: Form) -> list[list[str]]:
    """Split the first line of a CSV."""
    packed = path.suffix.lower() == ".gz"
    if (path.with_suffix("") if packed else path).suffix.lower() not in _TEXTS:
        return []
    with gzip.open(path) if packed else path.open("rb") as file:
        line = file.readline(_MOST)
    text = line.decode(form.encoding or "utf-8").removeprefix("\ufeff").rstrip("\r\n")
    if not text or text.count('"') % 2:
        return []
    signs = CANDIDATES if form.sep is None else (form.sep,)
    heads = (raw_records(text, sign, cut=False) for sign in signs)
    return [[_bare(name) for name in records[0]] for records in heads if records]


def _bare(name: str) -> str:
    """Take the quotes off a name."""
    return name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name


def _faults(asked: Synthesizer, header: list[str]) -> Iterator[PysynthdpError]:
    """Yield what names no column; of units alone what is left out, as plans of units make columns."""
    names = {*header, *asked.derived}
    if asked.units is not None:
        yield from _unknown("drop", asked.drop, names)
        return
    if asked.schema is not None:
        yield from absent_columns([*names], asked.schema.without(asked.drop))
        names |= {*asked.schema.names}
    for what, given in _named(asked):
        yield from _unknown(what, given, names)
    yield from _wrong_expressions(asked, tuple(names))


def _unknown(what: str, given: Iterable[str], names: Collection[str]) -> Iterator[PysynthdpError]:
    """Yield what is no column."""
    for name in given:
        try:
            check_known([name], {*names}, what)
        except PysynthdpError as fault:
            yield fault


def _named(asked: Synthesizer) -> Iterator[tuple[str, list[str]]]:
    """Yield what each setting names."""
    for what in _LISTS:
        given = getattr(asked, what)
        yield what, [given] if isinstance(given, str) else list(given or ())
    for what in _BY_COLUMN:
        given = getattr(asked, what)
        yield what, list(given) if isinstance(given, Mapping) else []
    yield "nested", list((asked.nested or {}).values())
    yield "must_sum", [name for parts in asked.must_sum.values() for name in parts]


def _wrong_expressions(asked: Synthesizer, names: tuple[str, ...]) -> Iterator[PysynthdpError]:
    """Yield expressions that name what is no column."""
    rules = [("rules", text) for text in asked.rules]
    universes = [
        (name, given if isinstance(given, str) else given[0]) for name, given in asked.universe.items()
    ]
    for column, text in (*rules, *universes, *asked.derived.items()):
        try:
            parsed(text, names, column=column)
        except PysynthdpError as fault:
            yield fault
