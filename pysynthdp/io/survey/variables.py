"""A variable as a labelled file holds it -> a column of a data frame, and of a schema.

What a column becomes is decided by the file's labels and formats. Where the file is said to be the public
document, by nothing else, so that no cell decides a type; else by whether every code has a label, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.base.remarks import FEWEST, Remark
from pysynthdp.base.words import Words
from pysynthdp.design.tagged import tagged
from pysynthdp.io.survey.clocks import Clock
from pysynthdp.schema import CategoricalColumn, Column, Kind, Labels, NumericColumn
from pysynthdp.schema.labels import TAGS, written

__all__ = ["Read", "Variable", "column_of"]

_LETTERS: Final = TAGS[:26]
_WIDEST: Final = 10  # codes of a range that are listed one by one


@dataclass(frozen=True, slots=True)
class Variable:
    """What a file says of one variable.

    Parameters
    ----------
    name : str
        Its name.
    labels : Labels
        With all labelled codes, those of missing values too; ``kinds`` are those that have letters.
    stored : {"text", "whole", "number"}
        What its cells are: ``"whole"`` by the type of the file, or by a format without decimals.
    exact : bool
        Whether ``"whole"`` is the type of the file, and no mere format.
    absent : tuple of code
        SPSS codes that count as missing, one by one.
    clock : Clock, optional
        How its numbers count days or seconds.
    """

    name: str
    labels: Labels
    stored: Literal["text", "whole", "number"] = "number"
    exact: bool = True
    absent: tuple[Any, ...] = ()
    clock: Clock | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Read:
    """A column as it was read: its cells, what is said of it, and what was decided on the way."""

    cells: pd.Series[Any]
    column: Column
    remarks: tuple[Remark, ...] = ()


def column_of(variable: Variable, cells: pd.Series[Any], letters: Any, *, public: bool) -> Read:
    """Make a column of a variable.

    Parameters
    ----------
    variable : Variable
        What the file says.
    cells : Series
        Texts, or numbers with NaN where a letter says why they are missing.
    letters : array of text, or None
        ``"a"`` to ``"z"`` where the file has a letter, empty elsewhere.
    public : bool
        Whether no cell may decide anything.

    Notes
    -----
    Privacy: reads real cells; remarks quote none.
    """
    if variable.stored == "text":
        return _of_texts(variable, cells, public)
    numbers = cells.to_numpy(dtype=np.float64, na_value=np.nan)
    kinds = _kinds(variable, numbers, letters, public)
    codes = {code: text for code, text in variable.labels.codes if code not in {kind.code for kind in kinds}}
    labels = _with(variable.labels, codes, kinds)
    places = _places(numbers, letters, labels)
    if _is_listed(codes, numbers[places < 0], public):
        return _levels(variable, labels, numbers, places, public)
    return _number(variable, labels, numbers, places, public)


def _with(labels: Labels, codes: dict[Any, str], kinds: Sequence[Kind]) -> Labels:
    """Give labels their codes and kinds."""
    return Labels(
        labels.label, codes, tuple(kinds), labels.missing_range, labels.measure, labels.width,
        labels.format, labels.source,
    )  # fmt: skip


def _kinds(variable: Variable, numbers: FloatArray, letters: Any, public: bool) -> list[Kind]:
    """List the missing kinds of a variable: with letters as in the file, or codes that get letters here."""
    if variable.labels.source != "spss":
        found = {kind.tag: kind for kind in variable.labels.kinds}
        seen = sorted(set(letters) - {""}) if letters is not None and not public else []
        tags = [tag for letter in seen if (tag := f".{letter}") not in found]
        return [*found.values(), *(Kind(tag) for tag in tags)]
    said = dict(variable.labels.codes)
    codes = [*variable.absent, *(code for code in _in_range(variable, numbers, public))]
    kinds = [Kind(None, code, said.get(code, "")) for code in dict.fromkeys(codes)]
    if variable.labels.missing_range is not None and _has_others(variable, codes, numbers, public):
        low, high = (written(end) if math.isfinite(end) else "" for end in variable.labels.missing_range)
        kinds.append(Kind(None, None, f"other code from {low or 'the lowest'} to {high or 'the highest'}"))
    if len(kinds) > len(_LETTERS):
        raise SchemaError(
            Words("{name} has more than 26 kinds of missing values", name=variable.name),
            column=variable.name,
            kind="kinds",
            remedy="leave it out with usecols, or declare fewer codes as missing in the file",
        )
    return [Kind(tag, kind.code, kind.label) for tag, kind in zip(_LETTERS, kinds, strict=False)]


def _in_range(variable: Variable, numbers: FloatArray, public: bool) -> list[Any]:
    """List the codes of a range of missing ones: labelled ones, those of five records; or all of a few."""
    span = variable.labels.missing_range
    if span is None:
        return []
    low, high = span
    codes = [code for code, _ in variable.labels.codes if low <= code <= high]
    if public and high - low < _WIDEST:
        codes += range(math.ceil(low), math.floor(high) + 1)
    if not public:
        inside, counts = np.unique(numbers[(numbers >= low) & (numbers <= high)], return_counts=True)
        codes += [_plain(code) for code in inside[counts >= FEWEST]]
    return sorted(dict.fromkeys(codes))


def _has_others(variable: Variable, codes: Sequence[Any], numbers: FloatArray, public: bool) -> bool:
    """Whether a range holds other codes than those that are listed; it may, where no cell is looked at."""
    if public or variable.labels.missing_range is None:
        return True
    low, high = variable.labels.missing_range
    inside = numbers[(numbers >= low) & (numbers <= high)]
    return bool((~np.isin(inside, np.array(codes, dtype=np.float64))).any())


def _plain(code: float) -> float | int:
    """Write a whole code without a point."""
    return int(code) if float(code).is_integer() else float(code)


def _places(numbers: FloatArray, letters: Any, labels: Labels) -> Any:
    """Say which missing kind each cell is of; -1 where it is of none."""
    places = np.full(len(numbers), -1, dtype=np.int64)
    if labels.missing_range is not None:
        low, high = labels.missing_range
        rest = next((at for at, kind in enumerate(labels.kinds) if kind.code is None), -1)
        places[(numbers >= low) & (numbers <= high)] = rest
    for at, kind in enumerate(labels.kinds):
        if kind.code is not None:
            places[numbers == kind.code] = at
        elif letters is not None and kind.tag is not None:
            places[letters == kind.tag[1]] = at
    return places


def _is_listed(codes: dict[Any, str], values: FloatArray, public: bool) -> bool:
    """Whether a variable's values are its labelled codes: all of them; by two labels where none is read."""
    if public:
        return len(codes) > 1
    present = values[~np.isnan(values)]
    return bool(codes) and bool(np.isin(present, np.array(list(codes), dtype=np.float64)).all())


