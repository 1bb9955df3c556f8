"""Copies as .dta files of Stata, by pyreadstat."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.marks import WATERMARK, WATERMARK_LABEL
from pysynthdp.io.survey.coding import Cells, Coding
from pysynthdp.io.survey.planned import Fallback, FileColumn, FilePlan, refusal
from pysynthdp.io.survey.seen import Seen

__all__ = ["adapted", "column_of", "filled", "is_plain", "letters", "takes", "texts_of", "write"]

_ORIGIN: Final = 315_619_200.0  # seconds from 1960 to 1970
_LARGEST: Final = 2_147_483_620  # of a long
_DAY: Final = 86_400.0
_OLD_TEXT: Final = 244  # bytes that Stata 12 and before hold
_RECODED: Final = "has the codes 1, 2, ..., since only whole numbers have labels"
_TIME: Final = b"01 Jan 1970 00:00"


def adapted(coding: Coding) -> tuple[Coding, list[Fallback]]:
    """Give levels the codes 1, 2, ... where theirs are no whole numbers: those alone have labels in Stata."""
    labelled = [code for _, code, label in coding.codes if label]
    if all(_is_whole(code) for code in labelled):
        return coding, []
    return coding.recoded(), [Fallback(coding.name, _RECODED, lossy=True)]


def _is_whole(code: Any) -> bool:
    """Whether a code is a number that Stata labels."""
    return isinstance(code, int | float) and float(code).is_integer() and abs(code) <= _LARGEST


def takes(code: Any) -> bool:
    """Whether Stata labels a code: a letter, or a whole number."""
    return isinstance(code, str) or _is_whole(code)


def column_of(
    coding: Coding, _seen: Seen, name: str
) -> tuple[FileColumn, list[Fallback], list[ReleaseError]]:
    """Say how Stata holds a column: its missing kinds are ``.a`` to ``.z``."""
    tags, fallbacks = texts_of(coding) if coding.texts else letters(coding, ascii_lowercase)
    wrong = []
    if tags is None:
        what = "it has more than 26 missing kinds"
        wrong = [refusal(coding.name, what, "dta", "declare fewer of them in missing")]
    labels = (each.kind.label for each in coding.absent) if not coding.texts else ()
    kinds = tuple(zip(tags or (), labels, strict=False))
    own = coding.value_labels()
    plain = tuple((code, label) for code, label in own if _is_whole(code))
    if len(plain) < len(own):
        fallbacks.append(Fallback(coding.name, "lacks labels of codes that are no whole numbers", lossy=True))
    column = FileColumn(
        name,
        coding,
        absent=tags or (),
        labels=tuple((code, label) for code, label in kinds if label),
        format=_format(coding),
        origin=_ORIGIN,
        scale=1 / _DAY if coding.form == "day" else 1000.0,
    )
    return column, fallbacks, wrong


def texts_of(coding: Coding) -> tuple[tuple[str, ...], list[Fallback]]:
    """Keep the texts that mean missing, which no format but SPSS's tells from others."""
    own = tuple(str(each.value if each.kind.code is None else each.kind.code) for each in coding.absent)
    said = Fallback(coding.name, "has texts that mean missing, and does not say that they do", lossy=True)
    return own, [said] if own else []


def letters(coding: Coding, known: str) -> tuple[tuple[str, ...] | None, list[Fallback]]:
    """Give each missing kind its letter: the one of the file, or the next free one; None if they run out."""
    own = [each.kind.tag[1:].lower() if each.kind.tag else "" for each in coding.absent]
    kept = [letter if letter in known else "" for letter in own]
    free = iter([letter for letter in known if letter not in kept])
    found: list[str] = []
    made: list[str] = []
    for each, letter in zip(coding.absent, kept, strict=True):
        given = letter or next(free, "")
        if not given:
            return None, []
        found.append(given)
        if each.kind.code is not None or not letter:
            made.append(f"{_shown(each.kind.own, each.kind.label)} is .{given}")
    said = Fallback(coding.name, f"has letters for missing kinds: {', '.join(made)}")
    return tuple(found), [said] if made else []


