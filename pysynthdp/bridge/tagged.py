"""Haven's tagged missing values: the letter that Stata's ``.a`` or SAS's ``.A`` becomes in R.

A tag is a byte in the payload of R's NA. It goes to pandas and back unchanged, and is a kind of missing value
of its own where ``missing`` or haven's labels declare it; else a synthesis takes it for plain NA.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any

from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.base.words import Setting, Words
from pysynthdp.bridge.codec import RVector
from pysynthdp.bridge.facts import RFrame
from pysynthdp.design.tagged import holds_tags, tags_in
from pysynthdp.schema.labels import as_tag

__all__ = ["declared_tags", "found_tags", "warn_of_tags"]


def found_tags(data: RFrame, declared: Mapping[str, Collection[Any]] | None = None) -> list[str]:
    """Give the columns in which a row holds a tag that is not declared; reads the rows."""
    names = [str(name) for name in data.frame.columns]
    held = zip(names, (data.frame.iloc[:, at] for at in range(len(names))), strict=True)
    return [
        name for name, one in held if holds_tags(one) and _others(tags_in(one.to_numpy()), name, declared)
    ]


def declared_tags(data: RFrame, declared: Mapping[str, Collection[Any]] | None = None) -> list[str]:
    """Give the columns whose labels name a tag that is not declared besides; reads no row."""
    labels = {key[0]: facts.attributes.get("labels") for key, facts in data.facts.columns.items()}
    doubles = {name: held.array for name, held in labels.items() if isinstance(held, RVector) and
               held.kind == "double"}  # fmt: skip
    return [name for name, held in doubles.items() if _others(tags_in(held), name, declared)]


def _others(tags: Collection[str], name: str, declared: Mapping[str, Collection[Any]] | None) -> bool:
    """Whether some tags of a column are not declared."""
    known = {as_tag(code) for code in (declared or {}).get(name, ())}
    return any(tag not in known for tag in tags)


def warn_of_tags(columns: Collection[str], what: str) -> None:
    """Warn once, naming every column whose tags are lost."""
    if columns:
        names = ", ".join(map(repr, columns))
        first = next(iter(columns))
        remedy = Words(
            "to keep the kinds apart, declare each tag, {missing}",
            missing=Setting("missing", {first: {".a": "refused"}}),
        )
        text = Words("the tagged missing values of {names} {what}", names=names, what=what)
        warnings.warn(PysynthdpWarning(text, column=first, kind="tagged", remedy=remedy), stacklevel=3)