def _levels(variable: Variable, labels: Labels, numbers: FloatArray, places: Any, public: bool) -> Read:
    """Make categories of labels, in the order of the codes, missing kinds behind them."""
    texts = labels.texts()
    codes = sorted(dict(labels.codes))
    levels = [texts[code] for code in codes]
    kinds = [texts[kind.own] for kind in labels.kinds]
    found = np.full(len(numbers), -1, dtype=np.int64)
    for at, code in enumerate(codes):
        found[numbers == code] = at
    found = np.where(places >= 0, places + len(levels), found)
    return _categorical(variable, labels, levels, kinds, found, public)


def _categorical(
    variable: Variable,
    labels: Labels,
    levels: list[str],
    kinds: list[str],
    found: Any,
    public: bool,
) -> Read:
    """Make a categorical column of places among levels and kinds."""
    ordered = labels.measure == "ordinal"
    dtype = pd.CategoricalDtype([*levels, *kinds], ordered=ordered)
    column = CategoricalColumn(
        variable.name, levels, ordered, missing=kinds, dtype=dtype, declared=public, labels=labels
    )
    cells = pd.Series(pd.Categorical.from_codes(found, dtype=dtype))
    return Read(cells, column, _label_remarks(variable, labels))


def _label_remarks(variable: Variable, labels: Labels) -> tuple[Remark, ...]:
    """Say that a text had to be told from another of the same label."""
    said = {**dict(labels.codes), **{kind.own: kind.label for kind in labels.kinds}}
    changed = [
        code for code, text in labels.texts().items() if text != said[code] and code in dict(labels.codes)
    ]
    if not changed:
        return ()
    what = "two of its codes have the same label, or one has none, so the code stands before the label"
    return (Remark(variable.name, "labels", what, "give each code a label of its own in the file"),)


