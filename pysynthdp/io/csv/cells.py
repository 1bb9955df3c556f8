"""The cells of a column as texts, block by block: what all of them say, and a column made of them.

Only an empty field without quotes is missing. A word such as ``null`` is missing where all other cells of its
column are numbers, flags or dates, since it is none of them; among texts it is a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pysynthdp.base.arrays import AnyArray
from pysynthdp.io.csv.shelf import Shelf

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
Step = Callable[[pa.Array], pa.Array]


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

    def series(self, shelf: Shelf) -> pd.Series[Any]:
        """Make a column: whole numbers with missing ones keep all their digits."""
        kind, chunks = self.column.type.to_pandas_dtype(), self.column.chunks
        if not pa.types.is_integer(self.column.type) or not self.column.null_count:
            return pd.Series(shelf.array(kind, map(_plain, chunks)), copy=False)
        plain = shelf.array(kind, (_plain(chunk.fill_null(0)) for chunk in chunks))
        absent = shelf.array(np.bool_, (_plain(chunk.is_null()) for chunk in chunks))
        return pd.Series(pd.arrays.IntegerArray(plain, absent), copy=False)


def _plain(chunk: pa.Array) -> AnyArray:
    """Give an array of numpy; a missing real number is NaN."""
    return np.asarray(chunk.to_numpy(zero_copy_only=False))


def with_points(texts: pa.Array) -> pa.Array:
    """Write decimal commas as points; points become a sign that no number has."""
    return pc.replace_substring(pc.replace_substring(texts, ".", "_"), ",", ".")


def numbers_of(texts: pa.ChunkedArray, shelf: Shelf, *, commas: bool = False) -> Numbers | None:
    """Read a column as numbers, with decimal commas or points; None where a cell is none."""
    first: Step = with_points if commas else _as_it_is
    if texts.null_count == len(texts):
        kept = shelf.keep(pa.float64(), (chunk.cast(pa.float64()) for chunk in texts.chunks))
        return Numbers(kept, "", folded=False)
    shown = [cell.strip() for cell in pc.drop_null(first(texts.slice(0, _LOOKED_AT))).to_pylist()]
    if not all(cell in WORDS or _NUMBER.fullmatch(cell) or _INFINITE.fullmatch(cell) for cell in shown):
        return None
    whole = all(cell in WORDS or cell.lstrip("+-").isdigit() for cell in shown)
    for step in (_as_it_is, _folded, _trimmed):
        plain = _after(first, step)
        values = _cast(texts, plain, (pa.int64(), pa.float64()) if whole else (pa.float64(),), shelf)
        if values is not None:
            return Numbers(values, _odd(texts, plain, values.type), folded=step is not _as_it_is)
    return None


def _after(first: Step, then: Step) -> Step:
    """Take two steps."""
    return lambda texts: then(first(texts))


def _as_it_is(texts: pa.Array) -> pa.Array:
    """Leave the texts."""
    return texts


def _folded(texts: pa.Array) -> pa.Array:
    """Take words for missing."""
    return pc.if_else(pc.is_in(texts, pa.array(WORDS)), pa.scalar(None, pa.string()), texts)


def _trimmed(texts: pa.Array) -> pa.Array:
    """Take blanks around, and a plus before, from each cell; and words for missing."""
    return _folded(pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), r"^\+", ""))


def _cast(
    texts: pa.ChunkedArray, plain: Step, kinds: Sequence[pa.DataType], shelf: Shelf
) -> pa.ChunkedArray | None:
    """Turn all texts into the first kind of numbers that takes them; None where there is none."""
    for kind in kinds:
        try:
            values = shelf.keep(kind, (plain(chunk).cast(kind) for chunk in texts.chunks))
        except pa.ArrowInvalid:  # names the cell, so it goes nowhere
            continue
        return None if values.null_count == len(values) else values
    return None


def _odd(texts: pa.ChunkedArray, plain: Step, kind: pa.DataType) -> Odd:
    """Say what the numbers do not keep of their texts."""
    shown = (pc.drop_null(plain(chunk)) for chunk in texts.chunks)
    found = [_odd_chunk(chunk, kind) for chunk in shown if len(chunk)]
    if any(zeros for zeros, _, _ in found):
        return "leading zeros"
    long = any(long for _, long, _ in found) and all(digits for _, _, digits in found)
    return "long" if long else ""


def _odd_chunk(shown: pa.Array, kind: pa.DataType) -> tuple[bool, bool, bool]:
    """Say of some texts whether one has leading zeros, whether one is long, and whether all are digits."""
    if pa.types.is_integer(kind):
        zeros = pc.and_(pc.starts_with(shown, "0"), pc.greater(pc.binary_length(shown), 1))
        return pc.any(zeros).as_py(), False, False
    zeros = pc.and_not(pc.starts_with(shown, "0"), pc.starts_with(shown, "0."))
    leading = pc.any(zeros).as_py() and pc.any(pc.match_substring_regex(shown, r"^0[0-9]")).as_py()
    long = pc.max(pc.binary_length(shown)).as_py() >= _LONGEST
    return leading, long, pc.all(pc.match_substring_regex(shown, r"^-?[0-9]+$")).as_py()


@dataclass(frozen=True, slots=True)
class Cells:
    """The texts of a column, of which distinct ones of each block are looked at.

    Parameters
    ----------
    texts : ChunkedArray
        All cells.
    """

    texts: pa.ChunkedArray

    def words(self) -> dict[str, int]:
        """Count the cells that hold words for missing."""
        counts: dict[str, int] = {}
        for chunk in self.texts.chunks:
            held = chunk.filter(pc.is_in(pc.utf8_trim_whitespace(chunk), pa.array(WORDS)))
            for pair in held.value_counts().to_pylist():
                counts[pair["values"]] = counts.get(pair["values"], 0) + pair["counts"]
        return {text: count for text, count in counts.items() if text is not None}

    def others(self) -> Iterator[list[str]]:
        """Give the distinct texts of each block that are no words for missing."""
        for chunk in self.texts.chunks:
            yield [text for text in chunk.unique().drop_null().to_pylist() if text.strip() not in WORDS]

    def first(self, count: int) -> list[str]:
        """Give the first distinct texts that are no words."""
        found: dict[str, None] = {}
        for texts in self.others():
            found |= dict.fromkeys(texts)
            if len(found) >= count:
                break
        return list(found)[:count]

    def looked_up(self, values: Callable[[list[str]], AnyArray], absent: Any) -> Iterator[AnyArray]:
        """Give block by block what the texts mean; words, and empty fields, mean ``absent``."""
        for chunk in self.texts.chunks:
            coded = chunk.dictionary_encode()
            texts = coded.dictionary.to_pylist()
            known = np.array([text.strip() not in WORDS for text in texts], dtype=np.bool_)
            found = values([text for text, one in zip(texts, known, strict=True) if one])
            table = np.full(len(texts) + 1, absent, dtype=found.dtype)
            table[:-1][known] = found
            yield table[_plain(coded.indices.fill_null(len(texts)))]

    def flags(self, shelf: Shelf) -> pd.Series[Any] | None:
        """Read TRUE and FALSE; None where there is another text."""
        seen = False
        for texts in self.others():
            if not all(text in _FLAGS for text in texts):
                return None
            seen = seen or bool(texts)
        if not seen:
            return None
        known = shelf.array(np.bool_, self.looked_up(_flags, absent=False))
        absent = shelf.array(np.bool_, self.looked_up(_no_words, absent=True))
        return pd.Series(pd.arrays.BooleanArray(known, absent) if absent.any() else known, copy=False)

    def written_as(self) -> Literal["", "commas", "unclear", "groups", "shares"]:
        """Say how numbers are written that are no plain ones."""
        signs, left = False, [_COMMAS, _GROUPS, _POINT_GROUPS, _SHARE]
        for texts in self.others():
            others = [text.strip() for text in texts]
            signs = signs or any(sign in other for other in others for sign in ",.%")
            left = [form for form in left if _all(form, others)]
            if not left:
                return ""
        if not signs:
            return ""
        if _COMMAS in left:
            return "unclear" if _GROUPS in left else "commas"
        return "groups" if _GROUPS in left or _POINT_GROUPS in left else "shares"


def _flags(texts: Iterable[str]) -> AnyArray:
    """Give TRUE and FALSE of texts that say so."""
    return np.array([_FLAGS[text] for text in texts], dtype=np.bool_)


def _no_words(texts: Sequence[str]) -> AnyArray:
    """Say of texts that are no words for missing that none is missing."""
    return np.zeros(len(texts), dtype=np.bool_)


def _all(form: re.Pattern[str], texts: Sequence[str]) -> bool:
    """Whether all texts have a form."""
    return all(map(form.fullmatch, texts))
