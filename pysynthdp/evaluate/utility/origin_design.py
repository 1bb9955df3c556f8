"""The columns of both sides as predictors of where a row comes from, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.evaluate.sides.cells import Cells, coded
from pysynthdp.evaluate.sides.columns import numbers_of

__all__ = ["Block", "OriginDesign", "design_of"]

ROWS: Final = 16_384  # of a block
Block = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, repr=False)
class OriginDesign:
    """Both sides, the rows of the copy marked 1.

    Parameters
    ----------
    frames : (DataFrame, DataFrame)
        The confidential table and a copy.
    cells : sequence of Cells
        Of the columns.
    middle, spread : array (columns,)
        Of numbers on the confidential side: by these they are scaled.
    order : int
        0 for main effects, 1 for products of any two columns besides.

    Notes
    -----
    Privacy: holds real rows.
    """

    frames: tuple[pd.DataFrame, pd.DataFrame]
    cells: Sequence[Cells]
    middle: FloatArray
    spread: FloatArray
    order: int

    @property
    def rows(self) -> int:
        """Rows of both sides."""
        return sum(len(frame) for frame in self.frames)

    @property
    def share(self) -> float:
        """Share of them that are a copy's."""
        return len(self.frames[1]) / self.rows

    def blocks(self) -> Iterator[Block]:
        """Give predictors, the constant first, and the mark, a block of rows at a time: the copy's last."""
        for mark, frame in enumerate(self.frames):
            for start in range(0, len(frame), ROWS):
                part = frame.iloc[start : start + ROWS]
                yield self._features(part), np.full(len(part), float(mark))

    def _features(self, part: pd.DataFrame) -> FloatArray:
        """Make the predictors of some rows."""
        pieces = [piece for place in range(len(self.cells)) for piece in self._pieces(part, place)]
        whole = [np.ones((len(part), 1)), *pieces]
        if self.order:
            for place, one in enumerate(pieces):
                whole += [_products(one, other) for other in pieces[place + 1 :]]
        return np.concatenate(whole, axis=1)

    def _pieces(self, part: pd.DataFrame, place: int) -> Iterator[FloatArray]:
        """Make the predictors of one column: a number and why it is absent, or the levels but the first."""
        cells = self.cells[place]
        series = part[cells.facts.name]
        if not cells.facts.numeric:
            yield _dummies(coded(part, [cells])[0], cells.size)
            return
        values, kinds = numbers_of(series, cells.facts)
        scaled = (values - self.middle[place]) / self.spread[place]
        yield np.where(kinds > 0, 0.0, scaled)[:, None]
        yield _dummies(kinds, len(cells.facts.kinds) + 1)


def _dummies(codes: AnyArray, size: int) -> FloatArray:
    """Write codes as 0 and 1, without the first."""
    found = np.zeros((codes.size, size))
    found[np.arange(codes.size), codes] = 1.0
    return found[:, 1:]


def _products(one: FloatArray, other: FloatArray) -> FloatArray:
    """Multiply every predictor of one column with every one of another."""
    return np.asarray((one[:, :, None] * other[:, None, :]).reshape(len(one), -1))


def design_of(
    real: pd.DataFrame, copy: pd.DataFrame, cells: Sequence[Cells], *, order: int = 0
) -> OriginDesign:
    """Set up the predictors of where a row comes from.

    Parameters
    ----------
    real, copy : DataFrame
        The confidential table and a copy.
    cells : sequence of Cells
        Of the columns.
    order : int
        0 for main effects, 1 for products of any two columns besides.

    Returns
    -------
    OriginDesign

    Notes
    -----
    Privacy: reads real rows.
    """
    middle, spread = np.zeros(len(cells)), np.ones(len(cells))
    for place, each in enumerate(cells):
        if each.facts.numeric:
            values, _ = numbers_of(real[each.facts.name], each.facts)
            known = values[np.isfinite(values)]
            if known.size:
                middle[place], spread[place] = known.mean(), known.std() or 1.0
    return OriginDesign((real, copy), cells, middle, spread, order)
