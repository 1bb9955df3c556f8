"""``poisson``: a Poisson regression for counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Moments, MomentSums, RowSum, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.ceiling import LARGEST_LOG, ask_log_ceiling
from pysynthdp.models.fits.count_shape import ask_count_shape
from pysynthdp.models.fits.counts import count_mean, fit_poisson, refuse_noncounts
from pysynthdp.models.fits.glm import Coefficients, redraw_coefficients
from pysynthdp.models.fits.redraw_shift import with_shift
from pysynthdp.models.fits.signs import count_signs

__all__ = ["Poisson", "PoissonFit"]


@dataclass(frozen=True, slots=True)
class PoissonFit(Coefficients):
    """A fitted Poisson regression.

    Parameters
    ----------
    highest : float
        The largest log mean that a drawn row may have.
    """

    highest: float = LARGEST_LOG


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Poisson:
    """Draw a count from Poisson(exp(X beta)).

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    Maximum likelihood; with a dummy whose rows are all 0, or few events per coefficient, the mode under a
    prior on slopes: N(0, 10^2), or with fewer than ten events a narrower one, its scale chosen by marginal
    likelihood. The mean fitted count is the observed one. Means of drawn rows end at one and a half times the
    top of the column's quantile table.

    Examples
    --------
    >>> Poisson().accepts(Target("visits", "numeric"))
    True
    """

    name: ClassVar[str] = "poisson"
    reason: ClassVar[str] = (
        "the coefficients of a Poisson regression without a public penalty can be moved without limit "
        "by one record"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "log mean"
    keeps_masses: ClassVar[bool] = True

    def accepts(self, target: Target) -> bool:
        """Numbers; whether they are counts is seen at the fit."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for signs and moments, then for gradient, curvature and shape; return a PoissonFit."""
        answer = yield RowSum(count_signs)
        refuse_noncounts(answer.value, task.target.name, self.name)
        answer = yield Moments()
        sums: MomentSums = answer.value
        found = yield from fit_poisson(sums, np.asarray(task.dummies))
        yield from ask_count_shape(task.target.name, self.name, found.beta, alpha=0.0, n=task.n)
        highest = yield from ask_log_ceiling()
        own = {field.name: getattr(found, field.name) for field in fields(found)}
        fit = PoissonFit(**own, highest=highest)
        if not task.proper:
            return fit
        return (yield from with_shift(fit, count_mean, np.log, total=float(sums.cross[0]), n=int(sums.n)))

    def redraw(self, params: PoissonFit, rng: np.random.Generator) -> PoissonFit:
        """Coefficients from the normal approximation to their posterior."""
        return redraw_coefficients(params, rng)

    def draw(self, params: PoissonFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One count for each row of X."""
        return sampler.poisson(count_mean(np.minimum(X @ params.beta, params.highest)))
