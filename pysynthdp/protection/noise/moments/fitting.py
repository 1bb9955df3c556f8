"""Fit every step of a plan, in order, to one matrix of cross-products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.streams import NumpySampler
from pysynthdp.design.encode import Layout, StepDesign, n_features
from pysynthdp.design.parts import Part
from pysynthdp.models.ask import StepMoments
from pysynthdp.models.base import FitTask
from pysynthdp.plan.fit import named
from pysynthdp.protection.noise.moments.cells import Cells
from pysynthdp.protection.noise.moments.design import level_features
from pysynthdp.protection.noise.moments.margins import nearest_shares

__all__ = ["Hidden", "MomentFit", "MomentStep", "feasible_cross", "fit_steps"]
ROUNDS = 30  # of proportional fitting
LEAST = 0.05  # rows in a cell: none, but a logit of it exists
ROWS = 10_000  # that stand for the distribution
_SEED = 20_240_301  # the same rows for every copy, so that copies differ by their moments only


@dataclass(frozen=True, slots=True, repr=False)
class MomentStep:
    """A step as the fit from moments sees it.

    Parameters
    ----------
    part : Part
        What it draws.
    model : ColumnModel
        Which has ``fit_from_moments``.
    task : FitTask
        What the model is told.
    design : StepDesign
        Its features.
    kind : int
        Place among the categorical parts of the kind that says whether a number is there; -1 if it always is.
    """

    part: Part
    model: Any
    task: FitTask
    design: StepDesign
    kind: int = -1


@dataclass(frozen=True, slots=True, repr=False)
class Hidden:
    """What the noise hides, for each number.

    Parameters
    ----------
    variances : array (numbers,)
        Smallest residual variance that is seen. Below it later slopes on the number would be noise over next
        to nothing.
    rows : array (numbers,)
        Rows in a direction of the features below which its slope is not seen.
    """

    variances: FloatArray
    rows: FloatArray


@dataclass(frozen=True, slots=True, repr=False)
class MomentFit:
    """Parameters of every step, and the distribution that they imply.

    Parameters
    ----------
    params : tuple
        One a step, in the units of the hints.
    cells : Cells
        The implied distribution.
    feasible : bool
        Whether every number was left some residual variance: noise may make moments those of no rows.
    """

    params: tuple[Any, ...]
    cells: Cells
    feasible: bool


def fit_steps(
    steps: Sequence[MomentStep],
    layout: Layout,
    gram: FloatArray,
    *,
    hidden: Hidden,
    start: MomentFit | None = None,
    knots: Mapping[int, FloatArray] = MappingProxyType({}),
) -> MomentFit:
    """Fit each step to its own rows and columns of the matrix, the features' side from the fits before it.

    Parameters
    ----------
    steps : sequence of MomentStep
        Categorical parts first.
    layout : Layout
        Where features lie in the matrix.
    gram : array (features, features)
        Cross-products; the number of rows in the corner.
    hidden : Hidden
        What the noise hides.
    start : MomentFit, optional
        A fit to nearby moments.
    knots : mapping number -> array (2, knots)
        Quantile functions of the numbers that are bent to a margin.

    Returns
    -------
    MomentFit

    Notes
    -----
    Privacy: post-processing of noised answers.
    """
    cells, params, feasible, rows = Cells.start(), [], True, None
    for number, step in enumerate(steps):
        before = None if start is None else start.params[number]
        if step.part.numeric:
            fit, wider = _fit_number(step, layout, gram, cells, hidden)
            feasible = feasible and fit.df > 0
            if knots:
                rows = _StandIns.of(cells) if rows is None else rows
                fit = _shaped(step, fit, rows, cells, knots.get(cells.means.shape[1]), before)
            cells = wider
        else:
            fit = _fit_levels(step, layout, gram, cells, before)
            with named(step.part.label, step.model, "say its shares of levels"):
                shares = _shares(step, fit, cells.X[:, _positions(step)])
                cells = cells.split(shares, level_features(sizes) if (sizes := _sizes(step)) else None)
        params.append(fit)
    return MomentFit(tuple(params), cells, feasible)


def _sizes(step: MomentStep) -> tuple[int, ...]:
    """Levels of each column of a table, where the step draws its cells."""
    return tuple(len(own.levels) for own in step.part.of)


def _fitted(step: MomentStep, given: StepMoments) -> Any:
    """Fit a step's model; what it raises gets the column's name."""
    with named(step.part.label, step.model, "be fitted from noisy cross-products"):
        if step.part.edges:
            return step.model.cells_from_moments(step.task, given)
        return step.model.fit_from_moments(step.task, given)


def _shares(step: MomentStep, fit: Any, X: FloatArray) -> FloatArray:
    """Shares of levels, or of a number's declared cells."""
    of = step.model.cell_shares if step.part.edges else step.model.level_shares
    return np.asarray(of(fit, X))


def _positions(step: MomentStep) -> IntArray:
    """Positions of a step's features."""
    return np.array([position for (position,) in step.design.features], dtype=np.int64)


