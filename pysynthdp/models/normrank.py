"""``normrank``: a normal linear regression of normal scores; the margin is kept whatever its shape."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from pysynthdp._typing import FloatArray
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.numerics.bending import bend
from pysynthdp.numerics.linear import LinearFit, ask_linear, redraw_linear
from pysynthdp.numerics.mixture import ask_mixture
from pysynthdp.numerics.moment_linear import linear_from_moments
from pysynthdp.numerics.quantile_table import quantile_table, table_probabilities, table_values
from pysynthdp.queries import Answer, Quantiles, Query, Sampler, StepMoments, WholeRows

__all__ = ["NormRank", "NormRankFit"]


@dataclass(frozen=True, slots=True)
class NormRankFit(LinearFit):
    """A linear fit of normal scores and the two tables that lead back to values.

    Parameters
    ----------
    knots : array (2, knots)
        Probabilities and values: means of at least five neighbouring records, or the records themselves
        where ``original``.
    grid, cdf : array (points,)
        Distribution of the fitted model's draws over the rows.
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
    """Draw normal scores from a linear regression and map them to values; ``normrank`` in synthpop.

    Parameters
    ----------
    emit_original : bool
        False: values are interpolated in a table of averaged order statistics, flat in the tails. True: every
        value drawn is a record's value, as in synthpop, and the fit is confidential.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``).
    z = Phi^-1(F(y)), tied values at the middle of their mass; z ~ N(X beta, sigma^2); a draw v becomes
    Q(F_v(v)) with F_v the distribution of draws over the rows, so the margin is kept with ties too.

    Examples
    --------
    >>> NormRank().accepts(Target("income", "numeric"))
    True
    """

    emit_original: bool = False
    name: ClassVar[str] = "normrank"
    reason: ClassVar[str] = (
        "averages of neighbouring values are used as they are, and the coefficients of a regression on ranks "
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
        """Ask for quantiles (or the rows), moments of the scores and their mixture; return a NormRankFit."""
        if self.emit_original:
            return (yield from _fit_original(task))
        answer = yield Quantiles()
        knots = np.asarray(answer.value, dtype=np.float64)
        table = quantile_table(knots)
        linear = yield from ask_linear(lambda y: np.asarray(ndtri(table_probabilities(table, y))))
        return (yield from _with_tables(linear, knots, task.n, original=False))

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
        found = bend(fit, X, knots, start=None if start is None else start.beta)
        none = np.zeros((found.gamma.size, 0))
        return NormRankFit(
            found.gamma, 1.0, fit.df, none, (), found.knots, found.grid, found.cdf, original=False
        )

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
