"""Newton's method by reverse communication: a generator that asks for sums over rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums

__all__ = [
    "CLOSE",
    "LONG",
    "ROUNDS",
    "Block",
    "Minimum",
    "Problem",
    "State",
    "ask_state",
    "lower_factor",
    "minimise",
    "posterior_root",
    "stepped",
    "stride",
]

LONG = 50_000
SAMPLE = 20_000
ROUNDS = 60
CLOSE = 1e-12  # squared distance to the mode in standard errors
LONG_CLOSE = 1e-6  # on long tables: a thousandth of a standard error, before the last step
PATIENCE = 5  # rounds on all rows after which second derivatives are added anew
ASTRAY = 1e3  # times the squared distance that a sample's mode has by chance: it is then no place to begin
NEAR = 1.0  # squared distance in standard errors from which on they are those at the mode

Block: TypeAlias = RowTerms
Asking: TypeAlias = Generator[RowSum, Answer, "Minimum"]
State: TypeAlias = tuple[float, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Problem:
    """A function of parameters that is a sum over rows plus a few terms known beforehand.

    Parameters
    ----------
    terms : callable (theta, curvature) -> (X, y, w=None) -> (value, gradient[, Hessian])
        The sum over rows.
    linear : array (params,)
        Subtracts theta'linear: the sufficient statistics of a canonical model, so that rows need no target.
    precision : array (params,)
        Adds sum precision theta^2 / 2: the prior.
    fixed : callable theta -> (value, gradient, Hessian) or None
        A term that depends on counts only; divided on a subsample as ``linear`` is.
    free : array of int
        Positions that are estimated; the others stay where they start.
    scatter : array (params, params) or None
        theta'scatter theta is the variance of the linear predictor; beyond ``limit`` squared the maximum
        likelihood estimate is taken not to exist.
    n : int
        Rows.
    limit : float
        See ``scatter``.
    of_sample : callable every -> asking for array (params,), optional
        ``linear`` of every s-th row, times as many as rows; that of all rows by default.
    """

    terms: Callable[[FloatArray, bool], Block]
    linear: FloatArray
    precision: FloatArray
    free: IntArray
    n: int
    fixed: Callable[[FloatArray], State] | None = None
    scatter: FloatArray | None = None
    limit: float = 10.0
    of_sample: Callable[[int], Generator[RowSum, Answer, FloatArray]] | None = None


@dataclass(frozen=True, slots=True)
class Minimum:
    """Where the search ended.

    Parameters
    ----------
    theta : array (params,)
        The minimiser.
    hessian : array (free, free)
        Second derivatives there, on all rows.
    converged : bool
        False where the linear predictor diverged or rounds ran out.
    """

    theta: FloatArray
    hessian: FloatArray
    converged: bool


def stride(n: int) -> int:
    """Every how many rows to look at first: 1 up to 50,000 rows, else so that at most 20,000 are used.

    Examples
    --------
    >>> stride(5_000), stride(1_000_000)
    (1, 50)
    """
    return 1 if n <= LONG else -(-n // SAMPLE)


def minimise(problem: Problem, start: FloatArray) -> Asking:
    """Newton with line search; on long tables on a subsample first, then few rounds on all rows.

    Parameters
    ----------
    problem : Problem
        A convex function.
    start : array (params,)
        Where to begin.

    Returns
    -------
    Minimum

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    Stops at g'H^-1 g < 1e-12, the squared distance to the minimiser in standard errors, or 1e-6 on long
    tables, after taking the last step (Nocedal and Wright, Numerical Optimization, ch. 3 and 6).
    """
    every = stride(problem.n)
    if every == 1:
        return (yield from _newton(problem, start, 1, CLOSE))
    precision = np.maximum(problem.precision / every, _stabiliser(problem))
    linear = problem.linear if problem.of_sample is None else (yield from problem.of_sample(every))
    weak = replace(problem, linear=linear, precision=precision, scatter=None)
    first = yield from _newton(weak, start, every, 1e-4)
    if not np.all(np.isfinite(first.theta)):
        return first
    return (yield from _on_all_rows(problem, first.theta, start))


def posterior_root(hessian: FloatArray, free: IntArray, size: int) -> FloatArray:
    """Give a root of the inverse Hessian, with zero rows at parameters that are not free.

    Returns
    -------
    array (size, free)
        root root' is the covariance of the normal approximation at the mode.

    Examples
    --------
    >>> posterior_root(np.array([[4.0]]), np.array([1]), 2).tolist()
    [[0.0], [0.5]]
    """
    root = np.zeros((size, free.size))
    lower = lower_factor(hessian)
    root[free] = solve_triangular(lower, np.eye(free.size), lower=True).T
    return root


def _stabiliser(problem: Problem) -> FloatArray:
    """Set a weak prior for the subsample, where a rare dummy may have no row."""
    weak = np.full(problem.linear.size, 0.04)
    weak[0] = 0.0
    return weak


def lower_factor(hessian: FloatArray) -> FloatArray:
    """Cholesky factor, lifting the diagonal where rounding or a far point left the matrix indefinite."""
    lift = 0.0
    scale = np.abs(hessian.diagonal()) + 1e-300
    for power in range(-13, 9):
        try:
            factor: FloatArray = cholesky(hessian + np.diag(lift * scale), lower=True)
        except LinAlgError:
            lift = 10.0**power
        else:
            return factor
    return np.diag(np.sqrt(scale))


def _state(problem: Problem, theta: FloatArray, every: int, sums: Sums) -> State:
    """Value, gradient and Hessian on the free parameters from the answer and the known terms."""
    value = float(sums[0]) - float(theta @ problem.linear) / every
    gradient = sums[1] - problem.linear / every + problem.precision * theta
    value += 0.5 * float(problem.precision @ theta**2)
    hessian = sums[2] + np.diag(problem.precision) if len(sums) > 2 else np.zeros((0, 0))
    if problem.fixed is not None:
        known = problem.fixed(theta)
        value, gradient = value + known[0] / every, gradient + known[1] / every
        hessian = hessian + known[2] / every if len(sums) > 2 else hessian
    at = problem.free
    return value, gradient[at], hessian[np.ix_(at, at)] if len(sums) > 2 else hessian


def ask_state(
    problem: Problem, theta: FloatArray, every: int, *, curvature: bool
) -> Generator[RowSum, Answer, State]:
    """One round."""
    answer = yield RowSum(problem.terms(theta, curvature), every)
    return _state(problem, theta, every, answer.value)


def stepped(problem: Problem, theta: FloatArray, step: FloatArray) -> FloatArray:
    """Theta with a step on its free positions."""
    moved = theta.copy()
    moved[problem.free] += step
    return moved


def _diverged(problem: Problem, theta: FloatArray) -> bool:
    """Whether the linear predictor has spread so far that the estimate is running to infinity."""
    if problem.scatter is None:
        return False
    size = len(problem.scatter)
    return float(theta[:size] @ problem.scatter @ theta[:size]) > problem.limit**2


def _newton(problem: Problem, theta: FloatArray, every: int, close: float) -> Asking:
    """Full Newton steps, halved until the value falls."""
    value, gradient, hessian = yield from ask_state(problem, theta, every, curvature=True)
    for _ in range(ROUNDS):
        step = -cho_solve((lower_factor(hessian), True), gradient)
        decrement = -float(gradient @ step)
        if decrement < close:
            return Minimum(stepped(problem, theta, step), hessian, converged=True)
        if _diverged(problem, theta):
            break
        for _halving in range(40):
            trial = stepped(problem, theta, step)
            new = yield from ask_state(problem, trial, every, curvature=True)
            if new[0] <= value + 1e-10 * (1 + abs(value)):
                break
            step = step / 2
        theta, (value, gradient, hessian) = trial, new
    return Minimum(theta, hessian, converged=False)


def _on_all_rows(problem: Problem, theta: FloatArray, start: FloatArray) -> Asking:
    """Quasi-Newton from the Hessian of all rows, added anew near the mode, and where the search lasts.

    A sample's Hessian would do where predictors have no tails; where they have, it is that of few rows.
    """
    value, gradient, hessian = yield from ask_state(problem, theta, 1, curvature=True)
    left = float(gradient @ _inverse(hessian) @ gradient)
    if not left < ASTRAY * stride(problem.n) * gradient.size:
        return (yield from _newton(problem, start, 1, LONG_CLOSE))
    inverse, far = _inverse(hessian), True
    for number in range(1, ROUNDS + 1):
        step = -inverse @ gradient
        left = -float(gradient @ step)
        if left < LONG_CLOSE:
            return Minimum(stepped(problem, theta, step), hessian, converged=not _diverged(problem, theta))
        anew = number % PATIENCE == 0 or (far and left < NEAR)
        far = far and left >= NEAR
        trial, new, step = yield from _halved(problem, theta, step, value, curvature=anew)
        inverse = _updated(inverse, step, new[1] - gradient)
        if anew:
            hessian, inverse = new[2], _inverse(new[2])
        theta, value, gradient = trial, new[0], new[1]
    return Minimum(theta, hessian, converged=False)


def _halved(
    problem: Problem, theta: FloatArray, step: FloatArray, value: float, *, curvature: bool
) -> Generator[RowSum, Answer, tuple[FloatArray, State, FloatArray]]:
    """Halve a step until the value falls."""
    for _ in range(40):
        trial = stepped(problem, theta, step)
        new = yield from ask_state(problem, trial, 1, curvature=curvature)
        if new[0] <= value + 1e-10 * (1 + abs(value)):
            break
        step = step / 2
    return trial, new, step


def _inverse(hessian: FloatArray) -> FloatArray:
    """Invert, lifting the diagonal where that is needed."""
    return np.asarray(cho_solve((lower_factor(hessian), True), np.eye(len(hessian))))


def _updated(inverse: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Apply the BFGS update of an inverse Hessian (Nocedal and Wright, eq. 6.17)."""
    curvature = float(step @ change)
    if curvature <= 1e-14 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse
    pulled = inverse @ change
    cross = np.outer(step, pulled)
    gain = (1 + float(change @ pulled) / curvature) / curvature
    return inverse + gain * np.outer(step, step) - (cross + cross.T) / curvature