def _shown(code: Any, label: str) -> str:
    """Name a kind by its code, or its label."""
    return label if code is None else f"{code:g}" if isinstance(code, Real) else str(code)


def _format(coding: Coding) -> str | None:
    """Say how Stata prints a column."""
    if coding.form in ("day", "time"):
        return "%td" if coding.form == "day" else "%tc"
    stata = coding.labels.source == "stata" and coding.form not in ("duration", "flag")
    return coding.labels.format if stata else None


def write(plan: FilePlan, copy: pd.DataFrame, path: Path, *, number: int | None, title: str) -> None:
    """Write one copy: for Stata 12 where all is ASCII, which R's foreign reads too, else for Stata 14."""
    from pyreadstat import write_dta

    frame = {column.name: _cells(column, column.cells(copy)) for column in plan.columns}
    labels: dict[str, str | None] = {column.name: column.label for column in plan.columns}
    if number is not None:
        frame[WATERMARK] = np.full(len(copy), number, dtype=np.int32)
        labels[WATERMARK] = WATERMARK_LABEL
    write_dta(
        pd.DataFrame(frame, copy=False),
        path,
        file_label=title[:80],
        column_labels=labels,
        version=12 if plan.plain else 14,
        variable_value_labels={one.name: dict(_keys(one)) for one in plan.columns if one.labels},
        missing_user_values={
            one.name: sorted(one.absent) for one in plan.columns if one.absent and not one.coding.texts
        },
        variable_format={one.name: one.format for one in plan.columns if one.format},
    )
    _without_time(path, plain=plan.plain)


def _keys(column: FileColumn) -> Iterator[tuple[Any, str]]:
    """Give codes as Python's own whole numbers."""
    for code, label in column.labels:
        yield code if isinstance(code, str) else int(code), label


def _cells(column: FileColumn, cells: Cells) -> Any:
    """Give the cells, letters in the places of missing kinds."""
    values = cells.held
    if column.coding.texts:
        return filled(column, cells)
    there = cells.kinds >= 0
    absent = np.isnan(values)
    held = values[~absent]
    whole = column.coding.decimals == 0 and _are_longs(held)
    if not there.any():
        return _longs(values, absent) if whole else values
    mixed = values.astype(object)
    if whole and not (absent & ~there).any():  # pyreadstat reads those as zeros in a column of whole numbers
        mixed[~absent] = held.astype(np.int64)
    mixed[there] = np.array(column.absent, dtype=object)[cells.kinds[there]]
    return mixed


def _longs(values: FloatArray, absent: BoolArray) -> Any:
    """Give whole numbers as such, also where some are missing."""
    return pd.arrays.IntegerArray(np.where(absent, 0, values).astype(np.int32), absent)


def filled(column: FileColumn, cells: Cells) -> Any:
    """Put what stands for missing kinds in their places."""
    values = cells.held.copy()
    for at, code in enumerate(column.absent):
        values[cells.kinds == at] = code
    return values


def _are_longs(values: FloatArray) -> bool:
    """Whether numbers are whole ones that Stata's long holds."""
    return bool((np.abs(values) <= _LARGEST).all() and (values == np.floor(values)).all())


def _without_time(path: Path, *, plain: bool) -> None:
    """Write the same time into every file, so that its bytes depend on the copy alone."""
    with path.open("r+b") as file:
        head = file.read(400)
        at = 91 if plain else head.index(b"<timestamp>") + len(b"<timestamp>") + 1
        file.seek(at)
        file.write(_TIME)


def is_plain(columns: tuple[FileColumn, ...], seen: tuple[Seen, ...]) -> bool:
    """Whether Stata 12 and R's foreign can hold a file: names, labels and texts are short and ASCII."""
    words = [word for one in columns for word in (one.name, one.label, *(label for _, label in one.labels))]
    texts = [each for one, each in zip(columns, seen, strict=True) if one.coding.texts]
    short = all(each.ascii and each.longest <= _OLD_TEXT for each in texts)
    return short and all(word.isascii() for word in words)
