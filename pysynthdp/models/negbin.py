"""``negbin``: a negative binomial regression for counts that vary more than Poisson ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Moments, RowSum, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.ceiling import BEYOND, LARGEST_LOG, ask_log_ceiling
from pysynthdp.models.fits.count_shape import ask_count_shape
from pysynthdp.models.fits.counts import (
    count_mean,
    count_total,
    fit_negative_binomial,
    fit_poisson,
    refuse_noncounts,
)
from pysynthdp.models.fits.dispersion import ask_dispersion
from pysynthdp.models.fits.glm import Coefficients
from pysynthdp.models.fits.redraw_shift import with_shift
from pysynthdp.models.fits.signs import count_signs

__all__ = ["NegBin", "NegBinFit"]


@dataclass(frozen=True, slots=True)
class NegBinFit:
    """A fitted negative binomial regression: mean mu = exp(X beta), variance mu + alpha mu^2.

    Parameters
    ----------
    beta : array (features,)
        Coefficients, intercept first; 0 for an aliased feature.
    alpha : float
        Dispersion; 0 is the Poisson model.
    root : array (features, any)
        root root' is the covariance of beta.
    aliased : tuple of int
        Features that are constant or combinations of earlier ones.
    shrunk : bool
        Whether a prior on slopes was needed.
    shift : float
        Subtracted from redrawn intercepts, so that the expected total stays that of the mode.
    dispersion : array (2, any)
        Values of alpha and their posterior distribution function; empty unless parameters are redrawn.
    highest : float
        The largest log mean that a drawn row may have.
    """

    beta: FloatArray
    alpha: float
    root: FloatArray
    aliased: tuple[int, ...]
    shrunk: bool
    shift: float = 0.0
    dispersion: FloatArray = field(default_factory=lambda: np.zeros((2, 0)))
    highest: float = LARGEST_LOG

    def without_posterior(self) -> Self:
        """Leave out what redraws alone need: X'X can be solved for from it, cell by cell."""
        return replace(self, root=self.root[:, :0])


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class NegBin:
    """Draw a count from a negative binomial with mean exp(X beta) and variance mu + alpha mu^2.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    beta and alpha by joint maximum likelihood (Lawless 1987, Canadian J. Statistics 15, 209); where counts
    vary no more than a Poisson model says, alpha = 0 and the fit is the Poisson one. A draw is Poisson with
    a gamma mean. Redraws take beta from the normal approximation to its posterior and alpha from its
    likelihood on a grid, which may end at 0: ``fits/dispersion.py``. Means
    of drawn rows end at one and a half times the top of the column's quantile table, draws at ten
    times that.

    Examples
    --------
    >>> NegBin().accepts(Target("visits", "numeric"))
    True
    """

    name: ClassVar[str] = "negbin"
    reason: ClassVar[str] = (
        "the coefficients and dispersion of a count regression without a public penalty can be moved "
        "without limit by one record"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "log mean"
    keeps_masses: ClassVar[bool] = True

    def accepts(self, target: Target) -> bool:
        """Numbers; whether they are counts is seen at the fit."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for a Poisson fit first, then for the joint gradient and curvature; return a NegBinFit."""
        answer = yield RowSum(count_signs)
        refuse_noncounts(answer.value, task.target.name, self.name)
        answer = yield Moments()
        poisson: Coefficients = yield from fit_poisson(answer.value, np.asarray(task.dummies))
        found = yield from fit_negative_binomial(answer.value, poisson)
        yield from ask_count_shape(task.target.name, self.name, found.beta, alpha=found.alpha, n=task.n)
        highest = yield from ask_log_ceiling()
        fit = NegBinFit(found.beta, found.alpha, found.root, poisson.aliased, poisson.shrunk, highest=highest)
        if not task.proper or answer.value.cross[0] <= 0:
            return fit
        linear = replace(poisson, beta=fit.beta, root=fit.root)
        total = yield from count_total(linear)
        linear = yield from with_shift(linear, count_mean, np.log, total=total, n=int(answer.value.n))
        dispersion = yield from ask_dispersion(fit.beta, fit.alpha, task.n)
        return replace(fit, shift=linear.shift, dispersion=dispersion)

    def redraw(self, params: NegBinFit, rng: np.random.Generator) -> NegBinFit:
        """Coefficients and alpha from their posterior."""
        beta = params.beta + params.root @ rng.standard_normal(params.root.shape[1])
        beta[0] -= params.shift
        if not params.dispersion.size:
            return replace(params, beta=beta)
        values, below = params.dispersion
        return replace(params, beta=beta, alpha=float(np.interp(rng.random(), below, values)))

    def draw(self, params: NegBinFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One count for each row of X."""
        mean = count_mean(np.minimum(X @ params.beta, params.highest))
        if params.alpha > 0.0:
            most = BEYOND * float(count_mean(np.array([params.highest]))[0])
            mean = np.minimum(sampler.gamma(1 / params.alpha, mean * params.alpha), min(most, 2.0**53))
        return sampler.poisson(mean)
