"""Haven's tagged missing values: the letter that Stata's ``.a`` or SAS's ``.A`` becomes in R.

A tag is a byte in the payload of R's NA. It goes to pandas and back unchanged, but pandas shows every NaN
alike, and whatever computes there, synthesis too, takes all of them for one kind of missing value.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Final

import numpy as np

from pysynthdp.base.arrays import AnyArray
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.base.words import Setting, Words
from pysynthdp.bridge.codec import RVector, is_na_real
from pysynthdp.bridge.facts import RFrame

__all__ = ["declared_tags", "found_tags", "warn_of_tags"]

_TAG_BYTE: Final = 32  # bits below the tag, in the high word of the NaN


def found_tags(data: RFrame) -> list[str]:
    """Give the columns in which a row holds a tagged missing value; reads the rows."""
    kinds = [str(name) for name in data.frame.columns]
    held = [data.frame.iloc[:, at] for at in range(len(kinds))]
    floats = [
        (name, one.to_numpy()) for name, one in zip(kinds, held, strict=True) if one.dtype == np.float64
    ]
    return [name for name, values in floats if _has_tag(values)]


def declared_tags(data: RFrame) -> list[str]:
    """Give the columns whose labels name a tagged missing value; reads no row."""
    labels = {key[0]: facts.attributes.get("labels") for key, facts in data.facts.columns.items()}
    return [
        name
        for name, held in labels.items()
        if isinstance(held, RVector) and held.kind == "double" and _has_tag(held.array)
    ]


def warn_of_tags(columns: Collection[str], what: str) -> None:
    """Warn once, naming every column whose tags are lost."""
    if columns:
        names = ", ".join(map(repr, columns))
        first = next(iter(columns))
        remedy = Words(
            "to keep the kinds apart, recode each tag to a number and declare it, {missing}",
            missing=Setting("missing", {first: {-8: "refused"}}),
        )
        text = Words("the tagged missing values of {names} {what}", names=names, what=what)
        warnings.warn(PysynthdpWarning(text, column=first, kind="tagged", remedy=remedy), stacklevel=3)


def _has_tag(values: AnyArray) -> bool:
    """Whether one of the doubles is an NA of R with a letter in its payload."""
    missing = np.ascontiguousarray(values[is_na_real(values)], dtype=np.float64)
    return bool(((missing.view(np.uint64) >> np.uint64(_TAG_BYTE)) & np.uint64(0xFF)).any())
