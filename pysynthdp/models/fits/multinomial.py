"""Multinomial logistic regression by preconditioned L-BFGS on sums over rows.

The levels are treated alike: every level has coefficients, and they sum to zero over levels. So neither the
prior nor the search depends on a baseline.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.glm import weighted_gram
from pysynthdp.models.fits.lbfgs import Curvature, Memory, Start, direction, remember
from pysynthdp.models.fits.level_curvature import far_from, whole_curvature, whole_pays, whole_terms
from pysynthdp.models.fits.level_prior import (
    MultinomialProblem,
    penalty,
    with_null_precision,
    with_precision_at,
)
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.sparsity import TOO_FEW
from pysynthdp.models.fits.weighting import weighted

__all__ = ["MultinomialMode", "level_cells", "level_probabilities", "multinomial_mode", "sampled_mode"]

# squared distance to the mode in standard errors: a ten-thousandth of one, and a thousandth on long tables
CLOSE = (1e-8, 1e-6)
ROUNDS = 400
NEAR = 1.0
PATIENCE = 8  # rounds on all rows after which blocks, a subsample's at first, are computed on all rows
SLOW_ROWS_EACH = 100.0  # rows for each coefficient, from which on a slow search asks for the whole curvature
SLOW = 8  # rounds after which a search steps by the whole curvature
HALVINGS = 40
FEW_HALVINGS = 2  # of a step; of more the whole curvature is that of another place
NEAR_WHOLE = 10.0  # squared distance from which on the whole curvature is computed once more
WEAK = 0.08
FEW_ROWS = 100.0

Block = RowTerms
Point = tuple[float, FloatArray]


@dataclass(frozen=True, slots=True)
class MultinomialMode:
    """The mode.

    Parameters
    ----------
    beta : array (levels, features)
        Coefficients that sum to zero over levels.
    converged : bool
        False where the linear predictor diverged or rounds ran out.
    problem : MultinomialProblem
        With the precisions that were chosen.
    """

    beta: FloatArray
    converged: bool
    problem: MultinomialProblem


@dataclass(slots=True)
class _Search:
    """Where the search stands: the only state that changes."""

    problem: MultinomialProblem
    beta: FloatArray
    value: float
    gradient: FloatArray
    curvature: Start
    memory: Memory


Asking = Generator[RowSum, Answer, MultinomialMode]


def multinomial_mode(
    problem: MultinomialProblem,
    *,
    sparse: bool,
    close: tuple[float, float] = CLOSE,
    start: MultinomialMode | None = None,
) -> Asking:
    """Find the mode; on long tables on a subsample first, then in few rounds on all rows.

    Parameters
    ----------
    problem : MultinomialProblem
        The sums known so far.
    sparse : bool
        Whether slopes have a prior, its precisions chosen by marginal likelihood: first at shares without
        slopes, again near the mode.
    close : tuple of float
        Squared distance to the mode, in standard errors, at which the search ends: where all rows are looked
        at from the start, and on long tables, where each look at all rows takes long.
    start : MultinomialMode, optional
        What :func:`sampled_mode` gave for the same problem, so that it need not be sought again.

    Returns
    -------
    MultinomialMode

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    The first inverse Hessian is block diagonal with blocks (sum_i p_ik x_i x_i' + prior)^-1, projected on
    coefficients that sum to zero: exact for saturated designs (a multinomial likelihood is a product of
    Poisson ones given the margins; McCullagh and Nelder 1989, 6.4). L-BFGS adds the rest (Nocedal and
    Wright, Numerical Optimization, 7.2).
    """
    every = stride(problem.n)
    if every == 1:
        problem = with_null_precision(problem) if sparse else problem
        beta, blocks = _without_slopes(problem)
        return (yield from _search(problem, beta, _curvature(problem, blocks), every=1, close=close[0]))
    first = (yield from sampled_mode(problem, sparse=sparse)) if start is None else start
    if whole_pays(first.problem):
        return (yield from _search(first.problem, first.beta, None, every=1, close=close[1]))
    answer = yield RowSum(_block_terms(first.beta), every)
    blocks = every * answer.value[0] + _rare(first.problem, problem.share[:, None], every)
    curvature = _curvature(first.problem, blocks)
    return (yield from _search(first.problem, first.beta, curvature, every=1, close=close[1]))


def sampled_mode(problem: MultinomialProblem, *, sparse: bool) -> Asking:
    """Find the mode on a systematic subsample: where a search on a long table begins.

    Parameters
    ----------
    problem : MultinomialProblem
        Of a long table.
    sparse : bool
        Whether slopes have a prior.

    Returns
    -------
    MultinomialMode
        Of every s-th row under a weak prior, and the problem that all rows pose.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    Cells are those of all rows, moved by shares to the sample's sums of features: else all levels but a rare
    one would run from it, since what they have in common would then be free to grow.
    """
    every = stride(problem.n)
    problem = with_null_precision(problem) if sparse else problem
    beta, blocks = _without_slopes(problem)
    # a subsample's likelihood is divided, and a rare dummy may have no row in it
    least = np.where(np.arange(problem.cells.shape[1]) > 0, WEAK, 0.0)
    total = (yield RowSum(_totals, every)).value[0]
    moved = problem.cells + problem.share[:, None] * (every * total - problem.gram[0])
    weak = replace(
        problem,
        cells=moved,
        gram=problem.gram * (every * total[0] / problem.n),
        precision=np.maximum(problem.precision / every, least),
        limit=np.inf,
    )
    first = yield from _search(weak, beta, _curvature(weak, blocks / every), every=every, close=1e-3)
    return replace(first, problem=problem)


def _without_slopes(problem: MultinomialProblem) -> tuple[FloatArray, FloatArray]:
    """Give the mode without slopes, and the blocks of curvature there."""
    share = problem.share[:, None]
    beta = np.zeros_like(problem.cells)
    beta[:, :1] = np.log(share) - np.log(share).mean()
    return beta, share[:, :, None] * problem.gram


def level_probabilities(beta: FloatArray, X: FloatArray) -> FloatArray:
    """Probabilities of the levels for rows of X, levels first: exp(X beta) over its sum.

    Parameters
    ----------
    beta : array (levels, features)
        Coefficients.
    X : array (rows, features)
        Predictors.

    Returns
    -------
    array (levels, rows)

    Examples
    --------
    >>> level_probabilities(np.zeros((2, 1)), np.ones((1, 1))).tolist()
    [[0.5], [0.5]]
    """
    return _softmax(beta, X)[0]


def _rare(problem: MultinomialProblem, share: FloatArray, every: int) -> FloatArray:
    """Lift the curvature of features too rare for the subsample to their share of all rows."""
    square = problem.gram.diagonal()
    lift = np.where(square < FEW_ROWS * every, square, 0.0)
    return np.asarray(share[:, :, None] * np.diag(lift), dtype=np.float64)


def _softmax(beta: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities (levels, rows) and log normalisers (rows,), computed in place."""
    weight = beta @ X.T
    top = weight.max(axis=0)
    weight -= top
    np.exp(weight, out=weight)
    total = weight.sum(axis=0)
    weight *= 1 / total
    return weight, np.log(total) + top


def _totals(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
    """Sum features."""
    return (weighted(X, w).sum(axis=0),)


def _gradient_terms(beta: FloatArray) -> Block:
    """Log normalisers and P'X over a block; the target's part is in the cells."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        probability, normaliser = _softmax(beta, X)
        return (np.asarray(weighted(normaliser, w).sum()), probability @ weighted(X, w))

    return block


def _block_terms(beta: FloatArray) -> Block:
    """Sum over rows of p_k x x' for every level: the Poisson information."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        probability, _ = _softmax(beta, X)
        return (np.stack([weighted_gram(X, weighted(weight, w)) for weight in probability]),)

    return block


def _ask(problem: MultinomialProblem, beta: FloatArray, every: int) -> Generator[RowSum, Answer, Point]:
    """Value and gradient on the free features: one round."""
    answer = yield RowSum(_gradient_terms(beta), every)
    return _point(problem, beta, every, answer.value)


def _ask_whole(
    problem: MultinomialProblem, beta: FloatArray
) -> Generator[RowSum, Answer, tuple[Point, Start]]:
    """Value, gradient and whole curvature: one round, and one of a sample for all but rows far out."""
    every, far = stride(problem.n), far_from(problem)
    gradient, rest = _gradient_terms(beta), whole_terms(beta, problem.free, far)

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        return (*gradient(X, y, w), *rest(X, y, w))

    *sums, far_out = (yield RowSum(block)).value
    near = (yield RowSum(whole_terms(beta, problem.free, lambda X: ~far(X)), every)).value[0]
    return _point(problem, beta, 1, tuple(sums)), whole_curvature(problem, every * near + far_out)


def _point(problem: MultinomialProblem, beta: FloatArray, every: int, sums: Sums) -> Point:
    """Value and gradient from the sums over rows."""
    value = float(sums[0]) - float(np.sum(beta * problem.cells)) / every
    prior, pull = penalty(problem, beta)
    gradient = sums[1] - problem.cells / every + pull
    return value + prior, gradient[:, problem.free]


def _curvature(problem: MultinomialProblem, blocks: FloatArray) -> Curvature:
    """Invert each level's block with the prior; a trace of ridge keeps rare levels regular."""
    at = problem.free
    kept = blocks[:, at[:, None], at]
    scale = np.einsum("kii->ki", kept)
    scale += problem.precision[:, at]
    scale += 1e-9 * (scale + scale.max(axis=0))
    inverse = np.asarray(np.linalg.inv(kept))
    share = problem.share
    if not problem.precision.any():
        return Curvature(inverse, None, share)
    shared = share[:, None, None] * inverse
    return Curvature(inverse, shared @ np.linalg.inv(np.tensordot(share, shared, 1)), share)


def _search(
    problem: MultinomialProblem, beta: FloatArray, curvature: Start | None, *, every: int, close: float
) -> Asking:
    """L-BFGS with step halving; near the mode its curvature is computed anew: once, or until it is right."""
    at = yield from _begun(problem, beta, curvature, every)
    # blocks of a subsample are a bad guide for all rows, where predictors have tails
    exact = every > 1 or stride(problem.n) == 1
    patience = PATIENCE if every == 1 else ROUNDS
    wait, rounds, near = 0 if exact else patience, 0, False
    for _ in range(ROUNDS):
        if _spread(problem, at.beta) > problem.limit:
            break
        step = direction(at.memory, at.curvature, at.gradient)
        left = -float(np.vdot(step, at.gradient))
        # a memory of one heavy direction shortens all others, so the curvature alone is asked too
        if left < close and _distance(at) < close:
            return MultinomialMode(_moved(problem, at.beta, step), True, at.problem)
        if every == 1 and not at.curvature.scaled:
            anew = rounds >= SLOW or (left < NEAR_WHOLE and not near)
            near = near or left < NEAR_WHOLE
            halved = yield from _advance(at, step, every, whole=anew)
            rounds = SLOW if halved > FEW_HALVINGS else 0 if anew else rounds + 1
            continue
        if (wait <= 0 and left < NEAR) or (rounds >= SLOW and _may_be_whole(at.problem, every)):
            yield from _refresh(at, every)
            patience *= 2  # what blocks cannot tell the memory must learn
            wait, rounds = ROUNDS if exact else patience, 0
            continue
        halved = yield from _advance(at, step, every)
        elsewhere = halved > FEW_HALVINGS and not at.curvature.scaled
        wait, rounds = wait - 1, SLOW if elsewhere else rounds + 1
    return MultinomialMode(at.beta, False, at.problem)


def _begun(
    problem: MultinomialProblem, beta: FloatArray, curvature: Start | None, every: int
) -> Generator[RowSum, Answer, _Search]:
    """Ask where the search begins, for the whole curvature too if none is given."""
    if curvature is None:
        (value, gradient), curvature = yield from _ask_whole(problem, beta)
    else:
        value, gradient = yield from _ask(problem, beta, every)
    return _Search(problem, beta, value, gradient, curvature, Memory())


def _may_be_whole(problem: MultinomialProblem, every: int) -> bool:
    """Whether a slow search on a long table, or its subsample, may step by the whole curvature.

    Not where a level has so few rows that its prior is chosen by what they tell: blocks tell it.
    """
    rare = bool(problem.precision.any() and (problem.cells[:, 0] < TOO_FEW).any())
    return (every > 1 or stride(problem.n) > 1) and not rare and whole_pays(problem, SLOW_ROWS_EACH)


def _distance(at: _Search) -> float:
    """Squared distance to the mode in standard errors, by the blocks."""
    return float(np.vdot(at.curvature.apply(at.gradient), at.gradient))


def _refresh(at: _Search, every: int) -> Generator[RowSum, Answer, None]:
    """Compute the blocks anew, and with them the prior's precisions if it has any."""
    if _may_be_whole(at.problem, every):
        at.curvature, at.memory = (yield from _whole_at(at, every)), Memory()
        return
    answer = yield RowSum(_block_terms(at.beta), every)
    blocks = answer.value[0]
    if every == 1 and at.problem.precision.any():
        at.problem = with_precision_at(at.problem, at.beta, gradient=at.gradient, blocks=blocks)
        at.value, at.gradient = yield from _ask(at.problem, at.beta, every)
    at.curvature, at.memory = _curvature(at.problem, blocks), Memory()


def _whole_at(at: _Search, every: int) -> Generator[RowSum, Answer, Start]:
    """Compute the whole curvature where the search stands."""
    if every == 1:
        return (yield from _ask_whole(at.problem, at.beta))[1]
    answer = yield RowSum(whole_terms(at.beta, at.problem.free, _every_row), every)
    return whole_curvature(at.problem, answer.value[0])


def _every_row(X: FloatArray) -> BoolArray:
    """Keep all rows."""
    return np.ones(len(X), dtype=np.bool_)


def _advance(
    at: _Search, step: FloatArray, every: int, *, whole: bool = False
) -> Generator[RowSum, Answer, int]:
    """Take the step, halved until the value falls, and what it taught, or the whole curvature there.

    Gives how often it was halved.
    """
    slope, curvature = float(np.sum(step * at.gradient)), None
    for number in range(HALVINGS + 1):
        trial = _moved(at.problem, at.beta, step)
        if whole and number == 0:
            (value, gradient), curvature = yield from _ask_whole(at.problem, trial)
        else:
            value, gradient = yield from _ask(at.problem, trial, every)
        if value <= at.value + 1e-4 * slope + 1e-11 * (1 + abs(at.value)):
            break
        step, slope, curvature = step / 2, slope / 2, None
    if curvature is None:
        at.memory = remember(at.memory, step, gradient - at.gradient)
    else:
        at.curvature, at.memory = curvature, Memory()
    at.beta, at.value, at.gradient = trial, value, gradient
    return number


def _moved(problem: MultinomialProblem, beta: FloatArray, step: FloatArray) -> FloatArray:
    """Beta with a step on its free features."""
    moved = beta.copy()
    moved[:, problem.free] += step
    return moved


def _spread(problem: MultinomialProblem, beta: FloatArray) -> float:
    """Give the largest standard deviation of a level's linear predictor over the rows."""
    if not np.isfinite(problem.limit):
        return 0.0
    mean = beta @ problem.gram[0] / problem.n
    square = np.einsum("kp,kp->k", beta @ problem.gram, beta) / problem.n
    # rounding may leave a level without slopes below zero
    return float(np.sqrt(max(np.max(square - mean**2), 0.0)))


def level_cells(levels: int) -> Block:
    """Sum every feature over the rows of every level, for a RowSum.

    Parameters
    ----------
    levels : int
        Number of levels; y holds codes 0 .. levels - 1.

    Returns
    -------
    callable (X, y, w=None) -> (array (levels, features),)

    Examples
    --------
    >>> level_cells(2)(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([1.0, 1.0]))[0].tolist()
    [[0.0, 0.0], [2.0, 5.0]]
    """
    codes = np.arange(levels)[:, None]

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        return ((y == codes).astype(np.float64) @ weighted(X, w),)

    return block
