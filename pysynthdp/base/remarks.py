"""What a fit has to say of a column: said once, to the person who holds the data, with the way out."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.base.words import Words

__all__ = ["FEWEST", "Remark", "few", "grouped", "in_order", "outside", "say", "without_overlap"]

_HOME: Final = str(Path(__file__).parents[1])
FEWEST = 5  # records behind anything of them that a fit without a guarantee learns
SHARED = 5  # columns, up to which each has its own warning of a kind
_SAID_BY = {  # a kind on the left is left out of a column where one on the right says it
    "constant": ("few records",),
    "nearly constant": ("few records",),
    "spikes": ("shape",),
    "heaps": ("shape", "fine values"),
    "few values": ("shape",),
    "drift": ("shape",),  # all of it stands in check()
}


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that a fit found in a column and that its user should know.

    Parameters
    ----------
    column : str
        The column; empty for the table as a whole.
    kind : str
        What it is about, in one or two words, the same for all columns: ``"few records"``.
    what : str
        What was found and what was done about it; quotes no value of a record.
    remedy : str
        What to type to have it otherwise.

    Notes
    -----
    Privacy: learned from the rows, so there is none under a guarantee; counts below ten are told as "fewer
    than ten". It stays with whoever fits and is no part of a release.

    Examples
    --------
    >>> str(Remark("town", "few records", "3 levels have fewer than 5 records", "rare='merge' merges them"))
    "town: 3 levels have fewer than 5 records; rare='merge' merges them"
    """

    column: str
    kind: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return str(self.warning())

    @property
    def sentence(self) -> Words:
        """What and the remedy, without the column."""
        template = "{what}; {remedy}" if self.remedy else "{what}"
        return Words(template, what=self.what, remedy=self.remedy)

    def warning(self) -> PysynthdpWarning:
        """Make the warning that says it."""
        what = Words("{column}: {what}", column=self.column, what=self.what) if self.column else self.what
        return PysynthdpWarning(what, column=self.column or None, kind=self.kind, remedy=self.remedy or None)


def few(count: int) -> str:
    """Write a count of records; one below ten stays vague.

    Examples
    --------
    >>> few(3), few(1200)
    ('fewer than ten', '1,200')
    """
    return "fewer than ten" if count < 10 else f"{count:,}"


def without_overlap(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Leave out what stands twice, and what another remark of the same column says better."""
    found = tuple(dict.fromkeys(remarks))
    there = {(remark.column, remark.kind) for remark in found}
    return tuple(
        remark
        for remark in found
        if not any((remark.column, better) in there for better in _SAID_BY.get(remark.kind, ()))
    )


def in_order(remarks: Iterable[Remark], columns: Iterable[str]) -> tuple[Remark, ...]:
    """Put remarks into the order of the columns, those of the whole table first."""
    place = {name: at for at, name in enumerate(columns, start=1)}
    return tuple(sorted(remarks, key=lambda remark: place.get(remark.column, 0)))


def grouped(remarks: Iterable[Remark]) -> tuple[PysynthdpWarning, ...]:
    """Make one warning a remark; where more than five columns share its words, one for all of them.

    Examples
    --------
    >>> same = [Remark(name, "rare levels", "2 levels are rare", "merge them") for name in "abcdef"]
    >>> print(*grouped(same))
    6 columns (a, b, c, d, e, f): 2 levels are rare; merge them
    >>> len(grouped(same[:5]))
    5
    """
    alike: dict[tuple[str, str], list[Remark]] = {}
    for remark in dict.fromkeys(remarks):
        template = remark.what.template if isinstance(remark.what, Words) else remark.what
        alike.setdefault((remark.kind, template), []).append(remark)
    found: list[PysynthdpWarning] = []
    for same in alike.values():
        found += [_of_many(same)] if len(same) > SHARED else [remark.warning() for remark in same]
    return tuple(found)


def _of_many(remarks: list[Remark]) -> PysynthdpWarning:
    """Name the columns that share a remark, and say the first one's."""
    first = remarks[0]
    same = len({str(remark.sentence) for remark in remarks}) == 1
    what = Words(
        "{count} columns ({names}): {what}"
        if same
        else "{count} columns alike ({names}), for one {column}: {what}",
        count=len(remarks),
        names=", ".join(remark.column for remark in remarks),
        column=first.column,
        what=first.what,
    )
    faults = [remark.warning() for remark in remarks]
    return PysynthdpWarning(what, kind=first.kind, remedy=first.remedy or None, faults=faults)


def outside() -> int:
    """Count, for a warning of the caller, the levels up to the first line that is not of this package.

    Examples
    --------
    >>> outside()  # called from outside
    1
    """
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(_HOME):
        frame, level = frame.f_back, level + 1
    return max(level, 1)


def say(remarks: Iterable[Remark]) -> None:
    """Warn once of each remark, and once of those that many columns share.

    Warns
    -----
    PysynthdpWarning
        With the remark's ``column``, ``kind`` and ``remedy`` beside its text; where it is of many columns,
        with one a column in ``faults``.
    """
    for warning in grouped(remarks):
        warnings.warn(warning, stacklevel=outside())
