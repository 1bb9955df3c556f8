"""``poisson``: a Poisson regression for counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp._typing import FloatArray
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.numerics.counts import count_mean, fit_poisson, refuse_noncounts
from pysynthdp.numerics.glm import Coefficients, redraw_coefficients
from pysynthdp.numerics.redraw_shift import with_shift
from pysynthdp.numerics.signs import count_signs
from pysynthdp.queries import Moments, MomentSums, RowSum, Sampler

__all__ = ["Poisson"]


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Poisson:
    """Draw a count from Poisson(exp(X beta)).

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    Maximum likelihood; with a dummy whose rows are all 0, or few events per coefficient, the mode under a
    prior on slopes: N(0, 10^2), or with fewer than ten events a narrower one, its scale chosen by marginal
    likelihood. The mean fitted count is the observed one.

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

    def accepts(self, target: Target) -> bool:
        """Numbers; whether they are counts is seen at the fit."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for signs and moments, then for gradient and curvature; return Coefficients."""
        answer = yield RowSum(count_signs)
        refuse_noncounts(answer.value, task.target.name, self.name)
        answer = yield Moments()
        sums: MomentSums = answer.value
        fit = yield from fit_poisson(sums, np.asarray(task.dummies))
        if not task.proper:
            return fit
        return (yield from with_shift(fit, count_mean, np.log, total=float(sums.cross[0]), n=int(sums.n)))

    def redraw(self, params: Coefficients, rng: np.random.Generator) -> Coefficients:
        """Coefficients from the normal approximation to their posterior."""
        return redraw_coefficients(params, rng)

    def draw(self, params: Coefficients, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One count for each row of X."""
        return sampler.poisson(count_mean(X @ params.beta))
