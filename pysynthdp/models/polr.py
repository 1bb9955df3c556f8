"""``polr``: a proportional-odds logistic regression for ordered levels."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import Answer, Moments, MomentSums, Note, Query, RowSum, RowTerms, Sampler, Sums
from pysynthdp.models.base import COLUMN_MODELS, Chosen, Fit, FitTask, Target, Weighed
from pysynthdp.models.fits.evidence import shrunken_mode
from pysynthdp.models.fits.level_gain import ask_level_gain
from pysynthdp.models.fits.multinomial import level_cells
from pysynthdp.models.fits.newton import Minimum, Problem, minimise, posterior_root, stride
from pysynthdp.models.fits.ordinal import OrdinalTerms, gap_barrier, ordinal_probabilities, start_thresholds
from pysynthdp.models.fits.ordinal_redraw import moved_thresholds, threshold_shift
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.sparsity import spread_of_predictor
from pysynthdp.models.fits.weighting import weighted

__all__ = ["PolR", "PolRFit"]

RIVAL = "polyreg"  # where slopes are not parallel
ROWS_PER_PARAMETER = 2
GAP = 0.05  # of a group's rows beyond a threshold
CERTAIN = 6.0  # standard errors


@dataclass(frozen=True, slots=True)
class PolRFit:
    """A fitted proportional-odds regression: P(level <= k) = 1 / (1 + exp(X beta - cuts[k])).

    Parameters
    ----------
    beta : array (features,)
        Slopes; the intercept's place is 0, the thresholds stand for it.
    cuts : array (levels that occur - 1,)
        Strictly increasing thresholds.
    levels : array of int (levels that occur,)
        Their codes; every other level has probability 0.
    root : array (features + thresholds, any)
        root root' is the covariance of (beta, first threshold, logs of the gaps between thresholds).
    aliased : tuple of int
        Features that are constant or combinations of earlier ones.
    shrunk : bool
        Whether a prior on slopes was needed.
    shift : array (thresholds,)
        Subtracted from the redrawn first threshold and log gaps, so that expected shares stay those of the
        mode.
    """

    beta: FloatArray
    cuts: FloatArray
    levels: IntArray
    root: FloatArray
    aliased: tuple[int, ...]
    shrunk: bool
    shift: FloatArray

    def without_posterior(self) -> Self:
        """Leave out what redraws alone need: X'X can be solved for from it, cell by cell."""
        return replace(self, root=self.root[:, :0])


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class PolR:
    """Draw an ordered level from a proportional-odds logistic regression; ``polr`` in synthpop.

    Parameters
    ----------
    by_evidence : bool
        Fit ``polyreg`` besides, which has slopes for each level, and take the one that foretells the rows
        better, by Akaike's criterion: the default for ordered levels. False: always ``polr``.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    Maximum likelihood (McCullagh 1980); where a dummy's rows all lie in an end level, rows outside the
    largest level are few per slope, or the linear predictor diverges, the mode under a prior on slopes:
    N(0, 10^2), or with fewer than ten rows of a level a narrower one, its scale chosen by marginal
    likelihood. Redraws keep thresholds increasing, as the logs of their gaps are drawn, and expected shares.
    Where one slope clearly does not serve all thresholds, the fit says so. By evidence, parallel slopes are
    given up for nothing in one column of five to ten that has one to three further slopes and in one of
    fifty that has twelve, where the two models then hardly differ; one per cent of the columns keep them
    though shares are off by five points at n = 1,000, and none at 4,000 (simulations of 200 columns each).

    Examples
    --------
    >>> PolR().accepts(Target("health", "categorical", n_levels=5, ordered=True))
    True
    """

    by_evidence: bool = False
    name: ClassVar[str] = "polr"
    reason: ClassVar[str] = (
        "the coefficients of an ordinal regression without a public penalty can be moved without limit "
        "by one record, and a level can exist only because of one"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "cumulative logit"

    def accepts(self, target: Target) -> bool:
        """Levels; without a declared order, in the order in which they are listed."""
        return target.kind == "categorical"

    def fit(self, task: FitTask) -> Fit:
        """Ask for moments and cells, then for gradient and curvature a few times; return a PolRFit."""
        if not task.target.ordered:
            yield Note(_order_taken(task.target.name))
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
        size = sums.cross.size
        if levels.size == 1:
            none = np.zeros(0)
            return PolRFit(np.zeros(size), none, levels, np.zeros((size, 0)), (), False, none)
        problem = _problem(cells[:, 0], levels, sums.gram)
        start = np.concatenate([np.zeros(size), start_thresholds(cells[levels, 0])])
        sparse = _separated(cells[levels], np.asarray(task.dummies), problem.free.size)
        events = float(cells[levels, 0].min())
        found, sparse = yield from _mode(problem, start, size, sparse=sparse, events=events)
        fit = _fitted(found, problem, levels, size, shrunk=sparse)
        if self.by_evidence and levels.size > 2:
            rival = COLUMN_MODELS[RIVAL]()
            other = yield from rival.fit(task)
            if isinstance(rival, Weighed) and (yield from rival.weigh(other, task)) > (
                yield from self.weigh(fit, task)
            ):
                return Chosen(rival, other)
        yield from _ask_proportional_odds(task.target.name, fit.beta, fit.cuts, levels, task.n)
        if not task.proper:
            return fit
        shift = yield from threshold_shift(fit.beta, fit.cuts, fit.root, n=problem.n)
        return replace(fit, shift=shift)

    def weigh(self, params: PolRFit, task: FitTask) -> Generator[Query, Answer, float]:
        """Ask for the log likelihood of the rows over that of the shares, less what parameters gain."""
        del task
        slopes = params.beta.size - 1 - len(params.aliased)

        def shares(X: FloatArray) -> FloatArray:
            return ordinal_probabilities(X @ params.beta, params.cuts)

        return (yield from ask_level_gain(shares, params.levels, slopes))

    def redraw(self, params: PolRFit, rng: np.random.Generator) -> PolRFit:
        """Slopes, first threshold and log gaps from the normal approximation to their posterior."""
        if params.cuts.size == 0:
            return params
        moved = params.root @ rng.standard_normal(params.root.shape[1])
        size = params.beta.size
        cuts = moved_thresholds(params.cuts, moved[size:] - params.shift)
        return replace(params, beta=params.beta + moved[:size], cuts=cuts)

    def draw(self, params: PolRFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One level for each row of X."""
        probabilities = ordinal_probabilities(X @ params.beta, params.cuts)
        return params.levels[sampler.categorical(probabilities)].astype(np.float64)


def _order_taken(name: str) -> Remark:
    """Say that the order of levels is taken from their list, as nobody declared one."""
    what = "'polr' takes the levels in the order in which they are listed, since none was declared"
    remedy = Words("{way} where they have no order", way=Setting("method", {name: "polyreg"}))
    return Remark(name, "order of levels", what, remedy)


def _problem(counts: FloatArray, levels: IntArray, gram: FloatArray) -> Problem:
    """State the likelihood as a function of slopes and thresholds, no prior yet."""
    size = len(gram)
    position = np.zeros(counts.size, dtype=np.int64)
    position[levels] = np.arange(levels.size)
    params = size + levels.size - 1
    slopes = independent_features(gram)[1:]
    return Problem(
        terms=OrdinalTerms(position, size),
        linear=np.zeros(params),
        precision=np.zeros(params),
        free=np.concatenate([slopes, np.arange(size, params)]),
        n=int(gram[0, 0]),
        fixed=gap_barrier(counts[levels], size),
        scatter=spread_of_predictor(gram),
    )


def _separated(cells: FloatArray, dummies: BoolArray, free: int) -> bool:
    """Whether a dummy's rows (or the others) all lie in an end level, or informative rows are few."""
    counts = cells[:, 0]
    if counts.sum() - counts.max() < ROWS_PER_PARAMETER * free:
        return True
    ones = cells[:, dummies]
    both = np.stack([ones, counts[:, None] - ones])
    total = both.sum(axis=1)
    ends = np.stack([both[:, 0], both[:, -1]])
    alone = np.any(ends > total - 0.5, axis=0)
    return bool(np.any(alone & (total > 0.5) & (total[::-1] > 0.5)))


def _mode(
    problem: Problem, start: FloatArray, size: int, *, sparse: bool, events: float
) -> Generator[RowSum, Answer, tuple[Minimum, bool]]:
    """Maximum likelihood where it exists comfortably, else the mode under the prior."""
    if not sparse:
        found = yield from minimise(problem, start)
        if found.converged:
            return found, False
    found = yield from shrunken_mode(problem, start, np.arange(start.size) < size, events=events)
    return found, True


def _fitted(found: Minimum, problem: Problem, levels: IntArray, size: int, *, shrunk: bool) -> PolRFit:
    """Give the minimum as a fit; thresholds' covariance carried over to the logs of their gaps."""
    beta, cuts = found.theta[:size], found.theta[size:]
    root = posterior_root(found.hessian, problem.free, found.theta.size)
    root[size + 1 :] = np.diff(root[size:], axis=0) / np.diff(cuts)[:, None]
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(1, size), problem.free))
    return PolRFit(beta, cuts, levels, root, aliased, shrunk, np.zeros(cuts.size))


