"""A multinomial regression of codes: mode, posterior and redraws, for every model that draws levels."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from scipy.special import expit, logit

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import Answer, RowSum
from pysynthdp.models.fits.glm import canonical_fit, logistic_terms
from pysynthdp.models.fits.level_posterior import LevelPosterior, ask_posterior, level_spread, redraw_levels
from pysynthdp.models.fits.level_prior import MultinomialProblem
from pysynthdp.models.fits.multinomial import MultinomialMode, multinomial_mode, sampled_mode
from pysynthdp.models.fits.redraw_shift import with_shift
from pysynthdp.models.fits.sparsity import SLOPE_SD, SPREAD_SD, empty_cells, rows_tell

__all__ = [
    "LevelFit",
    "ask_cells",
    "ask_level_posterior",
    "ask_levels",
    "ask_sampled_cells",
    "plain_levels",
    "redraw_level_fit",
    "taken_as",
]

CELL_SD = SLOPE_SD  # of the prior on slopes of cells
CELL_SPREAD = 2.5  # of redraws where a level has no record in a cell; more records spread less by themselves
CLOSE = (1e-4, 1e-3)  # a hundredth of a standard error from the mode, a thirtieth on long tables


@dataclass(frozen=True, slots=True)
class LevelFit:
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
    shift : array (levels that occur, 1) or (levels that occur, features)
        Subtracted from redrawn intercepts, or from all redrawn coefficients, so that expected shares, or sums
        of all features, stay the observed ones.
    """

    beta: FloatArray
    levels: IntArray
    aliased: tuple[int, ...]
    shrunk: bool
    whole: FloatArray
    parts: FloatArray
    free: IntArray
    shift: FloatArray


AnyFit = TypeVar("AnyFit", bound=LevelFit)


def ask_levels(
    problem: MultinomialProblem,
    levels: IntArray,
    dummies: BoolArray,
    *,
    proper: bool,
    separated: bool = False,
) -> Generator[RowSum, Answer, LevelFit]:
    """Fit a multinomial regression: maximum likelihood where it exists comfortably, else under a prior.

    Parameters
    ----------
    problem : MultinomialProblem
        Of the levels that occur, at least two.
    levels : array of int
        Their codes.
    dummies : array of bool (features,)
        Which features are 0/1.
    proper : bool
        Keep what redraws need.
    separated : bool
        Known to need the prior, though no dummy is empty beside a level.

    Returns
    -------
    LevelFit

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    """
    sparse = separated or empty_cells(problem.cells, dummies, problem.free.size)
    if levels.size == 2:
        return (yield from _two_levels(problem, levels, sparse=sparse, proper=proper))
    mode = yield from _mode(problem, sparse=sparse)
    shrunk = bool(mode.problem.precision.any())
    fit = plain_levels(mode.beta, levels, problem.free, shrunk=shrunk)
    if not proper:
        return fit
    fit = yield from ask_level_posterior(fit, mode.problem, slopes=True)
    if shrunk or rows_tell(
        level_spread(LevelPosterior(fit.whole, fit.parts), fit.beta, fit.free), problem.gram
    ):
        return fit
    return (yield from ask_levels(problem, levels, dummies, proper=True, separated=True))


def ask_cells(
    problem: MultinomialProblem, *, proper: bool, start: MultinomialMode | None = None
) -> Generator[RowSum, Answer, LevelFit]:
    """Fit a multinomial regression of the cells of a number, always under the widest prior.

    Parameters
    ----------
    problem : MultinomialProblem
        Of the cells, at least two.
    proper : bool
        Keep what redraws need.
    start : MultinomialMode, optional
        From :func:`ask_sampled_cells`.

    Returns
    -------
    LevelFit

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    Neighbouring cells differ by little and the outermost by much, so slopes are larger than those of levels.
    """
    mode = yield from multinomial_mode(_widest(problem), sparse=True, close=CLOSE, start=start)
    fit = plain_levels(mode.beta, np.arange(len(problem.cells)), problem.free, shrunk=True)
    return (yield from ask_level_posterior(fit, mode.problem, CELL_SPREAD, slopes=True)) if proper else fit


def ask_sampled_cells(problem: MultinomialProblem) -> Generator[RowSum, Answer, MultinomialMode]:
    """Fit cells of a long table to a systematic subsample alone.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    """
    return (yield from sampled_mode(_widest(problem), sparse=True))


