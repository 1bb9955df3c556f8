"""``logridge``: a logistic regression with a public penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import positive_setting
from pysynthdp.models.ask import RowSum, Sampler, Sums
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.clip_rows import clip_rows
from pysynthdp.models.fits.ridge_logistic import STOPPED, ask_ridge_logistic
from pysynthdp.models.fits.weighting import weighted

__all__ = ["LogRidge", "PublicLogistic"]


@dataclass(frozen=True, slots=True)
class PublicLogistic:
    """Coefficients (features,) of the logit of level 1."""

    beta: FloatArray


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class LogRidge:
    """Draw one of two levels by a logistic regression penalised by a public constant.

    Parameters
    ----------
    penalty : float
        Public total penalty Lambda on beta'beta/2, the intercept's too.
    row_norm : float, optional
        Rows of predictors, real and drawn, are clipped to this Euclidean norm; by default a guarantee uses
        the bound that the declared ranges give.

    Raises
    ------
    PrivacyError
        If a constant is not a positive finite number.

    Notes
    -----
    Privacy: asks for sums of gradients and curvatures; under ``BySampling`` each record drawn costs (H3). The
    price allows for where the search stops: ``|beta - optimum| <= 1e-7 L/Lambda``, L the norm of a row.
    Plug-in only: the copies of a proper synthesis share one fit.

    Examples
    --------
    >>> LogRidge(penalty=100.0).accepts(Target("sex", "categorical", n_levels=2))
    True
    """

    penalty: float | None = None
    row_norm: float | None = None
    name: ClassVar[str] = "logridge"
    reason: ClassVar[str] = (
        "its draws carry a guarantee only when guarantee=BySampling() is asked for the whole table"
    )
    bias: ClassVar[str] = "shrunk"
    real_values: ClassVar[bool] = False
    linear_on: ClassVar[str] = "logit"

    def accepts(self, target: Target) -> bool:
        """Two levels only."""
        return target.kind == "categorical" and target.n_levels == 2

    def mechanism(self, task: FitTask) -> tuple[str, dict[str, Any]]:
        """Name the privacy mechanism of the draws and its public constants."""
        norm = positive_setting(self.name, "row_norm", self.row_norm or task.row_norm)
        penalty = positive_setting(self.name, "penalty", self.penalty)
        # (L (1 + s))^2 >= L^2 + s L^2: both fits may stop s L/Lambda from their optimum
        return "logistic_ridge", {"row_norm": norm * (1 + STOPPED), "ridge": penalty}

    def fit(self, task: FitTask) -> Fit:
        """Ask for gradients and curvatures until the optimum, return a PublicLogistic."""
        penalty = positive_setting(self.name, "penalty", self.penalty)
        longest = self._norm() or task.row_norm
        if longest is None:
            answer = yield RowSum(_lengths)
            longest = float(answer.value[0]) ** (1 / 16)  # at least the longest row's, at most n^(1/16) of it
        beta = yield from ask_ridge_logistic(
            len(task.features), penalty=penalty, norm=self._norm(), longest=longest
        )
        return PublicLogistic(beta)

    def _norm(self) -> float | None:
        """Norm that rows are clipped to, when one is set."""
        return None if self.row_norm is None else positive_setting(self.name, "row_norm", self.row_norm)

    def redraw(self, params: PublicLogistic, rng: np.random.Generator) -> PublicLogistic:  # noqa: ARG002
        """Keep the fit: no price is proved for a posterior draw of the coefficients."""
        return params

    def draw(self, params: PublicLogistic, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One level code for each row of X."""
        p = expit(clip_rows(X, self._norm()) @ params.beta)
        return (sampler.uniform(len(X)) < p).astype(np.float64)


def _lengths(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
    """Sum of the 16th powers of the rows' norms; a row of small weight is as long as another."""
    least = None if w is None else np.where(w > 0, np.maximum(w, 1.0), 0.0)
    return (np.asarray(np.sum(weighted((X * X).sum(axis=1) ** 8, least))),)
