"""The posterior of a multinomial regression's coefficients, and shares that redraws keep on average."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.glm import weighted_gram
from pysynthdp.models.fits.level_prior import MultinomialProblem, penalty, prior_coupling
from pysynthdp.models.fits.multinomial import level_probabilities
from pysynthdp.models.fits.newton import LONG, stride
from pysynthdp.models.fits.sparsity import SPREAD_SD
from pysynthdp.models.fits.weighting import weighted

__all__ = ["LevelPosterior", "ask_posterior", "level_spread", "redraw_levels"]

LARGE = 2_500
REPLICATES = 16
SETTLE = 6
FARTHEST = 2.0  # a coefficient is shifted in one round, in log odds

Block = RowTerms


@dataclass(frozen=True, slots=True)
class LevelPosterior:
    """A normal posterior, whole or by levels.

    Parameters
    ----------
    whole : array (params, params) or (0, 0)
        Cholesky factor of the information of the differences to the first level.
    parts : array (levels, free, free) or (0, 0, 0)
        A root of each level's inverse Poisson information.
    """

    whole: FloatArray
    parts: FloatArray


def ask_posterior(
    problem: MultinomialProblem, beta: FloatArray, spread: float = SPREAD_SD, *, slopes: bool = False
) -> Generator[RowSum, Answer, tuple[LevelPosterior, FloatArray]]:
    """Ask for the curvature at the mode, and for the shift of coefficients that keeps expected sums.

    Parameters
    ----------
    problem : MultinomialProblem
        The fitted problem.
    beta : array (levels, features)
        Its mode.
    spread : float
        Standard deviation under the prior beyond which no slope with a prior spreads.
    slopes : bool
        Whether slopes are shifted too, and not intercepts alone.

    Returns
    -------
    posterior : LevelPosterior
    shift : array (levels, 1) or (levels, features)
        To subtract from redrawn intercepts, or from all redrawn coefficients.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    Up to 2,500 coefficients the information is sum_i (diag p_i - p_i p_i') (x) x_i x_i' plus the prior's.
    Above, each level's is sum_i p_ik x_i x_i' + prior, exact for saturated designs, else a little too large.
    Under the flat prior on intercepts the exact posterior has E[sum_i p_ik] = n_k; the normal approximation
    overstates rare levels by about exp(variance / 2), so its intercepts are shifted until the identity holds
    over 32 antithetic draws. Slopes with a prior spread no further than ``spread``.
    The same holds for a slope with prior gradient g: E[sum_i x_ij p_ik] + g(E beta) = sum_i x_ij 1{y_i = k}.
    The normal law about the mode keeps less, as probabilities averaged over noise in the coefficients depend
    less on the features; among the many cells of a number that pulls all of its regressions in.
    """
    given = problem
    problem = replace(problem, precision=_calmed(problem.precision, spread))
    levels, size = len(beta), problem.free.size
    every = stride(problem.n)
    if (levels - 1) * size <= LARGE:
        answer = yield RowSum(_whole_terms(beta, problem.free), every)
        posterior = LevelPosterior(_whole(problem, every * answer.value[0]), np.zeros((0, 0, 0)))
    else:
        answer = yield RowSum(_part_terms(beta, problem.free), every)
        posterior = LevelPosterior(np.zeros((0, 0)), _parts(problem, every * answer.value[0]))
    if problem.n > LONG:
        return posterior, np.zeros((levels, 1))
    return posterior, (yield from _shift(given, beta, posterior, slopes=slopes))


def _calmed(precision: FloatArray, spread: float) -> FloatArray:
    """Raise prior precisions, where there are any, to those of the spread of redraws."""
    return np.asarray(np.where(precision > 0, np.maximum(precision, 2 / spread**2), 0.0))


def redraw_levels(
    beta: FloatArray, posterior: LevelPosterior, free: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Draw coefficients from the normal posterior about ``beta``; they need not sum to zero over levels.

    Parameters
    ----------
    beta : array (levels, features)
        The mode.
    posterior : LevelPosterior
        Its spread.
    free : array of int
        The features that vary.
    rng : Generator
        Source of the draw.

    Returns
    -------
    array (levels, features)

    Examples
    --------
    >>> posterior = LevelPosterior(np.eye(1), np.zeros((0, 0, 0)))
    >>> redraw_levels(np.zeros((2, 1)), posterior, np.array([0]), np.random.default_rng(0)).shape
    (2, 1)
    """
    drawn = beta.copy()
    drawn[:, free] += _noise(posterior, len(beta), free.size, rng)
    return drawn


def level_spread(posterior: LevelPosterior, beta: FloatArray, free: IntArray) -> FloatArray:
    """Give the standard deviations of redrawn coefficients, (levels, features).

    Parameters
    ----------
    posterior : LevelPosterior
        Its spread.
    beta : array (levels, features)
        The mode.
    free : array of int
        The features that vary.

    Returns
    -------
    array (levels, features)

    Examples
    --------
    >>> posterior = LevelPosterior(2 * np.eye(1), np.zeros((0, 0, 0)))
    >>> level_spread(posterior, np.zeros((2, 1)), np.array([0])).tolist()
    [[0.0], [0.5]]
    """
    spread = np.zeros_like(beta)
    if posterior.parts.size:
        spread[:, free] = np.linalg.norm(posterior.parts, axis=2)
        return spread
    root = solve_triangular(posterior.whole, np.eye(len(posterior.whole)), lower=True)
    spread[1:, free] = np.linalg.norm(root, axis=0).reshape(len(beta) - 1, free.size)
    return spread


def _noise(posterior: LevelPosterior, levels: int, size: int, rng: np.random.Generator) -> FloatArray:
    """One draw of the coefficients' deviation from the mode."""
    if posterior.parts.size:
        normal = rng.standard_normal((levels, size, 1))
        return np.asarray((posterior.parts @ normal)[:, :, 0])
    normal = rng.standard_normal(len(posterior.whole))
    noise = np.zeros((levels, size))
    noise[1:] = solve_triangular(posterior.whole, normal, lower=True, trans="T").reshape(levels - 1, size)
    return noise


def _whole_terms(beta: FloatArray, free: IntArray) -> Block:
    """Lower triangle of the information of the differences to the first level, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        probability = level_probabilities(beta, X)[1:]
        kept = np.ascontiguousarray(X[:, free])
        size, levels = free.size, len(probability)
        total = np.zeros((levels, size, levels, size))
        for k, weight in enumerate(probability):
            rows = kept * weighted(weight, w)[:, None]
            for other in range(k):
                total[k, :, other] = -(rows * probability[other][:, None]).T @ kept
            total[k, :, k] = weighted_gram(kept, weighted(weight * (1 - weight), w))
        return (total.reshape(levels * size, levels * size),)

    return block


def _part_terms(beta: FloatArray, free: IntArray) -> Block:
    """Poisson information of each level, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        kept = np.ascontiguousarray(X[:, free])
        return (
            np.stack([weighted_gram(kept, weighted(weight, w)) for weight in level_probabilities(beta, X)]),
        )

    return block


def _whole(problem: MultinomialProblem, information: FloatArray) -> FloatArray:
    """Cholesky factor with the prior; differences to the first level leave that out of its coupling."""
    coupling = prior_coupling(problem)[problem.free, 1:, 1:]
    size, levels = coupling.shape[:2]
    information = information.reshape(levels, size, levels, size).copy()
    np.einsum("kjlj->jkl", information)[...] += coupling
    information = information.reshape(levels * size, levels * size)
    information[np.diag_indices_from(information)] *= 1 + 1e-10
    return np.asarray(cholesky(information, lower=True))


def _parts(problem: MultinomialProblem, information: FloatArray) -> FloatArray:
    """Roots of each level's inverse information."""
    information = information.copy()
    scale = np.einsum("kii->ki", information)
    scale += problem.precision[:, problem.free]
    scale += 1e-9 * (scale + scale.max(axis=0))
    lower = np.linalg.cholesky(information)
    return np.asarray(np.linalg.inv(lower).transpose(0, 2, 1))


def _shift(
    problem: MultinomialProblem, beta: FloatArray, posterior: LevelPosterior, *, slopes: bool
) -> Generator[RowSum, Answer, FloatArray]:
    """Solve mean over rows and redraws of x p_k + prior = observed: slopes by Newton, shares by scaling."""
    rng = np.random.default_rng(REPLICATES)  # quadrature points, the same for every fit: no drawing seed
    noise = np.zeros((REPLICATES, *beta.shape))
    for one in noise:
        one[:, problem.free] = _noise(posterior, len(beta), problem.free.size, rng)
    replicates = np.concatenate([beta + noise, beta - noise])
    shift = np.zeros_like(beta)
    for _ in range(SETTLE if slopes else 0):
        answer = yield RowSum(_sum_terms(replicates - shift))
        excess = answer.value[0] / len(replicates) - problem.cells + penalty(problem, beta - shift)[1]
        step = _solved(posterior, excess[:, problem.free])
        shift[:, problem.free] += np.clip(step, -FARTHEST, FARTHEST)
    for _ in range(SETTLE):
        answer = yield RowSum(_share_terms(replicates - shift))
        shift[:, 0] += np.log(answer.value[0] / len(replicates) / problem.cells[:, 0])
    return shift if slopes else shift[:, :1]


def _solved(posterior: LevelPosterior, excess: FloatArray) -> FloatArray:
    """Multiply by the posterior's covariance."""
    if posterior.parts.size:
        return np.asarray((posterior.parts @ (posterior.parts.mT @ excess[:, :, None]))[:, :, 0])
    half = solve_triangular(posterior.whole, excess[1:].ravel(), lower=True)
    out = np.zeros_like(excess)
    out[1:] = solve_triangular(posterior.whole, half, lower=True, trans="T").reshape(excess[1:].shape)
    return out


def _share_terms(replicates: FloatArray) -> Block:
    """Sum over rows and redraws of the probability of each level."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        shares = [weighted(level_probabilities(beta, X), w, axis=1).sum(axis=1) for beta in replicates]
        return (np.sum(shares, axis=0),)

    return block


def _sum_terms(replicates: FloatArray) -> Block:
    """Sum over rows and redraws of each feature times the probability of each level."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        heavy = weighted(X, w)
        return (np.sum([level_probabilities(beta, X) @ heavy for beta in replicates], axis=0),)

    return block
