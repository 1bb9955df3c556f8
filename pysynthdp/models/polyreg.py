"""``polyreg``: a multinomial logistic regression for levels without order."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import Answer, Moments, MomentSums, Query, RowSum, Sampler, StepMoments
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.glm import canonical_fit, logistic_terms
from pysynthdp.models.fits.level_gain import ask_level_gain
from pysynthdp.models.fits.level_posterior import LevelPosterior, ask_posterior, redraw_levels
from pysynthdp.models.fits.level_prior import MultinomialProblem
from pysynthdp.models.fits.moment_logit import logit_from_moments
from pysynthdp.models.fits.multinomial import (
    MultinomialMode,
    level_cells,
    level_probabilities,
    multinomial_mode,
)
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.redraw_shift import with_shift
from pysynthdp.models.fits.sparsity import empty_cells

__all__ = ["PolyReg", "PolyRegFit"]

LIMIT = 10.0


@dataclass(frozen=True, slots=True)
class PolyRegFit:
    """A fitted multinomial regression.

    Parameters
    ----------
    beta : array (levels that occur, features)
        Coefficients, which sum to zero over levels; differences of two rows are log odds.
    levels : array of int (levels that occur,)
        Their codes; every other level has probability 0.
    aliased : tuple of int
        Features that are constant or combinations of earlier ones.
    shrunk : bool
        Whether a prior on slopes was needed.
    whole : array (params, params) or (0, 0)
        Cholesky factor of the information of differences to the first row, for a small model fitted with
        ``proper``.
    parts : array (levels, free, free) or (0, 0, 0)
        For a large one: a root of each level's inverse information.
    free : array of int
        The features that ``whole`` and ``parts`` speak of.
    shift : array (levels that occur,)
        Subtracted from redrawn intercepts, so that expected shares stay the observed ones.
    """

    beta: FloatArray
    levels: IntArray
    aliased: tuple[int, ...]
    shrunk: bool
    whole: FloatArray
    parts: FloatArray
    free: IntArray
    shift: FloatArray


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class PolyReg:
    """Draw a level with probabilities exp(X beta_k) / sum_l exp(X beta_l); ``polyreg`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    Maximum likelihood; with an empty cell, few rows of a level per coefficient, or separation, the mode under
    a prior on slopes with standard deviation 10 for log odds; for a level of fewer than ten rows a narrower
    one, its scale chosen by marginal likelihood: noise predictors do not inflate a rare level. It is the same
    whichever level is called first. The mean fitted probabilities are the observed shares; no row is added.

    Examples
    --------
    >>> PolyReg().accepts(Target("region", "categorical", n_levels=16))
    True
    """

    name: ClassVar[str] = "polyreg"
    reason: ClassVar[str] = (
        "the coefficients of a multinomial regression without a public penalty can be moved without limit "
        "by one record, and a level can exist only because of one"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "logit"

    def accepts(self, target: Target) -> bool:
        """Any categorical target."""
        return target.kind == "categorical"

    def fit(self, task: FitTask) -> Fit:
        """Ask for moments and cells, then for gradients; return a PolyRegFit."""
        answer = yield Moments()
        sums: MomentSums = answer.value
        answer = yield RowSum(level_cells(task.target.n_levels))
        cells: FloatArray = answer.value[0]
        levels = np.flatnonzero(cells[:, 0] > 0)
        if levels.size == 0:
            raise FitError(
                f"{task.target.name} has no observed level to learn from",
                column=task.target.name,
                kind="method",
                remedy="drop the column",
            )
        if levels.size == 1:
            return _plain(np.zeros((1, cells.shape[1])), levels, np.zeros(1, dtype=np.int64), shrunk=False)
        free = independent_features(sums.gram)
        problem = MultinomialProblem(cells[levels], sums.gram, np.zeros_like(cells[levels]), free, LIMIT)
        sparse = empty_cells(problem.cells, np.asarray(task.dummies), free.size)
        if levels.size == 2:
            return (yield from _two_levels(problem, levels, sparse=sparse, proper=task.proper))
        mode = yield from _mode(problem, sparse=sparse)
        fit = _plain(mode.beta, levels, free, shrunk=bool(mode.problem.precision.any()))
        return (yield from _with_posterior(fit, mode.problem)) if task.proper else fit

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> PolyRegFit:
        """Solve the score equations of noisy sums."""
        start = None if given.start is None else given.start.beta
        beta = logit_from_moments(given.X, given.weights, given.cross, n=given.n, start=start)
        levels, free = np.arange(task.target.n_levels), np.arange(beta.shape[1])
        return _plain(beta, levels, free, shrunk=True)

    def redraw(self, params: PolyRegFit, rng: np.random.Generator) -> PolyRegFit:
        """Coefficients from the normal approximation to their posterior."""
        if params.levels.size == 1:
            return params
        if params.whole.size == params.parts.size == 0:
            mend = Words("fit with {proper} to draw properly", proper=Setting("proper", True))
            raise FitError("this multinomial fit kept no posterior", kind="posterior", remedy=mend)
        posterior = LevelPosterior(params.whole, params.parts)
        beta = redraw_levels(params.beta, posterior, params.free, rng)
        beta[:, 0] -= params.shift
        return replace(params, beta=beta)

    def weigh(self, params: PolyRegFit, task: FitTask) -> Generator[Query, Answer, float]:
        """Ask for the log likelihood of the rows over that of the shares, less what parameters gain."""
        del task
        slopes = (params.levels.size - 1) * (params.free.size - 1)
        shares = partial(self.level_shares, params)
        return (yield from ask_level_gain(shares, params.levels, slopes))

    def level_shares(self, params: PolyRegFit, X: FloatArray) -> FloatArray:
        """Probability of each level that occurs, (rows, levels)."""
        return level_probabilities(params.beta, X).T

    def draw(self, params: PolyRegFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One level for each row of X."""
        probabilities = level_probabilities(params.beta, X).T
        return params.levels[sampler.categorical(probabilities)].astype(np.float64)


def _mode(problem: MultinomialProblem, *, sparse: bool) -> Generator[RowSum, Answer, MultinomialMode]:
    """Maximum likelihood where it exists comfortably, else the mode under the prior."""
    if not sparse:
        found = yield from multinomial_mode(problem, sparse=False)
        if found.converged:
            return found
    return (yield from multinomial_mode(replace(problem, limit=np.inf), sparse=True))


def _two_levels(
    problem: MultinomialProblem, levels: IntArray, *, sparse: bool, proper: bool
) -> Generator[RowSum, Answer, PolyRegFit]:
    """Fit the logistic regression that two levels are, half the log odds to each."""
    total = float(problem.cells[1, 0])
    logistic = yield from canonical_fit(
        logistic_terms,
        problem.gram,
        problem.cells[1],
        intercept=float(logit(total / problem.n)),
        sparse=sparse,
        events=min(total, problem.n - total),
    )
    beta = np.stack([-logistic.beta / 2, logistic.beta / 2])
    fit = _plain(beta, levels, problem.free, shrunk=logistic.shrunk)
    if not proper:
        return fit
    logistic = yield from with_shift(logistic, expit, logit, total=total, n=problem.n)
    whole = np.asarray(np.linalg.inv(logistic.root[problem.free].T), dtype=np.float64)
    return replace(fit, whole=whole, shift=np.array([0.0, logistic.shift]))


def _plain(beta: FloatArray, levels: IntArray, free: IntArray, *, shrunk: bool) -> PolyRegFit:
    """Build a fit without its posterior."""
    size = beta.shape[1]
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(size), free))
    none = np.zeros((0, 0))
    return PolyRegFit(beta, levels, aliased, shrunk, none, np.zeros((0, 0, 0)), free, np.zeros(levels.size))


def _with_posterior(fit: PolyRegFit, problem: MultinomialProblem) -> Generator[RowSum, Answer, PolyRegFit]:
    """Add the posterior's root and the shift that keeps expected shares."""
    posterior, shift = yield from ask_posterior(problem, fit.beta)
    return replace(fit, whole=posterior.whole, parts=posterior.parts, shift=shift)