def _widest(problem: MultinomialProblem) -> MultinomialProblem:
    """Give slopes the prior of cells."""
    return replace(problem, weakest=2 / CELL_SD**2)


def taken_as(kind: type[AnyFit], fit: LevelFit, **more: Any) -> AnyFit:
    """Take a fit as one of a model's own kind, with what that has besides.

    Parameters
    ----------
    kind : type
        A dataclass that extends LevelFit.
    fit : LevelFit
        Fitted.
    **more
        Its further fields.
    """
    return kind(**{item.name: getattr(fit, item.name) for item in fields(LevelFit)}, **more)


def redraw_level_fit(fit: AnyFit, rng: np.random.Generator) -> AnyFit:
    """Coefficients from the normal approximation to their posterior.

    Parameters
    ----------
    fit : LevelFit
        With its posterior.
    rng : Generator
        Source of the draw.

    Raises
    ------
    FitError
        If the fit kept no posterior.
    """
    if fit.levels.size == 1:
        return fit
    if fit.whole.size == fit.parts.size == 0:
        mend = Words("fit with {proper} to draw properly", proper=Setting("proper", True))
        raise FitError("this multinomial fit kept no posterior", kind="posterior", remedy=mend)
    posterior = LevelPosterior(fit.whole, fit.parts)
    beta = redraw_levels(fit.beta, posterior, fit.free, rng)
    shift = fit.shift.reshape(len(beta), -1)  # files of earlier versions hold a vector
    beta[:, : shift.shape[1]] -= shift
    return replace(fit, beta=beta)


def _mode(problem: MultinomialProblem, *, sparse: bool) -> Generator[RowSum, Answer, MultinomialMode]:
    """Maximum likelihood where it exists comfortably, else the mode under the prior."""
    if not sparse:
        found = yield from multinomial_mode(problem, sparse=False)
        if found.converged:
            return found
    return (yield from multinomial_mode(replace(problem, limit=np.inf), sparse=True))


def _two_levels(
    problem: MultinomialProblem, levels: IntArray, *, sparse: bool, proper: bool
) -> Generator[RowSum, Answer, LevelFit]:
    """Fit the logistic regression that two levels are, half the log odds to each."""
    total = float(problem.cells[1, 0])
    logistic = yield from canonical_fit(
        logistic_terms,
        problem.gram,
        problem.cells[1],
        intercept=float(logit(total / problem.n)),
        sparse=sparse,
        events=min(total, problem.n - total),
        level=float(levels[1]),
    )
    beta = np.stack([-logistic.beta / 2, logistic.beta / 2])
    fit = plain_levels(beta, levels, problem.free, shrunk=logistic.shrunk)
    if not proper:
        return fit
    logistic = yield from with_shift(logistic, expit, logit, total=total, n=problem.n)
    whole = np.asarray(np.linalg.inv(logistic.root[problem.free].T), dtype=np.float64)
    return replace(fit, whole=whole, shift=np.array([[0.0], [logistic.shift]]))


def plain_levels(beta: FloatArray, levels: IntArray, free: IntArray, *, shrunk: bool) -> LevelFit:
    """Build a fit without its posterior.

    Parameters
    ----------
    beta : array (levels, features)
        Coefficients.
    levels : array of int (levels,)
        Codes.
    free : array of int
        Features that were estimated.
    shrunk : bool
        Whether under a prior.
    """
    size = beta.shape[1]
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(size), free))
    none = np.zeros((0, 0))
    return LevelFit(
        beta, levels, aliased, shrunk, none, np.zeros((0, 0, 0)), free, np.zeros((levels.size, 1))
    )


def ask_level_posterior(
    fit: LevelFit, problem: MultinomialProblem, spread: float = SPREAD_SD, *, slopes: bool = False
) -> Generator[RowSum, Answer, LevelFit]:
    """Add the posterior's root and the shift that keeps expected shares.

    Parameters
    ----------
    fit : LevelFit
        At the mode.
    problem : MultinomialProblem
        Of which it is the mode.
    spread : float
        Standard deviation under the prior beyond which no slope with a prior spreads.
    slopes : bool
        Whether slopes are shifted too.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    """
    posterior, shift = yield from ask_posterior(problem, fit.beta, spread, slopes=slopes)
    return replace(fit, whole=posterior.whole, parts=posterior.parts, shift=shift)
