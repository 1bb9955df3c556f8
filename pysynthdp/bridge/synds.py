"""synthpop's ``synds`` objects: a release as one, and one as a release.

=====================  ===========================================================================
field of ``synds``     here
=====================  ===========================================================================
``m``, ``syn``         ``release.m``, ``release.copies``
``method``             ``release.provenance.methods``; ``""`` is a column released real
``visit.sequence``     ``release.provenance.visit_sequence``; there with positions
``predictor.matrix``   the plan's terms; without a plan, every earlier column
``proper``             ``release.tags.parameters``: ``"drawn"``
``n``, ``k``           ``release.n_org``, ``release.n_syn``
``cont.na``            codes of numbers that are not values: ``NumericColumn.missing``
``semicont``           values with a mass of their own: ``NumericColumn.spikes``
``seed``               NA: never stored
=====================  ===========================================================================
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, RValue, RVector, character, named_list
from pysynthdp.bridge.codec.wire import MAX_INT
from pysynthdp.bridge.facts import FrameFacts
from pysynthdp.bridge.frames import frame_to_r
from pysynthdp.bridge.labels_to_r import labelled_to_r
from pysynthdp.design.tagged import letters_of
from pysynthdp.release import SyntheticRelease
from pysynthdp.schema import Column, NumericColumn, Schema

__all__ = ["synds_fields", "synds_from_release"]


def synds_from_release(
    release: SyntheticRelease,
    *,
    facts: FrameFacts | None = None,
    predictors: Mapping[str, Collection[str]] | None = None,
) -> RVector:
    """Make the object that synthpop's functions take.

    Parameters
    ----------
    release : SyntheticRelease
        The copies and what is true of them.
    facts : FrameFacts, optional
        How R stored the confidential frame; see :func:`~pysynthdp.bridge.facts_kept.public_facts`.
    predictors : mapping column -> columns, optional
        Who was drawn from whom; every earlier column by default.

    Returns
    -------
    RVector
        A list of class ``synds``, for :func:`~pysynthdp.bridge.codec.save_rds`.

    Raises
    ------
    BridgeError
        If R has no vector for a column of the copies.

    Notes
    -----
    Privacy: holds what the release holds; no seed, no fitted model, no call.

    Examples
    --------
    >>> import pandas as pd, pysynthdp as sdp
    >>> release = sdp.synthesize(pd.DataFrame({"x": [1.5, 2.5, 4.0] * 20}), m=2, rng=1)
    >>> synds_from_release(release).names[:3]
    ('call', 'm', 'syn')
    """
    fields = synds_fields(release, facts=facts, predictors=predictors)
    return named_list(fields, {"class": character(["synds"])})


def synds_fields(
    release: SyntheticRelease,
    *,
    facts: FrameFacts | None = None,
    predictors: Mapping[str, Collection[str]] | None = None,
    factors: bool = False,
) -> dict[str, RValue]:
    """Give the fields of a ``synds`` object in synthpop's order; see :func:`synds_from_release`."""
    columns = tuple(release.schema)
    names = release.schema.names
    schema, kept = release.schema, release.tags.kept
    copies = tuple(_copy_to_r(copy, schema, facts, kept, factors=factors) for copy in release.copies)
    methods = dict(release.provenance.methods) | dict.fromkeys(release.tags.kept, "")
    visit = release.provenance.visit_sequence
    given = predictors if predictors is not None else _all_earlier(release)
    return {
        "call": None,
        "m": _doubles([release.m]),
        "syn": copies[0] if len(copies) == 1 else RVector("list", copies),
        "method": _named(character([methods[name] for name in names]), names),
        "visit.sequence": _named(_integers([names.index(name) + 1 for name in visit]), visit),
        "predictor.matrix": _predictor_matrix(names, given),
        "smoothing": _named(character([""] * len(names)), names),
        "event": _named(_doubles([0.0] * len(names)), names),
        "denom": _named(_doubles([0.0] * len(names)), names),
        "proper": _logical(release.tags.parameters == "drawn"),
        "n": _size(release.n_org),
        "k": _integers([release.n_syn]),
        "rules": named_list({name: character([""]) for name in names}),
        "rvalues": named_list({name: _doubles([NA_REAL]) for name in names}),
        "cont.na": named_list({column.name: _codes(_missing(column)) for column in columns}),
        "semicont": named_list({column.name: _codes(_spikes(column)) for column in columns}),
        "drop.not.used": _logical(False),
        "drop.pred.only": _logical(False),
        "models": None,
        "seed": _doubles([NA_REAL]),
        "var.lab": None,
        "val.lab": None,
        "obs.vars": character(names),
        "numtocat": None,
        "catgroups": _doubles([]),
    }


