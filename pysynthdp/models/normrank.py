"""``normrank``: a normal linear regression bent to the margin; the margin is kept whatever its shape."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import (
    Answer,
    Quantiles,
    Query,
    RowSum,
    RowTerms,
    Sampler,
    StepMoments,
    Sums,
    WholeRows,
)
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.bending import FARTHEST, ask_bent, ask_explained, ask_latent, bend
from pysynthdp.models.fits.linear import LinearFit, ask_linear, redraw_linear
from pysynthdp.models.fits.moment_linear import linear_from_moments
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.quantile_table import moved_table, quantile_table, table_values
from pysynthdp.models.fits.redrawn_index import LatentFit, index_moments, redraw_latent
from pysynthdp.models.fits.scales import (
    Latent,
    Scale,
    ask_gain,
    gain_of_scores,
    nearly_normal,
    scales_of,
    scores_of,
)
from pysynthdp.models.fits.weighting import n_rows, weighted

__all__ = ["NormRank", "NormRankFit"]

ENOUGH = 0.95  # of the most that any scale gains in likelihood: a plainer one that gains as much is taken
SLACK = 3.0  # units of log likelihood that are no evidence
QUARTERS = 1.349  # between the quarters of a normal law of unit spread
LARGEST_LOG = 700.0
LEAST_SIGMA = 0.02
REACH = 5.5  # standard deviations that the grid of a normal draw covers
POINTS = (101, 401)  # least and most of that grid


@dataclass(frozen=True, slots=True)
class NormRankFit(LatentFit):
    """A latent linear fit and the two tables that lead back to values.

    Parameters
    ----------
    knots : array (4, groups) or (2, knots)
        Shares, and a line through the means of groups of records (:class:`~pysynthdp.models.ask.Quantiles`);
        or probabilities and values: from noisy counts, or the records themselves where ``original``.
    grid, cdf : array (points,)
        Distribution of the latent draws over the rows.
    original : bool
        Whether the values are records' own.
    straight : {"", "plain", "log"}
        Where the features all but determine a number: the regression is of the number, or of its logarithm,
        and nothing is bent.
    linear_on : str or None
        Scale on which the column's regression on the features is kept, for the tags: plain, log or score.
    """

    knots: FloatArray
    grid: FloatArray
    cdf: FloatArray
    original: bool
    straight: str = ""
    linear_on: str | None = None


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class NormRank:
    """Draw from a linear regression and bend the draws to the column's margin; ``normrank`` in synthpop.

    Parameters
    ----------
    emit_original : bool
        False: values are drawn from a line through the averages of groups of records. True: every
        value drawn is a record's value, as in synthpop, and the fit is confidential.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``).
    A latent draw v = X gamma + e becomes Q(F(v)), with F the distribution of v over the rows and Q the
    column's quantile function, so the margin is kept with ties too. Gamma is chosen so that the least-squares
    regression of the drawn values on the features is that of the column, plain or of its logarithm:
    ``fits/bending.py``. Which of them, the likelihood of the draws says, a row
    counting by its rank, so that no outlier decides: the plain scale unless the logarithm gains more than a
    twentieth on it. Where neither gains what normal scores would, and where records' own values are drawn,
    gamma is the regression of the scores, Phi^-1(F(y)) with tied values at the middle of their mass, as in
    synthpop. A number that the features determine, its residual spread below a thirtieth of its own, is drawn
    from its regression as it is, within its range.
    A redraw shrinks latent draws to the spread that F has: drawn coefficients spread them wider.

    Examples
    --------
    >>> NormRank().accepts(Target("income", "numeric"))
    True
    """

    emit_original: bool = False
    name: ClassVar[str] = "normrank"
    reason: ClassVar[str] = (
        "averages of neighbouring values are used as they are, and the coefficients of a regression "
        "carry no noise"
    )
    keeps_shape: ClassVar[bool] = True
    keeps_masses: ClassVar[bool] = True

    @property
    def real_values(self) -> bool:
        """Whether drawn numbers are records' values."""
        return self.emit_original

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for quantiles (or the rows), moments on a scale and latent sums; return a NormRankFit."""
        if self.emit_original:
            return (yield from _fit_original(task))
        answer = yield Quantiles()
        knots = np.asarray(answer.value, dtype=np.float64)
        table = quantile_table(knots)
        share, gram = yield from ask_explained(scores_of(table), task.n)
        offered = scales_of(table)
        scales = offered[:1] if len(gram) == 1 or nearly_normal(table, offered[0]) else offered
        lines = []
        for scale in scales:
            lines.append((scale, (yield from ask_linear(scale.of))))  # noqa: PERF401 -- none in a generator
        for scale, linear in lines:
            if _follows(linear, scale, knots, gram):
                return _straight(linear, scale, knots)
        return (yield from _best(lines, knots, gram, task, share=share))

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> LinearFit:  # noqa: ARG002
        """Solve the normal equations of noisy cross-products; :meth:`bent` gives the shape."""
        return linear_from_moments(given)

    def bent(
        self, fit: LinearFit, X: FloatArray, knots: FloatArray, start: NormRankFit | None
    ) -> NormRankFit:
        """Bend a fit from moments to a margin, keeping its regression on the features.

        Parameters
        ----------
        fit : LinearFit
            From the moments.
        X : array (rows, features)
            Rows that stand for the features' distribution.
        knots : array (2, knots)
            The margin, from noisy counts.
        start : NormRankFit or None
            A fit to nearby moments.

        Notes
        -----
        Privacy: post-processing of noised answers.
        """
        found, moved = bend(fit, X, knots, start=None if start is None else start.beta)
        latent = Latent(found.gamma, 1.0, found.grid, found.cdf)
        return _fitted(moved, replace(fit, aliased=()), latent, np.zeros((found.gamma.size, 0)), X.T @ X)

    def weigh(self, params: NormRankFit, task: FitTask) -> Generator[Query, Answer, float]:
        """Ask for the gain over the margin, less half a unit a coefficient; infinite for a function."""
        if params.straight:
            return np.inf
        latent = Latent(params.beta, params.sigma, params.grid, params.cdf)
        gain = yield from ask_gain(latent, quantile_table(params.knots), task.n)
        return gain * task.n - (params.beta.size - 1 - len(params.aliased)) / 2

    def redraw(self, params: NormRankFit, rng: np.random.Generator) -> NormRankFit:
        """Coefficients and sigma from their posterior; the tables stay, and so does the latent spread."""
        return redraw_linear(params, rng) if params.straight else redraw_latent(params, rng)

    def draw(self, params: NormRankFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One value for each row of X."""
        scores = sampler.normal(X @ params.beta, params.sigma)
        if params.straight:
            values = np.exp(np.minimum(scores, LARGEST_LOG)) if params.straight == "log" else scores
            low, high = table_values(quantile_table(params.knots), np.array([0.0, 1.0]))
            return np.asarray(np.clip(values, low, high))
        u = np.interp(scores, params.grid, params.cdf)
        if params.original:
            size = params.knots.shape[1]
            rank = np.minimum((u * size).astype(np.int64), size - 1)
            return np.asarray(params.knots[1][rank])
        return table_values(quantile_table(params.knots), u)


