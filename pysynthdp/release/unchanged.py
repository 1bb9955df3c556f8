"""Fingerprints of the copies of a release, by which changes are seen before anything is written."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import pandas as pd

from pysynthdp.base.errors import ReleaseError
from pysynthdp.base.words import Words

__all__ = ["Prints", "changed_column", "check_prints", "overwritten", "prints_of"]

Name = TypeVar("Name")
Prints: TypeAlias = tuple[Mapping[str, tuple[str, int]], ...]
"""For each copy: type and checksum of every column."""

_REMEDY = (
    "write the release as it was drawn, and derive columns where they are analysed; a column to be released "
    "belongs into the table before it is synthesised"
)


def prints_of(copies: Sequence[pd.DataFrame]) -> Prints:
    """Give type and checksum of every column of every copy.

    Parameters
    ----------
    copies : sequence of DataFrame
        As drawn.

    Returns
    -------
    tuple of mapping
        By column, in order.

    Notes
    -----
    Privacy: copies are public. It shows mistakes, not forgeries: whoever wants to can make a release anew.

    Examples
    --------
    >>> one, other = prints_of([pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [2, 1]})])
    >>> one == other
    False
    """
    return tuple({str(name): _print_of(copy[name]) for name in copy.columns} for copy in copies)


def _print_of(column: pd.Series[Any]) -> tuple[str, int]:
    """Give the type, with its categories, and a checksum of the values in their order."""
    kind = str(column.dtype)
    if isinstance(column.dtype, pd.CategoricalDtype):
        kind = f"{kind} {column.cat.categories.tolist()} {column.cat.ordered}"
    try:
        hashed = pd.util.hash_pandas_object(column, index=False)
    except (TypeError, ValueError):
        return kind, len(column)  # a type that has no hash, and no place in a file
    return kind, zlib.crc32(hashed.to_numpy().tobytes(), len(column))


def changed_column(now: Mapping[Name, object], then: Mapping[Name, object]) -> Name | None:
    """Name the first column whose fingerprint is another, or is there only once; None if only the order is.

    Examples
    --------
    >>> changed_column({"x": 1, "y": 2}, {"x": 1, "y": 3})
    'y'
    """
    return next((name for name in (*now, *then) if now.get(name) != then.get(name)), None)


def overwritten(copies: Sequence[pd.DataFrame], drawn: Prints, names: Collection[str]) -> tuple[str, ...]:
    """Name the drawn columns, among some, that hold other cells in any copy than were drawn.

    Parameters
    ----------
    copies : sequence of DataFrame
        As they are now.
    drawn : tuple of mapping
        From :func:`prints_of`.
    names : collection of str
        Columns to look at; one that was added later is none of them.

    Notes
    -----
    Privacy: names columns of public copies.
    """
    pairs = list(zip(copies, drawn, strict=True))
    return tuple(
        name
        for name in drawn[0]
        if name in names and any(name in now and _print_of(now[name]) != then[name] for now, then in pairs)
    )


def check_prints(copies: Sequence[pd.DataFrame], drawn: Prints) -> None:
    """Refuse copies that are not those that were drawn.

    Parameters
    ----------
    copies : sequence of DataFrame
        As they are now.
    drawn : tuple of mapping
        From :func:`prints_of`.

    Raises
    ------
    ReleaseError
        Naming the first copy that was changed, and a column.

    Notes
    -----
    Privacy: names columns of public copies.
    """
    for number, (now, then) in enumerate(zip(prints_of(copies), drawn, strict=True), start=1):
        if list(now.items()) == list(then.items()):
            continue
        column = changed_column(now, then)
        what = Words(
            "copy {number} was changed after it was drawn, in {column}: what the release says of it no "
            "longer holds",
            number=number,
            column=column or "the order of its columns",
        )
        raise ReleaseError(what, column=column, kind="changed copies", remedy=_REMEDY)
