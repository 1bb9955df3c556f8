"""``multivariate_normal``: several numeric columns by their mean and covariance, with a public ridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.checks import positive_setting, public_range
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Argument, Words
from pysynthdp.models.ask import RowSum, Sampler, Sums
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target
from pysynthdp.models.fits.penalised import penalised_root
from pysynthdp.models.fits.weighting import weighted

__all__ = ["JointNormal", "MultivariateNormal"]


@dataclass(frozen=True, slots=True)
class JointNormal:
    """Mean (targets,) and a root (targets, targets) of the covariance, in the columns' units."""

    mean: FloatArray
    root: FloatArray


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class MultivariateNormal:
    """Draw several numeric columns together from a normal law with their mean and ridged covariance.

    Parameters
    ----------
    ridge : float
        Public lambda: (half a column's declared range)^2 times lambda is added to its variance.

    Raises
    ------
    PrivacyError
        If the ridge is not a positive finite number, or a column has no declared bounds.

    Notes
    -----
    Privacy: asks for sums of products of clamped numbers; under ``BySampling`` each record drawn costs (D6:
    finite Renyi orders only). Columns are scaled to [-1, 1]; the covariance divides by n; records are drawn
    from N(mean, covariance + lambda I). Plug-in only: the copies of a proper synthesis share one fit.

    Examples
    --------
    >>> MultivariateNormal(ridge=0.1).accepts(Target("age", "numeric"))
    True
    """

    ridge: float | None = None
    name: ClassVar[str] = "multivariate_normal"
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
        _ranges(task)
        ridge = positive_setting(self.name, "ridge", self.ridge)
        return "ridged_normal", {"n": task.n, "columns": len(task.targets), "ridge": ridge}

    def fit(self, task: FitTask) -> Fit:
        """Ask for the sums and products of the scaled targets, return a JointNormal."""
        ridge = positive_setting(self.name, "ridge", self.ridge)
        lower, upper = _ranges(task)
        middle, half = (lower + upper) / 2, (upper - lower) / 2

        def products(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001  # the targets alone are summed
            Z = np.clip((y.reshape(len(y), -1) - middle) / half, -1.0, 1.0)
            return weighted(Z, w).sum(axis=0), np.asarray(Z.T @ weighted(Z, w))

        answer = yield RowSum(products)
        total, scatter = answer.value
        mean = total / task.n
        covariance = scatter / task.n - np.outer(mean, mean)
        return JointNormal(middle + half * mean, half[:, None] * penalised_root(covariance, ridge))

    def redraw(self, params: JointNormal, rng: np.random.Generator) -> JointNormal:  # noqa: ARG002
        """Keep the fit: no price is proved for a posterior draw of the covariance."""
        return params

    def draw(self, params: JointNormal, X: FloatArray, sampler: Sampler) -> FloatArray:
        """One row of numbers (rows, targets) for each row of X, whatever it holds."""
        z = sampler.generator.standard_normal((len(X), len(params.mean)))
        return np.asarray(params.mean + z @ params.root.T)


def _ranges(task: FitTask) -> tuple[FloatArray, FloatArray]:
    """List the declared lower and upper ends of the targets."""
    if len(task.targets) < 2:
        raise PlanError(
            Words("{column}: 'multivariate_normal' draws several columns together", column=task.target.name),
            column=task.target.name,
            kind="setting",
            remedy=Words("name them in {joint}, or use 'gaussian_floor'", joint=Argument("joint")),
        )
    ranges = [
        public_range("multivariate_normal", target.name, target.lower, target.upper)
        for target in task.targets
    ]
    lower, upper = np.array(ranges, dtype=np.float64).T
    return lower, upper
