"""What a pooled table says of terms that some copies lack, and of codes that were computed with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pysynthdp.analysis.choose import model_columns
from pysynthdp.analysis.declared_codes import count_codes, note_of_codes
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.schema import Column
from pysynthdp.tags import AnalysableRelease

__all__ = ["absent_terms", "kept_codes", "overwritten_columns"]


def absent_terms(found: Sequence[Estimates], told: frozenset[str]) -> list[str]:
    """Name the terms that some copies cannot estimate, and why if it is known.

    Parameters
    ----------
    found : sequence of Estimates
        One a copy.
    told : frozenset of str
        Terms of which another note tells.

    Notes
    -----
    Privacy: reads fits to synthetic copies.
    """
    notes = []
    for index, term in enumerate(found[0].terms):
        if term in told:
            continue
        where = [i for i, estimate in enumerate(found, start=1) if np.isnan(estimate.values[index])]
        if where and not all(term in found[i - 1].separated for i in where):
            copies = ", ".join(str(i) for i in where)
            notes.append(f"{term} cannot be estimated in copy {copies}, so it is not pooled.")
    return [*notes, *_separated(found)]


def _separated(found: Sequence[Estimates]) -> list[str]:
    """Say which terms have no estimate because the outcome never varies where they would be learned."""
    where = {i: set(estimate.separated) for i, estimate in enumerate(found, start=1) if estimate.separated}
    terms = [term for term in found[0].terms if any(term in lost for lost in where.values())]
    if not terms:
        return []
    text = (
        f"{', '.join(terms)} cannot be estimated in copy {', '.join(map(str, where))}, so not pooled: the "
        "outcome is separated, it never varies where they would be learned. The other terms stand; merge "
        "rare levels to have these too."
    )
    return [text]


def overwritten_columns(release: AnalysableRelease | None, used: Collection[str]) -> list[str]:
    """Say which columns of a model hold other cells than were drawn.

    Parameters
    ----------
    release : release or None
        One that remembers its copies; of any other nothing is known.
    used : collection of str
        Columns of the model.

    Notes
    -----
    Privacy: reads synthetic copies.
    """
    ask = getattr(release, "overwritten", None)
    names = () if ask is None else ask(used)
    if not names:
        return []
    text = (
        f"{', '.join(names)}: changed since the copies were drawn, so what the release says of it, and the "
        "rule by which fits are combined, need not hold; draw or load the copies anew, and give a derived "
        "column another name."
    )
    return [text]


def kept_codes(
    fits: Sequence[Any], declared: Mapping[str, Column], variables: Sequence[str] | None
) -> list[str]:
    """Say which declared codes fits hold as values, where a fit holds its own table.

    Parameters
    ----------
    fits : sequence
        One a copy.
    declared : mapping column -> Column
        Columns of the release with declared codes; without one there is nothing to say.
    variables : sequence of str, optional
        Columns in the model; read from the formula by default.

    Notes
    -----
    Privacy: counts cells of synthetic copies.
    """
    if variables is not None:
        declared = {name: column for name, column in declared.items() if name in variables}
    elif declared:
        used = model_columns(getattr(getattr(fits[0], "model", None), "formula", None), declared)
        declared = {name: column for name, column in declared.items() if name in used}
    return note_of_codes(count_codes(fits, declared), len(fits), kept=True) if declared else []
