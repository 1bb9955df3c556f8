"""Copies as .sav files of SPSS, by pyreadstat."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.marks import WATERMARK_LABEL, WATERMARK_SPSS
from pysynthdp.io.survey.coding import Coding
from pysynthdp.io.survey.planned import Fallback, FileColumn, FilePlan, refusal, text_width, widened
from pysynthdp.io.survey.seen import Seen, kind_codes
from pysynthdp.io.survey.to_stata import filled

__all__ = ["ENDING", "column_of", "write"]

ENDING: Final = "sav"
_ORIGIN: Final = 12_219_379_200.0  # seconds from 1582-10-14 to 1970
_FORMATS: Final = {
    "day": "DATE11",
    "time": "DATETIME20",
    "duration": "F12.2",
    "flag": "F1.0",
    "coded": "F8.0",
}
_FEWER: Final = "declare fewer of them in missing, or write Parquet, CSV or dta"
_SHORTER: Final = "shorten the codes before the fit, or write Parquet, CSV or dta"
_FIRST: Final = (0, 100, 10_000, 1_000_000, 1_000_000_000)
_CODE_BYTES: Final = 8
_MOST_CODES: Final = 3


def column_of(coding: Coding, seen: Seen, name: str) -> tuple[FileColumn, list[Fallback], list[ReleaseError]]:
    """Say how SPSS holds a column: its missing kinds are codes that the file declares."""
    codes, fallbacks = _codes(coding, seen)
    labels = (each.kind.label for each in coding.absent)
    missing, wrong = _declared(coding, seen, codes)
    timed = coding.form in ("day", "time")
    column = FileColumn(
        name,
        coding,
        absent=codes,
        missing=missing,
        labels=tuple((code, label) for code, label in zip(codes, labels, strict=True) if label),
        format=_format(coding, seen),
        measure=coding.labels.measure or _measure(coding),
        text_width=text_width(coding, seen),
        width=coding.labels.width if coding.labels.source == "spss" else None,
        origin=_ORIGIN if timed else 0.0,
    )
    return column, fallbacks, wrong


def _codes(coding: Coding, seen: Seen) -> tuple[tuple[Any, ...], list[Fallback]]:
    """Give each missing kind its code: the one of the file, or a negative number below all values."""
    own = [each.kind.code for each in coding.absent]
    if coding.texts:
        pairs = zip(own, coding.absent, strict=True)
        return tuple(str(each.value if code is None else code) for code, each in pairs), []
    given = [float(code) if isinstance(code, int | float) else math.nan for code in own]
    new = _free(coding, seen, [code for code in given if not math.isnan(code)])
    codes = tuple(next(new) if math.isnan(code) else code for code in given)
    made = [
        (each.kind.tag or each.kind.label, code)
        for each, code, old in zip(coding.absent, codes, given, strict=True)
        if math.isnan(old)
    ]
    said = ", ".join(f"{what} is {code:g}" for what, code in made)
    return codes, [Fallback(coding.name, f"has codes for missing kinds: {said}")] if made else []


def _free(coding: Coding, seen: Seen, taken: list[float]) -> Iterator[float]:
    """Give codes that are free: in the range of missing ones, else negative numbers below all values."""
    low, high = coding.labels.missing_range or (1.0, 0.0)
    start = low if math.isfinite(low) else high if math.isfinite(high) else 0.0
    inside = (
        math.ceil(low) + step if math.isfinite(low) else math.floor(start) - step for step in range(100)
    )
    yield from (float(code) for code in inside if low <= code <= high and code not in taken)
    known = [code for code, _ in coding.value_labels() if isinstance(code, int | float)]
    lowest = min([0.0, *known, *taken, *([] if math.isnan(seen.low) else [seen.low])])
    start = next((first for first in _FIRST if -first <= lowest), -math.floor(lowest))
    number = -start - 1.0
    while True:
        yield number
        number -= 1


def _declared(
    coding: Coding, seen: Seen, codes: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[ReleaseError]]:
    """Say what the file declares missing: three codes at most, or a range and one code."""
    if coding.texts:
        short = all(len(code.encode()) <= _CODE_BYTES for code in codes)
        what = f"missing codes that are texts are three at most there, of {_CODE_BYTES} bytes"
        fine = short and len(codes) <= _MOST_CODES
        return (codes, []) if fine else ((), [refusal(coding.name, what, ENDING, _SHORTER)])
    if seen.hits or seen.inside:
        what = "some of its values equal codes that mean missing there"
        return (), [refusal(coding.name, what, ENDING, "declare bounds that leave the codes out")]
    found = _listed(coding, seen, tuple(dict.fromkeys(codes)))
    if found is None:
        what = f"it has {len(codes)} missing kinds, and three, or a range without values and one, are all"
        return (), [refusal(coding.name, what, ENDING, _FEWER)]
    return found, []


def _listed(coding: Coding, seen: Seen, codes: tuple[float, ...]) -> tuple[Any, ...] | None:
    """List the codes, as the file of the table did where that is known; None where they are too many."""
    span = coding.labels.missing_range
    alone = tuple(code for code in codes if span is None or not span[0] <= code <= span[1])
    if span is not None and len(alone) <= 1:
        return (span, *alone)
    return codes if len(codes) <= _MOST_CODES else _range(seen, sorted(codes), kind_codes(coding))


def _range(seen: Seen, codes: list[float], known: list[float]) -> tuple[Any, ...] | None:
    """Find a range of codes without a value in it that leaves one code at most."""
    for left, right in ((0, len(codes)), (1, len(codes)), (0, len(codes) - 1)):
        low, high = codes[left], codes[right - 1]
        if not seen.any_in(low, high, known):
            others = (*codes[:left], *codes[right:])
            return ((low, high), *others)
    return None


def _format(coding: Coding, seen: Seen) -> str | None:
    """Say how SPSS prints a column: as the file of the table did, else by its digits."""
    if coding.labels.source == "spss" and coding.labels.format and coding.form not in ("duration", "flag"):
        return coding.labels.format
    if coding.texts:
        return None
    if coding.form in _FORMATS:
        return _FORMATS[coding.form]
    size = max((abs(end) for end in (seen.low, seen.high) if math.isfinite(end)), default=0.0)
    digits = len(f"{size:.0f}") + 1
    decimals = coding.decimals if coding.decimals is not None else 0 if seen.whole else 2
    return f"F{min(max(8, digits + decimals + 1), 40)}.{min(decimals, 16)}"


def _measure(coding: Coding) -> str:
    """Name the level of measurement; of a file of SPSS that says none, none."""
    if coding.labels.source == "spss":
        return "unknown"
    if coding.form in ("coded", "coded text", "text", "flag"):
        return "ordinal" if coding.ordered else "nominal"
    return "scale"


def write(plan: FilePlan, copy: pd.DataFrame, path: Path, *, number: int | None, title: str) -> None:
    """Write one copy."""
    from pyreadstat import write_sav

    frame = {column.name: _cells(column, copy) for column in plan.columns}
    labels: dict[str, str | None] = {column.name: column.label for column in plan.columns}
    formats = {column.name: column.format for column in plan.columns if column.format}
    measures = {column.name: str(column.measure) for column in plan.columns}
    if number is not None:
        frame[WATERMARK_SPSS] = np.full(len(copy), float(number))
        labels[WATERMARK_SPSS], formats[WATERMARK_SPSS] = WATERMARK_LABEL, "F8.0"
        measures[WATERMARK_SPSS] = "nominal"
    write_sav(
        pd.DataFrame(frame, copy=False),
        path,
        file_label=title[:64],
        column_labels=labels,
        row_compress=True,
        variable_value_labels={one.name: dict(one.labels) for one in plan.columns if one.labels},
        missing_ranges={one.name: [*map(_span, one.missing)] for one in plan.columns if one.missing},
        variable_format=formats,
        variable_measure=measures,
        variable_display_width={one.name: one.width for one in plan.columns if one.width},
    )
    _without_time(path)


def _cells(column: FileColumn, copy: pd.DataFrame) -> Any:
    """Give the cells with the codes of missing kinds in their places; texts are as wide in every copy."""
    values = filled(column, column.cells(copy))
    return widened(values, column.text_width) if column.coding.texts else values


def _span(each: Any) -> Any:
    """Write a code, or a range as pyreadstat names it."""
    return {"lo": each[0], "hi": each[1]} if isinstance(each, tuple) else each


def _without_time(path: Path) -> None:
    """Write the same time into every file, so that its bytes depend on the copy alone."""
    with path.open("r+b") as file:
        file.seek(92)
        file.write(b"01 Jan 7000:00:00")
