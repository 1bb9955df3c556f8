"""A prior on slopes whose scale the data choose: marginal likelihood with Laplace's approximation."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cho_solve

from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.models.ask import Answer, RowSum
from pysynthdp.models.fits.newton import (
    CLOSE,
    LONG,
    ROUNDS,
    Minimum,
    Problem,
    State,
    ask_state,
    lower_factor,
    minimise,
    stepped,
    stride,
)
from pysynthdp.models.fits.sparsity import SLOPE_SD, SPREAD_SD, TOO_FEW

__all__ = ["Evidence", "SlopePrior", "free_of_nuisance", "shrunken_mode", "tuned_prior"]

WEAKEST = 1 / SLOPE_SD**2
STRONGEST = 100.0  # times the largest information: slopes are then within 1 % of none
CHANGES = 8
SETTLED = 0.1  # in the log; its own standard error is above 0.3 unless effects are plenty
NEAR = 0.3
GRID = 41
HALVINGS = 34


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rows say about slopes, nuisance parameters profiled out, as a quadratic.

    Parameters
    ----------
    information : array (..., slopes, slopes)
        Minus the second derivatives of the log likelihood.
    score : array (..., slopes)
        The log likelihood's first derivatives at zero slopes, by the quadratic.
    scale : array (...,)
        Multiplies the information, where a stack has one up to scale.
    """

    information: FloatArray
    score: FloatArray
    scale: FloatArray = field(default_factory=lambda: np.ones(()))


@dataclass(frozen=True, slots=True)
class SlopePrior:
    """A normal scale mixture for slopes, with precisions scale * weight.

    Parameters
    ----------
    scale : array (...,)
        Precision shared by all slopes.
    weight : array (..., slopes)
        Of each slope; about 1, and less where its effect stands out.
    """

    scale: FloatArray
    weight: FloatArray

    def precision(self, weakest: float = WEAKEST) -> FloatArray:
        """Precision of each slope, at least the weakest, (..., slopes)."""
        return np.asarray(np.maximum(self.scale[..., None] * self.weight, weakest))


def tuned_prior(evidence: Evidence, weight: FloatArray, *, weakest: float = WEAKEST) -> SlopePrior:
    """Choose the prior's scale given weights by marginal likelihood, then new weights.

    Parameters
    ----------
    evidence : Evidence
        One quadratic, or a stack of them, each with a prior of its own.
    weight : array (..., slopes)
        The weights so far; a single 1 at first.
    weakest : float
        Least scale.

    Returns
    -------
    SlopePrior

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    With d the eigenvalues of the information and u the score along its eigenvectors, minus twice the log
    evidence is sum log(1 + d / lambda) - u^2 / (d + lambda); it is stationary where lambda |beta|^2 = gamma =
    sum d / (d + lambda) (MacKay 1992, "Bayesian interpolation", Neural Computation 4, 415; Bishop, PRML,
    eq. 3.91 to 3.98). The best point of a grid, then bisection of the derivative.
    A weight is the mean of its posterior under a Gamma(1/2, 1/2) law, which makes slopes Cauchy:
    2 / (1 + lambda E beta^2). So noise is shrunk together, and one strong effect hardly.
    """
    root = 1 / np.sqrt(weight)
    information = evidence.information * (root[..., :, None] * root[..., None, :])
    values, vectors = np.linalg.eigh(information)
    values = np.maximum(values, 0.0) * np.asarray(evidence.scale)[..., None]
    along = np.einsum("...ij,...i->...j", vectors, evidence.score * root)
    scale = _lowest(values[..., None, :], along[..., None, :] ** 2, np.log(weakest))
    left = values + scale[..., None]
    slope = root * np.einsum("...ij,...j->...i", vectors, along / left)
    variance = root**2 * np.einsum("...ij,...j->...i", vectors**2, 1 / left)
    return SlopePrior(scale, 2 / (1 + scale[..., None] * (slope**2 + variance)))


def free_of_nuisance(information: FloatArray, score: FloatArray, slopes: BoolArray) -> Evidence:
    """Profile the parameters without a prior out of information and score.

    Parameters
    ----------
    information : array (params, params)
        Of all parameters.
    score : array (params,)
        Of all parameters, where the slopes are zero.
    slopes : array of bool (params,)
        Which parameters have the prior.

    Returns
    -------
    Evidence

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.

    Examples
    --------
    >>> free_of_nuisance(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([0.0, 1.0]), np.array([False, True]))
    Evidence(information=array([[2.5]]), score=array([1.]), scale=array(1.))
    """
    inner = information[np.ix_(~slopes, ~slopes)]
    across = information[np.ix_(~slopes, slopes)]
    carried = cho_solve((lower_factor(inner), True), across)
    return Evidence(
        information[np.ix_(slopes, slopes)] - across.T @ carried, score[slopes] - carried.T @ score[~slopes]
    )


