"""Declared cells of a number: intervals between public edges, and single values that many share.

Edges 0, 0, 500, 1000 make three cells: the value 0 (an edge given twice), above 0 up to 500, above 500 up to
1000. A cell has its upper edge, not its lower; the first one has both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pysynthdp.base.arrays import AnyArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.design.parts import NEAR_STEP, digits_of
from pysynthdp.schema import NumericColumn

__all__ = ["cell_codes", "cell_ends", "cell_names", "whole_edges"]


def whole_edges(edges: Sequence[float], column: NumericColumn) -> tuple[float, ...]:
    """Put the column's bounds around declared edges, where they are not among them.

    Raises
    ------
    PlanError
        For edges out of order, thrice the same, beyond the bounds, or with no value between two.

    Notes
    -----
    Privacy: declared facts only.

    Examples
    --------
    >>> whole_edges((0, 0, 500), NumericColumn("pay", lower=0, upper=1000))
    (0.0, 0.0, 500.0, 1000.0)
    """
    name, given = column.name, [float(edge) for edge in edges]
    low, high = column.lower, column.upper
    if low is None or high is None:
        raise _fault(name, "declared cells need declared bounds", "declare lower and upper of the column")
    wrong = any(after < before for before, after in pairwise(given))
    if not given or wrong or any(given.count(edge) > 2 for edge in given):
        raise _fault(
            name,
            "edges of cells must rise, and be given twice at most",
            "an edge given twice is a cell of its own",
        )
    if given[0] < low or given[-1] > high:
        raise _fault(name, "edges of cells lie beyond the declared bounds", "leave those out")
    found = (*([low] if given[0] > low else []), *given, *([high] if given[-1] < high else []))
    whole = tuple(map(float, found))
    if any(first > last for first, last in _values(whole, column)):
        raise _fault(
            name,
            "no value of the column lies between two edges of cells",
            "leave one of them out: a cell has its upper edge, not its lower",
        )
    return whole


def _fault(name: str, what: str, mend: str) -> PlanError:
    """Say what is wrong with edges."""
    return PlanError(f"{name}: {what}", column=name, kind="method", remedy=mend)


def cell_names(edges: Sequence[float]) -> tuple[str, ...]:
    """Name the cells.

    Examples
    --------
    >>> cell_names((0.0, 0.0, 500.0))
    ('0', '0 to 500')
    """
    return tuple(
        f"{low:.15g}" if low == high else f"{low:.15g} to {high:.15g}" for low, high in pairwise(edges)
    )


def cell_codes(edges: Sequence[float], values: AnyArray) -> IntArray:
    """Tell the cell of each value, from that value alone.

    Examples
    --------
    >>> cell_codes((0.0, 0.0, 500.0, 1000.0), np.array([0.0, 0.5, 500.0, 501.0, 1000.0])).tolist()
    [0, 1, 1, 2, 2]
    """
    every = np.asarray(edges, dtype=np.float64)
    codes = np.searchsorted(every[1:-1], values, side="left")
    for at in np.flatnonzero(every[1:] == every[:-1]):
        codes = np.where(values == every[at], at, codes)
    return np.asarray(codes, dtype=np.int64)


def cell_ends(edges: Sequence[float], column: NumericColumn) -> tuple[tuple[float, float], ...]:
    """Say between which ends a uniform law, put on the column's grid, gives each value of a cell alike.

    Examples
    --------
    >>> cell_ends((0.0, 0.0, 5.0), NumericColumn("n", lower=0, upper=5, decimals=0))
    ((0.0, 0.0), (0.5, 5.5))
    """
    half = (_step(column) or 0.0) / 2
    single = [low == high for low, high in pairwise(edges)]
    return tuple(
        (first, last) if one else (first - half, last + half)
        for (first, last), one in zip(_values(edges, column), single, strict=True)
    )


def _step(column: NumericColumn) -> float | None:
    """Distance of neighbouring values of the column, where it has a grid."""
    digits = digits_of(column)
    return column.step if column.step is not None else None if digits is None else 10.0**-digits


def _values(edges: Sequence[float], column: NumericColumn) -> list[tuple[float, float]]:
    """Smallest and largest value of each cell; an open end of a cell without a grid is its edge."""
    step, found = _step(column), []
    offset = column.offset if column.step is not None else 0.0
    for at, (low, high) in enumerate(pairwise(edges)):
        if low == high or step is None:
            found.append((low, high))
            continue
        beyond = at + 2 < len(edges) and edges[at + 2] == high  # the upper edge is a cell of its own
        first, last = (
            _first(low, step, offset, closed=at == 0),
            -_first(-high, step, -offset, closed=not beyond),
        )
        found.append((first, last))
    return found


def _first(edge: float, step: float, offset: float, *, closed: bool) -> float:
    """Smallest value of a grid above an edge, or at it."""
    times = (edge - offset) / step
    near = round(times)
    on = abs(times - near) < NEAR_STEP
    place = (near if closed else near + 1) if on else math.ceil(times)
    return place * step + offset