def _number(variable: Variable, labels: Labels, numbers: FloatArray, places: Any, public: bool) -> Read:
    """Make a column of numbers or times, missing kinds as NaN with their letters."""
    remarks = () if public or not labels.codes else (_partly(variable.name),)
    counted = numbers if variable.clock is None else variable.clock.counted(numbers)
    facts: dict[str, Any] = {"declared": public, "labels": labels}
    if variable.clock is not None:
        facts["unit"] = variable.clock.unit
    if labels.kinds:
        counted = np.where(
            places >= 0, tagged(kind.tag for kind in labels.kinds if kind.tag)[places], counted
        )
        texts = labels.texts()
        facts["missing"] = tuple((kind.tag, texts[kind.own]) for kind in labels.kinds)
        facts |= _whole_facts(variable, counted, public)
        return Read(pd.Series(counted), NumericColumn(variable.name, dtype="float64", **facts), remarks)
    if variable.clock is not None:
        cells = variable.clock.times(numbers)
        facts["decimals"] = 0 if variable.clock.unit == "day" else None
        return Read(cells, NumericColumn(variable.name, dtype=cells.dtype, **facts), remarks)
    facts |= _whole_facts(variable, numbers, public)
    cells = _typed(variable, numbers, whole="decimals" in facts, public=public)
    return Read(cells, NumericColumn(variable.name, dtype=cells.dtype, **facts), remarks)


def _partly(name: str) -> Remark:
    """Say that a labelled variable stays a number."""
    what = "some of its values have no label, so it stays a number; its labels go along"
    return Remark(name, "labels", what, "label every code in the file to have it as categories")


def _whole_facts(variable: Variable, numbers: FloatArray, public: bool) -> dict[str, int]:
    """Say that a column is of whole numbers: by its type or format, and by its cells unless it is public."""
    if variable.clock is not None:
        return {"decimals": 0} if variable.clock.unit == "day" else {}
    if variable.stored != "whole":
        return {}
    present = numbers[~np.isnan(numbers)]
    held = variable.exact or public or bool((present == np.rint(present)).all())
    return {"decimals": 0} if held else {}


def _typed(variable: Variable, numbers: FloatArray, *, whole: bool, public: bool) -> pd.Series[Any]:
    """Give whole numbers the type of such that may be missing, so that no cell decides which one it is."""
    if not whole or (public and not variable.exact):
        return pd.Series(numbers)
    return pd.Series(numbers).astype("Int64")


def _of_texts(variable: Variable, cells: pd.Series[Any], public: bool) -> Read:
    """Make a column of texts, or categories where texts are codes with labels; an empty text is missing."""
    said, labels = dict(variable.labels.codes), variable.labels
    kinds = [Kind(None, code, said.pop(code, "")) for code in variable.absent]
    labels = _with(labels, said, kinds)
    texts = cells.where(cells.isin(["" if "" in said else None]) | (cells != ""), None)
    known = [*said, *(kind.code for kind in kinds)]
    listed = len(said) > 1 if public else bool(said) and bool(texts.dropna().isin(known).all())
    if listed:
        named = labels.texts()
        at = pd.Index(known).get_indexer(pd.Index(texts))
        missing = [named[kind.code] for kind in kinds]
        return _categorical(variable, labels, [named[code] for code in said], missing, at, public)
    codes = [(kind.code, kind.label or kind.code) for kind in kinds]
    column = CategoricalColumn(variable.name, (), missing=codes, dtype="str", declared=False, labels=labels)
    remarks = (_partly_text(variable.name),) if said and not public else ()
    return Read(texts.astype("str"), column, remarks)


def _partly_text(name: str) -> Remark:
    """Say that a labelled variable stays a text."""
    what = "some of its texts have no label, so it keeps its codes; its labels go along"
    return Remark(name, "labels", what, "label every code in the file to have its labels as categories")
