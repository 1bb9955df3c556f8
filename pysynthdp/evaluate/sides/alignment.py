"""What makes rows of a copy agree with the rows of the table in order, though nothing was copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, IntArray

__all__ = ["agreement_within", "places_in_units"]

_LEAST = 20  # rows of a group of several columns, on average


def places_in_units(real: pd.Series[Any], copy: pd.Series[Any]) -> IntArray:
    """Group rows by their place in their unit, in the table and in the copy: waves and members have an order.

    Parameters
    ----------
    real, copy : Series
        The column of units on both sides, as many rows.

    Returns
    -------
    array of int
        A group for each row.

    Examples
    --------
    >>> places_in_units(pd.Series([1, 1, 2]), pd.Series([7, 8, 8])).tolist()
    [0, 2, 1]
    """
    one, other = (side.groupby(side.to_numpy(), dropna=False).cumcount().to_numpy() for side in (real, copy))
    return np.asarray(one * (int(other.max(initial=0)) + 1) + other, dtype=np.int64)


def agreement_within(
    one: AnyArray, other: AnyArray, groups: Sequence[AnyArray], rng: np.random.Generator
) -> float:
    """Give the share of rows that agree when the other side is shuffled within groups of rows.

    Parameters
    ----------
    one, other : array (rows,)
        A column on both sides.
    groups : sequence of arrays (rows,)
        Columns kept real, or places in units: each by itself, and all together where groups stay large.
    rng : Generator
        Shuffles.

    Returns
    -------
    float
        The largest share; 0 without groups.

    Notes
    -----
    Privacy: reads cells of real rows.
    """
    asked = list(groups)
    if len(asked) > 1:
        together = pd.DataFrame({str(place): each for place, each in enumerate(asked)})
        number = together.groupby(list(together.columns), dropna=False).ngroup().to_numpy()
        if number.size >= _LEAST * (int(number.max(initial=0)) + 1):
            asked.append(number)
    return max((_shuffled(one, other, each, rng) for each in asked), default=0.0)


def _shuffled(one: AnyArray, other: AnyArray, group: AnyArray, rng: np.random.Generator) -> float:
    """Share of rows that agree when one side is shuffled within groups."""
    plain, mixed = np.argsort(group, kind="stable"), np.lexsort((rng.random(group.size), group))
    return float((one[plain] == other[mixed]).mean())