def _best(
    lines: Sequence[tuple[Scale, LinearFit]],
    knots: FloatArray,
    gram: FloatArray,
    task: FitTask,
    *,
    share: float,
) -> Generator[Query, Answer, NormRankFit]:
    """Take the plainest line that makes about as much of the rows as any; scores where none does."""
    table, found = quantile_table(knots), []
    for scale, linear in lines:
        fit = yield from _bent(scale, knots, linear, gram, task)
        if len(lines) == 1 and nearly_normal(table, scale):
            return fit
        found.append(
            ((yield from ask_gain(Latent(fit.beta, fit.sigma, fit.grid, fit.cdf), table, task.n)), fit)
        )
    most = max(gain_of_scores(share), *(gain for gain, _ in found))
    enough = ENOUGH * most - SLACK / task.n
    for gain, fit in found:
        if gain >= enough:
            return fit
    linear = yield from ask_linear(scores_of(table))
    return (yield from _scores(knots, linear, gram, task))


def _scores(
    knots: FloatArray, linear: LinearFit, gram: FloatArray, task: FitTask
) -> Generator[Query, Answer, NormRankFit]:
    """Bend the regression of normal scores by the distribution of its draws."""
    sigma = max(linear.sigma, LEAST_SIGMA)
    grid, cdf = yield from ask_latent(linear.beta / sigma, task.n, smallest=task.fewest)
    latent = Latent(linear.beta / sigma, linear.sigma / sigma, grid, cdf)
    return _fitted(knots, linear, latent, linear.root, gram, linear_on="score")


def _bent(
    scale: Scale, knots: FloatArray, linear: LinearFit, gram: FloatArray, task: FitTask
) -> Generator[Query, Answer, NormRankFit]:
    """Bend a straight line on a scale to the margin."""
    bent = yield from ask_bent(linear, moved_table(knots, scale.of), gram, task.n, smallest=task.fewest)
    root = linear.root * (linear.sigma / bent.slope)
    return _fitted(
        knots, linear, Latent(bent.gamma, 1.0, bent.grid, bent.cdf), root, gram, linear_on=scale.name
    )


