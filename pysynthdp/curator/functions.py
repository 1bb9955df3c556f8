"""Numbers that are sums of earlier ones: a total, an age beside a year of birth, an amount in two units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.curator.table import SCALE_ROWS, Key, PartTable
from pysynthdp.design.parts import Part
from pysynthdp.models.fits.rank import independent_features

__all__ = ["LinearFunction", "linear_functions"]

EXACT = 1e-6  # standard deviations that a cell may be off: what storage rounds
ROWS_A_NUMBER = 3  # with fewer rows, any number is a function of the others


@dataclass(frozen=True, slots=True)
class LinearFunction:
    """A number that is, row by row, a constant plus multiples of earlier numbers.

    Parameters
    ----------
    part : Part
        The number.
    of : tuple of (column, role)
        The earlier ones.
    slopes : array (earlier,)
        Of each.
    """

    part: Part
    of: tuple[Key, ...]
    slopes: FloatArray

    def followed(self, before: PartTable, after: PartTable) -> FloatArray:
        """Values that go with the earlier numbers after some of those were moved."""
        values = before.parts[self.part.key].copy()
        for key, slope in zip(self.of, self.slopes, strict=True):
            if after.parts[key] is not before.parts[key]:
                values += slope * (after.parts[key] - before.parts[key])
        return values


def linear_functions(table: PartTable, parts: Sequence[Part]) -> tuple[LinearFunction, ...]:
    """Find numbers, there in every row, that are linear functions of earlier ones.

    Notes
    -----
    Privacy: reads real rows. A systematic sample of at most 40,000 rows finds them, and the extreme rows of
    each must agree.
    """
    numbers = [part for part in parts if part.numeric and not part.partial]
    if not numbers:
        return ()
    columns = [table.sample(part, max(1, table.n // SCALE_ROWS))[0] for part in numbers]
    spread = np.array([max(float(np.std(column)), np.finfo(float).tiny) for column in columns])
    centre = np.array([float(np.mean(column)) for column in columns])
    X = np.column_stack([np.ones(len(columns[0])), *columns])
    X[:, 1:] = (X[:, 1:] - centre) / spread
    kept = independent_features(X.T @ X)
    found = []
    for index, part in enumerate(numbers):
        before = kept[(kept > 0) & (kept <= index)]
        if index + 1 in kept or not len(before) or ROWS_A_NUMBER * len(before) > len(X):
            continue
        slopes = np.linalg.lstsq(X[:, before], X[:, index + 1], rcond=None)[0]
        used = np.abs(slopes) > EXACT
        of = tuple(numbers[at - 1].key for at in before[used])
        own = LinearFunction(part, of, slopes[used] * spread[index] / spread[before[used] - 1])
        if of and _holds(own, table, spread[index]):
            found.append(own)
    return tuple(found)


def _holds(function: LinearFunction, table: PartTable, spread: float) -> bool:
    """Whether the rows where any of the numbers is extreme have the same constant."""
    keys = (function.part.key, *function.of)
    ends = table.folded(lambda piece: _ends(piece, keys), _farther)
    rest = ends[:, 0].copy()
    for place, slope in enumerate(function.slopes, start=1):
        rest -= slope * ends[:, place]
    return bool(np.ptp(rest) <= EXACT * spread)


def _ends(table: PartTable, keys: Sequence[Key]) -> FloatArray:
    """Numbers of the rows where each is smallest, and largest: (2 numbers, numbers); none of no rows."""
    columns = [table.parts[key] for key in keys]
    if not table.n:
        return np.zeros((0, len(keys)))
    rows = [at for own in columns for at in (int(own.argmin()), int(own.argmax()))]
    return np.stack([own[rows] for own in columns], axis=1)


def _farther(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Take of two pieces' ends those that are farther out, the first of equal ones."""
    if not (len(upper) and len(lower)):
        return upper if len(upper) else lower
    places = np.arange(len(upper))
    sign = np.where(places % 2, -1.0, 1.0)
    own = places // 2
    beyond = sign * lower[places, own] < sign * upper[places, own]
    return np.where(beyond[:, None], lower, upper)
