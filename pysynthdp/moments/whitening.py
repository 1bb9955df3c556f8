"""Centre and whiten the numeric block of a row: the same arithmetic for a row whatever the others are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pysynthdp._typing import AnyArray, BoolArray, FloatArray

__all__ = ["Whitening", "clip_radially"]


@dataclass(frozen=True, slots=True, repr=False)
class Whitening:
    """w = root (x - effects of the row's levels).

    Parameters
    ----------
    effects : array (levels of all blocks, p)
        What each level adds to the centre of the numbers, in units of their hints.
    root : array (p, p)
        Inverse square root of the residual covariance.
    inverse : array (p, p)
        Its inverse.
    """

    effects: FloatArray
    root: FloatArray
    inverse: FloatArray

    @classmethod
    def none(cls, levels: int, numbers: int) -> Self:
        """Leave numbers as they are."""
        return cls(np.zeros((levels, numbers)), np.eye(numbers), np.eye(numbers))

    def apply(self, numbers: FloatArray, codes: list[AnyArray]) -> FloatArray:
        """Whiten numbers (p, rows); ``codes`` are rows of ``effects``, one array a block.

        Elementwise multiplications and additions in a fixed order only: a matrix product may round a row
        differently beside other rows, and neighbouring tables would then differ in more than one row.
        """
        rest = numbers.copy()
        for levels in codes:
            for index in range(len(rest)):
                rest[index] -= self.effects[levels, index]
        white = np.zeros_like(rest)
        for row in range(len(rest)):
            for column in range(len(rest)):
                white[row] += self.root[row, column] * rest[column]
        return white


def clip_radially(block: FloatArray, radius: float) -> tuple[FloatArray, BoolArray]:
    """Scale rows (columns of ``block``, (p, rows)) down to a length of at most ``radius``.

    A row whose length float64 cannot hold becomes zero, and counts as longer.

    Returns
    -------
    array (p, rows), array (rows,)
        The rows, and which were longer.

    Examples
    --------
    >>> clip_radially(np.array([[3.0, 0.3], [4.0, 0.4]]), 1.0)[0].round(2).tolist()
    [[0.6, 0.3], [0.8, 0.4]]
    """
    square = np.zeros(block.shape[1])
    for row in block:
        square += row * row
    length = np.sqrt(square)
    held = np.isfinite(length)
    longer = ~(length <= radius)
    factor = np.where(longer, radius / np.where(longer & held, length, 1.0), 1.0)
    return np.where(held, block, 0.0) * factor, longer
