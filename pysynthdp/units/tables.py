"""The tables that models are fitted to: one of units, and one for each group of further places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import IntArray
from pysynthdp.plan.unit_plan import PLACE, SINCE, of_before, of_first
from pysynthdp.units.places import Placed

__all__ = ["place_frame", "place_groups", "unit_frame"]


def place_groups(placed: Placed, own_models: int) -> tuple[tuple[int, ...], ...]:
    """Put places into groups, each of enough units for models of its own where there are so many.

    Parameters
    ----------
    placed : Placed
        Rows by place.
    own_models : int
        Units that a group needs.

    Returns
    -------
    tuple of tuple of int
        Places that follow one another; every place at which a further row of a unit may stand is in one.

    Notes
    -----
    Privacy: counts real units; the groups are learned from them.

    Examples
    --------
    >>> unit = np.repeat(np.arange(10), 3)[:25]
    >>> place = np.tile(np.arange(3), 10)[:25]
    >>> place_groups(Placed(np.arange(25), unit, place), 8)
    ((1,), (2,))
    >>> place_groups(Placed(np.arange(25), unit, place), 9)
    ((1, 2),)
    """
    counts = np.bincount(placed.place[~placed.first], minlength=placed.places)
    groups: list[tuple[int, ...]] = []
    waiting: tuple[int, ...] = ()
    for place in range(1, placed.places):
        waiting = (*waiting, place)
        if counts[list(waiting)].sum() >= own_models:
            groups.append(waiting)
            waiting = ()
    if waiting:
        groups = [*groups[:-1], (*groups[-1], *waiting)] if groups else [waiting]
    return tuple(groups)


def unit_frame(frame: pd.DataFrame, placed: Placed, columns: Sequence[str]) -> pd.DataFrame:
    """Take some columns of the first row of each unit.

    Notes
    -----
    Privacy: real rows.
    """
    return frame[list(columns)].iloc[placed.rows[placed.first]].reset_index(drop=True)


def place_frame(
    frame: pd.DataFrame,
    placed: Placed,
    places: Sequence[int],
    *,
    shared: Sequence[str],
    own: Sequence[str],
    always: bool = False,
) -> pd.DataFrame:
    """Put beside each row at some places its place, its unit, the unit's first row and the row before.

    Parameters
    ----------
    frame : DataFrame
        The confidential table; ``shared`` and ``own`` name its columns.
    placed : Placed
        Its rows by unit and place.
    places : sequence of int
        Which; rows that are the first of their unit are left out.
    shared, own : sequence of str
        Columns of units, and of rows.
    always : bool
        Put there what a declared table has, whatever the rows: the place where there are several; of a panel
        the row before and how far it is, else the first row.

    Returns
    -------
    DataFrame
        The place where there are several, of a panel also how far the row before is; shared columns; those of
        the first row; those of the row before, unless that is the first in all rows; the row's own.

    Notes
    -----
    Privacy: real rows.
    """
    at = np.flatnonzero(np.isin(placed.place, list(places)) & ~placed.first)
    first = np.searchsorted(placed.unit, placed.unit[at])
    parts: dict[str, pd.Series] = {}
    if len(places) > 1:
        parts[PLACE] = pd.Series(placed.place[at] + 1)
    since = placed.place[at] - placed.place[at - 1]
    if (placed.waves is not None and len(places) > 1) if always else (since != since[:1]).any():
        parts[SINCE] = pd.Series(since)

    def put(names: Sequence[str], rows: IntArray, called: object = None) -> None:
        for name in names:
            key = name if called is None else called(name)  # type: ignore[operator]
            parts[key] = frame[name].iloc[placed.rows[rows]].reset_index(drop=True)

    put(shared, at)
    if not always or placed.waves is None:
        put(own, first, of_first)
    if placed.waves is not None if always else (at - 1 != first).any():
        put(own, at - 1, of_before)
    put(own, at)
    return pd.DataFrame(parts, copy=False)
