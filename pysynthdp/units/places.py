"""Rows sorted into units, and inside a unit into places; what is wrong with them is said by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, IntArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.schema.units import Units
from pysynthdp.units.faults import (
    no_column,
    no_rows,
    no_single_head,
    places_twice,
    too_few,
    too_large,
    too_many_places,
    without_unit,
    wrong_sizes,
)

__all__ = ["Placed", "placed_rows"]

_MOST_PLACES: Final = 100


@dataclass(frozen=True, slots=True, repr=False)
class Placed:
    """The rows of a table by unit and place.

    Parameters
    ----------
    rows : array of int (rows,)
        Rows of the table, unit after unit as they first appear, by place inside a unit.
    unit : array of int (rows,)
        Number of the unit of each of these, from 0.
    place : array of int (rows,)
        Place of each, from 0: how many stand before it; of a panel, which value of the column.
    waves : array (places,) or None
        Of a panel: the value of the column at each place, rising.
    left_out : int
        Units that were too large and are left out, or are cut.

    Notes
    -----
    Privacy: real rows by their numbers; stays where the table is.
    """

    rows: IntArray
    unit: IntArray
    place: IntArray
    waves: Any = None
    left_out: int = 0

    @property
    def n(self) -> int:
        """Number of units."""
        return int(self.unit[-1]) + 1 if len(self.unit) else 0

    @property
    def places(self) -> int:
        """Number of places."""
        return int(self.place.max()) + 1 if self.waves is None else len(self.waves)

    @property
    def first(self) -> BoolArray:
        """Whether a row is the first of its unit."""
        return np.asarray(np.r_[True, np.diff(self.unit) > 0][: len(self.unit)])

    @property
    def sizes(self) -> IntArray:
        """Rows of each unit."""
        return np.bincount(self.unit)

    @property
    def there(self) -> BoolArray:
        """Whether each unit has a row at each place: array (units, places)."""
        found = np.zeros((self.n, self.places), dtype=np.bool_)
        found[self.unit, self.place] = True
        return found


def placed_rows(frame: pd.DataFrame, units: Units) -> Placed:
    """Sort rows into units and places.

    Parameters
    ----------
    frame : DataFrame
        The confidential table.
    units : Units
        What is said of its units.

    Raises
    ------
    SchemaError
        Names the column and the rule that does not hold: no such column, rows without a unit, sizes that are
        not the numbers of rows, units that are too large, a place that a unit has twice.
    FitError
        If no unit, or fewer than five, have several rows.

    Notes
    -----
    Privacy: reads real rows, of the columns that ``units`` names; messages count units, and counts below ten
    stay vague.
    """
    for what, name in units.names.items():
        if name not in frame.columns:
            raise no_column(what, name, map(str, frame.columns))
    codes, _ = pd.factorize(frame[units.id])
    if (codes < 0).any():
        raise without_unit(units.id, int((codes < 0).sum()))
    _check_sizes(frame, units, codes)
    values, by = _ordered(frame, units)
    keys = [] if by is None else [by]
    keys += [] if units.head is None else [~_heads(frame, units, codes)]
    order = np.lexsort((*keys, codes))
    unit = codes[order]
    place = _within(unit) if values is None else _of_panel(by, order, unit, units)
    found = _limited(Placed(np.asarray(order), unit, place, values), units)
    several = int((found.sizes > 1).sum())
    if several < FEWEST:
        raise too_few(units.id, several)
    return found


def _check_sizes(frame: pd.DataFrame, units: Units, codes: IntArray) -> None:
    """Refuse sizes that are not the numbers of rows."""
    if units.size is None:
        return
    said = pd.to_numeric(frame[units.size], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = said != np.bincount(codes)[codes]
    if wrong.any():
        raise wrong_sizes(units.size, units.id, len(np.unique(codes[wrong])))


def _ordered(frame: pd.DataFrame, units: Units) -> tuple[Any, Any]:
    """Give the values of places, of a panel, and ranks by which rows of a unit are ordered."""
    if units.by is None:
        return None, None
    ranks, values = pd.factorize(frame[units.by], sort=True)
    if units.panel:
        if len(values) > _MOST_PLACES:
            raise too_many_places(units.by, _MOST_PLACES)
        return values, ranks
    last = len(values)
    return None, np.where(ranks < 0, last, ranks if units.direction == "asc" else last - 1 - ranks)


def _heads(frame: pd.DataFrame, units: Units, codes: IntArray) -> BoolArray:
    """Find the heads; refuse units without one, and with several."""
    name, value = units.head or ("", None)
    if name not in frame.columns:
        raise no_column("head", name, map(str, frame.columns))
    found = np.asarray((frame[name] == value).fillna(False), dtype=np.bool_)
    counts = np.bincount(codes[found], minlength=int(codes.max()) + 1)
    none, several = int((counts == 0).sum()), int((counts > 1).sum())
    if none or several:
        raise no_single_head(name, units.id, none, several)
    return found


def _within(unit: IntArray) -> IntArray:
    """Count rows inside each unit from 0."""
    starts = np.flatnonzero(np.r_[True, np.diff(unit) > 0])
    return np.asarray(np.arange(len(unit)) - np.repeat(starts, np.diff(np.r_[starts, len(unit)])))


def _of_panel(ranks: IntArray, order: IntArray, unit: IntArray, units: Units) -> IntArray:
    """Take values as places; refuse two rows at one, and rows at none."""
    place = np.asarray(ranks[order])
    twice = np.r_[False, (np.diff(unit) == 0) & (np.diff(place) == 0)] | (place < 0)
    if twice.any():
        raise places_twice(units.by or "", units.id, len(np.unique(unit[twice])))
    return place


def _limited(placed: Placed, units: Units) -> Placed:
    """Refuse units that are too large, leave them out, or cut them."""
    limit, number = units.max_size, _within(placed.unit)
    if limit is None:
        return placed
    beyond = number >= limit
    large = np.unique(placed.unit[beyond])
    if not len(large):
        return placed
    if units.larger == "refuse":
        raise too_large(units.id, limit, len(large))
    kept = ~beyond if units.larger == "truncate" else ~np.isin(placed.unit, large)
    if not kept.any():
        raise no_rows(units.id)
    unit = np.unique(placed.unit[kept], return_inverse=True)[1]
    return Placed(placed.rows[kept], unit, placed.place[kept], placed.waves, len(large))
