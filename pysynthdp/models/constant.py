"""``constant``: a target that has one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import Counts, Quantiles, Sampler, StepMoments
from pysynthdp.models.base import COLUMN_MODELS, Fit, FitTask, Target

__all__ = ["Constant", "ConstantValue"]


@dataclass(frozen=True, slots=True)
class ConstantValue:
    """The one value, or the one level's code."""

    value: float


@COLUMN_MODELS.register
@dataclass(frozen=True, slots=True)
class Constant:
    """Repeat the only value that the target has; ``constant`` in synthpop.

    Notes
    -----
    Privacy: no formal guarantee (see ``reason``); the value itself is released.

    Examples
    --------
    >>> Constant().accepts(Target("country", "categorical", n_levels=1))
    True
    """

    name: ClassVar[str] = "constant"
    reason: ClassVar[str] = "the single value of the column is copied from the records"
    real_values: ClassVar[bool] = False

    def accepts(self, target: Target) -> bool:  # noqa: ARG002  # the data decide
        """Every target; whether it is constant is seen at the fit."""
        return True

    def fit(self, task: FitTask) -> Fit:
        """Ask for counts or quantiles; return the value."""
        if task.target.kind == "categorical":
            answer = yield Counts()
            values = np.flatnonzero(answer.value).astype(np.float64)
        else:
            answer = yield Quantiles()
            values = np.asarray(answer.value[1:]).ravel()
        if values.size == 0 or np.ptp(values) > 1e-12 * np.abs(values).max():
            raise FitError(
                f"{task.target.name} does not have exactly one value, which the method 'constant' needs",
                column=task.target.name,
                kind="method",
                remedy="choose 'sample' or leave the method to the plan",
            )
        return ConstantValue(float(values[0]))

    def fit_from_moments(self, task: FitTask, given: StepMoments) -> ConstantValue:  # noqa: ARG002
        """Repeat the only declared level."""
        if task.target.n_levels != 1:
            raise FitError(
                f"{task.target.name} has more than one declared level",
                column=task.target.name,
                kind="method",
                remedy="leave the method to the plan",
            )
        return ConstantValue(0.0)

    def redraw(self, params: ConstantValue, rng: np.random.Generator) -> ConstantValue:  # noqa: ARG002
        """Nothing to redraw: there is no parameter."""
        return params

    def level_shares(self, params: ConstantValue, X: FloatArray) -> FloatArray:  # noqa: ARG002
        """Probability one of the only level."""
        return np.ones((len(X), 1))

    def draw(self, params: ConstantValue, X: FloatArray, sampler: Sampler) -> FloatArray:  # noqa: ARG002
        """Repeat the value for each row of X."""
        return np.full(len(X), params.value)
