"""Digests of the copies in an R object: what was changed since it was made.

The R package computes the same numbers (``r-bridge/R/digest.R``). A value is written as a line with its kind
and length, then its elements, then those of its attributes that matter, each as a value: doubles and integers
as their bytes (little-endian), texts as codes into the different texts in order of appearance, each ended by
a zero.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import BridgeError
from pysynthdp.base.words import Words
from pysynthdp.bridge.codec import NA_INTEGER, RValue, RVector, character
from pysynthdp.release.unchanged import changed_column

__all__ = ["check_digests", "digests_of"]

_ATTRIBUTES: Final = ("names", "class", "levels", "tzone", "units", "labels", "na_values", "na_range")
_TYPES: Final = {"double": "<f8", "integer": "<i4", "logical": "<i4", "complex": "<c16", "raw": "u1"}


def digests_of(copies: Sequence[RVector]) -> tuple[RVector, ...]:
    """Give the digest of each column of each copy.

    Parameters
    ----------
    copies : sequence of RVector
        Data frames.

    Returns
    -------
    tuple of RVector
        One character vector a copy, with the columns' names.

    Notes
    -----
    Privacy: copies are public. Whoever wants to can compute a digest anew: it shows mistakes, not forgeries.

    Examples
    --------
    >>> frame = RVector("list", (character(["a", None]),), {"names": character(["x"])})
    >>> digests_of([frame])[0].texts
    ('d1dd2c000fddfa2f71aa292c0dd31f48',)
    """
    return tuple(
        character([_digest(item) for item in copy.items], {"names": character(copy.names)}) for copy in copies
    )


def check_digests(copies: Sequence[RVector], made: RValue) -> None:
    """Refuse copies that are not those of which the digests were made.

    Parameters
    ----------
    copies : sequence of RVector
        Data frames.
    made : RVector
        A list of what :func:`digests_of` gave.

    Raises
    ------
    BridgeError
        Naming the first copy and a column that was changed.

    Notes
    -----
    Privacy: names columns of public copies.
    """
    before = made.items if isinstance(made, RVector) and made.kind == "list" else ()
    if len(before) != len(copies):
        raise BridgeError(
            "copies were added to the object, or taken from it; make it again with synthesise()",
            kind="changed copies",
        )
    for number, (one, now) in enumerate(zip(before, digests_of(copies), strict=True), start=1):
        if isinstance(one, RVector) and one.names == now.names and one.texts == now.texts:
            continue
        then = dict(zip(one.names, one.texts, strict=True)) if isinstance(one, RVector) else {}
        found = dict(zip(now.names, now.texts, strict=True))
        column = changed_column(found, then)
        what = Words(
            "copy {number} was changed after it was made, in {column}",
            number=number,
            column=column or "the order of its columns",
        )
        remedy = "take the object as synthesise() gave it"
        raise BridgeError(what, column=column, kind="changed copies", remedy=remedy)


def _digest(value: RValue) -> str:
    """Give the digest of one column."""
    found = hashlib.md5(usedforsecurity=False)
    _write(value, found.update)
    return found.hexdigest()


def _write(value: RValue, put: Callable[[bytes], None]) -> None:
    """Write a value: kind and length, elements, attributes."""
    if not isinstance(value, RVector):
        put(b"other 0\n")
        return
    put(f"{value.kind} {len(value)}\n".encode())
    if value.kind in ("list", "expression"):
        for item in value.items:
            _write(item, put)
    elif value.kind == "character":
        _write_texts(value, put)
    else:
        put(np.ascontiguousarray(value.array, dtype=_TYPES[value.kind]).tobytes())
    _write_attributes(value.attributes, put)


def _write_texts(value: RVector, put: Callable[[bytes], None]) -> None:
    """Write texts as codes from 1, and the different texts in order of appearance."""
    codes, known = pd.factorize(value.array)
    put(np.where(codes < 0, NA_INTEGER, codes + 1).astype("<i4").tobytes())
    for text in known:
        put(str(text).encode("utf-8", "surrogateescape") + b"\0")


def _write_attributes(attributes: Mapping[str, RValue], put: Callable[[bytes], None]) -> None:
    """Write those attributes by which values mean something else."""
    for name in _ATTRIBUTES:
        if name in attributes:
            put(f"@{name}\n".encode())
            _write(attributes[name], put)
