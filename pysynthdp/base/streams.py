"""Streams of variates keyed by (copy, step, block): order and workers never change a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.base.entropy import SystemEntropy
from pysynthdp.base.errors import PlanError

__all__ = ["NumpySampler", "RandomSource", "level_and_place", "root_sequence", "stream"]

RandomSource: TypeAlias = int | np.random.SeedSequence | np.random.Generator | None


def root_sequence(rng: RandomSource) -> np.random.SeedSequence:
    """Turn what a user gives into a root; None takes fresh entropy from the operating system.

    Examples
    --------
    >>> stream(root_sequence(1), 0, 2, 5).random() == stream(root_sequence(1), 0, 2, 5).random()
    True
    """
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**32, size=8, dtype=np.uint32).tolist())
    if rng is None:
        return np.random.SeedSequence()
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise PlanError(
            "rng must be None, a whole number of at least 0, a SeedSequence or a Generator", kind="setting"
        )
    return np.random.SeedSequence(int(rng))


def stream(root: np.random.SeedSequence | None, *key: int) -> np.random.Generator:
    """Make the generator of one key; without a root, a source that reads the operating system's entropy."""
    if root is None:
        return SystemEntropy()  # type: ignore[return-value]  # the same methods, as far as models use them
    sequence = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *key))
    return np.random.Generator(np.random.PCG64DXSM(sequence))


@dataclass(frozen=True, slots=True)
class NumpySampler:
    """Draw with a numpy generator; see :class:`pysynthdp.models.ask.Sampler`."""

    generator: np.random.Generator

    def along(self, X: FloatArray) -> NumpySampler:
        """Draw for rows with these features; independent draws do not look at them."""
        del X
        return self

    def normal(self, mean: FloatArray, sd: FloatArray | float) -> FloatArray:
        """Draw independent normals."""
        values = np.asarray(self.generator.standard_normal(mean.shape[0]))
        np.multiply(values, sd, out=values)
        np.add(values, mean, out=values)
        return values

    def uniform(self, size: int) -> FloatArray:
        """Draw independent uniforms on [0, 1)."""
        return self.generator.random(size)

    def categorical(self, probabilities: FloatArray) -> IntArray:
        """Draw one level a row by one uniform against the cumulated probabilities."""
        cumulated = np.cumsum(probabilities, axis=1)
        point = self.generator.random(len(cumulated)) * cumulated[:, -1]
        return np.asarray((cumulated <= point[:, None]).sum(axis=1), dtype=np.int64)

    def placed(self, probabilities: FloatArray) -> tuple[IntArray, FloatArray]:
        """Draw one level a row as :meth:`categorical` does, and say where inside the level the point fell."""
        return level_and_place(probabilities, self.generator.random(len(probabilities)))

    def event(self, probability: FloatArray) -> BoolArray:
        """Draw one event for each entry."""
        return np.asarray(self.uniform(len(probability)) < probability)

    def poisson(self, mean: FloatArray) -> FloatArray:
        """Draw Poisson counts."""
        return self.generator.poisson(mean).astype(np.float64)

    def gamma(self, shape: float, scale: FloatArray) -> FloatArray:
        """Draw gammas."""
        return self.generator.gamma(shape, scale)


def level_and_place(probabilities: FloatArray, points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Read one uniform a row as a level and a place inside it.

    Parameters
    ----------
    probabilities : array (rows, levels)
        Of the levels; a row need not sum to one.
    points : array (rows,)
        On [0, 1).

    Returns
    -------
    levels : array of int (rows,)
    places : array (rows,)
        On [0, 1); uniform and independent of the level where the points are uniform.

    Examples
    --------
    >>> level_and_place(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([0.75, 0.1]))
    (array([1, 0]), array([0.5, 0.5]))
    """
    rows = np.arange(len(probabilities))
    cumulated = np.cumsum(probabilities, axis=1)
    point = points * cumulated[:, -1]
    levels = np.minimum((cumulated <= point[:, None]).sum(axis=1), cumulated.shape[1] - 1)
    width = probabilities[rows, levels]
    start = cumulated[rows, levels] - width
    places = (point - start) / np.where(width > 0, width, 1.0)
    return np.asarray(levels, dtype=np.int64), np.clip(places, 0.0, np.nextafter(1.0, 0.0))
