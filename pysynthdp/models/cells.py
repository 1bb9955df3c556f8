"""``cells``: a multinomial regression of the cell that a number falls in, and a value inside the cell."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import (
    Answer,
    Moments,
    MomentSums,
    Quantiles,
    Query,
    RowSum,
    RowTerms,
    Sampler,
    Sums,
)
from pysynthdp.models.base import COLUMN_MODELS, Chosen, Fit, FitTask, Target, Weighed
from pysynthdp.models.fits.cell_table import CellTable, cell_table, joined, placed_values, tilted
from pysynthdp.models.fits.impossible import never_together
from pysynthdp.models.fits.level_fit import LevelFit, ask_cells, plain_levels, redraw_level_fit, taken_as
from pysynthdp.models.fits.level_prior import MultinomialProblem
from pysynthdp.models.fits.multinomial import level_cells, level_probabilities
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.weighting import weighted

__all__ = ["Cells", "CellsFit"]

TINY = 1e-300
RIVAL = "normrank"  # the other model of numbers that keeps a margin
PENALTY = 1.0  # units of log likelihood taken off for each coefficient; by benchmarks/defaults/constants.py
_Fitted: TypeAlias = "tuple[CellsFit, CellTable, MultinomialProblem | None]"


@dataclass(frozen=True, slots=True)
class CellsFit(LevelFit):
    """A fitted multinomial regression of cells, and what is drawn inside each.

    Parameters
    ----------
    knots : array (4, groups)
        Shares of groups of neighbouring records, and a line through their means.
    cell : array of int (groups,)
        Position in ``levels`` of the cell that each group lies in.
    n : int
        Records.
    """

    knots: FloatArray
    cell: IntArray
    n: int


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Cells:
    """Draw the cell of a number by multinomial regression, then a value inside the cell.

    Parameters
    ----------
    by_evidence : bool
        Fit ``normrank`` besides and take the one that makes the rows likelier: the default for numbers. A
        unit of log likelihood is taken off for each coefficient of cells, half of it for what fitting gains
        by chance and half for what it loses on new rows. False: always cells.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``). Cells meet at means of five or more records, a value with
    a cell of its own is shared by ten or more, and inside a cell values are drawn from a line through means
    of groups of five or more records.
    With p_ic the probability that row i falls in cell c, the fit solves sum_i x_i 1{y_i in c} = sum_i x_i
    p_ic for every cell and feature x. So for every function g that is constant on cells, sum_i x_i g(y_i) is
    that of the records: regressions of the number, its logarithm, its ranks, or of whether it is above an
    edge, are kept together, up to what happens inside cells; so are spreads that depend on the features, and
    values that many share. Inside a cell places lean towards the neighbour that is likelier for the row
    (:func:`~pysynthdp.models.fits.cell_table.tilted`). Slopes have a normal prior with standard deviation 25
    for log odds, wide enough to move none that rows tell of, and finite beside a cell without a record.

    Examples
    --------
    >>> Cells().accepts(Target("income", "numeric"))
    True
    """

    by_evidence: bool = False
    name: ClassVar[str] = "cells"
    reason: ClassVar[str] = (
        "averages of neighbouring values are used as they are, and the coefficients of a regression "
        "carry no noise"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "any"
    keeps_shape: ClassVar[bool] = True
    keeps_masses: ClassVar[bool] = True

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Fit the cells; by evidence, another model too, and return the better one."""
        fit, table, problem = yield from _ask_fit(task)
        if not self.by_evidence:
            return fit
        settled, rival = Chosen(replace(self, by_evidence=False), fit), COLUMN_MODELS[RIVAL]()
        if problem is None or not isinstance(rival, Weighed):
            return settled
        other = yield from rival.fit(task)
        own = yield from _weigh(fit, table, problem)
        gain = yield from rival.weigh(other, task)
        return settled if own >= gain else Chosen(rival, other)

    def redraw(self, params: CellsFit, rng: np.random.Generator) -> CellsFit:
        """Coefficients by the normal approximation to their posterior; shares of groups inside each cell.

        These are drawn from the Dirichlet law of their counts, so that means of copies spread as they should.
        """
        shares = rng.gamma(params.knots[0] * params.n)
        drawn = np.bincount(params.cell, shares, len(params.levels))
        kept = np.bincount(params.cell, params.knots[0], len(params.levels))
        moved = np.vstack([shares * (kept / np.maximum(drawn, TINY))[params.cell], params.knots[1:]])
        return replace(redraw_level_fit(params, rng), knots=moved)

    def draw(self, params: CellsFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One value for each row of X."""
        shares = level_probabilities(params.beta, X).T
        cells, places = sampler.placed(shares)
        none = np.zeros(0)
        kept = CellTable(params.knots, params.cell, none, none.astype(np.int64), none, params.levels[:1])
        return placed_values(kept, cells, tilted(kept, cells, places, shares))


def _sums_by_cell(table: CellTable) -> RowTerms:
    """Sum every feature over the rows of each cell."""
    sums, codes = level_cells(table.size), table.codes

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        return sums(X, codes(y).astype(np.float64), w)

    return block


def _ask_fit(task: FitTask) -> Generator[Query, Answer, _Fitted]:
    """Ask for quantiles, moments and sums by cell, then for gradients; no problem where all is one cell."""
    answer = yield Quantiles()
    table = cell_table(np.asarray(answer.value, dtype=np.float64), task.n)
    answer = yield Moments()
    sums: MomentSums = answer.value
    answer = yield RowSum(_sums_by_cell(table))
    table, new = joined(table, answer.value[0][:, 0])
    cells = np.zeros((int(new.max()) + 1, answer.value[0].shape[1]))
    np.add.at(cells, new, answer.value[0])
    levels = np.arange(len(cells))
    if not cells[:, 0].any():
        raise FitError(
            f"{task.target.name} has no observed value to learn from",
            column=task.target.name,
            kind="method",
            remedy="drop the column",
        )
    free = independent_features(sums.gram)
    if levels.size == 1:
        plain = plain_levels(np.zeros((1, cells.shape[1])), levels, free[:1], shrunk=False)
        return taken_as(CellsFit, plain, knots=table.knots, cell=table.cell, n=task.n), table, None
    problem = MultinomialProblem(cells, sums.gram, np.zeros_like(cells), free)
    fit = yield from ask_cells(problem, proper=task.proper)
    never = never_together(cells, np.asarray(task.dummies), task.exclusive)
    fit = replace(fit, beta=fit.beta + never)
    return taken_as(CellsFit, fit, knots=table.knots, cell=table.cell, n=task.n), table, problem


def _weigh(fit: CellsFit, table: CellTable, problem: MultinomialProblem) -> Generator[RowSum, Answer, float]:
    """Ask for the log likelihood of the cells over that of their shares, less a unit a coefficient."""
    every, codes, shares = stride(problem.n), table.codes, np.log(problem.share)

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        found = codes(y)
        logs = np.log(level_probabilities(fit.beta, X)[found, np.arange(len(found))]) - shares[found]
        return (np.asarray(weighted(logs, w).sum()),)

    total = (yield RowSum(block, every)).value[0]
    return float(every * total) - PENALTY * (len(shares) - 1) * (problem.free.size - 1)
