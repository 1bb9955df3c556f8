"""A curator of arrays for models that carry a guarantee, and an exact sampler as drawing gives them one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from pysynthdp.models.ask import Answer, Counts, NoisyStatistics, NoisySums, RowSum
from pysynthdp.models.base import FitTask, Target
from pysynthdp.privacy.noise.protective import add_discrete_gaussian, draw_categories


def number_task(
    n: int, lower: float = -1.0, upper: float = 1.0, *, features: int = 1, **more: Any
) -> FitTask:
    """A number with declared bounds; features by count."""
    target = Target("y", "numeric", lower=lower, upper=upper)
    names = tuple(f"x{j}" for j in range(features))
    return FitTask(target, names, (False,) * features, n, targets=(target,), **more)


def level_task(n: int, levels: int, *, features: int = 1, **more: Any) -> FitTask:
    """A level."""
    target = Target("y", "categorical", levels)
    names = tuple(f"x{j}" for j in range(features))
    return FitTask(target, names, (False,) * features, n, targets=(target,), **more)


def run(model: Any, task: FitTask, y: np.ndarray, X: np.ndarray | None = None) -> Any:
    """Parameters, the queries answered from X and y without noise."""
    X = np.ones((len(y), 1)) if X is None else X
    job = model.fit(task)
    query = next(job)
    try:
        while True:
            query = job.send(Answer(answer(query, X, y, task)))
    except StopIteration as end:
        return end.value


def answer(query: Any, X: np.ndarray, y: np.ndarray, task: FitTask) -> Any:
    """Sums as the curator makes them, in two blocks."""
    half = len(y) // 2
    match query:
        case RowSum():
            blocks = (query.of(X[:half], y[:half]), query.of(X[half:], y[half:]))
            return tuple(a + b for a, b in zip(*blocks, strict=True))
        case Counts():
            return np.bincount(y.astype(int), minlength=task.target.n_levels).astype(float)
        case NoisyStatistics():
            return NoisySums(query.of(X[:half], y[:half]) + query.of(X[half:], y[half:]), 1.0, len(y))
    raise AssertionError(query)


class Draws:
    """The numpy sampler."""

    def __init__(self, seed: int = 0) -> None:
        self.generator = np.random.default_rng(seed)

    def normal(self, mean: np.ndarray, sd: Any) -> np.ndarray:
        return self.generator.normal(mean, sd)

    def uniform(self, size: int) -> np.ndarray:
        return self.generator.random(size)


class ExactDraws(Draws):
    """The exact sampler."""

    exact = True

    def discrete_gaussian(self, centre: int, scale: float, size: int) -> np.ndarray:
        return add_discrete_gaussian(np.full(size, centre, dtype=np.int64), scale)

    def integer_weights(self, weights: np.ndarray, size: int) -> np.ndarray:
        return draw_categories(weights, size)


def exact_mean(y: np.ndarray) -> Fraction:
    """Mean of the numbers as rationals."""
    return sum((Fraction(float(value)) for value in y), Fraction(0)) / len(y)
