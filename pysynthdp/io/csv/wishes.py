"""What is declared of a column before its file is read: whether its cells are texts or numbers."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from pysynthdp.design.level_keys import level_key
from pysynthdp.io.csv.cells import WORDS
from pysynthdp.schema import CategoricalColumn, Schema

__all__ = ["Declared", "Wish"]


@dataclass(frozen=True, slots=True)
class Wish:
    """How one column is to be read.

    Parameters
    ----------
    kind : {"open", "text", "number"}
        As what; open: as what its cells are.
    absent : collection of str
        Words that mean a missing value even among texts, since they are no declared level.
    kept : collection of str
        Words that are declared as levels or codes, and so texts.
    """

    kind: Literal["open", "text", "number"] = "open"
    absent: Collection[str] = ()
    kept: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """What is declared of all columns.

    Parameters
    ----------
    text : collection of str
        Columns that stay texts with all their words.
    levels, missing, bounds : mapping column -> declaration
        As for :class:`pysynthdp.Synthesizer`.
    schema : Schema, optional
        Of some or all columns.
    """

    text: Collection[str] = ()
    levels: Mapping[str, Iterable[Any]] | None = None
    missing: Mapping[str, Any] | None = None
    bounds: Mapping[str, Any] | None = None
    schema: Schema | None = None

    def wish(self, name: str) -> Wish:
        """Say how a column is to be read."""
        if name in self.text:
            return Wish("text", kept=WORDS)
        codes = tuple((self.missing or {}).get(name, ()))
        levels = tuple((self.levels or {}).get(name, ()))
        column = self.schema[name] if self.schema is not None and name in self.schema else None
        if isinstance(column, CategoricalColumn):
            levels, codes = (*levels, *column.levels), (*codes, *column.specials)
        if levels:
            return _of_levels(levels, codes)
        number = column is not None and getattr(column, "unit", None) == "number"
        if number or name in (self.bounds or {}):
            return Wish("number")
        return Wish(kept=_among(WORDS, {level_key(code) for code in codes}))


def _of_levels(levels: tuple[Any, ...], codes: tuple[Any, ...]) -> Wish:
    """Read as what the levels are; words that are neither level nor code are missing."""
    declared = {level_key(value) for value in (*levels, *codes)}
    kept = _among(WORDS, declared)
    absent = [word for word in WORDS if word not in kept]
    if all(isinstance(level, str) for level in levels):
        return Wish("text", absent, kept)
    numbers = all(isinstance(level, Real) and not isinstance(level, bool) for level in levels)
    return Wish("number" if numbers else "open", absent, kept)


def _among(words: Iterable[str], keys: Collection[Hashable]) -> list[str]:
    """Pick the words that are declared."""
    return [word for word in words if level_key(word) in keys]
