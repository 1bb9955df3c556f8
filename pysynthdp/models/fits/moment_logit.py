"""Multinomial logit fitted by moments: the target's side from noisy sums, the features' from weighted rows.

The score equations sum_i w_i p_k(x_i) x_i = M_k need the target through the sums M only, so a noisy matrix of
cross-products and a model of the earlier columns are enough. The problem is convex, and a weak prior keeps it
solvable where noise makes the sums those of no rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pysynthdp.base.arrays import FloatArray

__all__ = ["PRIOR_SD", "MomentLogit", "logit_from_moments"]

PRIOR_SD = 4.0
CLOSE = 1e-12  # of the objective a row, for Newton, whose last steps are cheap
NEAR = 1e-3  # of all rows' log likelihood, for the search in many parameters: far below sampling error
ROUNDS = 200
WHOLE = 500  # parameters up to which the full Hessian is formed
CHORD = 8  # steps on one Hessian before a new one is formed
STEPS = 20  # Newton steps of the latter; sums that noise made incompatible have an optimum far out
FEW_STEPS = 6  # from a fit to nearby moments
INNER = 30  # steps of conjugate gradients in one Newton step
INEXACT = 0.1  # how far they reduce the rest
SOME = 4_000  # rows that the blocks are computed from


@dataclass(frozen=True, slots=True, repr=False)
class MomentLogit:
    """The convex problem min_B sum_i w_i log sum_k exp(x_i'B_k) - <B, M> + penalty |B|^2/2.

    Parameters
    ----------
    X : array (rows, features)
        Representative rows.
    weights : array (rows,)
        Sum to one.
    target : array (levels, features)
        M: sums over the rows of each level, over n.
    penalty : float
        1/(n prior variance).
    """

    X: FloatArray
    weights: FloatArray
    target: FloatArray
    penalty: float

    def value(self, beta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Objective, gradient (levels, features) and probabilities (levels, rows)."""
        weight = beta @ self.X.T
        top = weight.max(axis=0)
        np.exp(weight - top, out=weight)
        total = weight.sum(axis=0)
        weight /= total
        value = float(self.weights @ (np.log(total) + top)) - float(np.sum(beta * self.target))
        value += 0.5 * self.penalty * float(np.sum(beta**2))
        gradient = (weight * self.weights) @ self.X - self.target + self.penalty * beta
        return value, gradient, weight

    def hessian(self, probability: FloatArray) -> FloatArray:
        """Second derivatives, (levels * features) squared."""
        levels, features = self.target.shape
        result = np.empty((levels, features, levels, features))
        for k in range(levels):
            weighted = self.X * (self.weights * probability[k])[:, None]
            for j in range(k, levels):
                factor = (float(j == k) - probability[j])[:, None]
                block = weighted.T @ (self.X * factor)
                result[k, :, j, :], result[j, :, k, :] = block, block.T
        flat = result.reshape(levels * features, levels * features)
        flat[np.diag_indices_from(flat)] += self.penalty
        return flat

    def curve(self, way: FloatArray, probability: FloatArray) -> FloatArray:
        """Second derivatives times a direction."""
        moved = way @ self.X.T
        moved -= (probability * moved).sum(axis=0)
        return np.asarray((probability * moved * self.weights) @ self.X + self.penalty * way)

    def blocks(self, probability: FloatArray) -> FloatArray:
        """Inverses of each level's Poisson information, from a systematic part of the rows."""
        features, every = self.target.shape[1], max(1, len(self.X) // SOME)
        X, weights = self.X[::every], self.weights[::every] * every
        ridge = np.eye(features) * (self.penalty + 1e-9)
        found = [np.linalg.inv((X.T * (weights * row[::every])) @ X + ridge) for row in probability]
        return np.stack(found)


def logit_from_moments(
    X: FloatArray, weights: FloatArray, cross: FloatArray, *, n: float, start: FloatArray | None = None
) -> FloatArray:
    """Fit a multinomial logit to sums over the rows of each level.

    Parameters
    ----------
    X : array (rows, features)
        Rows that stand for the features' distribution, intercept first.
    weights : array (rows,)
        Their weights.
    cross : array (features, levels)
        Noisy sums of each feature over the rows of each level.
    n : float
        Rows.
    start : array (levels, features), optional
        Coefficients of a fit to nearby moments.

    Returns
    -------
    array (levels, features)
        Coefficients that sum to zero over levels.

    Notes
    -----
    Privacy: post-processing of noised answers.
    Score equations of the multinomial logit (McCullagh and Nelder 1989, 5.2.4) with prior N(0, 16) on each
    coefficient. The sums over levels are first brought to those of the weighted rows, in proportion to the
    levels' shares, since both speak of the same rows.

    Examples
    --------
    >>> X = np.column_stack([np.ones(2), [0.0, 1.0]])
    >>> cross = 1000 * np.array([[0.5, 0.5], [0.125, 0.375]])  # level 1 in half of the rows, 3 of 4 at x = 1
    >>> beta = logit_from_moments(X, np.array([0.5, 0.5]), cross, n=1000)
    >>> float(np.exp((beta[1] - beta[0]).sum()).round(2))
    3.0
    """
    shares = np.asarray(weights / weights.sum())
    target = _agreeing(cross.T / n, shares @ X)
    problem = MomentLogit(X, shares, target, 1 / (max(n, 1.0) * PRIOR_SD**2))
    beta = np.zeros_like(target) if start is None else start - start.mean(axis=0)
    if start is None:
        level = np.log(np.maximum(target[:, 0], 1e-6))
        beta[:, 0] = level - level.mean()
    if target.size <= WHOLE:
        found = _newton(problem, beta)
    else:
        found = _truncated_newton(problem, beta, STEPS if start is None else FEW_STEPS)
    return np.asarray(found - found.mean(axis=0))


def _agreeing(target: FloatArray, mean: FloatArray) -> FloatArray:
    """Bring the sum over levels to the features' mean, each level by its share."""
    share = np.maximum(target[:, 0], 1e-9)
    return np.asarray(target + np.outer(share / share.sum(), mean - target.sum(axis=0)))


def _newton(problem: MomentLogit, beta: FloatArray) -> FloatArray:
    """Chord Newton: one Hessian serves some steps, a new one is formed where they converge slowly."""
    value, gradient, probability = problem.value(beta)
    for _ in range(ROUNDS):
        factor = cho_factor(problem.hessian(probability))
        for _ in range(CHORD):
            step = -cho_solve(factor, gradient.ravel()).reshape(gradient.shape)
            left = -float(np.sum(step * gradient))
            if left < CLOSE:
                return beta + step
            beta, new, gradient, probability, whole = _advance(problem, beta, step, value, left)
            slow, value = value - new < 0.3 * left or not whole, new
            if slow:
                break
    return beta


def _advance(
    problem: MomentLogit, beta: FloatArray, step: FloatArray, value: float, left: float
) -> tuple[FloatArray, float, FloatArray, FloatArray, bool]:
    """Take a step, halved until the value falls."""
    length = 1.0
    for _ in range(50):
        trial = beta + length * step
        new, gradient, probability = problem.value(trial)
        if new <= value - 1e-4 * length * left + 1e-15 * abs(value):
            break
        length /= 2
    return trial, new, gradient, probability, length == 1.0


def _truncated_newton(problem: MomentLogit, beta: FloatArray, steps: int) -> FloatArray:
    """Newton steps by conjugate gradients, for many parameters: no matrix of all of them is formed."""
    value, gradient, probability = problem.value(beta)
    close = NEAR * problem.penalty * PRIOR_SD**2  # the penalty tells the number of rows
    for _ in range(steps):
        step = _conjugate(problem, gradient, probability)
        left = -float(np.sum(step * gradient))
        if left < close:
            return beta + step
        beta, value, gradient, probability, _ = _advance(problem, beta, step, value, left)
    return beta


def _conjugate(problem: MomentLogit, gradient: FloatArray, probability: FloatArray) -> FloatArray:
    """Solve for the Newton step (Nocedal and Wright, algorithm 7.1) from level blocks."""
    inverse = problem.blocks(probability)

    def eased(rest: FloatArray) -> FloatArray:
        moved = (inverse @ rest[:, :, None])[:, :, 0]
        return np.asarray(moved - moved.mean(axis=0))  # a shift common to all levels changes nothing

    step, rest = np.zeros_like(gradient), gradient.copy()
    pull = eased(rest)
    way, size = -pull, float(np.sum(rest * pull))
    enough = size * INEXACT**2
    for _ in range(INNER):
        curved = problem.curve(way, probability)
        length = size / float(np.sum(way * curved))
        step += length * way
        rest += length * curved
        pull = eased(rest)
        new = float(np.sum(rest * pull))
        if new <= enough:
            break
        way, size = new / size * way - pull, new
    return step
