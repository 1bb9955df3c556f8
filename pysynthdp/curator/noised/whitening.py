"""Centre and whiten the numeric block of a row: the same arithmetic for a row whatever the others are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray

__all__ = ["Whitening", "clip_radially"]


@dataclass(frozen=True, slots=True, repr=False)
class Whitening:
    """w = root (x - effects of the row's levels).

    Parameters
    ----------
    effects : array (levels of all blocks, p)
        What each level adds to the centre of the numbers, in units of their hints.
    root : array (p, p)
        Inverse square root of the residual covariance; of all square roots a triangular one costs half.
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
        rest = self._centred(numbers, codes)
        white, product = np.zeros_like(rest), np.empty(rest.shape[1])
        for row, column in np.argwhere(self.root):
            np.multiply(rest[column], self.root[row, column], out=product)
            white[row] += product
        return white

    def _centred(self, numbers: FloatArray, codes: list[AnyArray]) -> FloatArray:
        """Take off what the levels of each row add."""
        if not self.effects.any():
            return numbers
        if len(self.effects) == 1:
            return np.asarray(numbers - self.effects[0][:, None])
        rest = numbers.copy()
        for levels in codes:
            for index in range(len(rest)):
                rest[index] -= self.effects[levels, index]
        return rest


def clip_radially(block: FloatArray, radius: float) -> tuple[FloatArray, BoolArray]:
    """Scale rows (columns of ``block``, (p, rows)) down to a length of at most ``radius``, in place.

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
    square, product = np.zeros(block.shape[1]), np.empty(block.shape[1])
    for row in block:
        square += np.multiply(row, row, out=product)
    length = np.sqrt(square)
    longer = ~(length <= radius)
    held = np.isfinite(length[longer])
    far = np.where(held, block[:, longer], 0.0)
    block[:, longer] = far * (radius / np.where(held, length[longer], 1.0))
    return block, longer
