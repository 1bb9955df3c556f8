"""What the copies hold that decides whether and how a format can hold them: ranges, lengths, collisions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray
from pysynthdp.io.survey.coding import Cells, Coding, cells_of

__all__ = ["Seen", "kind_codes", "looked_at"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What all copies hold in one column.

    Parameters
    ----------
    low, high : float
        Of the numbers; NaN without any.
    smallest : float
        Smallest size of a number that is not zero.
    whole : bool
        Whether all numbers are.
    longest : int
        Bytes of the longest text.
    blanks, zeros : bool
        Whether a text ends in blanks, or holds a zero byte.
    empty, gaps : bool
        Whether a text is empty, and whether one is missing for no reason.
    ascii : bool
        Whether all texts are plain.
    hits, inside : bool
        Whether a number equals the code of a reason, and whether one lies in the range of missing codes.
    between : tuple of bool
        For each pair of neighbouring codes of reasons, whether a number lies there.
    """

    low: float = math.nan
    high: float = math.nan
    smallest: float = math.inf
    whole: bool = True
    longest: int = 0
    blanks: bool = False
    zeros: bool = False
    empty: bool = False
    gaps: bool = False
    ascii: bool = True
    hits: bool = False
    inside: bool = False
    between: tuple[bool, ...] = ()

    def any_in(self, low: float, high: float, codes: list[float]) -> bool:
        """Whether a number may lie between two codes: it is known for those of the file."""
        if math.isnan(self.low) or self.high < low or self.low > high:
            return False
        if low not in codes or high not in codes:
            return True
        return any(self.between[codes.index(low) : codes.index(high)])


def looked_at(copies: Iterable[pd.DataFrame], codings: tuple[Coding, ...]) -> tuple[Seen, ...]:
    """Look at all copies, column by column.

    Notes
    -----
    Privacy: reads copies.
    """
    every = [[_seen(one, cells_of(one, copy[one.name])) for one in codings] for copy in copies]
    return tuple(reduce(_both, column) for column in zip(*every, strict=True))


def kind_codes(coding: Coding) -> list[float]:
    """Give the numbers that stand for reasons in the file of the table, in order."""
    own = [each.kind.code for each in coding.absent]
    return sorted({float(code) for code in own if isinstance(code, int | float)})


def _seen(coding: Coding, cells: Cells) -> Seen:
    """Look at one column of one copy."""
    if coding.texts:
        return _texts(cells)
    values = cells.held[~np.isnan(cells.held)]
    sizes = np.abs(values[values != 0])
    if not len(values):
        return Seen(between=(False,) * max(len(kind_codes(coding)) - 1, 0))
    return Seen(
        low=float(values.min()),
        high=float(values.max()),
        smallest=float(sizes.min()) if len(sizes) else math.inf,
        whole=bool(np.isfinite(values).all() and (values == np.floor(values)).all()),
        hits=bool(np.isin(values, kind_codes(coding)).any()),
        inside=_inside(values, coding.labels.missing_range),
        between=_between(values, kind_codes(coding)),
    )


def _inside(values: AnyArray, span: tuple[float, float] | None) -> bool:
    """Whether a value lies in a range."""
    return span is not None and bool(((values >= span[0]) & (values <= span[1])).any())


def _between(values: AnyArray, codes: list[float]) -> tuple[bool, ...]:
    """Say for neighbouring codes whether a value lies between them."""
    return tuple(bool(((values >= low) & (values <= high)).any()) for low, high in pairwise(codes))


def _texts(cells: Cells) -> Seen:
    """Look at texts, each once."""
    held = pd.unique(cells.held[cells.kinds < 0])
    return Seen(
        longest=max((len(text.encode()) for text in held), default=0),
        blanks=any(text != text.rstrip(" ") for text in held),
        zeros=any("\x00" in text for text in held),
        empty=cells.empty,
        gaps=cells.gaps,
        ascii=all(text.isascii() for text in held),
    )


def _both(one: Seen, two: Seen) -> Seen:
    """Put together what two copies hold."""
    changes: dict[str, Any] = {
        "low": float(np.fmin(one.low, two.low)),
        "high": float(np.fmax(one.high, two.high)),
        "smallest": min(one.smallest, two.smallest),
        "whole": one.whole and two.whole,
        "longest": max(one.longest, two.longest),
        "ascii": one.ascii and two.ascii,
        "between": tuple(a or b for a, b in zip(one.between, two.between, strict=True)),
    }
    for name in ("blanks", "zeros", "empty", "gaps", "hits", "inside"):
        changes[name] = getattr(one, name) or getattr(two, name)
    return replace(one, **changes)
