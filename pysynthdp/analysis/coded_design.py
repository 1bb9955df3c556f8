"""What patsy's design says of a model: factors of columns, contrasts, and what was learned of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pysynthdp.analysis.description import Coding
from pysynthdp.base.arrays import FloatArray

__all__ = ["bases_of", "codings_of", "members_of"]


def members_of(design: Any) -> dict[str, frozenset[str]]:
    """Factors that each column of a design belongs to."""
    return {
        str(design.column_names[place]): _names(term.factors)
        for term, where in design.term_slices.items()
        for place in range(where.start, where.stop)
    }


def _names(factors: Any) -> frozenset[str]:
    """Names of factors as the formula has them."""
    return frozenset(str(factor.name()) for factor in factors)


def codings_of(design: Any) -> tuple[Coding, ...]:
    """Contrasts of every factor in every term."""
    return tuple(
        Coding(
            _names(subterm.factors),
            str(factor.name()),
            tuple(str(level) for level in design.factor_infos[factor].categories),
            tuple(str(suffix) for suffix in contrast.column_suffixes),
            np.asarray(contrast.matrix, dtype=np.float64),
        )
        for subterms in design.term_codings.values()
        for subterm in subterms
        for factor, contrast in subterm.contrast_matrices.items()
    )


def bases_of(design: Any) -> dict[str, FloatArray]:
    """Numbers that each factor learned from the rows, such as knots and means."""
    found = {}
    for factor, info in design.factor_infos.items():
        learned = info.state.get("transforms", {}) if isinstance(info.state, Mapping) else {}
        numbers = [number for transform in learned.values() for number in _numbers(vars(transform))]
        if numbers:
            found[str(factor.name())] = np.array(numbers, dtype=np.float64)
    return found


def _numbers(value: Any) -> Iterator[float]:
    """All numbers in a value, in a fixed order."""
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from _numbers(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, np.ndarray | np.generic | int | float) and np.asarray(value).dtype.kind in "fiu":
        yield from np.asarray(value, dtype=np.float64).ravel().tolist()
