"""``lognorm``: a normal linear regression of the logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import Note, Quantiles, RowSum, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.ceiling import BEYOND, LARGEST_LOG, log_ceiling
from pysynthdp.models.fits.linear import LinearFit, ask_linear, redraw_linear
from pysynthdp.models.fits.quantile_table import group_means
from pysynthdp.models.fits.signs import count_signs

__all__ = ["LogNorm", "LogNormFit"]

MANY_ZEROS = 0.01


@dataclass(frozen=True, slots=True)
class LogNormFit(LinearFit):
    """A linear fit of log(y + shift).

    Parameters
    ----------
    shift : float
        Added before the logarithm, in the target's unit; 0 where every value is positive.
    highest : float
        The largest mean of the logarithm that a drawn row may have.
    """

    shift: float
    highest: float = LARGEST_LOG


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class LogNorm:
    """Draw a non-negative number with log(y + c) ~ N(X beta, sigma^2); ``lognorm`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients and c, draws are
    post-processing. c is 0 where all values are positive, else half of the lowest positive group mean
    of the quantile table, of five or more records. The draw is exp(v) - c, and 0 where that is negative, so
    zeros stay possible and positive values keep their scale. X beta of drawn rows ends at the log of one and
    a half times the top of that table, draws at ten times that.

    Examples
    --------
    >>> LogNorm().accepts(Target("income", "numeric"))
    True
    """

    name: ClassVar[str] = "lognorm"
    reason: ClassVar[str] = (
        "the coefficients and residual spread of a least-squares fit can be moved without limit by one record"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "log"

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for signs, quantiles and moments of the logarithm; return a LogNormFit."""
        answer = yield RowSum(count_signs)
        negative, zero = answer.value[:2]
        if negative > 0:
            raise FitError(
                f"{task.target.name} has negative values, whose logarithm 'lognorm' cannot take",
                column=task.target.name,
                kind="method",
                remedy="use 'norm', 'cubertnorm' or 'normrank'",
            )
        answer = yield Quantiles()
        knots = np.asarray(answer.value, dtype=np.float64)
        shift = _half_lowest(group_means(knots)) if zero > 0 else 0.0
        if zero > MANY_ZEROS * task.n:
            yield Note(_zeros(task.target.name))
        fit = yield from ask_linear(lambda y: np.log(y + shift))
        return LogNormFit(
            fit.beta, fit.sigma, fit.df, fit.root, fit.aliased, shift, log_ceiling(knots, shift)
        )

    def redraw(self, params: LogNormFit, rng: np.random.Generator) -> LogNormFit:
        """Coefficients and sigma from their normal, inverse chi-squared posterior."""
        return redraw_linear(params, rng)

    def draw(self, params: LogNormFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One non-negative number for each row of X."""
        logs = sampler.normal(np.minimum(X @ params.beta, params.highest), params.sigma)
        most = min(params.highest + np.log(BEYOND), LARGEST_LOG)
        return np.asarray(np.maximum(np.exp(np.minimum(logs, most)) - params.shift, 0.0))


def _zeros(name: str) -> Remark:
    """Say what zeros do to a logarithm."""
    return Remark(
        name,
        "shape",
        "more than one value in a hundred is 0, which has no logarithm: 'lognorm' takes a small number for "
        "it, and the copies spread too wide",
        Words(
            "{spikes} draws zeros apart, {method} keeps them",
            spikes=Setting("spikes", {name: [0]}),
            method=Setting("method", {name: "normrank"}),
        ),
    )


def _half_lowest(means: FloatArray) -> float:
    """Half of the lowest positive mean; 1 where every mean is 0."""
    positive = means[means > 0]
    return float(positive.min() / 2) if positive.size else 1.0