def _fit_levels(step: MomentStep, layout: Layout, gram: FloatArray, cells: Cells, before: Any) -> Any:
    """Fit a categorical part; its first level has what the others leave of the features' sums."""
    at, first = _positions(step), layout.starts[step.part.key]
    others = gram[at, first : first + len(step.part.levels) - 1]
    cross = np.column_stack([gram[at, 0] - others.sum(axis=1), others])
    n = float(gram[0, 0])
    if step.part.of:  # of many cells most that noise alone fills would be kept
        cross[0] = n * nearest_shares(cross[0])
    X, weights = cells.X[:, at], cells.weights * n
    cross = feasible_cross(cross, at, layout, weights @ X)
    given = StepMoments(X, weights, np.zeros((0, 0)), cross, 0.0, n, before)
    return _fitted(step, given)


def _fit_number(
    step: MomentStep, layout: Layout, gram: FloatArray, cells: Cells, hidden: Hidden
) -> tuple[Any, Cells]:
    """Fit a number on the rows where it is there, and add it to the implied distribution."""
    at, column = _positions(step), layout.starts[step.part.key]
    width = cells.X.shape[1]
    dummies, numbers = at[at < width], at[at >= width] - width
    present = _present(step, cells)
    n = float(gram[0, 0])
    there = float(cells.weights[present].sum()) * n
    none = np.zeros((0, len(at)))
    given = StepMoments(
        none,
        np.zeros(0),
        n * cells.products(dummies, numbers, present),
        gram[at, column][:, None],
        float(gram[column, column]),
        there,
        blur=float(hidden.rows[cells.means.shape[1]]),
    )
    fit = _fitted(step, given)
    fit = replace(fit, sigma=max(fit.sigma, float(np.sqrt(hidden.variances[cells.means.shape[1]]))))
    return fit, cells.with_number(dummies, numbers, fit.beta, fit.sigma, present)


def _shaped(
    step: MomentStep, fit: Any, rows: _StandIns, cells: Cells, knots: FloatArray | None, before: Any
) -> Any:
    """Bend a number's fit to its margin, if it has one, and give it to the rows that stand in for all."""
    X, there = rows.X[:, _positions(step)], _present(step, cells)[rows.cells]
    if knots is not None:
        with named(step.part.label, step.model, "be bent to its histogram"):
            fit = step.model.bent(fit, X[there] if there.any() else X, knots, before)
    with named(step.part.label, step.model, "draw"):
        values = step.model.draw(fit, X, NumpySampler(rows.rng))
    rows.add(np.where(there, values, 0.0))
    return fit


def _present(step: MomentStep, cells: Cells) -> BoolArray:
    """Cells in which the number is there."""
    if step.kind < 0:
        return np.ones(len(cells.weights), dtype=np.bool_)
    return np.asarray(cells.codes[:, step.kind] == 0)


def feasible_cross(cross: FloatArray, at: IntArray, layout: Layout, mean: FloatArray) -> FloatArray:
    """Cut every table of a target with an earlier part at zero and fit it to both margins.

    Parameters
    ----------
    cross : array (features, levels)
        Noisy sums of each feature over the rows of each level.
    at : array (features,)
        Positions of the features in the layout, intercept first.
    layout : Layout
        Which of them belong together.
    mean : array (features,)
        Sums of the features over all rows, under the models of the earlier columns.

    Returns
    -------
    array (features, levels)
        Without negative cells; unchanged where no cell was negative and the margins agree.

    Notes
    -----
    Privacy: post-processing. Without this a cell of, say, minus a hundred rows would pull its logit as far as
    the prior lets it go; at zero it goes as far as an empty cell does. Margins by iterative proportional
    fitting (Deming and Stephan 1940).
    """
    n = float(mean[0])
    shares = np.maximum(cross[0], LEAST)
    result = cross.copy()
    result[0] = margin = shares * (n / shares.sum())
    place = {int(position): index for index, position in enumerate(at)}
    for part in layout.parts:
        first, size = layout.starts[part.key], n_features(part)
        if part.numeric or not size or first not in place:
            continue
        rows = slice(place[first], place[first] + size)
        table = np.vstack([cross[0] - cross[rows].sum(axis=0), cross[rows]])
        wanted = np.concatenate([[n - mean[rows].sum()], mean[rows]])
        result[rows] = _to_margins(np.maximum(table, LEAST), np.maximum(wanted, LEAST), margin)[1:]
    return result


def _to_margins(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Scale rows and columns in turn until both margins agree."""
    for _ in range(ROUNDS):
        table = table * (rows / table.sum(axis=1))[:, None]
        table = table * (columns / table.sum(axis=0))
        if np.allclose(table.sum(axis=1), rows, rtol=1e-9, atol=1e-9):
            break
    return table


@dataclass(slots=True, repr=False)
class _StandIns:
    """Rows of the fitted distribution, number by number.

    Parameters
    ----------
    X : array (rows, features so far)
        Intercept, dummies, numbers.
    cells : array (rows,)
        The cell of each row.
    rng : Generator
        Of the residuals.
    """

    X: FloatArray
    cells: IntArray
    rng: np.random.Generator

    @classmethod
    def of(cls, cells: Cells) -> Self:
        """Take rows from the cells by systematic sampling."""
        rng = np.random.default_rng(_SEED)
        ends = np.cumsum(cells.weights)
        points = (np.arange(ROWS) + 0.5) / ROWS * ends[-1]
        at = np.minimum(np.searchsorted(ends, points), len(ends) - 1).astype(np.int64)
        return cls(cells.X[at], at, rng)

    def add(self, values: FloatArray) -> None:
        """Add a number to every row."""
        self.X = np.column_stack([self.X, values])
