"""Centre and whiten the numeric block of a row: the same arithmetic for a row whatever the others are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray

__all__ = ["Whitening", "clip_radially"]


@dataclass(frozen=True, repr=False)  # no slots: what is derived is built once and stays with it
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
        if self.leaves:
            return rest.copy() if rest is numbers else rest
        white, product = np.empty_like(rest), np.empty(rest.shape[1])
        for row, columns in enumerate(self.columns):
            target = white[row]
            if not columns:
                target.fill(0.0)
            for place, (column, factor) in enumerate(columns):
                if place:
                    np.add(target, np.multiply(rest[column], factor, out=product), out=target)
                else:
                    np.multiply(rest[column], factor, out=target)
        return white

    @cached_property
    def leaves(self) -> bool:
        """Whether it leaves centred numbers as they are."""
        return np.array_equal(self.root, np.eye(len(self.root)))

    @cached_property
    def columns(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """Of each row of the root, where it is not zero."""
        return tuple(tuple((int(at), float(row[at])) for at in np.flatnonzero(row)) for row in self.root)

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
    if not longer.any():
        return block, longer
    held = np.isfinite(length[longer])
    far = np.where(held, block[:, longer], 0.0)
    block[:, longer] = far * (radius / np.where(held, length[longer], 1.0))
    return block, longer
