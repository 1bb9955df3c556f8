"""``cells``: a multinomial regression of the cell that a number falls in, and a value inside the cell."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import FitError, PlanError
from pysynthdp.models.ask import (
    Answer,
    Moments,
    MomentSums,
    Quantiles,
    Query,
    RowSum,
    RowTerms,
    Sampler,
    StepMoments,
    Sums,
)
from pysynthdp.models.base import COLUMN_MODELS, Chosen, ColumnModel, Fit, FitTask, Target
from pysynthdp.models.fits.cell_table import CellTable, cell_table, joined, leaning, placed_values, tilted
from pysynthdp.models.fits.impossible import never_together
from pysynthdp.models.fits.level_fit import (
    LevelFit,
    ask_cells,
    ask_sampled_cells,
    plain_levels,
    redraw_level_fit,
    taken_as,
)
from pysynthdp.models.fits.level_prior import MultinomialProblem
from pysynthdp.models.fits.moment_logit import logit_from_moments
from pysynthdp.models.fits.multinomial import MultinomialMode, level_cells, level_probabilities
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.weighting import weighted

__all__ = ["Cells", "CellsFit"]

TINY = 1e-300
RIVAL = "normrank"  # the other model of numbers that keeps a margin
LEAST = 600  # records below which a rival that keeps spreads is not weighed: there are ten cells from here on
PENALTY = 0.5  # units of log likelihood taken off for each coefficient; see benchmarks/defaults/README.md


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
        Fit ``rival`` besides and take the one that makes the rows likelier: the default for numbers. Half
        a unit of log likelihood is taken off for each coefficient of cells, what fitting gains by chance, so
        that the model counts that can come nearer. False: always cells.
    edges : sequence of float, optional
        Where cells meet, declared: public numbers, an edge given twice being a cell of that one value. For
        noise in the answers (``guarantee=ZCDP(...)``), where nothing else tells them.
    rival : str
        The other model that ``by_evidence`` weighs. Where it keeps spreads too (``normspread``), it is taken
        unasked below 600 records, whose few cells move slopes.
    groups : int, optional
        Cells of equal count, of ten records or more, beside the values that many share; by default one for
        60 records, 4 at least and 20 at most. ``catgroups`` in synthpop.

    Raises
    ------
    PlanError
        For edges that are no finite numbers, and groups that are no number of at least 2.

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
    (``fits/cell_table.py``). Slopes have a normal prior with standard deviation 25
    for log odds, wide enough to move none that rows tell of, and finite beside a cell without a record.

    Examples
    --------
    >>> Cells().accepts(Target("income", "numeric"))
    True
    """

    by_evidence: bool = False
    edges: tuple[float, ...] | None = None
    groups: int | None = None
    rival: str = RIVAL
    name: ClassVar[str] = "cells"
    reason: ClassVar[str] = (
        "averages of neighbouring values are used as they are, and the coefficients of a regression "
        "carry no noise"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "any"
    keeps_shape: ClassVar[bool] = True
    keeps_masses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        groups: object = self.groups
        if groups is not None and (not isinstance(groups, int) or isinstance(groups, bool) or groups < 2):
            what = "groups of cells must be a whole number of at least 2"
            raise PlanError(what, kind="method", remedy="write groups=5, or leave it out")
        if self.edges is None:
            return
        whole = isinstance(self.edges, Sequence) and not isinstance(self.edges, str)
        if not whole or not all(_is_finite(edge) for edge in self.edges):
            what = "edges of cells must be finite numbers, as in (0, 500, 1000)"
            raise PlanError(what, kind="method", remedy="give them from low to high, or leave them out")
        object.__setattr__(self, "edges", tuple(map(float, self.edges)))

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Fit the cells; by evidence, another model too, and return the better one.

        On a long table a subsample decides: all rows are looked at again and again for the model taken alone.
        """
        if self.edges is not None:
            raise FitError(
                f"{task.target.name}: declared edges of cells are for noise in the answers",
                column=task.target.name,
                kind="method",
                remedy="leave edges out: without a guarantee cells meet at means of records",
            )
        rival: Any = COLUMN_MODELS[self.rival]()
        if self.by_evidence and self.rival != RIVAL and task.n < LEAST:
            return _taken(rival, (yield from rival.fit(task)))
        margin = yield from _ask_margin(task, self.groups)
        if not self.by_evidence:
            return (yield from _ask_fit(task, margin))
        settled = replace(self, by_evidence=False, rival=RIVAL)
        if margin.problem is None or not hasattr(rival, "weigh"):
            return Chosen(settled, (yield from _ask_fit(task, margin)))
        start = None
        if stride(margin.problem.n) == 1:
            fit = yield from _ask_fit(task, margin)
            beta = fit.beta
        else:
            start = yield from ask_sampled_cells(margin.problem)
            beta = _never(start.beta, margin, task)
        other = _taken(rival, (yield from rival.fit(task)))
        own = yield from _weigh(beta, margin)
        gain = yield from other.model.weigh(other.params, task)
        if own < gain:
            return other
        if start is not None:
            fit = yield from _ask_fit(task, margin, start)
        return Chosen(settled, fit)

    def cells_from_moments(self, task: FitTask, given: StepMoments) -> CellsFit:
        """Solve the score equations of noisy sums over declared cells, which lean to their neighbours."""
        start = None if given.start is None else given.start.beta
        beta = logit_from_moments(given.X, given.weights, given.cross, n=given.n, start=start)
        plain = plain_levels(beta, np.arange(len(beta)), np.arange(beta.shape[1]), shrunk=True)
        shares = given.weights @ level_probabilities(beta, given.X).T
        knots, cell = leaning(shares, *np.array(task.target.cells).T)
        return taken_as(CellsFit, plain, knots=knots, cell=cell, n=task.n)

    def cell_shares(self, params: CellsFit, X: FloatArray) -> FloatArray:
        """Probability of each cell, (rows, cells)."""
        return level_probabilities(params.beta, X).T

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


def _taken(model: ColumnModel, found: Any) -> Chosen:
    """Take another model; or the one that gave way to a third."""
    return found if isinstance(found, Chosen) else Chosen(model, found)


def _is_finite(edge: object) -> bool:
    """Whether it is a number with a place on the line."""
    return isinstance(edge, int | float) and not isinstance(edge, bool) and bool(np.isfinite(edge))


def _sums_by_cell(table: CellTable) -> RowTerms:
    """Sum every feature over the rows of each cell."""
    sums, codes = level_cells(table.size), table.codes

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        return sums(X, codes(y).astype(np.float64), w)

    return block


@dataclass(frozen=True, slots=True)
class _Margin:
    """The cells of a number.

    Parameters
    ----------
    table : CellTable
        Where they lie.
    cells : array (cells, features)
        Sum of every feature over the rows of each.
    free : array of int
        Features that are estimated.
    problem : MultinomialProblem or None
        None where all is one cell.
    """

    table: CellTable
    cells: FloatArray
    free: IntArray
    problem: MultinomialProblem | None


def _ask_margin(task: FitTask, groups: int | None) -> Generator[Query, Answer, _Margin]:
    """Ask for quantiles, moments and sums by cell."""
    answer = yield Quantiles()
    table = cell_table(np.asarray(answer.value, dtype=np.float64), task.n, groups)
    answer = yield Moments()
    sums: MomentSums = answer.value
    answer = yield RowSum(_sums_by_cell(table))
    table, new = joined(table, answer.value[0][:, 0])
    cells = np.zeros((int(new.max()) + 1, answer.value[0].shape[1]))
    np.add.at(cells, new, answer.value[0])
    if not cells[:, 0].any():
        raise FitError(
            f"{task.target.name} has no observed value to learn from",
            column=task.target.name,
            kind="method",
            remedy="drop the column",
        )
    free = independent_features(sums.gram)
    one = len(cells) == 1
    problem = None if one else MultinomialProblem(cells, sums.gram, np.zeros_like(cells), free)
    return _Margin(table, cells, free, problem)


def _ask_fit(
    task: FitTask, margin: _Margin, start: MultinomialMode | None = None
) -> Generator[Query, Answer, CellsFit]:
    """Ask for gradients on all rows; for nothing where all is one cell."""
    table = margin.table
    if margin.problem is None:
        zero = np.zeros((1, margin.cells.shape[1]))
        fit = plain_levels(zero, np.arange(1), margin.free[:1], shrunk=False)
    else:
        fit = yield from ask_cells(margin.problem, proper=task.proper, start=start)
        fit = replace(fit, beta=_never(fit.beta, margin, task))
    return taken_as(CellsFit, fit, knots=table.knots, cell=table.cell, n=task.n)


def _never(beta: FloatArray, margin: _Margin, task: FitTask) -> FloatArray:
    """Rule out cells that never occur together with a level."""
    return np.asarray(beta + never_together(margin.cells, np.asarray(task.dummies), task.exclusive))


def _weigh(beta: FloatArray, margin: _Margin) -> Generator[RowSum, Answer, float]:
    """Ask for the log likelihood of the cells over that of their shares, less half a unit a coefficient.

    Of a long table the subsample answers, whose search, too, is for coefficients with the sums by cell of all
    rows: they fit the subsample's rows no better than others, and the price is that of a fit to all rows.
    """
    problem = margin.problem
    if problem is None:
        return 0.0
    every, codes, shares = stride(problem.n), margin.table.codes, np.log(problem.share)

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        found = codes(y)
        logs = np.log(level_probabilities(beta, X)[found, np.arange(len(found))]) - shares[found]
        return (np.asarray(weighted(logs, w).sum()),)

    total = (yield RowSum(block, every)).value[0]
    return float(every * total) - PENALTY * (len(shares) - 1) * (problem.free.size - 1)
