"""What a fit says of its model, so that fits of m copies can be held against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray

__all__ = ["Coding", "Description"]


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """How the levels of one factor stand in the columns of one term.

    Parameters
    ----------
    members : frozenset of str
        Factors of the term.
    factor : str
        The one that is coded here.
    levels : tuple of str, length L
        Its levels in this copy.
    columns : tuple of str, length c
        Names of its columns.
    matrix : array (L, c)
        Contrasts; the identity where every level has a column of its own.
    """

    members: frozenset[str]
    factor: str
    levels: tuple[str, ...]
    columns: tuple[str, ...]
    matrix: FloatArray

    def same_meaning(self, other: Coding) -> bool:
        """Whether coefficients of the same name are the same contrast of levels in both.

        They are where the levels in the base are the same, and the common levels have the same numbers in
        all columns (zero in those that a copy lacks).
        """
        if self._base() != other._base():
            return False
        columns = dict.fromkeys((*self.columns, *other.columns))
        common = [level for level in self.levels if level in other.levels]
        return all(
            np.allclose(self._at(level, columns), other._at(level, columns), atol=1e-9) for level in common
        )

    def _base(self) -> frozenset[str]:
        """Levels with zeros only: those that the intercept stands for."""
        empty = ~np.any(self.matrix != 0, axis=1)
        return frozenset(level for level, zero in zip(self.levels, empty, strict=True) if zero)

    def _at(self, level: str, columns: Mapping[str, None]) -> FloatArray:
        """Numbers of a level in the given columns."""
        row = dict(zip(self.columns, self.matrix[self.levels.index(level)], strict=True))
        return np.array([row.get(name, 0.0) for name in columns])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Description:
    """What a fit says of its model; None or empty where its library does not say.

    Parameters
    ----------
    formula : str or None
        The model as the user wrote it.
    response : str or None
        Name of the response.
    family : str or None
        Family and link.
    covariance : str or None
        Kind of covariance; None for the ordinary one of its model.
    members : mapping of str to frozenset of str
        Factors of the formula that each coefficient belongs to, by its name within its equation.
    codings : tuple of Coding
        Contrasts of factors, term by term.
    bases : mapping of str to array
        Numbers that a factor of the formula learned from this copy: knots, means, polynomials.
    entangled : frozenset of str
        Coefficients that other columns can stand in for, in this copy.
    rows : callable or None
        Gives the rows that entered the fit, with their columns and labels; a missing value is in none.
    own : bool or None
        Whether the rows are those of this fit's own copy, where that was seen already.
    """

    formula: str | None = None
    response: str | None = None
    family: str | None = None
    covariance: str | None = None
    members: Mapping[str, frozenset[str]] = field(default_factory=dict)
    codings: tuple[Coding, ...] = ()
    bases: Mapping[str, FloatArray] = field(default_factory=dict)
    entangled: frozenset[str] = frozenset()
    rows: Callable[[], pd.DataFrame | None] | None = None
    own: bool | None = None
