"""Every column on both sides as shares of fine cells, with spikes and missing kinds apart: what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray
from pysynthdp.evaluate.sides.cells import Cells, coded
from pysynthdp.evaluate.sides.columns import numbers_of

__all__ = ["distributions"]

_BARS: Final = 20
_SPIKE: Final = 0.05  # of the values
_HEADS: Final = ("column", "kind", "cell", "low", "high", "confidential", "copies")


def distributions(
    sides: Sequence[Any], cells: Sequence[Cells], take: Callable[[Any], pd.DataFrame]
) -> pd.DataFrame:
    """Give the shares of rows in fine cells.

    Parameters
    ----------
    sides : sequence
        The confidential side first.
    cells : sequence of Cells
        Of the columns.
    take : callable
        Gives the frame of one side.

    Returns
    -------
    DataFrame
        One row a column and cell; ``kind`` is "value", "spike", "level" or "missing", and numbers have the
        ends of the cell.

    Notes
    -----
    Privacy: of real rows; the ends of a histogram are quantiles, so neither is the largest value.
    """
    grids = [_grid(take(sides[0])[each.facts.name], each) for each in cells]
    pairs = list(zip(cells, grids, strict=True))
    counts = [
        [_counted(frame[each.facts.name], each, grid) for each, grid in pairs] for frame in map(take, sides)
    ]
    rows: list[tuple[Any, ...]] = []
    for place, each in enumerate(cells):
        real, copies = counts[0][place], np.mean([side[place] for side in counts[1:]], axis=0)
        for cell, one, other in zip(_named(each, grids[place]), real, copies, strict=True):
            if one or other:
                rows.append((each.facts.name, *cell, one, other))
    return pd.DataFrame(rows, columns=list(_HEADS))


Grid = tuple[FloatArray, FloatArray]


def _grid(series: pd.Series[Any], cells: Cells) -> Grid:
    """Give edges of a histogram and spikes; nothing for levels."""
    if not cells.facts.numeric:
        return np.zeros(0), np.zeros(0)
    values = numbers_of(series, cells.facts)[0]
    known = values[np.isfinite(values)]
    if cells.each or not known.size:
        return np.zeros(0), cells.edges
    found, counts = np.unique(known, return_counts=True)
    spikes = found[counts > _SPIKE * known.size]
    low, high = np.quantile(known, [0.005, 0.995])
    return np.linspace(low, high, _BARS + 1) if high > low else np.zeros(0), spikes


def _counted(series: pd.Series[Any], cells: Cells, grid: Grid) -> FloatArray:
    """Give the share of rows in each cell."""
    if not cells.facts.numeric:
        counts = np.bincount(coded(series.to_frame(), [cells])[0], minlength=cells.size)
        return np.asarray(counts / max(len(series), 1))
    values, kinds = numbers_of(series, cells.facts)
    edges, spikes = grid
    at = np.searchsorted(spikes, values)
    on = np.zeros(len(values), dtype=bool)
    if spikes.size:
        on = spikes[np.minimum(at, spikes.size - 1)] == values
    rest = values[~on & (kinds == 0)]
    inner = np.searchsorted(edges[1:-1], rest) if edges.size else np.zeros(rest.size, np.int64)
    bars = np.bincount(inner, minlength=max(edges.size - 1, 1))
    parts = [
        np.bincount(at[on], minlength=spikes.size),
        bars,
        np.bincount(kinds, minlength=len(cells.facts.kinds) + 1)[1:],
    ]
    return np.asarray(np.concatenate(parts) / max(len(series), 1))


def _named(cells: Cells, grid: Grid) -> list[tuple[Any, ...]]:
    """Name the cells of a column: kind, name and ends."""
    missing = [("missing", kind, np.nan, np.nan) for kind in cells.facts.kinds]
    if not cells.facts.numeric:
        place = cells.size - 2  # before the last two: missing, and what the table does not have
        return [
            ("missing" if at == place else "level", label, np.nan, np.nan)
            for at, label in enumerate(cells.labels)
        ]
    (edges, spikes), shown = grid, cells.facts.shown
    bars: list[tuple[Any, ...]] = [
        ("value", f"{shown(low)} to {shown(high)}", low, high) for low, high in pairwise(edges)
    ]
    return [
        *(("spike", shown(value), value, value) for value in spikes),
        *(bars or [("value", "other values", np.nan, np.nan)]),
        *missing,
    ]
