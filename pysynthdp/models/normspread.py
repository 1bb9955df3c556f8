"""``normspread``: a normal linear regression bent to the margin, with spreads as the records have."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Answer, Quantiles, Query, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.bending import ask_explained
from pysynthdp.models.fits.linear import LinearFit, ask_linear, redraw_linear
from pysynthdp.models.fits.quantile_table import moved_table, quantile_table, table_values
from pysynthdp.models.fits.redrawn_index import LatentFit, index_moments, redraw_latent
from pysynthdp.models.fits.scales import Scale, scales_of, scores_of
from pysynthdp.models.fits.spread_bending import Spread, ask_gain, ask_line, ask_spread, log_spreads

__all__ = ["NormSpread", "NormSpreadFit"]

_FARTHEST: Final = 6.0  # spread of the index over that of the residual, for which a margin is too coarse
_OFF: Final = 0.2  # of squared residuals, that a margin may add or take


@dataclass(frozen=True, slots=True)
class NormSpreadFit(LatentFit):
    """A latent linear fit, the spread of its residuals, and the two tables that lead back to values.

    Parameters
    ----------
    delta : array (features,)
        Coefficients of the logarithm of the residual spread.
    knots : array (4, groups)
        Shares of groups of neighbouring records, and a line through their means.
    grid, cdf : array (points,)
        Distribution of the latent draws over the rows.
    """

    delta: FloatArray
    knots: FloatArray
    grid: FloatArray
    cdf: FloatArray


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class NormSpread:
    """Draw from a linear regression whose residual spread follows the features, bent to the margin.

    The default for numbers beside a survey's design that stays real.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); as ``normrank``.
    A latent draw v = x'gamma + exp(x'delta) e becomes Q(F(v)), with F the distribution of v over the rows and
    Q the column's quantile function. Gamma and delta are chosen so that E[x y] and E[x (y - x'beta)^2] over
    the rows are those of the records, beta being the least-squares regression (``fits/spread_bending.py``).
    So means, totals and slopes are kept, and with them the linearised variances of these under a design,
    which are sums of squared residuals; with row weights all of it by weight. A relation is kept as a
    straight line on the plain scale, with the curves and products that its formula has. A number that the
    features all but determine is drawn from its regression as it is, within its range, again with a spread
    that follows them.

    Examples
    --------
    >>> NormSpread().accepts(Target("income", "numeric"))
    True
    """

    name: ClassVar[str] = "normspread"
    reason: ClassVar[str] = (
        "averages of neighbouring values are used as they are, and the coefficients of two regressions "
        "carry no noise"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "plain"
    keeps_shape: ClassVar[bool] = True
    keeps_masses: ClassVar[bool] = True

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for quantiles, moments and latent sums; return a NormSpreadFit."""
        knots = np.asarray((yield Quantiles()).value, dtype=np.float64)
        table = quantile_table(knots)
        _, gram = yield from ask_explained(scores_of(table), task.n)
        scale = scales_of(table)[0]
        linear = yield from ask_linear(scale.of)
        spread = np.sqrt(index_moments(gram, linear.beta, linear.root[:, :0])[0][1])
        if linear.sigma > 0 and linear.sigma * _FARTHEST >= spread:
            found = yield from ask_spread(linear, scale.of, moved_table(knots, scale.of), gram, task.n)
            if abs(found.off) <= _OFF:
                return _bent(found, linear, knots, gram)
        found = yield from ask_line(linear, scale.of, gram, task.n)
        return _straight(found, linear, knots, scale)

    def weigh(self, params: Any, task: FitTask) -> Generator[Query, Answer, float]:
        """Ask for the gain over the margin, less half a unit a coefficient; infinite for a straight line."""
        if not params.grid.size:
            return np.inf
        found = Spread(params.beta, params.delta, 1.0, params.grid, params.cdf)
        gain = yield from ask_gain(found, quantile_table(params.knots), task.n)
        used = params.beta.size - 1 - len(params.aliased) + int(np.count_nonzero(params.delta[1:]))
        return float(gain * task.n - used / 2)

    def redraw(self, params: NormSpreadFit, rng: np.random.Generator) -> NormSpreadFit:
        """Coefficients and the middle spread from their posterior; the tables and the latent law stay."""
        return redraw_latent(params, rng) if params.grid.size else redraw_linear(params, rng)

    def draw(self, params: NormSpreadFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One value for each row of X."""
        spread = params.sigma * np.exp(log_spreads(X, params.delta))
        drawn = X @ params.beta + spread * sampler.normal(np.zeros(len(X)), 1.0)
        table = quantile_table(params.knots)
        if params.grid.size:
            return table_values(table, np.interp(drawn, params.grid, params.cdf))
        low, high = table_values(table, np.array([0.0, 1.0]))
        return np.asarray(np.clip(drawn, low, high))


def _bent(found: Spread, linear: LinearFit, knots: FloatArray, gram: FloatArray) -> NormSpreadFit:
    """Put a bent fit together."""
    root = linear.root * (linear.sigma / found.slope)
    index, moved = index_moments(gram, found.gamma, root)
    return NormSpreadFit(
        beta=found.gamma,
        sigma=1.0,
        df=linear.df,
        root=root,
        aliased=linear.aliased,
        index=index,
        moved=moved,
        delta=found.delta,
        knots=knots,
        grid=found.grid,
        cdf=found.cdf,
    )


def _straight(found: Spread, linear: LinearFit, knots: FloatArray, scale: Scale) -> NormSpreadFit:
    """Put a straight fit together, in the unit of the values."""
    beta = linear.beta * scale.width
    beta[0] += scale.centre
    return NormSpreadFit(
        beta=beta,
        sigma=found.slope * scale.width,
        df=linear.df,
        root=linear.root,
        aliased=linear.aliased,
        index=np.zeros(2),
        moved=np.zeros((3, linear.root.shape[1])),
        delta=found.delta,
        knots=knots,
        grid=found.grid,
        cdf=found.cdf,
    )
