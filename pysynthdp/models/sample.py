"""``sample``: the target's own distribution, without predictors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import Counts, Quantiles, Sampler, WholeRows
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.quantile_table import quantile_table, table_values

__all__ = ["LevelShares", "NumericMargin", "RealValues", "Sample"]


@dataclass(frozen=True, slots=True)
class LevelShares:
    """Probabilities of the levels, and the counts that they came from."""

    shares: FloatArray
    counts: FloatArray


@dataclass(frozen=True, slots=True)
class NumericMargin:
    """A quantile table (4, groups) through means of groups of records, and the number of rows."""

    knots: FloatArray
    n: int


@dataclass(frozen=True, slots=True)
class RealValues:
    """The records' own values, sorted: confidential."""

    values: FloatArray


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Sample:
    """Draw from the target's marginal distribution; ``sample`` in synthpop.

    Parameters
    ----------
    emit_original : bool
        False: numbers are drawn from a line through the averages of groups of records. True: real values
        are drawn with replacement, as synthpop does, and the fit is confidential.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``). Levels are drawn by their observed shares.
    Redraw: shares from Dirichlet(counts), the Bayesian bootstrap (Rubin 1981, Annals of Statistics 9, 130);
    for numbers the shares of the table's groups in the same way, from the records in each.

    Examples
    --------
    >>> Sample().accepts(Target("age", "numeric"))
    True
    """

    emit_original: bool = False
    name: ClassVar[str] = "sample"
    reason: ClassVar[str] = (
        "observed shares of levels, or averages of neighbouring numbers, are used as they are, so a level or "
        "tail can exist only because of a few records"
    )
    keeps_shape: ClassVar[bool] = True
    keeps_masses: ClassVar[bool] = True

    @property
    def real_values(self) -> bool:
        """Whether drawn numbers are records' values."""
        return self.emit_original

    def accepts(self, target: Target) -> bool:  # noqa: ARG002  # any margin can be sampled
        """Every target."""
        return True

    def fit(self, task: FitTask) -> Fit:
        """Ask for counts or quantiles (or the rows, for real values); return the margin."""
        if task.target.kind == "categorical":
            answer = yield Counts()
            return _shares(answer.value, task.target.name)
        if self.emit_original:
            answer = yield WholeRows()
            return RealValues(np.sort(np.asarray(answer.value[1], dtype=np.float64)))
        answer = yield Quantiles()
        return NumericMargin(np.asarray(answer.value, dtype=np.float64), task.n)

    def redraw(
        self, params: LevelShares | NumericMargin | RealValues, rng: np.random.Generator
    ) -> LevelShares | NumericMargin | RealValues:
        """Draw the margin from its Bayesian bootstrap; a plain bootstrap of real values."""
        if isinstance(params, LevelShares):
            weight = rng.standard_gamma(params.counts)
            return replace(params, shares=weight / weight.sum())
        if isinstance(params, RealValues):
            size = params.values.size
            return RealValues(np.sort(params.values[rng.integers(size, size=size)]))
        shares = rng.dirichlet(params.n * params.knots[0])
        return replace(params, knots=np.vstack([shares, params.knots[1:]]))

    def draw(
        self, params: LevelShares | NumericMargin | RealValues, X: FloatArray, sampler: Sampler
    ) -> FloatArray:
        """One value for each row of X, whatever the row holds."""
        u = sampler.uniform(len(X))
        if isinstance(params, LevelShares):
            edges = np.cumsum(params.shares)[:-1]
            return np.searchsorted(edges, u, side="right").astype(np.float64)
        if isinstance(params, RealValues):
            return params.values[(u * params.values.size).astype(np.int64)]
        return table_values(quantile_table(params.knots), u)


def _shares(counts: FloatArray, name: str) -> LevelShares:
    """Shares of the levels; refused where no row is observed."""
    counts = np.asarray(counts, dtype=np.float64)
    if counts.sum() <= 0:
        raise FitError(
            f"{name} has no observed value to sample from",
            column=name,
            kind="method",
            remedy="drop the column or mark it constant",
        )
    return LevelShares(counts / counts.sum(), counts)
