"""``residual``: a regression on the records that fit best, and what is left of it as the records have it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import RowSum, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.ceiling import LARGEST_LOG
from pysynthdp.models.fits.newton import posterior_root
from pysynthdp.models.fits.quantile_table import QuantileTable, quantile_table, table_values
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.signs import count_signs
from pysynthdp.models.fits.trimmed import TrimmedFit, ask_trimmed, residual_table

__all__ = ["Residual", "ResidualFit"]

_MANY, _PIECES = 0.05, 1000  # a group of a larger share is a value that many share: drawn as it is, in pieces


@dataclass(frozen=True, slots=True)
class ResidualFit:
    """A trimmed regression and a table of its residuals.

    Parameters
    ----------
    beta : array (features,)
        Coefficients, intercept first.
    shares, means : array (groups,)
        Of groups of five or more residuals, from low to high; shares sum to one.
    logs : bool
        Whether the regression is of the logarithm.
    n : float
        Records.
    root : array (features, any)
        Root of the covariance of ``beta``; of no column without redraws.
    """

    beta: FloatArray
    shares: FloatArray
    means: FloatArray
    logs: bool
    n: float
    root: FloatArray

    @property
    def linear_on(self) -> str:
        """Scale on which terms are added up."""
        return "log" if self.logs else "plain"

    def without_posterior(self) -> ResidualFit:
        """Leave out what redraws alone need."""
        return replace(self, root=self.root[:, :0])


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Residual:
    """Draw a number that is nearly a function of others: that, and a residual as the records have it.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients, and means of groups of five or
    more residuals. Residuals do not depend on the features. Records that lie far off, half a per cent of all
    or three if that is more, are not learned. Fitted to the number or, where all are positive and that fits
    nearer, to its logarithm: with ``log(a)`` and ``log(b)`` in its formula it draws products and ratios.
    Least trimmed squares: see ``fits/trimmed.py``.

    Examples
    --------
    >>> Residual().accepts(Target("income", "numeric"))
    True
    """

    name: ClassVar[str] = "residual"
    reason: ClassVar[str] = (
        "averages of neighbouring residuals are used as they are, and the coefficients of a regression "
        "carry no noise"
    )
    real_values: ClassVar[bool] = False

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for sums of the nearest records, and for counts of residuals; return a ResidualFit."""
        negative, zero = (yield RowSum(count_signs)).value[:2]
        if not task.n:
            raise FitError(
                f"{task.target.name} has no observed value to learn from",
                column=task.target.name,
                kind="method",
                remedy="drop the column",
            )
        fit, logs = (yield from ask_trimmed(_itself)), False
        if not negative and not zero:
            other = yield from ask_trimmed(np.log)
            if other.width < fit.width:
                fit, logs = other, True
        shares, means = residual_table(fit, fewest=task.fewest)
        return ResidualFit(fit.beta, shares, means, logs, fit.counts.sum(), _root(fit, task))

    def redraw(self, params: ResidualFit, rng: np.random.Generator) -> ResidualFit:
        """Coefficients from their normal posterior, shares of residuals from a Dirichlet one."""
        beta = params.beta + params.root @ rng.standard_normal(params.root.shape[1])
        shares = rng.gamma(params.shares * params.n)
        return replace(params, beta=beta, shares=shares / shares.sum())

    def draw(self, params: ResidualFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One number for each row of X."""
        drawn = X @ params.beta + table_values(_table(params), sampler.uniform(len(X)))
        return np.exp(np.minimum(drawn, LARGEST_LOG)) if params.logs else drawn


def _itself(y: FloatArray) -> FloatArray:
    """Leave a number as it is."""
    return y


def _root(fit: TrimmedFit, task: FitTask) -> FloatArray:
    """Give the root of the coefficients' covariance: that of the nearest records."""
    if not task.proper:
        return np.zeros((len(fit.beta), 0))
    shares, means = residual_table(fit, fewest=task.fewest)
    free = independent_features(fit.gram)
    root = posterior_root(fit.gram[np.ix_(free, free)], free, len(fit.beta))
    return root * float(np.sqrt(shares @ (means - shares @ means) ** 2))


def _table(params: ResidualFit) -> QuantileTable:
    """Give the distribution of residuals; a group of many records is a value that many share."""
    pieces = np.where(params.shares > _MANY, np.rint(params.shares * _PIECES), 1).astype(np.int64)
    shares = np.repeat(params.shares / pieces, pieces)
    return quantile_table(np.stack([shares.cumsum() - shares / 2, np.repeat(params.means, pieces)]))
