"""Write copies as files of SPSS, Stata and SAS: all is checked for all formats before the first file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pysynthdp.base.errors import PlanError, ReleaseError, together
from pysynthdp.base.marks import WATERMARK, WATERMARK_SPSS
from pysynthdp.base.words import Words
from pysynthdp.io.survey import to_sas, to_spss, to_stata
from pysynthdp.io.survey.coding import Coding, codings
from pysynthdp.io.survey.limits import LIMITS, Limits, faults
from pysynthdp.io.survey.names import file_names
from pysynthdp.io.survey.planned import Fallback, FileColumn, FilePlan, cut, refusal
from pysynthdp.io.survey.seen import Seen, looked_at
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

__all__ = ["MOST_CELLS", "check_schema", "check_size", "planned", "write_files"]

MOST_CELLS: Final = 50_000_000
"""Rows times columns of the largest copy that is written so: these files are made in memory."""
_WRITERS: Final = {"sav": to_spss, "dta": to_stata, "xpt": to_sas}
_ANY: Final = {NumericColumn: "float64", CategoricalColumn: "object"}
_MARKS: Final = {"sav": WATERMARK_SPSS, "dta": WATERMARK, "xpt": WATERMARK}


def check_size(formats: Sequence[str], rows: int, columns: int) -> None:
    """Refuse copies that are too large, and these formats without the package that writes them.

    Raises
    ------
    ReleaseError
        If a copy has more than ``MOST_CELLS`` cells.
    PlanError
        If pyreadstat is not installed.
    """
    if not formats:
        return
    try:
        import pyreadstat  # noqa: F401
    except ImportError as error:
        what = Words("files of SPSS, Stata and SAS need the package pyreadstat")
        raise PlanError(what, kind="package", remedy="pip install 'pysynthdp[files]'") from error
    if rows * columns > MOST_CELLS:
        what = Words(
            "copies of {cells} cells are too large for {formats}, which are made in memory: at most {most}",
            cells=f"{rows * columns:,}",
            formats=" and ".join(formats),
            most=f"{MOST_CELLS:,}",
        )
        raise ReleaseError(what, kind="format", remedy="write Parquet and CSV")


def check_schema(schema: Schema, formats: Sequence[str], *, watermark: bool) -> None:
    """Refuse what a format cannot hold whatever the copies are: kinds, codes and labels of the schema.

    Raises
    ------
    ReleaseError
        Naming all such columns.

    Notes
    -----
    Privacy: reads no row, real or synthetic.
    """
    kinds = {column.name: column.dtype or _ANY[type(column)] for column in schema}
    empty = pd.DataFrame({name: pd.Series([], dtype=dtype) for name, dtype in kinds.items()})
    planned(empty, [empty], schema, formats, watermark=watermark)


def planned(
    first: pd.DataFrame,
    copies: Iterable[pd.DataFrame],
    schema: Schema,
    formats: Sequence[str],
    *,
    watermark: bool,
    texts: Collection[str] = (),
) -> dict[str, FilePlan]:
    """Say what each format makes of copies.

    Parameters
    ----------
    first : DataFrame
        A copy, of which types are taken.
    copies : iterable of DataFrame
        All of them.
    schema : Schema
        Of the copies.
    formats : sequence of str
        Which.
    watermark : bool
        Whether a last column says that they are synthetic.
    texts : collection of str
        Categorical columns whose levels are written as texts.

    Raises
    ------
    ReleaseError
        If a format cannot hold a column without changing a value; it names all of them.

    Notes
    -----
    Privacy: reads copies and the schema.
    """
    every = codings(first, schema, texts=texts)
    seen = looked_at(copies, every)
    wrong: list[ReleaseError] = []
    plans = {}
    for name in formats:
        plans[name], faulty = _planned(every, seen, name, watermark=watermark)
        wrong += faulty
    if wrong:
        raise together(wrong)
    return plans


def _planned(
    every: tuple[Coding, ...], seen: tuple[Seen, ...], ending: str, *, watermark: bool
) -> tuple[FilePlan, list[ReleaseError]]:
    """Say what one format makes of columns, and what it cannot hold."""
    limits, writer = LIMITS[ending], _WRITERS[ending]
    taken = [_MARKS[ending]] if watermark else []
    names = file_names([coding.name for coding in every], limits.names, taken)
    columns: list[FileColumn] = []
    fallbacks: list[Fallback] = []
    wrong: list[ReleaseError] = []
    for coding, held, (name, renamed) in zip(every, seen, names, strict=True):
        wrong += faults(coding, held, limits)
        own, recoded = to_stata.adapted(coding) if ending == "dta" else (coding, [])
        column, changed, faulty = writer.column_of(own, held, name)
        whole, shortened, clashing = _labelled(column, limits, always=bool(renamed))
        columns.append(whole)
        fallbacks += [*renamed, *recoded, *changed, *shortened, *_by_type(coding)]
        wrong += [*faulty, *clashing]
    made = tuple(columns)
    return FilePlan(made, tuple(fallbacks), to_stata.is_plain(made, seen)), wrong


def _labelled(
    column: FileColumn, limits: Limits, *, always: bool
) -> tuple[FileColumn, list[Fallback], list[ReleaseError]]:
    """Give a column its labels, as long as the format has them."""
    coding = column.coding
    said = coding.labels.label or (coding.name if always else "")
    label = cut(said, limits.label, characters=limits.ending == "dta")
    whole = (*coding.value_labels(), *column.labels)
    if limits.ending == "dta":
        whole = () if coding.texts else tuple(pair for pair in whole if to_stata.takes(pair[0]))
    short = tuple((code, cut(text, limits.value_label)) for code, text in whole)
    fallbacks: list[Fallback] = []
    wrong: list[ReleaseError] = []
    if label != said:
        unit = "characters" if limits.ending == "dta" else "bytes"
        fallbacks.append(
            Fallback(coding.name, f"has a label that is cut at {limits.label} {unit}", lossy=True)
        )
    cuts = sum(one != two for one, two in zip(whole, short, strict=True))
    if cuts:
        said = f"has labels of {cuts} values that are cut at {limits.value_label:,} bytes"
        fallbacks.append(Fallback(coding.name, said, lossy=True))
    if len({text for _, text in short}) < len({text for _, text in whole}):
        what = f"labels that differ after {limits.value_label} bytes only are one there"
        wrong.append(refusal(coding.name, what, limits.ending, "shorten them before the fit"))
    return replace(column, label=label, labels=short), fallbacks, wrong


def _by_type(coding: Coding) -> Iterator[Fallback]:
    """Say what types become that survey programs do not have."""
    if coding.form == "flag":
        yield Fallback(coding.name, "has 1 and 0 for truth values")
    if coding.form == "duration":
        yield Fallback(coding.name, "has durations as numbers of seconds")


def write_files(
    plans: Mapping[str, FilePlan],
    copy: pd.DataFrame,
    folder: Path,
    stem: str,
    *,
    number: int | None,
    title: str,
) -> Iterator[str]:
    """Write one copy in all formats, and yield the names of the files.

    Parameters
    ----------
    plans : mapping of str to FilePlan
        What each format makes of it.
    copy : DataFrame
        The copy.
    folder : Path
        Where.
    stem : str
        Of the files' names.
    number : int or None
        Of the copy, for the last column; None leaves that out.
    title : str
        Label of the file.
    """
    for ending, plan in plans.items():
        name = f"{stem}.{ending}"
        _write(_WRITERS[ending], plan, copy, folder / name, number=number, title=title)
        yield name


def _write(writer: Any, plan: FilePlan, copy: pd.DataFrame, path: Path, **how: Any) -> None:
    """Write one file; what pyreadstat refuses unforeseen is an error that quotes no value."""
    try:
        writer.write(plan, copy, path, **how)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 -- pyreadstat raises bare ones, and quotes values
        kind = type(error).__name__
        what = Words("{file} cannot be written: pyreadstat refuses it ({kind})", file=path.name, kind=kind)
        raise ReleaseError(what, kind="format", remedy="write Parquet or CSV, and tell the makers") from None
