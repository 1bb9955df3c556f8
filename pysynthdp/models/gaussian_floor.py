"""``gaussian_floor``: a normal column with estimated variance, kept above a public floor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import positive_setting, public_range
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.words import Argument, Words
from pysynthdp.models.ask import RowSum, Sampler, Sums
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.weighting import weighted

__all__ = ["FlooredNormal", "GaussianFloor"]


@dataclass(frozen=True, slots=True)
class FlooredNormal:
    """Mean and standard deviation of a record."""

    mean: float
    sd: float


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianFloor:
    """Draw a number from N(mean, max(s^2, floor^2)), without predictors.

    Parameters
    ----------
    floor : float
        Public smallest standard deviation, in the column's unit; at most half the width of the range.

    Raises
    ------
    PrivacyError
        If the floor is not a positive finite number, the column has no declared bounds, or the table fewer
        than two rows.

    Notes
    -----
    Privacy: asks for sums of clamped numbers and squares; under ``BySampling`` each record drawn costs (C3:
    finite Renyi orders only). s^2 divides by n - 1. The variance costs about 2 d^2/floor^2 times what the
    mean does, d being half the width of the range. Plug-in only: the copies of a proper synthesis share one
    fit.

    Examples
    --------
    >>> GaussianFloor(floor=5.0).accepts(Target("age", "numeric"))
    True
    """

    floor: float | None = None
    name: ClassVar[str] = "gaussian_floor"
    reason: ClassVar[str] = (
        "its draws carry a guarantee only when guarantee=BySampling() is asked for the whole table"
    )
    bias: ClassVar[str] = "shrunk"
    real_values: ClassVar[bool] = False

    def accepts(self, target: Target) -> bool:
        """Numbers only."""
        return target.kind == "numeric"

    def mechanism(self, task: FitTask) -> tuple[str, dict[str, Any]]:
        """Name the privacy mechanism of the draws and its public constants."""
        lower, upper, floor = self._constants(task)
        return "floored_variance", {"n": task.n, "half_width": (upper - lower) / 2, "floor": floor}

    def _constants(self, task: FitTask) -> tuple[float, float, float]:
        """Range and floor, checked before a row is read."""
        lower, upper = public_range(self.name, task.target.name, task.target.lower, task.target.upper)
        floor = positive_setting(self.name, "floor", self.floor)
        if task.n < 2:
            raise PrivacyError(
                f"{task.target.name}: a variance needs at least two rows",
                column=task.target.name,
                kind="method",
                remedy="use 'gaussian'",
            )
        if floor > (upper - lower) / 2:
            raise PrivacyError(
                Words(
                    "{column}: the floor exceeds half the range, so the variance would be a constant",
                    column=task.target.name,
                ),
                column=task.target.name,
                kind="setting",
                remedy=Words("use 'gaussian' with {sigma}", sigma=Argument("sigma")),
            )
        return lower, upper, floor

    def fit(self, task: FitTask) -> Fit:
        """Ask for the sums of the clamped target and its square about the middle, return a FlooredNormal."""
        lower, upper, floor = self._constants(task)
        middle = (lower + upper) / 2

        def sums(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001  # the target alone is summed
            z = np.clip(y, lower, upper) - middle
            return np.asarray(weighted(z, w).sum()), np.asarray(z @ weighted(z, w))

        answer = yield RowSum(sums)
        total, squares = (float(value) for value in answer.value)
        variance = max(squares - total**2 / task.n, 0.0) / (task.n - 1)
        return FlooredNormal(middle + total / task.n, math.sqrt(max(variance, floor**2)))

    def redraw(self, params: FlooredNormal, rng: np.random.Generator) -> FlooredNormal:  # noqa: ARG002
        """Keep the fit: no price is proved for a posterior draw of the variance."""
        return params

    def draw(self, params: FlooredNormal, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One number for each row of X, whatever the row holds."""
        return sampler.normal(np.full(len(X), params.mean), params.sd)
