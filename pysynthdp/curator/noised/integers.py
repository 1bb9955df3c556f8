"""Rows as vectors of integers of bounded length, and their exact cross-products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.curator.noised.whitening import Whitening, clip_radially
from pysynthdp.privacy.noise.moment_budget import BITS, Question
from pysynthdp.privacy.noise.moment_scales import DIAGONAL, OFF_DIAGONAL

__all__ = ["EXACT_ROWS", "Frame", "exact_gram", "integer_rows"]

EXACT_ROWS = 8_192  # EXACT_ROWS * row_bound < 2^53: float sums of the integer products are exact
UNIT = 2**BITS


@dataclass(frozen=True)
class Frame:
    """Where the features of a row lie: one-hot blocks (or the intercept), then numbers.

    Parameters
    ----------
    blocks : tuple of int
        Levels of each categorical part; (1,) stands for the intercept where there is none.
    numbers : int
        Numeric parts.
    """

    blocks: tuple[int, ...]
    numbers: int

    @cached_property
    def levels(self) -> int:
        """Levels of all blocks together."""
        return sum(self.blocks)

    @property
    def size(self) -> int:
        """Features of a row."""
        return self.levels + self.numbers

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """First feature of each block."""
        return tuple(int(start) for start in np.cumsum((0, *self.blocks[:-1])))

    @cached_property
    def released(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of the released entries: the upper triangle without what is always zero.

        Two levels of one part never meet in a row, so their product needs no answer.
        """
        owner = np.concatenate(
            [np.repeat(np.arange(len(self.blocks)), self.blocks), -1 - np.arange(self.numbers)]
        )
        row, column = np.triu_indices(self.size)
        kept = (row == column) | (owner[row] != owner[column])
        return row[kept].astype(np.int64), column[kept].astype(np.int64)

    def pack(self, gram: IntArray) -> IntArray:
        """Released entries of integer cross-products, times 70 on the diagonal and 99 off it."""
        row, column = self.released
        return gram[row, column] * np.where(row == column, DIAGONAL, OFF_DIAGONAL)

    def unpack(self, entries: AnyArray) -> FloatArray:
        """Undo :meth:`pack` for noised entries: a symmetric matrix in the features' own units."""
        row, column = self.released
        values = entries / np.where(row == column, float(DIAGONAL), float(OFF_DIAGONAL)) / float(UNIT) ** 2
        matrix = np.zeros((self.size, self.size))
        matrix[row, column] = values
        matrix[column, row] = values
        return matrix

    def unweighted(self, matrix: FloatArray, alpha: float) -> FloatArray:
        """Take the weight of the numeric block out of cross-products."""
        weights = np.concatenate([np.ones(self.levels), np.full(self.numbers, alpha)])
        return np.asarray(matrix / np.outer(weights, weights))


def integer_rows(
    frame: Frame, codes: list[AnyArray], numbers: FloatArray, question: Question, whitening: Whitening
) -> tuple[FloatArray, BoolArray]:
    """Turn rows into integers, as floats that hold them exactly.

    Parameters
    ----------
    frame : Frame
        Where features lie.
    codes : list of arrays (rows,)
        Level codes of each block.
    numbers : array (p, rows)
        Numbers in units of their hints.
    question : Question
        Radius, weight and bound.
    whitening : Whitening
        Applied first.

    Returns
    -------
    array (rows, size), array (rows,)
        Integer features, and which rows were clipped.

    Notes
    -----
    Privacy: passes confidential rows through. Whatever the floats do, a row whose integer squared length
    exceeds the bound gives up its numbers, so the bound holds exactly; it is decided row by row.
    """
    rows = np.empty((frame.size, len(codes[0])))
    placed = [level + start for level, start in zip(codes, frame.starts, strict=True)]
    rows[: frame.levels] = 0.0
    at = np.arange(len(codes[0]))
    for size, start, levels in zip(frame.blocks, frame.starts, placed, strict=True):
        rows[start if size == 1 else levels, slice(None) if size == 1 else at] = UNIT
    if not frame.numbers:
        return rows.T, np.zeros(len(at), dtype=np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):  # a warning about one row would tell of it
        block, clipped = clip_radially(whitening.apply(numbers, placed), question.radius)
    whole = rows[frame.levels :]
    steps = question.alpha * UNIT
    for row, number in zip(whole, block, strict=True):
        np.rint(np.multiply(number, steps, out=row), out=row)
    _keep_within(whole, question.row_bound - len(frame.blocks) * UNIT**2)
    return rows.T, clipped


def _keep_within(whole: FloatArray, bound: int) -> None:
    """Keep integer rows (p, rows) inside a squared length: one step towards zero, else nothing is left.

    Floats hold the squares exactly: clipped rows, and the bound, are far below 2^53.
    """
    long = np.flatnonzero(_square(whole) > bound)
    if not long.size:
        return
    rest = whole[:, long]
    rest = np.sign(rest) * np.maximum(np.abs(rest) - 1, 0)
    whole[:, long] = np.where(_square(rest) > bound, 0.0, rest)


def _square(whole: FloatArray) -> FloatArray:
    """Squared lengths of integer rows (p, rows)."""
    square, product = np.zeros(whole.shape[1]), np.empty(whole.shape[1])
    for row in whole:
        square += np.multiply(row, row, out=product)
    return square


def exact_gram(rows: FloatArray) -> IntArray:
    """Cross-products of integer rows; every partial sum is below 2^53, so floats add them exactly."""
    return np.asarray(rows.T @ rows).astype(np.int64)
