"""The cells of a column as texts: distinct ones once, beside where they stand.

Only an empty field without quotes is missing. A word such as ``null`` is missing where all other cells of its
column are numbers, flags or dates, since it is none of them; among texts it is a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pysynthdp.base.arrays import IntArray

__all__ = ["WORDS", "Cells", "Numbers", "numbers_of", "with_points"]

WORDS: Final = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null", ".",
)  # fmt: skip  # what programs write for a missing value
_FLAGS: Final = {"TRUE": True, "True": True, "true": True, "FALSE": False, "False": False, "false": False}
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INFINITE: Final = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_COMMAS: Final = re.compile(r"[+-]?(?:\d+|\d*,\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_GROUPS: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})*(?:\.\d+)?", re.ASCII)
_POINT_GROUPS: Final = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})*(?:,\d+)?", re.ASCII)
_SHARE: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)? ?%", re.ASCII)
_LONGEST: Final = 19  # digits of a whole number that 64 bits may not hold
_LOOKED_AT: Final = 100

Odd = Literal["", "leading zeros", "long"]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column that holds numbers, or that would if its texts were no more than numbers.

    Parameters
    ----------
    column : ChunkedArray
        Whole or real.
    odd : {"", "leading zeros", "long"}
        What a number would not keep.
    folded : bool
        Whether words were taken for missing.
    """

    column: pa.ChunkedArray
    odd: Odd
    folded: bool

    def series(self) -> pd.Series[Any]:
        """Make a column: whole numbers with missing ones keep all their digits."""
        if not pa.types.is_integer(self.column.type) or not self.column.null_count:
            return pd.Series(np.array(self.column.to_numpy()), copy=False)
        plain = self.column.fill_null(0).to_numpy()
        absent = self.column.is_null().to_numpy()
        return pd.Series(pd.arrays.IntegerArray(np.array(plain), np.array(absent)), copy=False)


def with_points(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write decimal commas as points; points become a sign that no number has."""
    return pc.replace_substring(pc.replace_substring(texts, ".", "_"), ",", ".")


def numbers_of(texts: pa.ChunkedArray) -> Numbers | None:
    """Read a column as numbers; None where a cell is none."""
    if texts.null_count == len(texts):
        return Numbers(texts.cast(pa.float64()), "", folded=False)
    shown = [cell.strip() for cell in pc.drop_null(texts.slice(0, _LOOKED_AT)).to_pylist()]
    if not all(cell in WORDS or _NUMBER.fullmatch(cell) or _INFINITE.fullmatch(cell) for cell in shown):
        return None
    whole = all(cell in WORDS or cell.lstrip("+-").isdigit() for cell in shown)
    for step in (_as_it_is, _folded, _trimmed):
        plain = step(texts)
        values = _cast(plain, (pa.int64(), pa.float64()) if whole else (pa.float64(),))
        if values is not None:
            return Numbers(values, _odd(plain, values), folded=step is not _as_it_is)
    return None


def _as_it_is(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Leave the texts."""
    return texts


def _folded(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Take words for missing."""
    return pc.if_else(pc.is_in(texts, pa.array(WORDS)), pa.scalar(None, pa.string()), texts)


def _trimmed(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Take blanks around, and a plus before, from each cell; and words for missing."""
    return _folded(pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), r"^\+", ""))


def _cast(texts: pa.ChunkedArray, kinds: Sequence[pa.DataType]) -> pa.ChunkedArray | None:
    """Turn all texts into the first kind of numbers that takes them; None where there is none."""
    if texts.null_count == len(texts):
        return None
    for kind in kinds:
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:  # names the cell, so it goes nowhere
            continue
    return None


def _odd(texts: pa.ChunkedArray, values: pa.ChunkedArray) -> Odd:
    """Say what the numbers do not keep of their texts."""
    if pa.types.is_integer(values.type):
        zeros = pc.and_(pc.starts_with(texts, "0"), pc.greater(pc.binary_length(texts), 1))
        return "leading zeros" if pc.any(zeros).as_py() else ""
    zeros = pc.and_not(pc.starts_with(texts, "0"), pc.starts_with(texts, "0."))
    if pc.any(zeros).as_py() and pc.any(pc.match_substring_regex(texts, r"^0[0-9]")).as_py():
        return "leading zeros"
    long = (pc.max(pc.binary_length(texts)).as_py() or 0) >= _LONGEST
    return "long" if long and pc.all(pc.match_substring_regex(texts, r"^-?[0-9]+$")).as_py() else ""


@dataclass(frozen=True, slots=True)
class Cells:
    """Distinct texts of a column, and where they stand.

    Parameters
    ----------
    distinct : list of str
        Distinct texts.
    codes : array of int
        Place of each cell among them; -1 where the field is empty.
    """

    distinct: list[str]
    codes: IntArray

    @classmethod
    def of(cls, texts: pa.ChunkedArray) -> Cells:
        """Take a column apart."""
        coded = texts.dictionary_encode().unify_dictionaries().combine_chunks()
        array = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
        codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return cls(array.dictionary.to_pylist(), np.asarray(codes, dtype=np.int64))

    @property
    def words(self) -> list[str]:
        """Words for missing that occur."""
        return [value for value in self.distinct if value.strip() in WORDS]

    @property
    def others(self) -> list[str]:
        """All that are no words for missing."""
        return [value for value in self.distinct if value.strip() not in WORDS]

    @classmethod
    def of_words(cls, texts: pa.ChunkedArray) -> Cells:
        """Take apart the cells that hold a word for missing, alone."""
        return cls.of(texts.filter(pc.is_in(pc.utf8_trim_whitespace(texts), pa.array(WORDS))))

    def count(self, texts: Sequence[str]) -> int:
        """Count the cells that hold one of some texts."""
        wanted = [at for at, value in enumerate(self.distinct) if value in set(texts)]
        return int(np.isin(self.codes, wanted).sum())

    def places(self, texts: Sequence[str]) -> IntArray:
        """Place of each cell among some of the texts; -1 for all others."""
        of = {value: at for at, value in enumerate(texts)}
        table = np.array([of.get(value, -1) for value in self.distinct] + [-1], dtype=np.int64)
        return table[self.codes]

    def flags(self) -> pd.Series[Any] | None:
        """Read TRUE and FALSE; None where there is another text."""
        others = self.others
        if not others or not all(value in _FLAGS for value in others):
            return None
        places = self.places(others)
        known = np.array([_FLAGS[value] for value in others] + [False])[places]
        if (places >= 0).all():
            return pd.Series(known)
        return pd.Series(pd.arrays.BooleanArray(known, places < 0))

    def written_as(self) -> Literal["", "commas", "unclear", "groups", "shares"]:
        """Say how numbers are written that are no plain ones."""
        others = [value.strip() for value in self.others]
        if not any(sign in other for other in others for sign in ",.%"):
            return ""
        if _all(_COMMAS, others):
            return "unclear" if _all(_GROUPS, others) else "commas"
        if _all(_GROUPS, others) or _all(_POINT_GROUPS, others):
            return "groups"
        return "shares" if _all(_SHARE, others) else ""


def _all(form: re.Pattern[str], texts: Sequence[str]) -> bool:
    """Whether all texts have a form."""
    matches: Callable[[str], object] = form.fullmatch
    return all(map(matches, texts))