def shrunken_mode(
    problem: Problem, start: FloatArray, slopes: BoolArray, *, events: float, changes: int = CHANGES
) -> Generator[RowSum, Answer, Minimum]:
    """Find the mode under a prior on slopes whose scale is chosen by marginal likelihood.

    Parameters
    ----------
    problem : Problem
        Minus the log likelihood.
    start : array (params,)
        Where to begin: the fit without slopes, or the mode of a like model.
    slopes : array of bool (params,)
        Which parameters have the prior.
    events : float
        Rows of the rarest level, or counted events; with enough of them the prior is the widest one.
    changes : int
        How often the prior may be chosen anew; 0 keeps the start's.

    Returns
    -------
    Minimum

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    The likelihood is replaced by its quadratic at the start, then near each mode, until the prior settles. No
    precision is below 1 / SLOPE_SD^2, and all are that with ten events or more. The curvature that is
    returned spreads redraws no further than SPREAD_SD. Above 50,000 rows the start's prior is kept.
    Parameters without a prior are intercepts: their score equations hold, so a rare level keeps its share.
    """
    plain = replace(problem, precision=np.zeros(start.size), scatter=None)
    if not slopes[problem.free].any():
        return (yield from minimise(plain, start))
    if events >= TOO_FEW:
        precision = np.where(slopes, WEAKEST, 0.0)
        return _calmed(
            (yield from minimise(replace(plain, precision=precision), start)), precision[plain.free]
        )
    if problem.n <= LONG:
        return (yield from _tuned_newton(plain, start, slopes, changes))
    every = stride(problem.n)
    _, _, hessian = yield from ask_state(plain, start, every, curvature=True)
    _, gradient, _ = yield from ask_state(plain, start, 1, curvature=False)
    prior = _prior(plain, start, slopes, gradient=gradient, hessian=every * hessian)
    precision = _placed(prior, plain, slopes)
    found = yield from minimise(replace(plain, precision=precision), start)
    return _calmed(found, precision[plain.free])


def _calmed(found: Minimum, pull: FloatArray) -> Minimum:
    """Give the curvature at a mode the least precision that redraws of its slopes have."""
    missing = np.where(pull > 0, np.maximum(1 / SPREAD_SD**2 - pull, 0.0), 0.0)
    return replace(found, hessian=found.hessian + np.diag(missing))


def _tuned_newton(
    plain: Problem, theta: FloatArray, slopes: BoolArray, left: int
) -> Generator[RowSum, Answer, Minimum]:
    """Newton with line search; the prior is chosen at the start and, once near a mode, until it settles."""
    value, gradient, hessian = yield from ask_state(plain, theta, 1, curvature=True)
    prior = _prior(plain, theta, slopes, gradient=gradient, hessian=hessian)
    for _ in range(ROUNDS):
        precision = _placed(prior, plain, slopes)
        pull = precision[plain.free]
        factor = lower_factor(hessian + np.diag(pull))
        step = -cho_solve((factor, True), gradient + pull * theta[plain.free])
        decrement = float(np.sum((factor.T @ step) ** 2))
        if decrement < NEAR and left:
            before = prior
            prior = _prior(plain, theta, slopes, gradient=gradient, hessian=hessian, weight=before.weight)
            left = 0 if _change(before, prior) < SETTLED else left - 1
            continue
        if decrement < CLOSE:
            found = Minimum(stepped(plain, theta, step), hessian + np.diag(pull), converged=True)
            return _calmed(found, pull)
        theta, (value, gradient, hessian) = yield from _searched(plain, theta, step, value, precision)
    return _calmed(Minimum(theta, hessian + np.diag(pull), converged=False), pull)


def _placed(prior: SlopePrior, plain: Problem, slopes: BoolArray) -> FloatArray:
    """Precision of every parameter."""
    precision = np.zeros(slopes.size)
    precision[plain.free[slopes[plain.free]]] = prior.precision()
    return precision


def _change(before: SlopePrior, after: SlopePrior) -> float:
    """Mean absolute change of log precisions."""
    return float(np.mean(np.abs(np.log(after.precision() / before.precision()))))


def _searched(
    plain: Problem, theta: FloatArray, step: FloatArray, value: float, precision: FloatArray
) -> Generator[RowSum, Answer, tuple[FloatArray, State]]:
    """Halve the step until likelihood and prior together do not rise."""
    highest = value + 0.5 * float(precision @ theta**2)
    for _ in range(40):
        trial = stepped(plain, theta, step)
        new = yield from ask_state(plain, trial, 1, curvature=True)
        if new[0] + 0.5 * float(precision @ trial**2) <= highest + 1e-10 * (1 + abs(highest)):
            break
        step = step / 2
    return trial, new


def _prior(
    plain: Problem,
    theta: FloatArray,
    slopes: BoolArray,
    *,
    gradient: FloatArray,
    hessian: FloatArray,
    weight: FloatArray | None = None,
) -> SlopePrior:
    """Choose by the quadratic at theta of the likelihood."""
    score = hessian @ theta[plain.free] - gradient
    evidence = free_of_nuisance(hessian, score, slopes[plain.free])
    return tuned_prior(evidence, np.ones(evidence.score.shape[-1:]) if weight is None else weight)


def _lowest(values: FloatArray, square: FloatArray, low: float) -> FloatArray:
    """Minimise minus twice the log evidence over the precision; values and square are (..., 1, slopes)."""
    high = np.maximum(np.log(STRONGEST * values.max(axis=(-2, -1)) + 1e-300), low + 1.0)
    step = (high - low) / (GRID - 1)
    grid = low + step[..., None] * np.arange(GRID)
    lam = np.exp(grid)[..., None]
    loss = np.sum(np.log1p(values / lam) - square / (values + lam), axis=-1)
    middle = low + step * np.argmin(loss, axis=-1)
    left, right = np.maximum(middle - step, low), np.minimum(middle + step, high)
    for _ in range(HALVINGS):
        middle = (left + right) / 2
        lam = np.exp(middle)[..., None, None]
        slope = np.sum(square * lam / (values + lam) ** 2 - values / (values + lam), axis=(-2, -1))
        left, right = np.where(slope < 0, middle, left), np.where(slope < 0, right, middle)
    return np.asarray(np.exp((left + right) / 2))
