"""``normrank``: a normal linear regression bent to the margin; the margin is kept whatever its shape."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from pysynthdp._typing import FloatArray
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.numerics.bending import Transform, ask_bent, ask_explained, bend
from pysynthdp.numerics.linear import LinearFit, ask_linear, redraw_linear
from pysynthdp.numerics.mixture import ask_mixture
from pysynthdp.numerics.moment_linear import linear_from_moments
from pysynthdp.numerics.quantile_table import (
    even_values,
    group_means,
    moved_table,
    quantile_table,
    table_probabilities,
    table_values,
)
from pysynthdp.queries import Answer, Quantiles, Query, Sampler, StepMoments, WholeRows

__all__ = ["NormRank", "NormRankFit"]

ENOUGH = 0.75  # of the most that any scale explains: a plainer one that explains as much is taken


@dataclass(frozen=True, slots=True)
class NormRankFit(LinearFit):
    """A latent linear fit and the two tables that lead back to values.

    Parameters
    ----------
    knots : array (4, groups) or (2, knots)
        Shares, and a line through the means of groups of records (:class:`~pysynthdp.queries.Quantiles`); or
        probabilities and values: from noisy counts, or the records themselves where ``original``.
    grid, cdf : array (points,)
        Distribution of the latent draws over the rows.
    original : bool
        Whether the values are records' own.
    """

    knots: FloatArray
    grid: FloatArray
    cdf: FloatArray
    original: bool


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
    regression of the drawn values on the features is that of the column, plain or, where that explains much
    more, its logarithm: :func:`pysynthdp.numerics.bending.bend`. Where neither explains three quarters of
    what normal scores do, and where records' own values are drawn, gamma is the regression of the scores,
    Phi^-1(F(y)) with tied values at the middle of their mass, as in synthpop.

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
        scales = _scales(knots)
        explained, gram = yield from ask_explained(tuple(scales.values()), task.n)
        name = _scale_of(list(scales), explained)
        if name == "score":
            linear = yield from ask_linear(scales[name])
            return (yield from _with_tables(linear, knots, task.n, original=False))
        return (yield from _fit_bent(scales[name], knots, gram, task.n))

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
        none = np.zeros((found.gamma.size, 0))
        return NormRankFit(found.gamma, 1.0, fit.df, none, (), moved, found.grid, found.cdf, original=False)

    def redraw(self, params: NormRankFit, rng: np.random.Generator) -> NormRankFit:
        """Coefficients and sigma from their posterior; the tables stay."""
        return redraw_linear(params, rng)

    def draw(self, params: NormRankFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One value for each row of X."""
        scores = sampler.normal(X @ params.beta, params.sigma)
        u = np.interp(scores, params.grid, params.cdf)
        if params.original:
            size = params.knots.shape[1]
            rank = np.minimum((u * size).astype(np.int64), size - 1)
            return np.asarray(params.knots[1][rank])
        return table_values(quantile_table(params.knots), u)


def _scales(knots: FloatArray) -> dict[str, Transform]:
    """Scales on which the relation to the features may be straight; each about standardised."""
    table = quantile_table(knots)
    values, lowest = even_values(knots), float(group_means(knots)[0])
    scales: dict[str, Transform] = {"plain": _standardised(values, lambda y: y)}
    if lowest > 0 and values[0] >= 0:
        scales["log"] = _standardised(values, lambda y: np.log(np.maximum(y, lowest / 2)))
    scales["score"] = lambda y: np.asarray(ndtri(table_probabilities(table, y)))
    return scales


def _standardised(values: FloatArray, transform: Transform) -> Transform:
    """Subtract the mean of the transformed values and divide by their spread."""
    moved = transform(values)
    centre, width = float(moved.mean()), float(moved.std()) or 1.0
    return lambda y: (transform(y) - centre) / width


def _scale_of(names: list[str], explained: FloatArray) -> str:
    """Take the plainest scale that explains about as much as any does."""
    enough = ENOUGH * explained.max()
    return next(name for name, share in zip(names, explained, strict=True) if share >= enough)


def _fit_bent(
    scale: Transform, knots: FloatArray, gram: FloatArray, n: int
) -> Generator[Query, Answer, NormRankFit]:
    """Fit a straight line on a scale and bend it to the margin."""
    linear = yield from ask_linear(scale)
    bent = yield from ask_bent(linear, moved_table(knots, scale), gram, n)
    root = linear.root * (linear.sigma / bent.slope)
    return NormRankFit(
        bent.gamma, 1.0, linear.df, root, linear.aliased, knots, bent.grid, bent.cdf, original=False
    )


def _fit_original(task: FitTask) -> Generator[Query, Answer, NormRankFit]:
    """Fit scores of exact mean ranks over n + 1, and keep the sorted column."""
    answer = yield WholeRows()
    ordered = np.sort(np.asarray(answer.value[1], dtype=np.float64))
    at, first = np.unique(ordered, return_index=True)
    last = np.concatenate([first[1:], [ordered.size]])
    score = ndtri((first + last + 1) / 2 / (ordered.size + 1))
    linear = yield from ask_linear(lambda y: score[np.searchsorted(at, y)])
    knots = np.stack([(np.arange(ordered.size) + 0.5) / ordered.size, ordered])
    return (yield from _with_tables(linear, knots, task.n, original=True))


def _with_tables(
    linear: LinearFit, knots: FloatArray, n: int, *, original: bool
) -> Generator[Query, Answer, NormRankFit]:
    """Ask for the mixture and put the fit together."""
    mixture = yield from ask_mixture(linear, n)
    return NormRankFit(
        linear.beta,
        linear.sigma,
        linear.df,
        linear.root,
        linear.aliased,
        knots,
        mixture.grid,
        mixture.cdf,
        original,
    )
