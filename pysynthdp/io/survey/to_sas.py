"""Copies as transport files of SAS (XPORT version 8), by pyreadstat, with a program for their labels.

The format has no room for labels of values, and pyreadstat writes no special missing values. These are
letters in the first of the eight bytes of a number, put there afterwards; labels are formats that a program
makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.marks import WATERMARK, WATERMARK_LABEL
from pysynthdp.io.survey.coding import Cells, Coding
from pysynthdp.io.survey.planned import Fallback, FileColumn, FilePlan, refusal, text_width, widened
from pysynthdp.io.survey.seen import Seen
from pysynthdp.io.survey.to_stata import filled, letters, texts_of
from pysynthdp.io.survey.xport import layout_of

__all__ = ["PROGRAM", "column_of", "format_program", "write"]

PROGRAM: Final = "labels.sas"
_ORIGIN: Final = 315_619_200.0
_DAY: Final = 86_400.0
_HEAD: Final = 80  # bytes of a record of the head
_TIME: Final = b"01JAN70:00:00:00"
_STAMP: Final = re.compile(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d")


def column_of(coding: Coding, seen: Seen, name: str) -> tuple[FileColumn, list[Fallback], list[ReleaseError]]:
    """Say how SAS holds a column: its missing kinds are ``.A`` to ``.Z``, and ``._``."""
    tags, fallbacks = texts_of(coding) if coding.texts else letters(coding, ascii_lowercase + "_")
    wrong = []
    if tags is None:
        what = "it has more than 27 missing kinds"
        wrong = [refusal(coding.name, what, "xpt", "declare fewer of them in missing")]
    kinds = zip(tags or (), (each.kind.label for each in coding.absent), strict=False)
    column = FileColumn(
        name,
        coding,
        absent=tags or (),
        labels=tuple((_special(letter, coding), label) for letter, label in kinds if label),
        text_width=text_width(coding, seen),
        format={"day": "DATE9", "time": "DATETIME20"}.get(coding.form),
        origin=_ORIGIN,
        scale=1 / _DAY if coding.form == "day" else 1.0,
    )
    return column, fallbacks, wrong


def _special(letter: str, coding: Coding) -> str:
    """Write a special missing value as SAS does, or the text that stands for it."""
    return letter if coding.texts else f".{letter.upper()}"


def write(plan: FilePlan, copy: pd.DataFrame, path: Path, *, number: int | None, title: str) -> None:
    """Write one copy."""
    from pyreadstat import write_xport

    cells = [column.cells(copy) for column in plan.columns]
    frame = {column.name: _cells(column, one) for column, one in zip(plan.columns, cells, strict=True)}
    labels: dict[str, str | None] = {column.name: column.label for column in plan.columns}
    if number is not None:
        frame[WATERMARK] = np.full(len(copy), float(number))
        labels[WATERMARK] = WATERMARK_LABEL
    write_xport(
        pd.DataFrame(frame, copy=False),
        path,
        file_label=title[:40],
        column_labels=labels,
        table_name=re.sub(r"\W", "_", path.stem, flags=re.ASCII)[:32],
        variable_format={one.name: one.format for one in plan.columns if one.format},
    )
    kinds = [one.kinds for one in cells]
    _put_letters(path, plan.columns, kinds)


def _cells(column: FileColumn, cells: Cells) -> Any:
    """Give the cells; texts with those that mean missing, as wide in every copy."""
    return widened(filled(column, cells), column.text_width) if column.coding.texts else cells.held


def _put_letters(path: Path, columns: Sequence[FileColumn], kinds: Sequence[Any]) -> None:
    """Write special missing values, and the same time into every file."""
    data = np.memmap(path, dtype=np.uint8, mode="r+")
    layout = layout_of(data)
    if layout is None:
        msg = "pyreadstat wrote no records of rows"
        raise TypeError(msg)
    for at, (column, found) in enumerate(zip(columns, kinds, strict=True)):
        if column.coding.texts:
            continue
        for place, letter in enumerate(column.absent):
            where = np.flatnonzero(found == place)
            data[layout.head + where * layout.width + layout.starts[at]] = ord(letter.upper())
    for stamp in _STAMP.finditer(bytes(data[: 8 * _HEAD])):
        data[stamp.start() : stamp.end()] = np.frombuffer(_TIME, dtype=np.uint8)
    data.flush()


def format_program(plan: FilePlan, files: Sequence[str]) -> str:
    """Write the program that reads the files and gives values their labels."""
    named = [column for column in plan.columns if column.labels]
    lines = [
        "* Read the synthetic copies and give values their labels. Run it in the folder of the files.",
        "* The makers of pysynthdp have not run this file.",
        "",
        "proc format;",
        *(line for at, column in enumerate(named, start=1) for line in _format(column, at)),
        "run;",
    ]
    uses = " ".join(f"{column.name} {_name(column, at)}." for at, column in enumerate(named, start=1))
    for file in files:
        table = re.sub(r"\W", "_", Path(file).stem, flags=re.ASCII)[:32]
        lines += ["", f"%xpt2loc(libref=work, memlist={table}, filespec='{file}');"]
        lines += [f"proc datasets library=work nolist; modify {table}; format {uses}; quit;"] if uses else []
    return "\n".join(lines) + "\n"


def _name(column: FileColumn, at: int) -> str:
    """Name the format of a column."""
    return f"{'$' if column.coding.texts else ''}SYN{at}F"


def _format(column: FileColumn, at: int) -> Iterator[str]:
    """Write the format of a column."""
    yield f"  value {_name(column, at)}"
    for code, label in column.labels:
        quoted = label.replace('"', '""').replace("\n", " ")
        shown = _shown(code, texts=column.coding.texts)
        yield f'    {shown} = "{quoted}"'
    yield "  ;"


def _shown(code: Any, *, texts: bool) -> str:
    """Write a code as SAS does: texts in quotes, special missing values and numbers without."""
    if texts:
        return '"' + str(code).replace('"', '""') + '"'
    return code if isinstance(code, str) else f"{code:.15g}"
