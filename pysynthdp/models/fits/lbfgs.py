"""The limited-memory BFGS direction for a matrix of coefficients, one row a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import FloatArray

__all__ = ["Curvature", "Memory", "direction", "remember"]

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


@dataclass(frozen=True, slots=True)
class Curvature:
    """The starting inverse Hessian.

    Parameters
    ----------
    inverse : array (levels, features, features)
        Inverse of each level's block A_k.
    carry : array (levels, features, features) or None
        A_k^-1 w_k (sum_l w_l^2 A_l^-1)^-1: what brings the mean weighted by w back to zero, where the blocks
        hold for coefficients of mean zero only; None where they need no such bond.
    share : array (levels,)
        w.
    """

    inverse: FloatArray
    carry: FloatArray | None
    share: FloatArray

    def apply(self, gradient: FloatArray) -> FloatArray:
        """Multiply; the result sums to zero over levels, as it may: a common shift changes nothing."""
        moved = (self.inverse @ gradient[:, :, None])[:, :, 0]
        if self.carry is not None:
            moved -= self.carry @ (self.share @ moved)
        return np.asarray(moved - moved.mean(axis=0))


def remember(memory: Memory, step: FloatArray, change: FloatArray) -> Memory:
    """Add a pair and forget the oldest beyond thirty; a pair without curvature is not kept.

    Examples
    --------
    >>> len(remember(Memory((), ()), np.ones((1, 1)), np.ones((1, 1))).steps)
    1
    """
    size = float(np.linalg.norm(step) * np.linalg.norm(change))
    if float(np.vdot(step, change)) <= 1e-14 * size:
        return memory
    return Memory((*memory.steps, step)[-PAIRS:], (*memory.changes, change)[-PAIRS:])


def direction(memory: Memory, curvature: Curvature, gradient: FloatArray) -> FloatArray:
    """Give minus the inverse Hessian times the gradient.

    Parameters
    ----------
    memory : Memory
        What has been learned along the way.
    curvature : Curvature
        The starting inverse Hessian.
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
    >>> start = Curvature(np.ones((2, 1, 1)), None, np.full(2, 0.5))
    >>> direction(Memory((), ()), start, np.array([[1.0], [-1.0]])).tolist()
    [[-1.0], [1.0]]
    """
    pull = gradient.copy()
    used = []
    for step, change in zip(reversed(memory.steps), reversed(memory.changes), strict=True):
        inner = float(np.vdot(step, change))
        weight = float(np.vdot(step, pull)) / inner
        pull -= weight * change
        used.append((step, change, inner, weight))
    if memory.steps:
        pull *= _scale(memory, curvature)
    pull = curvature.apply(pull)
    for step, change, inner, weight in reversed(used):
        pull += (weight - float(np.vdot(change, pull)) / inner) * step
    return -pull


def _scale(memory: Memory, curvature: Curvature) -> float:
    """Ratio of the curvature last seen to the starting inverse Hessian's (the book's eq. 7.20)."""
    change = memory.changes[-1]
    moved = curvature.apply(change)
    return float(np.vdot(memory.steps[-1], change) / np.vdot(change, moved))
