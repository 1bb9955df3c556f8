"""The limited-memory BFGS direction for a matrix of coefficients, one row a level."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dtrtrs

from pysynthdp.base.arrays import FloatArray

__all__ = ["Curvature", "Memory", "Start", "direction", "remember"]

PAIRS = 30


@dataclass(frozen=True, slots=True)
class Memory:
    """The latest steps and the changes of the gradient along them, oldest first.

    Parameters
    ----------
    steps : array (pairs, levels * features)
        Steps.
    changes : array (pairs, levels * features)
        Changes of the gradient.
    inner : array (pairs, pairs)
        Products of each step with the changes from its own on; zero below the diagonal.
    """

    steps: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    changes: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    inner: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))


class Start(Protocol):
    """A starting inverse Hessian."""

    @property
    def scaled(self) -> bool:
        """Whether its size is taken from the curvature last seen: of one that is right in shape alone."""
        ...

    def apply(self, gradient: FloatArray) -> FloatArray:
        """Multiply (levels, features)."""
        ...


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
    scaled : bool
        Whether its size is taken from the curvature last seen.
    """

    inverse: FloatArray
    carry: FloatArray | None
    share: FloatArray
    scaled: bool = True

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
    >>> len(remember(Memory(), np.ones((1, 1)), np.ones((1, 1))).steps)
    1
    """
    size = float(np.linalg.norm(step) * np.linalg.norm(change))
    if float(np.vdot(step, change)) <= 1e-14 * size:
        return memory
    kept = slice(max(len(memory.steps) - PAIRS + 1, 0), None)
    steps = np.vstack([memory.steps[kept].reshape(-1, step.size), step.reshape(1, -1)])
    changes = np.vstack([memory.changes[kept].reshape(-1, step.size), change.reshape(1, -1)])
    inner = np.zeros((len(steps), len(steps)))
    inner[:-1, :-1] = memory.inner[kept, kept]
    inner[:, -1] = steps @ changes[-1]
    return Memory(steps, changes, inner)


def direction(memory: Memory, curvature: Start, gradient: FloatArray) -> FloatArray:
    """Give minus the inverse Hessian times the gradient.

    Parameters
    ----------
    memory : Memory
        What has been learned along the way.
    curvature : Start
        The starting inverse Hessian.
    gradient : array (levels, features)
        The gradient.

    Returns
    -------
    array (levels, features)

    Notes
    -----
    Privacy: arithmetic on answers.
    The two loops of Nocedal and Wright (Numerical Optimization, algorithm 7.4), each a triangular system:
    with R the products of steps and later changes, a = R^-1 S g, q = g - Y'a, r = H q, and R'c = diag(R) a -
    Y r, the direction is -(r + S'c).

    Examples
    --------
    >>> start = Curvature(np.ones((2, 1, 1)), None, np.full(2, 0.5))
    >>> direction(Memory(), start, np.array([[1.0], [-1.0]])).tolist()
    [[-1.0], [1.0]]
    """
    if not len(memory.steps):
        return -curvature.apply(gradient)
    inner = memory.inner
    weights, _ = dtrtrs(inner, memory.steps @ gradient.ravel())
    pull = gradient - (weights @ memory.changes).reshape(gradient.shape)
    pull = _scale(memory, curvature, gradient.shape) * curvature.apply(pull)
    left = inner.diagonal() * weights - memory.changes @ pull.ravel()
    along, _ = dtrtrs(inner, left, trans=1)
    return np.asarray(-(pull + (along @ memory.steps).reshape(gradient.shape)))


def _scale(memory: Memory, curvature: Start, shape: tuple[int, ...]) -> float:
    """Ratio of the curvature last seen to the starting inverse Hessian's (the book's eq. 7.20)."""
    if not curvature.scaled:
        return 1.0
    change = memory.changes[-1]
    moved = curvature.apply(change.reshape(shape)).ravel()
    return float(memory.inner[-1, -1] / (change @ moved))