def _ask_proportional_odds(
    column: str, beta: FloatArray, cuts: FloatArray, levels: IntArray, n: int
) -> Generator[RowSum | Note, Answer, None]:
    """Compare, for each feature and threshold, rows beyond it with those expected; note a clear failure.

    Parameters
    ----------
    column : str
        For the remark.
    beta : array (features,)
        Slopes.
    cuts : array (thresholds,)
        P(level <= k) = 1 / (1 + exp(x'beta - cuts[k])).
    levels : array of int (thresholds + 1,)
        Codes of the levels that occur.
    n : int
        Rows; above 50,000 a systematic subsample answers.

    Notes
    -----
    Privacy: asks for sums over rows; the remark tells a rough share.
    sum x (1{y > k} - p_k) is the score of a slope of threshold k's own, about normal with variance
    sum x^2 p_k (1 - p_k) or less where odds are proportional (Brant 1990, Biometrics 46, 1171, tests the same
    by separate fits).
    """
    score, variance, size = (yield RowSum(_odds_terms(beta, cuts, levels), stride(n))).value
    certain = np.abs(score) > CERTAIN * np.sqrt(variance)
    gap = np.where(certain, np.abs(score) / np.maximum(size, 1.0)[:, None], 0.0).max(initial=0.0)
    if gap > GAP:
        what = (
            "'polr' moves all levels one way, and here some move against the others: shares given other "
            f"columns are off by up to {100 * gap:.0f} points"
        )
        mend = Words("{method} lets each level move", method=Setting("method", {column: "polyreg"}))
        yield Note(Remark(column, "shape", what, mend))


def _odds_terms(beta: FloatArray, cuts: FloatArray, levels: IntArray) -> RowTerms:
    """Scores, their variances, and the size of each feature, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        beyond = np.searchsorted(levels, y)[:, None] > np.arange(cuts.size)
        share = expit((X @ beta)[:, None] - cuts)
        score, variance = beyond - share, share * (1 - share)
        return (
            X.T @ weighted(score, w),
            (X**2).T @ weighted(variance, w),
            weighted(np.abs(X), w).sum(axis=0),
        )

    return block
