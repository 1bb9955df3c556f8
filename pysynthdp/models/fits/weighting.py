"""Sums over rows that may have weights; without weights not a bit changes."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import RowTerms

__all__ = ["counted", "counts_records", "n_rows", "weighted", "whole_weights"]


def weighted(terms: FloatArray, w: FloatArray | None, *, axis: int = 0) -> FloatArray:
    """Multiply the terms of each row by its weight; the same array where there are no weights.

    Parameters
    ----------
    terms : array
        One entry, or one line of entries, a row.
    w : array (rows,) or None
        Weights.
    axis : int
        Along which the rows lie.

    Examples
    --------
    >>> weighted(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 0.0])).tolist()
    [[2.0, 4.0], [0.0, 0.0]]
    """
    if w is None:
        return terms
    shape = [1] * terms.ndim
    shape[axis] = len(w)
    return np.asarray(terms * w.reshape(shape))


def counted(which: BoolArray, w: FloatArray | None) -> FloatArray:
    """Count rows, or add their weights.

    Examples
    --------
    >>> float(counted(np.array([True, False, True]), np.array([2.0, 1.0, 0.5])))
    2.5
    """
    return np.asarray(np.count_nonzero(which) if w is None else w[which].sum())


def counts_records(of: RowTerms, *places: int) -> RowTerms:
    """Mark the sums of a block function that count records by their number, whatever these weigh.

    By them a model tells what rests on fewer than five records.
    """
    of.__dict__["records"] = places
    return of


def n_rows(y: AnyArray, w: FloatArray | None) -> float:
    """Give the number of rows, or the sum of their weights."""
    return float(len(y) if w is None else w.sum())


def whole_weights(w: FloatArray | None, what: str) -> None:
    """Refuse weights that are no whole numbers, where a sum must be exact.

    Raises
    ------
    FitError
        Says which sum; no weight is quoted.
    """
    if w is not None and not np.array_equal(w, np.rint(w)):
        raise FitError(
            f"{what} is added in whole steps, and a weight is no whole number",
            kind="weights",
            remedy="give whole weights, or choose another method",
        )
