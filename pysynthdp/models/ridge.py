"""``ridge``: a linear regression with public penalty and residual standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import positive_setting, public_range
from pysynthdp.models.ask import RowSum, Sampler, Sums
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.clip_rows import clip_rows
from pysynthdp.models.fits.penalised import solve_penalised
from pysynthdp.models.fits.weighting import weighted

__all__ = ["PublicRidge", "Ridge"]


@dataclass(frozen=True, slots=True)
class PublicRidge:
    """Coefficients (features,), the middle of the range that they count from, and the residual spread."""

    beta: FloatArray
    middle: float
    sigma: float


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """Draw a number from N(X beta, sigma^2), beta penalised by a public constant.

    Parameters
    ----------
    penalty : float
        Public total penalty Lambda; a guarantee worth the name needs one comparable to the number of rows.
    sigma : float
        Public residual standard deviation, in the column's unit.
    row_norm : float, optional
        Rows of predictors, real and drawn, are clipped to this Euclidean norm; by default a guarantee uses
        the bound that the declared ranges give.

    Raises
    ------
    PrivacyError
        If a constant is not a positive finite number, or the column has no declared bounds.

    Notes
    -----
    Privacy: asks for cross-products of clipped rows; under ``BySampling`` each record drawn costs (H2), much.
    beta = (X'X + Lambda I)^-1 X'(y - middle); the intercept is penalised too, as the proof needs. Plug-in
    only: the copies of a proper synthesis share one fit.

    Examples
    --------
    >>> Ridge(penalty=1e4, sigma=10.0).accepts(Target("age", "numeric"))
    True
    """

    penalty: float | None = None
    sigma: float | None = None
    row_norm: float | None = None
    name: ClassVar[str] = "ridge"
    reason: ClassVar[str] = (
        "its draws carry a guarantee only when guarantee=BySampling() is asked for the whole table"
    )
    bias: ClassVar[str] = "shrunk"
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "plain"

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def mechanism(self, task: FitTask) -> tuple[str, dict[str, Any]]:
        """Name the privacy mechanism of the draws and its public constants."""
        lower, upper = public_range(self.name, task.target.name, task.target.lower, task.target.upper)
        return "ridge_regression", {
            "n": task.n,
            "row_norm": positive_setting(self.name, "row_norm", self.row_norm or task.row_norm),
            "response": (upper - lower) / 2,
            "ridge": positive_setting(self.name, "penalty", self.penalty),
            "sigma": positive_setting(self.name, "sigma", self.sigma),
        }

    def fit(self, task: FitTask) -> Fit:
        """Ask for the cross-products of clipped rows and clamped target, return a PublicRidge."""
        lower, upper = public_range(self.name, task.target.name, task.target.lower, task.target.upper)
        penalty = positive_setting(self.name, "penalty", self.penalty)
        sigma = positive_setting(self.name, "sigma", self.sigma)
        middle, norm = (lower + upper) / 2, self._norm()

        def products(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
            Z = clip_rows(X, norm)
            z = np.clip(y, lower, upper) - middle
            return np.asarray(Z.T @ weighted(Z, w)), np.asarray(Z.T @ weighted(z, w))

        answer = yield RowSum(products)
        gram, cross = answer.value
        return PublicRidge(solve_penalised(gram, cross, penalty), middle, sigma)

    def _norm(self) -> float | None:
        """Norm that rows are clipped to, when one is set."""
        return None if self.row_norm is None else positive_setting(self.name, "row_norm", self.row_norm)

    def redraw(self, params: PublicRidge, rng: np.random.Generator) -> PublicRidge:  # noqa: ARG002
        """Keep the fit: no price is proved for a posterior draw of the coefficients."""
        return params

    def draw(self, params: PublicRidge, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One number for each row of X."""
        mean = params.middle + clip_rows(X, self._norm()) @ params.beta
        return sampler.normal(mean, params.sigma)
