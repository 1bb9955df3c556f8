"""``norm``: a normal linear regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Sampler, StepMoments
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.linear import LinearFit, ask_linear, redraw_linear
from pysynthdp.models.fits.moment_linear import linear_from_moments

__all__ = ["Norm"]


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Norm:
    """Draw a number from N(X beta, sigma^2); ``norm`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    sigma^2 = RSS / (n - rank); Bayesian ridge where fewer than max(5, n / 10) degrees of freedom are left.
    Under noise in the answers, numbers drawn by ``norm`` may lie outside their declared bounds: clamping them
    again would bias means and regressions.

    Examples
    --------
    >>> Norm().accepts(Target("income", "numeric"))
    True
    """

    name: ClassVar[str] = "norm"
    reason: ClassVar[str] = (
        "the coefficients and residual spread of a least-squares fit can be moved without limit by one record"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "plain"
    affine: ClassVar[bool] = True

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:  # noqa: ARG002  # the moments say all
        """Ask for the moments, return a LinearFit."""
        return (yield from ask_linear())

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> LinearFit:  # noqa: ARG002
        """Solve the normal equations of noisy cross-products."""
        return linear_from_moments(given)

    def redraw(self, params: LinearFit, rng: np.random.Generator) -> LinearFit:
        """Coefficients and sigma from their normal, inverse chi-squared posterior."""
        return redraw_linear(params, rng)

    def draw(self, params: LinearFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One normal for each row of X."""
        return sampler.normal(X @ params.beta, params.sigma)
