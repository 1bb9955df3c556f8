"""What never happens among many records is not drawn: a level beside a level that it never stands beside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray

__all__ = ["never_together"]

EXPECTED = 10.0  # records of a pair if it had nothing to do with one another; none of them by chance: e^-10
SHOWN = 20.0  # records that a level must have to show that another never stands beside it
AWAY = 40.0  # of the linear predictor: a chance of 4e-18


def never_together(cells: FloatArray, dummies: BoolArray, exclusive: Sequence[Sequence[int]]) -> FloatArray:
    """Give what to add to the coefficients of a regression of levels so that it draws no impossible pair.

    Parameters
    ----------
    cells : array (levels, features)
        For each level that occurs, the sum of each feature over its rows, the intercept first.
    dummies : array of bool (features,)
        Which features are 0/1.
    exclusive : sequence of sequences of int
        Dummies of one column: in a row one of them is 1, or none, which is the column's first level.

    Returns
    -------
    array (levels, features)
        Zero where nothing is impossible.

    Notes
    -----
    Privacy: arithmetic on sums over rows. A pair of a level and a dummy at 0 or 1 counts as impossible where
    no record has it, though ten were expected, and twenty have the dummy so; with one record it is possible
    again, and is drawn as the regression has it. Not under a guarantee, where nothing rests on counts.
    That a dummy is 1, or all of a column's are 0, is linear in the features, so that it takes no more than
    coefficients; where all levels are impossible in a row, those are left that are least often so.

    Examples
    --------
    >>> cells = np.array([[60.0, 0.0], [40.0, 40.0]])  # the dummy comes with the second level only
    >>> never_together(cells, np.array([False, True]), [[1]]).tolist()
    [[0.0, -40.0], [-40.0, 40.0]]
    """
    moved = np.zeros_like(cells)
    ones = np.flatnonzero(dummies)
    moved[:, ones] = -AWAY * _never(cells, cells[:, ones])
    if exclusive:
        none = np.stack([cells[:, 0] - cells[:, list(group)].sum(axis=1) for group in exclusive], axis=1)
        for group, never in zip(exclusive, _never(cells, none).T, strict=True):
            moved[:, 0] -= AWAY * never
            moved[:, list(group)] += AWAY * never[:, None]
    return moved


def _never(cells: FloatArray, together: FloatArray) -> BoolArray:
    """Say which levels (rows) stand beside which things (columns) in no record, though many were expected."""
    level, thing = cells[:, :1], together.sum(axis=0)
    expected = level * thing / level.sum()
    return np.asarray((together < 0.5) & (expected >= EXPECTED) & (thing >= SHOWN))
