"""A column model and a combining rule from another package, and two whose names are taken.

What an author outside the project would write; nothing in the project names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pysynthdp.analysis.rules.base import Condition, Rule, Sums
from pysynthdp.base.errors import FitError
from pysynthdp.models.ask import RowSum, Sampler
from pysynthdp.models.base import Fit, FitTask, Target


@dataclass(frozen=True, slots=True)
class WaitingFit:
    """Mean of a waiting time, and how many were seen."""

    mean: float
    n: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waiting times without predictors, from the exponential law."""

    name: ClassVar[str] = "toy_waiting"
    reason: ClassVar[str] = "one record can move the mean waiting time without limit"
    real_values: ClassVar[bool] = False

    def accepts(self, target: Target) -> bool:
        return target.kind == "numeric"

    def fit(self, task: FitTask) -> Fit:
        total, negative = (yield RowSum(lambda X, y: (y.sum(), np.sum(y < 0)))).value  # noqa: ARG005
        if negative or task.n == 0:
            what = f"{task.target.name} has negative values or none at all"
            raise FitError(what, column=task.target.name, kind="method", remedy="use 'normrank'")
        return WaitingFit(float(total) / task.n, float(task.n))

    def redraw(self, params: WaitingFit, rng: np.random.Generator) -> WaitingFit:
        return replace(params, mean=params.mean * params.n / rng.gamma(params.n))

    def draw(self, params: WaitingFit, X: np.ndarray, sampler: Sampler) -> np.ndarray:
        return sampler.gamma(1.0, np.full(len(X), params.mean))


class NormAgain(Waiting):
    """A name that is taken."""

    name = "norm"


class ToyRule(Rule):
    """Far too narrow, and eager to be chosen."""

    name = "toy_rule"
    aliases: ClassVar[Sequence[str]] = ("toy", "T_s")  # the second is another rule's
    formula = "ubar / 10^6"
    source = "the toy's own document"
    right_when = "Never, it is a toy."
    conditions = (Condition(lambda facts: facts.m > 0, "it needs a copy"),)
    order = 1

    def variance(self, sums: Sums) -> np.ndarray:
        return sums.ubar * 1e-6


class RaabAgain(ToyRule):
    """A name that is taken."""

    name = "raab_simple"
