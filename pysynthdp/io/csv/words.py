"""What is left of a file as texts: whether a word such as ``NA`` is one of them, or a missing value.

Quotes tell: programs that write ``NA`` for a missing value put their texts in quotes. Where nothing has
quotes, a word is a text, unless the file writes missing numbers by ``NA`` too and leaves no field empty; said
either way.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pysynthdp.base.remarks import Remark, few
from pysynthdp.base.words import Setting, Words
from pysynthdp.io.csv.cells import WORDS, Cells
from pysynthdp.io.csv.learned import Source, read_texts
from pysynthdp.io.csv.shelf import Shelf
from pysynthdp.io.csv.wishes import Wish

__all__ = ["listed", "settled_texts"]

_BLOCK: Final = 1 << 18
_LOOKED_AT: Final = 200  # distinct texts of a column, by which its quotes are told


def settled_texts(
    source: Source, left: Mapping[str, pa.ChunkedArray], wishes: Mapping[str, Wish], *, writes_na: bool
) -> tuple[dict[str, pd.Series[Any]], list[Remark]]:
    """Make columns of texts, and decide what words for missing mean in them.

    Parameters
    ----------
    source : Source
        The file.
    left : mapping column -> texts
        All that are no numbers, flags or dates.
    wishes : mapping column -> Wish
        What is declared.
    writes_na : bool
        Whether the file writes ``NA`` for missing numbers and leaves no field empty.

    Returns
    -------
    tuple of dict, list of Remark
        The columns, and what was decided.
    """
    doubtful = [name for name, texts in left.items() if _has_words(texts, wishes[name])]
    shown = {text for name in doubtful for text in Cells(left[name]).first(_LOOKED_AT)}
    bare = read_texts(source, only=doubtful, absent=[*WORDS, *shown]) if doubtful else {}
    done, remarks = {}, []
    for name, own in left.items():
        texts = _without(own, pc.is_in(own, _array(wishes[name].absent)), source.shelf)
        if name in bare:
            unquoted = pc.and_not(pc.is_null(bare[name]), pc.is_null(texts))
            absent, remark = _decided(name, texts, unquoted, wishes[name], writes_na=writes_na)
            texts = texts if absent is None else _without(texts, absent, source.shelf)
            remarks += [] if remark is None else [remark]
        nothing = texts.null_count == len(texts) and wishes[name].kind == "open"
        done[name] = _nothing(len(texts), source.shelf) if nothing else source.shelf.texts(texts)
    return done, remarks


def _has_words(texts: pa.ChunkedArray, wish: Wish) -> bool:
    """Whether a column of texts holds words that often mean missing and are not declared."""
    unsettled = [word for word in WORDS if word not in ("", *wish.kept)]
    return not wish.absent and bool(pc.any(pc.is_in(texts, _array(unsettled))).as_py())


def _decided(
    name: str, texts: pa.ChunkedArray, unquoted: pa.ChunkedArray, wish: Wish, *, writes_na: bool
) -> tuple[pa.ChunkedArray | None, Remark | None]:
    """Decide which cells are missing: of words without quotes all or none, all if the texts have quotes."""
    word = pc.is_in(texts, _array([word for word in WORDS if word not in wish.kept]))
    doubtful = pc.and_(unquoted, word)
    count = pc.sum(doubtful).as_py() or 0
    if not count:
        return None, None
    if not pc.any(pc.and_not(unquoted, word)).as_py():
        return doubtful, None
    words = sorted(pc.unique(texts.filter(doubtful)).to_pylist())
    absent = writes_na and words == ["NA"]
    return (doubtful if absent else None), _remark(name, words, count, absent=absent)


def _remark(name: str, words: Sequence[str], count: int, *, absent: bool) -> Remark:
    """Say what was decided of words without quotes among texts."""
    how = "missing" if absent else "text"
    what = Words(
        "{count} cells hold {words} without quotes; read as {how}",
        count=few(count), words=listed(words), how=how,
    )  # fmt: skip
    text = Setting("text", [name])
    if absent:
        return Remark(name, "missing", what, Words("{text} keeps the text", text=text))
    declares = Setting("missing", {name: dict.fromkeys(words, "missing")})
    settles = Words("{missing} declares them missing, {text} texts", missing=declares, text=text)
    return Remark(name, "missing", what, settles)


def listed(words: Sequence[str]) -> str:
    """Write words of our own list for people.

    Examples
    --------
    >>> listed(["NA", " "])
    'NA, blanks'
    """
    return ", ".join(word.strip() or "blanks" for word in words)


def _array(words: Any) -> pa.Array:
    """Make texts to look up."""
    return pa.array(list(words), pa.string())


def _without(texts: pa.ChunkedArray, absent: pa.ChunkedArray, shelf: Shelf) -> pa.ChunkedArray:
    """Make cells missing."""
    if not pc.any(absent).as_py():
        return texts
    starts = [0, *itertools.accumulate(map(len, texts.chunks))]
    marks = (
        absent.slice(at, len(chunk)).combine_chunks() for at, chunk in zip(starts, texts.chunks, strict=False)
    )
    return shelf.keep(pa.string(), map(_blanked, texts.chunks, marks))


def _blanked(chunk: pa.Array, absent: pa.Array) -> pa.Array:
    """Make cells of a block missing."""
    return pc.if_else(pc.fill_null(absent, fill_value=False), pa.scalar(None, pa.string()), chunk)


def _nothing(size: int, shelf: Shelf) -> pd.Series[Any]:
    """Make a column in which nothing is."""
    blocks = (np.full(min(_BLOCK, size - at), np.nan) for at in range(0, size, _BLOCK))
    return pd.Series(shelf.array(np.float64, blocks), copy=False)