def _fitted(
    knots: FloatArray,
    linear: LinearFit,
    latent: Latent,
    root: FloatArray,
    gram: FloatArray,
    *,
    original: bool = False,
    linear_on: str | None = None,
) -> NormRankFit:
    """Put a fit together."""
    index, moved = index_moments(gram, latent.beta, root)
    return NormRankFit(
        beta=latent.beta,
        sigma=latent.sigma,
        df=linear.df,
        root=root,
        aliased=linear.aliased,
        index=index,
        moved=moved,
        knots=knots,
        grid=latent.grid,
        cdf=latent.cdf,
        original=original,
        linear_on=linear_on,
    )


def _follows(linear: LinearFit, scale: Scale, knots: FloatArray, gram: FloatArray) -> bool:
    """Whether a number is all but a function of the features: nothing is left for a margin to shape."""
    index, _ = index_moments(gram, linear.beta, np.zeros((linear.beta.size, 0)))
    quarters = table_values(quantile_table(knots), np.array([0.25, 0.75]))
    robust = float(np.diff(scale.of(quarters))[0]) / QUARTERS
    return linear.sigma * FARTHEST < min(float(np.sqrt(index[1])), robust)


def _straight(linear: LinearFit, scale: Scale, knots: FloatArray) -> NormRankFit:
    """Keep a regression as it is, in the unit of the values or of their logarithms."""
    beta = linear.beta * scale.width
    beta[0] += scale.centre
    none = np.zeros((3, linear.root.shape[1]))
    return NormRankFit(
        beta=beta,
        sigma=linear.sigma * scale.width,
        df=linear.df,
        root=linear.root,
        aliased=linear.aliased,
        index=np.zeros(2),
        moved=none,
        knots=knots,
        grid=np.zeros(0),
        cdf=np.zeros(0),
        original=False,
        straight=scale.name,
        linear_on=scale.name,
    )


def _fit_original(task: FitTask) -> Fit:
    """Fit scores of exact mean ranks over n + 1, and keep the sorted column."""
    answer = yield WholeRows()
    ordered = np.sort(np.asarray(answer.value[1], dtype=np.float64))
    at, first = np.unique(ordered, return_index=True)
    last = np.concatenate([first[1:], [ordered.size]])
    score = ndtri((first + last + 1) / 2 / (ordered.size + 1))

    def scores(y: FloatArray) -> FloatArray:
        return np.asarray(score[np.searchsorted(at, y)])

    linear = yield from ask_linear(scores)
    _, gram = yield from ask_explained(scores, task.n)
    knots = np.stack([(np.arange(ordered.size) + 0.5) / ordered.size, ordered])
    mixture = yield from _ask_mixture(linear, task.n)
    latent = Latent(linear.beta, linear.sigma, mixture.grid, mixture.cdf)
    return _fitted(knots, linear, latent, linear.root, gram, original=True, linear_on="score")


@dataclass(frozen=True, slots=True)
class _MixtureTable:
    """A distribution function on a grid.

    Parameters
    ----------
    grid : array (points,)
        Increasing.
    cdf : array (points,)
        The distribution function there; 0 and 1 at the ends.
    """

    grid: FloatArray
    cdf: FloatArray


def _ask_mixture(fit: LinearFit, n: int) -> Generator[RowSum, Answer, _MixtureTable]:
    """Ask for the mean over rows of Phi((v - x'beta) / sigma) on a grid of v.

    Parameters
    ----------
    fit : LinearFit
        A fit of normal scores, which have mean near 0 and standard deviation near 1.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.

    Returns
    -------
    _MixtureTable

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    F(v) = sum_i Phi((v - x_i'beta) / sigma) / n. A draw v of the model has F(v) uniform, tied scores or not,
    so mapping it through the target's quantile function keeps the margin.
    """
    sigma = max(fit.sigma, LEAST_SIGMA)
    points = int(np.clip(np.ceil(4 * REACH / sigma), *POINTS))
    grid = np.linspace(-REACH, REACH, points)
    answer = yield RowSum(_mixture_terms(fit.beta, sigma, grid), stride(n))
    rows, total = answer.value
    cdf = total / rows
    cdf[0], cdf[-1] = 0.0, 1.0
    return _MixtureTable(grid, cdf)


def _mixture_terms(beta: FloatArray, sigma: float, grid: FloatArray) -> RowTerms:
    """Count rows and sum normal distribution functions over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        reach = (grid[:, None] - X @ beta) / sigma
        return (np.asarray(n_rows(y, w)), weighted(ndtr(reach), w, axis=1).sum(axis=1))

    return block
