"""``cubertnorm``: a normal linear regression of the cube root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.linear import LinearFit, ask_linear, redraw_linear

__all__ = ["CubeRtNorm"]


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class CubeRtNorm:
    """Draw a number whose cube root, sign kept, is N(X beta, sigma^2); ``cubertnorm`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.

    Examples
    --------
    >>> CubeRtNorm().accepts(Target("balance", "numeric"))
    True
    """

    name: ClassVar[str] = "cubertnorm"
    reason: ClassVar[str] = (
        "the coefficients and residual spread of a least-squares fit can be moved without limit by one record"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "cubert"

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:  # noqa: ARG002  # the moments say all
        """Ask for the moments of the cube root, return a LinearFit."""
        return (yield from ask_linear(np.cbrt))

    def redraw(self, params: LinearFit, rng: np.random.Generator) -> LinearFit:
        """Coefficients and sigma from their normal, inverse chi-squared posterior."""
        return redraw_linear(params, rng)

    def draw(self, params: LinearFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One number for each row of X."""
        return sampler.normal(X @ params.beta, params.sigma) ** 3
