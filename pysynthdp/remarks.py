"""What a fit has to say of a column: said once, to the person who holds the data, with the way out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from pysynthdp.errors import PysynthdpWarning
from pysynthdp.words import Words

__all__ = ["Remark", "few", "say"]


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


def say(remarks: Iterable[Remark], *, stacklevel: int = 2) -> None:
    """Warn once of each remark.

    Warns
    -----
    PysynthdpWarning
        With the remark's ``column``, ``kind`` and ``remedy`` beside its text.
    """
    for remark in dict.fromkeys(remarks):
        warnings.warn(remark.warning(), stacklevel=stacklevel)
