"""What an R data frame knows and pandas cannot hold: kept beside the frame, never inside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import pandas as pd

from pysynthdp.bridge.codec import RValue, RVector
from pysynthdp.bridge.codec.wire import Kind

__all__ = ["ColumnFacts", "ColumnKey", "FrameFacts", "Meaning", "RFrame", "column_keys"]

Meaning: TypeAlias = Literal["plain", "factor", "date", "day", "datetime", "difftime", "integer64", "list"]
ColumnKey: TypeAlias = tuple[str, int]
"""A column's name, and how many columns of that name stand before it."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """How R stores one column.

    Parameters
    ----------
    kind : str
        R's ``typeof()``.
    meaning : str
        How the values are understood in pandas; ``"plain"`` as they are stored, ``"day"`` as declared days,
        which may have fractions.
    attributes : mapping
        R's attributes except names and levels: class, units, tzone, label, labels, ...
    na_level : int, optional
        Position of a factor level that is NA (``addNA()``).
    na_label : str, optional
        Category that stands for the NA level where a factor has missing codes besides.
    """

    kind: Kind
    meaning: Meaning = "plain"
    attributes: Mapping[str, RValue] = field(default_factory=dict)
    na_level: int | None = None
    na_label: str | None = None

    @property
    def shown(self) -> str:
        """What R's ``class()`` says first: the name by which an R user knows the type."""
        held = self.attributes.get("class")
        classes = [name for name in held.texts if name] if isinstance(held, RVector) else []
        return classes[0] if classes else {"double": "numeric"}.get(self.kind, self.kind)

    @property
    def is_plain_time(self) -> bool:
        """Whether R's class says time, and the values are R's plain numbers."""
        held = self.attributes.get("class")
        classes = held.texts if isinstance(held, RVector) else ()
        return self.meaning == "plain" and bool({"Date", "POSIXct", "difftime"} & set(classes))


@dataclass(frozen=True, slots=True, eq=False)
class FrameFacts:
    """How R stores a data frame.

    Parameters
    ----------
    columns : mapping
        Facts by :data:`ColumnKey`; a frame may lack some of the columns or have others.
    attributes : mapping
        R's attributes of the frame except names and row names; ``class`` among them.

    Notes
    -----
    Privacy: holds no value of a row, but levels, labels and whatever attributes the owner set on the frame.
    """

    columns: Mapping[ColumnKey, ColumnFacts]
    attributes: Mapping[str, RValue]


@dataclass(frozen=True, slots=True, eq=False)
class RFrame:
    """A data frame that came from R, with what is needed to send it back exactly.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    facts : FrameFacts
        What pandas cannot hold.
    """

    frame: pd.DataFrame
    facts: FrameFacts


def column_keys(names: Iterable[str]) -> Iterator[ColumnKey]:
    """Give each column its key.

    Examples
    --------
    >>> list(column_keys(["a", "b", "a"]))
    [('a', 0), ('b', 0), ('a', 1)]
    """
    seen: dict[str, int] = {}
    for name in names:
        before = seen.get(name, 0)
        seen[name] = before + 1
        yield name, before
