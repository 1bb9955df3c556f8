"""The limited-memory BFGS direction for a matrix of coefficients, one row a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pysynthdp._typing import FloatArray

__all__ = ["Memory", "direction", "remember"]

PAIRS = 30


@dataclass(frozen=True, slots=True)
class Memory:
    """The latest steps and the changes of the gradient along them, oldest first.

    Parameters
    ----------
    steps : tuple of arrays (levels, features)
        Steps.
    changes : tuple of arrays (levels, features)
        Changes of the gradient.
    """

    steps: tuple[FloatArray, ...]
    changes: tuple[FloatArray, ...]


def remember(memory: Memory, step: FloatArray, change: FloatArray) -> Memory:
    """Add a pair and forget the oldest beyond thirty; a pair without curvature is not kept.

    Examples
    --------
    >>> len(remember(Memory((), ()), np.ones((1, 1)), np.ones((1, 1))).steps)
    1
    """
    size = float(np.linalg.norm(step) * np.linalg.norm(change))
    if float(np.sum(step * change)) <= 1e-14 * size:
        return memory
    return Memory((*memory.steps, step)[-PAIRS:], (*memory.changes, change)[-PAIRS:])


def direction(memory: Memory, inverse: FloatArray, gradient: FloatArray) -> FloatArray:
    """Give minus the inverse Hessian times the gradient.

    Parameters
    ----------
    memory : Memory
        What has been learned along the way.
    inverse : array (levels, features, features)
        The starting inverse Hessian, a block for each level, then projected on sums of zero over levels.
    gradient : array (levels, features)
        The gradient.

    Returns
    -------
    array (levels, features)

    Notes
    -----
    Privacy: arithmetic on answers.
    The two-loop recursion (Nocedal and Wright, Numerical Optimization, algorithm 7.4).

    Examples
    --------
    >>> direction(Memory((), ()), np.ones((2, 1, 1)), np.array([[1.0], [-1.0]])).tolist()
    [[-1.0], [1.0]]
    """
    pull = gradient.copy()
    used = []
    for step, change in zip(reversed(memory.steps), reversed(memory.changes), strict=True):
        inner = float(np.sum(step * change))
        weight = float(np.sum(step * pull)) / inner
        pull -= weight * change
        used.append((step, change, inner, weight))
    if memory.steps:
        pull *= _scale(memory, inverse)
    pull = (inverse @ pull[:, :, None])[:, :, 0]
    pull -= pull.mean(axis=0)
    for step, change, inner, weight in reversed(used):
        pull += (weight - float(np.sum(change * pull)) / inner) * step
    return -pull


def _scale(memory: Memory, inverse: FloatArray) -> float:
    """Ratio of the curvature last seen to the starting inverse Hessian's (the book's eq. 7.20)."""
    change = memory.changes[-1]
    moved = (inverse @ change[:, :, None])[:, :, 0]
    return float(np.sum(memory.steps[-1] * change) / np.sum(change * moved))