def _copy_to_r(
    copy: pd.DataFrame, schema: Schema, facts: FrameFacts | None, kept: Collection[str], *, factors: bool
) -> RVector:
    """Write a copy; what is missing in a drawn column of doubles is R's NA, as in the data, not NaN.

    Where R did not send the data, columns of a labelled file are as haven reads them.
    """
    made = labelled_to_r(copy, schema, factors=factors) if facts is None else frame_to_r(copy, facts)
    pairs = zip(made.names, made.items, strict=True)
    items = tuple(item if name in kept else _with_na(item) for name, item in pairs)
    return replace(made, values=items)


def _with_na(column: RValue) -> RValue:
    """Put NA for NaN, except where the bits of doubles are integers; a tagged missing value is one of R's."""
    if not isinstance(column, RVector) or column.kind != "double" or "integer64" in column.classes:
        return column
    plain = np.isnan(column.array) & (letters_of(column.array) == 0)
    return replace(column, values=np.where(plain, NA_REAL, column.array))


def _all_earlier(release: SyntheticRelease) -> dict[str, tuple[str, ...]]:
    """Say that every column was drawn from the kept ones and from all before it."""
    kept = tuple(name for name in release.schema.names if name in release.tags.kept)
    visit = release.provenance.visit_sequence
    return {name: (*kept, *visit[:position]) for position, name in enumerate(visit)}


def _predictor_matrix(names: tuple[str, ...], given: Mapping[str, Collection[str]]) -> RVector:
    """Write who was drawn from whom: a row for each target."""
    used = np.array([[float(other in given.get(name, ())) for other in names] for name in names])
    size = len(names)
    own: dict[str, RValue] = {
        "dim": _integers([size, size]),
        "dimnames": RVector("list", (character(names), character(names))),
    }
    return RVector("double", used.reshape(size, size).ravel(order="F"), own)


def _missing(column: Column) -> tuple[Any, ...]:
    """Codes of a column of numbers."""
    plain = isinstance(column, NumericColumn) and column.unit == "number"
    return tuple(code for code, _ in column.missing if code not in column.tags) if plain else ()


def _spikes(column: Column) -> tuple[Any, ...]:
    """Values with a mass of their own, of a column of numbers."""
    return tuple(column.spikes) if isinstance(column, NumericColumn) and column.unit == "number" else ()


def _codes(codes: Iterable[Any]) -> RVector:
    """Write codes as synthpop does: NA first, a logical one when there is nothing else."""
    listed = [float(code) for code in codes]
    if not listed:
        return RVector("logical", np.array([NA_INTEGER], dtype=np.int32))
    return _doubles([NA_REAL, *listed])


def _named(vector: RVector, names: Iterable[str]) -> RVector:
    """Put names on a vector."""
    return RVector(vector.kind, vector.values, {"names": character(names)})


def _doubles(values: Iterable[float]) -> RVector:
    """Make a double vector."""
    return RVector("double", np.array(list(values), dtype=np.float64))


def _size(rows: int | None) -> RVector:
    """Write a number of rows; R's integers end at 31 bits, its doubles count further."""
    if rows is not None and rows > MAX_INT:
        return _doubles([rows])
    return _integers([NA_INTEGER if rows is None else rows])


def _integers(values: Iterable[int]) -> RVector:
    """Make an integer vector."""
    return RVector("integer", np.array(list(values), dtype=np.int32))


def _logical(value: bool) -> RVector:
    """Make one truth value."""
    return RVector("logical", np.array([value], dtype=np.int32))
