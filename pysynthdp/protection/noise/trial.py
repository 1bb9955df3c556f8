"""Try an outside model on made-up moments when the plan is made, before anything is spent."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.base.registry import is_outside
from pysynthdp.models.ask import StepMoments
from pysynthdp.models.base import FitsFromMoments, FitTask, SplitsLevels
from pysynthdp.plan import Step, SynthesisPlan, target_of
from pysynthdp.plan.fit import named
from pysynthdp.protection.noise.moments.design import moment_part

__all__ = ["try_model"]

_ROWS = 100.0
_NEEDED = ("beta", "sigma", "df")


def try_model(step: Step, plan: SynthesisPlan) -> None:
    """Fit a model of another package to moments of rows that never were.

    Raises
    ------
    PrivacyError
        If its parameters lack what later columns need; the message names the column and what.
    FitError
        If the model raises.

    Notes
    -----
    Privacy: made-up numbers only.
    """
    part, model = moment_part(step), step.model
    if not is_outside(model) or not isinstance(model, FitsFromMoments):
        return
    targets = tuple(target_of(own, plan.schema[own.column]) for own in part.of)
    target = target_of(part, plan.schema[part.column])
    task = FitTask(target, ("one", "x"), (False, False), int(_ROWS), targets=targets)
    with named(step.label, model, "be fitted from made-up cross-products"):
        params = model.fit_from_moments(task, _made_up(len(part.levels)))
        if isinstance(model, SplitsLevels):
            shares = np.asarray(model.level_shares(params, _features()))
    if part.numeric:
        _check_number(params, step)
    elif shares.shape != (len(_features()), len(part.levels)) or not np.allclose(shares.sum(axis=1), 1):
        raise PrivacyError(
            (
                f"{step.label}: level_shares of {model.name!r} must be (rows, levels) with rows "
                "that sum to one"
            ),
            column=step.label,
            kind="guarantee",
        )


def _features() -> FloatArray:
    """Features of some rows: an intercept and a number."""
    return np.column_stack([np.ones(4), np.array([-1.0, -0.5, 0.5, 1.0])])


def _made_up(levels: int) -> StepMoments:
    """Moments of a hundred rows on which nothing depends on anything."""
    weights = np.full(4, _ROWS / 4)
    gram = _features().T @ (_features() * weights[:, None])
    if not levels:
        return StepMoments(np.zeros((0, 2)), np.zeros(0), gram, np.zeros((2, 1)), _ROWS, _ROWS)
    cross = np.outer(weights @ _features(), np.full(levels, 1 / levels))
    return StepMoments(_features(), weights, np.zeros((0, 0)), cross, 0.0, _ROWS)


def _check_number(params: Any, step: Step) -> None:
    """Refuse parameters of a number that later columns cannot be told of."""
    lacking = [name for name in _NEEDED if not hasattr(params, name)]
    if lacking or not is_dataclass(params):
        raise PrivacyError(
            (
                f"{step.label}: the parameters of {step.model.name!r} must be a dataclass with "
                f"{', '.join(_NEEDED)} (NumberParams), which later columns need"
            ),
            column=step.label,
            kind="guarantee",
            remedy=f"it lacks {', '.join(lacking) or 'that form'}",
        )
