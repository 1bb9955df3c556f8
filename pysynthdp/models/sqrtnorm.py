"""``sqrtnorm``: a normal linear regression of the square root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import RowSum, Sampler
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.linear import LinearFit, ask_linear, redraw_linear
from pysynthdp.models.fits.signs import count_signs

__all__ = ["SqrtNorm"]


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class SqrtNorm:
    """Draw a non-negative number whose square root is N(X beta, sigma^2); ``sqrtnorm`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the fit keeps coefficients only, draws are post-processing.
    A negative root is drawn as 0, not folded upward by the square.

    Examples
    --------
    >>> SqrtNorm().accepts(Target("income", "numeric"))
    True
    """

    name: ClassVar[str] = "sqrtnorm"
    reason: ClassVar[str] = (
        "the coefficients and residual spread of a least-squares fit can be moved without limit by one record"
    )
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "sqrt"

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        """Ask for signs, then moments of the root; return a LinearFit."""
        answer = yield RowSum(count_signs)
        if answer.value[0] > 0:
            raise FitError(
                f"{task.target.name} has negative values, whose square root 'sqrtnorm' cannot take",
                column=task.target.name,
                kind="method",
                remedy="use 'cubertnorm' or 'normrank'",
            )
        return (yield from ask_linear(np.sqrt))

    def redraw(self, params: LinearFit, rng: np.random.Generator) -> LinearFit:
        """Coefficients and sigma from their normal, inverse chi-squared posterior."""
        return redraw_linear(params, rng)

    def draw(self, params: LinearFit, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One non-negative number for each row of X."""
        return np.maximum(sampler.normal(X @ params.beta, params.sigma), 0.0) ** 2
