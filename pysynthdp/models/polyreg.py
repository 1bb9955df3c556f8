"""``polyreg``: a multinomial logistic regression for levels without order."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import Answer, Moments, MomentSums, Query, RowSum, Sampler, StepMoments
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.impossible import never_together
from pysynthdp.models.fits.level_fit import LevelFit, ask_levels, plain_levels, redraw_level_fit, taken_as
from pysynthdp.models.fits.level_gain import ask_level_gain
from pysynthdp.models.fits.level_prior import MultinomialProblem
from pysynthdp.models.fits.moment_logit import logit_from_moments
from pysynthdp.models.fits.multinomial import level_cells, level_probabilities
from pysynthdp.models.fits.rank import independent_features

__all__ = ["PolyReg", "PolyRegFit"]

LIMIT = 10.0


@dataclass(frozen=True, slots=True)
class PolyRegFit(LevelFit):
    """A fitted multinomial regression."""


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class PolyReg:
    """Draw a level with probabilities exp(X beta_k) / sum_l exp(X beta_l); ``polyreg`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    Maximum likelihood; with an empty cell, few rows of a level per coefficient, or separation, the mode under
    a prior on slopes with standard deviation 25 for log odds; for a level of fewer than ten rows a narrower
    one, its scale chosen by marginal likelihood: noise predictors do not inflate a rare level. It is the same
    whichever level is called first. The mean fitted probabilities are the observed shares; no row is added.
    Only then pairs of levels are taken out that never occur though ten records were expected.

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
            fit = plain_levels(
                np.zeros((1, cells.shape[1])), levels, np.zeros(1, dtype=np.int64), shrunk=False
            )
            return taken_as(PolyRegFit, fit)
        free = independent_features(sums.gram)
        problem = MultinomialProblem(cells[levels], sums.gram, np.zeros_like(cells[levels]), free, LIMIT)
        dummies = np.asarray(task.dummies)
        fit = yield from ask_levels(problem, levels, dummies, proper=task.proper)
        never = never_together(problem.cells, dummies, task.exclusive)
        return replace(taken_as(PolyRegFit, fit), beta=fit.beta + never)

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> PolyRegFit:
        """Solve the score equations of noisy sums."""
        start = None if given.start is None else given.start.beta
        beta = logit_from_moments(given.X, given.weights, given.cross, n=given.n, start=start)
        levels, free = np.arange(task.target.n_levels), np.arange(beta.shape[1])
        return taken_as(PolyRegFit, plain_levels(beta, levels, free, shrunk=True))

    def redraw(self, params: PolyRegFit, rng: np.random.Generator) -> PolyRegFit:
        """Coefficients from the normal approximation to their posterior."""
        return redraw_level_fit(params, rng)

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
