"""A release <-> the R object of class ``synthetic``: a ``synds`` that also knows what is true of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.errors import BridgeError, PysynthdpError
from pysynthdp.base.words import said
from pysynthdp.bridge.codec import RValue, RVector, character, named_list
from pysynthdp.bridge.digests import check_digests, digests_of
from pysynthdp.bridge.facts import FrameFacts
from pysynthdp.bridge.from_synds import release_from_synds
from pysynthdp.bridge.labels_to_r import labelled_from_r
from pysynthdp.bridge.plain import plain_from_r, plain_to_r
from pysynthdp.bridge.synds import synds_fields
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import Schema
from pysynthdp.schema.plain import from_plain, to_plain
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.provenance import Provenance

__all__ = ["changed_release_from_r", "release_from_r", "release_to_r", "statement_words"]

_OWN = ("privacy", "words", "tags", "schema", "provenance")


def release_to_r(
    release: SyntheticRelease,
    *,
    facts: FrameFacts | None = None,
    predictors: Mapping[str, Collection[str]] | None = None,
    factors: bool = False,
) -> RVector:
    """Make the R object of class ``c("synthetic", "synds")``.

    Parameters
    ----------
    release : SyntheticRelease
        The copies and what is true of them.
    facts, predictors
        As in :func:`~pysynthdp.bridge.synds.synds_from_release`.
    factors : bool
        Whether categories that are labels of codes become factors.

    Returns
    -------
    RVector
        The fields of ``synds`` and, as plain lists, ``privacy``, ``words``, ``tags``, ``schema`` and
        ``provenance``, and ``digest``, by which changes of the copies are seen.

    Raises
    ------
    BridgeError
        If R has no vector for a column of the copies.
    ReleaseError
        If a copy was changed since it was drawn.

    Notes
    -----
    Privacy: holds what the release holds, no more.

    Examples
    --------
    >>> import pandas as pd, pysynthdp as sdp
    >>> release = sdp.synthesize(pd.DataFrame({"x": [1.5, 2.5, 4.0] * 20}), m=2, rng=1)
    >>> release_from_r(release_to_r(release)).tags == release.tags
    True
    """
    release.check_unchanged()
    own = {
        "privacy": release.privacy.to_dict(),
        "words": statement_words(release.privacy),
        "tags": release.tags.to_dict(),
        "schema": to_plain(release.schema, methods=dict(release.provenance.methods), real=release.tags.kept),
        "provenance": asdict(release.provenance),
    }
    both = synds_fields(release, facts=facts, predictors=predictors, factors=factors)
    both |= {name: plain_to_r(value) for name, value in own.items()}
    both["digest"] = RVector("list", digests_of(_frames(both["syn"])))
    return named_list(both, {"class": character(["synthetic", "synds"])})


def statement_words(privacy: PrivacyStatement) -> dict[str, str]:
    """Write a statement for people: as a card, and as a paragraph."""
    return {"card": privacy.said("r"), "paragraph": said(privacy.plain_language(), "r")}


def release_from_r(value: RValue) -> SyntheticRelease:
    """Read what :func:`release_to_r` made, or a ``synds`` object of synthpop.

    Parameters
    ----------
    value : RVector
        A list of class ``synthetic`` or ``synds``.

    Returns
    -------
    SyntheticRelease
        The release.

    Raises
    ------
    BridgeError
        If it is no such object, or was changed so that its parts no longer fit together.

    Notes
    -----
    Privacy: nothing is run; the statement is refused if its words do not follow from its constants.
    """
    if not isinstance(value, RVector) or "synthetic" not in value.classes:
        return release_from_synds(value)
    held = _held(value)
    check_digests(_frames(held["syn"]), held["digest"])
    return _read(held)


def changed_release_from_r(value: RValue) -> SyntheticRelease:
    """Read an object whose copies were changed; what it says is what was true before.

    Parameters
    ----------
    value : RVector
        A list of class ``synthetic`` or ``synds``, with as many copies as were drawn, of one length.

    Returns
    -------
    SyntheticRelease
        To be corrected by who knows what was changed.

    Raises
    ------
    BridgeError
        If it is no such object.

    Notes
    -----
    Privacy: nothing is run.
    """
    synthetic = isinstance(value, RVector) and "synthetic" in value.classes
    release = _read(_held(value)) if synthetic else release_from_synds(value)
    uneven = release.tags.unit is None and len({len(copy) for copy in release}) != 1
    if release.m != release.tags.m or uneven:
        raise BridgeError("the copies are not as many as were drawn, or differ in length", kind="R object")
    return release


def _held(value: RValue) -> dict[str, RValue]:
    """Give the fields by name, after checking that all are there."""
    names, items = (value.names, value.items) if isinstance(value, RVector) else ((), ())
    held = {str(name): item for name, item in zip(names, items, strict=True)}
    lacking = [name for name in (*_OWN, "digest", "syn") if name not in held]
    if lacking:
        raise BridgeError(
            f"the synthetic object lacks {lacking[0]!r}; make it again with synthesise()", kind="R object"
        )
    return held


def _read(held: Mapping[str, RValue]) -> SyntheticRelease:
    """Read copies and all that is said of them."""
    frames = _frames(held["syn"])
    plain = {name: plain_from_r(held[name], name) for name in _OWN}
    try:
        return _release(frames, plain)
    except PysynthdpError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BridgeError(
            "the synthetic object was changed and cannot be read; make it again", kind="R object"
        ) from error


def _release(frames: tuple[RVector, ...], plain: Mapping[str, Any]) -> SyntheticRelease:
    """Put the parts together."""
    tags, schema = ReleaseTags.from_dict(plain["tags"]), from_plain(plain["schema"])
    return SyntheticRelease(
        copies=tuple(_as_declared(labelled_from_r(frame, schema), schema) for frame in frames),
        schema=schema,
        privacy=PrivacyStatement.from_dict(plain["privacy"]),
        provenance=_provenance(plain["provenance"]),
        tags=tags,
    )


def _as_declared(copy: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Give whole numbers the declared type of whole numbers again: R has but one."""
    types = {
        column.name: column.dtype
        for column in schema
        if column.name in copy
        and isinstance(column.dtype, np.dtype)
        and column.dtype.kind in "iu"
        and copy[column.name].dtype != column.dtype
        and isinstance(copy[column.name].dtype, np.dtype)
        and copy[column.name].dtype.kind in "iu"
    }
    return copy.astype(types) if types else copy


def _frames(value: RValue) -> tuple[RVector, ...]:
    """Give one copy, or a list of copies, as data frames of R."""
    if isinstance(value, RVector) and "data.frame" in value.classes:
        return (value,)
    found = value.items if isinstance(value, RVector) and value.kind == "list" else ()
    items = tuple(item for item in found if isinstance(item, RVector) and item.kind == "list")
    if not items:
        raise BridgeError("the field 'syn' of the synthetic object holds no data frame", kind="R object")
    return items


def _provenance(plain: Mapping[str, Any]) -> Provenance:
    """Fill the dataclass; lists become tuples again."""
    return Provenance(**{item.name: _tuples(plain[item.name]) for item in fields(Provenance)})


def _tuples(value: Any) -> Any:
    """Turn lists into tuples, all the way down."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
