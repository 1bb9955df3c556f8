"""A ``synds`` object that synthpop made -> a release whose tags let ``pool()`` choose the right rule."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.errors import BridgeError
from pysynthdp.base.marks import KEPT_REAL
from pysynthdp.bridge.codec import DEFAULT_MAX_BYTES, NA_INTEGER, RValue, RVector, load_rds
from pysynthdp.bridge.frames import frame_from_r
from pysynthdp.privacy.statements.column import ColumnStatement
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.release import SyntheticRelease
from pysynthdp.release.learned import schema_of_copies
from pysynthdp.schema import Schema
from pysynthdp.tags import ReleaseTags
from pysynthdp.tags.provenance import Provenance

__all__ = ["read_synds", "release_from_synds"]

_NEEDED: Final = ("m", "syn", "method", "visit.sequence", "n", "proper")
_REASON: Final = "synthpop gives no formal guarantee that could be recomputed from the object"
_REAL: Final = "synthpop left it as it is, so its real values are released"
_UNKNOWN: Final = "the file does not say which version made it"


def read_synds(path: str | PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> SyntheticRelease:
    """Read a ``synds`` object that R saved with ``saveRDS()``; needs no R.

    Parameters
    ----------
    path : path
        The ``.rds`` file.
    max_bytes : int
        Bytes of memory that the unpacked file may take.

    Returns
    -------
    SyntheticRelease
        See :func:`release_from_synds`.

    Raises
    ------
    BridgeError
        If the file is damaged or holds no ``synds`` object.

    Notes
    -----
    Privacy: nothing in the file is run. Fitted models and the call, which can hold confidential rows, are
    read over.
    """
    return release_from_synds(load_rds(path, max_bytes=max_bytes))


def release_from_synds(value: RValue) -> SyntheticRelease:
    """Turn a ``synds`` object into a release.

    Parameters
    ----------
    value : RVector
        A list of class ``synds``, from ``syn()`` or ``syn.strata()``.

    Returns
    -------
    SyntheticRelease
        Its tags tell real columns, plug-in or proper draws, and both sizes; its statement says ``none``.

    Raises
    ------
    BridgeError
        If it is no such object, or a field that pooling needs is not there; the message names it.

    Notes
    -----
    Privacy: columns that synthpop did not visit, or whose method is ``""``, are real rows; they are named in
    the tags and in the statement. ``incomplete`` in synthpop's fits is ``tags.kept`` here.
    """
    fields = _fields(value)
    copies = _copies(fields)
    names = tuple(str(name) for name in copies[0].columns)
    methods = _methods(fields, names)
    visited = _visited(fields)
    kept = frozenset(name for name in names if name not in visited or not methods.get(name))
    tags = ReleaseTags(
        kind="partial" if kept else "complete",
        synthesised=frozenset(names) - kept,
        kept=kept,
        parameters="drawn" if _flag(fields["proper"]) else "fitted",
        m=len(copies),
        n_syn=len(copies[0]),
        n_org=_total(fields["n"]),
    )
    return SyntheticRelease(
        copies=copies,
        schema=_schema(copies, _codes(fields, names)),
        privacy=_statement(names, methods, kept, tags),
        provenance=_provenance(names, methods, visited, kept),
        tags=tags,
    )


def _fields(value: RValue) -> dict[str, RValue]:
    """Give the fields by name, after checking that those that matter are there."""
    if not isinstance(value, RVector) or value.kind != "list" or "synds" not in value.classes:
        raise BridgeError(
            "this R object is not of class synds; give what syn() of synthpop returned", kind="R object"
        )
    fields = {str(name): item for name, item in zip(value.names, value.items, strict=True)}
    for name in _NEEDED:
        if fields.get(name) is None:
            what = f"the synds object lacks {name!r}, which pooling needs"
            raise BridgeError(what, kind="object", remedy="make it again with syn()")
    return fields


def _copies(fields: Mapping[str, RValue]) -> tuple[pd.DataFrame, ...]:
    """Read the copies: one frame, or a list of m."""
    held = fields["syn"]
    if not isinstance(held, RVector) or held.kind != "list":
        raise BridgeError("the field 'syn' of the synds object holds no data frame", kind="R object")
    items = (held,) if "data.frame" in held.classes else held.items
    copies = tuple(frame_from_r(item).frame for item in items)
    if len(copies) != _number(fields["m"]) or len({tuple(copy.columns) for copy in copies}) > 1:
        raise BridgeError(
            "the copies in 'syn' are not the m that the object tells of, or differ in columns",
            kind="R object",
        )
    if not len(copies[0]) or len({len(copy) for copy in copies}) > 1:
        what = "the copies in 'syn' have no rows or differ in length"
        raise BridgeError(what, kind="changed copies", remedy="after sdc(), accept_sdc() of R takes them")
    return copies


def _methods(fields: Mapping[str, RValue], names: tuple[str, ...]) -> dict[str, str]:
    """Give the method of each column; of strata, the first that is none of ``""``."""
    held = fields["method"]
    if not isinstance(held, RVector) or held.kind != "character":
        raise BridgeError("the field 'method' of the synds object is no text", kind="R object")
    labels = _column_labels(held) or names
    found = dict.fromkeys(names, "")
    for label, method in zip(labels, _by_column(held, len(labels)), strict=True):
        found |= {label: next((str(one) for one in method if one), "")}
    return {name: found[name] for name in names}


def _visited(fields: Mapping[str, RValue]) -> tuple[str, ...]:
    """Give the names of the visited columns in order; of strata, those of all."""
    held = fields["visit.sequence"]
    labels = _column_labels(held) if isinstance(held, RVector) else ()
    if not labels:
        raise BridgeError("the field 'visit.sequence' of the synds object has no names", kind="R object")
    return tuple(dict.fromkeys(labels))


def _column_labels(held: RVector) -> tuple[str, ...]:
    """Names of a vector, or the columns of a matrix with a row for each stratum."""
    texts: tuple[str | None, ...] = held.names
    sides = held.attributes.get("dimnames")
    if isinstance(sides, RVector) and len(sides) == 2 and isinstance(sides.items[1], RVector):
        texts = sides.items[1].texts
    return tuple(str(text) for text in texts if text is not None)


def _by_column(held: RVector, columns: int) -> Any:
    """Give the values of each column, over strata."""
    return held.array.reshape(columns, -1)


def _number(value: RValue) -> int | None:
    """Give one number; None for NA."""
    if not isinstance(value, RVector) or value.kind not in ("integer", "double") or not len(value):
        raise BridgeError(
            "a size in the synds object is no number; make it again with syn()", kind="R object"
        )
    number = float(value.array[0])
    return None if np.isnan(number) or number == NA_INTEGER else int(number)


def _total(value: RValue) -> int | None:
    """Give the rows of the confidential table: a number, or one for each stratum."""
    if isinstance(value, RVector) and len(value) > 1 and value.kind in ("integer", "double"):
        return int(value.array.sum())
    return _number(value)


def _flag(value: RValue) -> bool:
    """Give one truth value."""
    return isinstance(value, RVector) and value.kind == "logical" and bool(value.array[0] == 1)


def _codes(fields: Mapping[str, RValue], names: tuple[str, ...]) -> dict[str, list[float]]:
    """Give the codes of numbers that are not values."""
    held = fields.get("cont.na")
    if not isinstance(held, RVector) or held.kind != "list":
        return {}
    found: dict[str, list[float]] = {}
    for name, item in zip(held.names, held.items, strict=False):
        if name in names and isinstance(item, RVector) and item.kind in ("double", "integer"):
            kept = item.array[~np.isnan(item.array) & (item.array != NA_INTEGER)]
            found[str(name)] = [int(code) if code == int(code) else code for code in kept.tolist()]
    return {name: codes for name, codes in found.items() if codes}


def _schema(copies: tuple[pd.DataFrame, ...], codes: Mapping[str, list[float]]) -> Schema:
    """Read the columns from the copies, which are public."""
    together = pd.concat(copies, ignore_index=True)
    numeric = {name: given for name, given in codes.items() if together[name].dtype.kind in "iuf"}
    return schema_of_copies(together, missing=numeric)


def _statement(
    names: tuple[str, ...], methods: Mapping[str, str], kept: frozenset[str], tags: ReleaseTags
) -> PrivacyStatement:
    """State that nothing formal is claimed, and which columns are real."""
    columns = [
        ColumnStatement(name, KEPT_REAL, "none", _REAL)
        if name in kept
        else ColumnStatement(name, methods[name], "none", _REASON)
        for name in names
    ]
    return PrivacyStatement.none(columns, reason=_REASON, draws=[(tags.n_syn, tags.m)])


def _provenance(
    names: tuple[str, ...], methods: Mapping[str, str], visited: tuple[str, ...], kept: frozenset[str]
) -> Provenance:
    """Say how the copies came about."""
    listed = tuple((name, KEPT_REAL if name in kept else methods[name]) for name in names)
    order = tuple(name for name in visited if name in names and name not in kept)
    return Provenance("synthpop", (("synthpop", _UNKNOWN),), listed, order)
