"""Where features lie in the noisy matrix, from declared facts alone.

Categorical parts (levels, missing kinds) come first, numbers after them, each in visit order, so that the
distribution of the dummies is known exactly when a number is fitted from the noisy cross-products.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeGuard

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Facts, Words
from pysynthdp.design.encode import Layout, Scale, StepDesign, n_features
from pysynthdp.design.parts import Part
from pysynthdp.models.base import Bends, ColumnModel
from pysynthdp.plan import Step, SynthesisPlan
from pysynthdp.schema import Column, NumericColumn

__all__ = [
    "BEYOND_BOUNDS",
    "IN_CELLS",
    "MomentShape",
    "Span",
    "bends",
    "beyond_bounds",
    "in_cells",
    "level_features",
    "moment_designs",
    "moment_layout",
    "moment_part",
    "moment_shape",
    "spans_of",
]


BEYOND_BOUNDS = (
    "under noise in the answers, numbers drawn by norm may lie outside their declared bounds: clamping them "
    "again would bias means and regressions"
)


IN_CELLS = (
    "drawn in cells whose edges were declared: inside a cell its density follows the shares of the cells "
    "beside it, not the records, and later columns are drawn from the cell"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A number whose shape is asked for: its place among the numbers, and its declared bounds.

    Parameters
    ----------
    number : int
        Place among the numeric parts.
    low, high : float
        Bounds in units of the hint.
    """

    number: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MomentShape:
    """The features of one row, as public facts.

    Parameters
    ----------
    blocks : tuple of int
        Number of levels of each categorical part that has several, in moment order.
    numbers : int
        Numeric parts, after them.
    spans : tuple of Span
        Numbers whose shape is asked for too.
    tables : tuple of tuple of int
        For each block that counts the cells of a table, the levels of its columns; () for any other.
    """

    blocks: tuple[int, ...]
    numbers: int
    spans: tuple[Span, ...] = ()
    tables: tuple[tuple[int, ...], ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether there is no categorical part at all."""
        return not self.blocks


def moment_shape(parts: Sequence[Part], spans: tuple[Span, ...] = ()) -> MomentShape:
    """Count the features of some parts, each a step's."""
    several = [part for part in parts if len(part.levels) > 1]
    blocks = tuple(len(part.levels) for part in several)
    tables = tuple(tuple(len(own.levels) for own in part.of) for part in several)
    return MomentShape(blocks, sum(part.numeric for part in parts), spans, tables)


def moment_part(step: Step) -> Part:
    """Give what a step draws as one part: the cells of their table, where it draws several columns.

    Notes
    -----
    Privacy: declared facts only. A row is in one cell of such a table, as it has one level of a column.

    Examples
    --------
    >>> step = Step((Part("a", "value", ("x", "y")), Part("b", "value", ("u", "v"))), None, ())
    >>> moment_part(step).levels
    ('x, u', 'x, v', 'y, u', 'y, v')
    """
    first, *more = step.targets
    if not more:
        return first
    names = tuple(", ".join(levels) for levels in product(*(part.levels for part in step.targets)))
    return Part(first.column, "cells", names, of=step.targets)


def level_features(sizes: Sequence[int]) -> FloatArray:
    """Write each cell of a table as the dummies of its columns' levels, each column's first left out.

    Parameters
    ----------
    sizes : sequence of int
        Levels of each column.

    Returns
    -------
    array (cells, sum of levels less one a column)

    Examples
    --------
    >>> level_features((2, 2)).astype(int).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    codes = np.array(list(product(*(range(size) for size in sizes))))
    own = [codes[:, [place]] == np.arange(1, size) for place, size in enumerate(sizes)]
    return np.hstack(own).astype(np.float64)


def spans_of(plan: SynthesisPlan, layout: Layout) -> tuple[Span, ...]:
    """Name the numbers that are bent to a histogram, with their declared bounds in units of the hint."""
    numbers = [step for step in plan.steps if step.targets[0].numeric]
    found = []
    for place, step in enumerate(numbers):
        if bends(step.model):
            part = step.targets[0]
            column, scale = plan.schema[part.column], layout.scales[part.key]
            bounds = (column.lower, column.upper) if isinstance(column, NumericColumn) else (None, None)
            low, high = (0.0 if bound is None else (bound - scale.centre) / scale.width for bound in bounds)
            found.append(Span(place, low, high))
    return tuple(found)


def bends(model: ColumnModel) -> TypeGuard[Bends]:
    """Whether a model asks for a histogram beside the cross-products."""
    return isinstance(model, Bends)


def beyond_bounds(plan: SynthesisPlan) -> tuple[str, ...]:
    """Columns whose drawn numbers may lie outside their declared bounds, see :data:`BEYOND_BOUNDS`."""
    numeric = (step for step in plan.steps if step.targets[0].numeric)
    return tuple(step.targets[0].column for step in numeric if not bends(step.model))


def in_cells(plan: SynthesisPlan) -> tuple[str, ...]:
    """Columns that are drawn in declared cells, see :data:`IN_CELLS`."""
    return tuple(step.targets[0].column for step in plan.steps if step.targets[0].edges)


def moment_layout(plan: SynthesisPlan, hints: Mapping[str, tuple[float, float]]) -> Layout:
    """Place the features in moment order, numbers in units of their hints; cells before their columns.

    Notes
    -----
    Privacy: declared facts only. The features of a column that is drawn with others are sums over the cells
    of their table. Without a hint the centre is the middle of the bounds and the spread a sixth
    of their width.
    """
    guesses = {name: Scale(centre, spread) for name, (centre, spread) in hints.items()}
    parts = tuple(part for step in plan.steps for part in _placed(moment_part(step)))
    scales = {
        part.key: guesses.get(part.column) or _sixth(plan.schema[part.column])
        for part in parts
        if part.numeric
    }
    return Layout(parts, scales)


def _placed(part: Part) -> tuple[Part, ...]:
    """Give the parts that have features: the cells of a table, and the columns that they tell."""
    return part, *part.of


def _sixth(column: Column) -> Scale:
    """Middle of the declared bounds, and a sixth of their width."""
    if not isinstance(column, NumericColumn) or column.lower is None or column.upper is None:
        what = Words("{column} has no declared bounds", column=column.name)
        remedy = Words("declare {facts}", facts=Facts(lower=..., upper=...))
        raise PrivacyError(what, column=column.name, kind="bounds", remedy=remedy)
    return Scale((column.lower + column.upper) / 2, (column.upper - column.lower) / 6)


def moment_designs(plan: SynthesisPlan, layout: Layout) -> tuple[StepDesign, ...]:
    """Features of each step: all earlier parts, or those of the columns that the user chose.

    A user who left the predictors alone gets every part before it in moment order, which is all that the
    cross-products can tell.
    """
    starts, designs = layout.starts, []
    made = {own.column for own in plan.derived if not own.corrects}
    visited = [name for name in plan.visit_sequence if name not in made]
    place = {name: index for index, name in enumerate(visited)}
    for number, step in enumerate(plan.steps):
        own = step.targets[0].column
        everything = {*step.predictors} == {*visited[: place[own]]}
        chosen = {own, *step.predictors}
        before = [part for s in plan.steps[:number] for part in s.targets]
        parts = [part for part in before if everything or part.column in chosen]
        width = ((start, start + n_features(part)) for part in parts for start in [starts[part.key]])
        designs.append(StepDesign(((0,), *((i,) for low, high in width for i in range(low, high)))))
    return tuple(designs)
