"""The whole curvature of a multinomial regression, every level beside every other, for long tables.

On a long table it is added over a systematic sample, but for rows that a sample would misjudge: those far out
in a feature, or with a rare dummy, are looked at all. So tails of predictors, of which a sample holds few or
none, are no bad guide, and no row counts for more than a hundredth of a feature's square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.models.ask import RowTerms, Sums
from pysynthdp.models.fits.level_prior import MultinomialProblem, prior_coupling
from pysynthdp.models.fits.newton import lower_factor
from pysynthdp.models.fits.weighting import weighted

__all__ = ["FAR", "WholeCurvature", "far_from", "whole_curvature", "whole_pays", "whole_terms"]

FAR = 100.0  # squares of a feature's root mean square; also the rows that a dummy needs in a sample
LARGEST = 1_600  # coefficients: their matrix then takes 20 MB
ROWS_EACH = 700  # rows for each coefficient, from which on the matrix costs less than the rounds it saves
CHUNK = 1_024  # rows of which the products of all levels are held
LIFT = 1e-9


@dataclass(frozen=True, slots=True)
class WholeCurvature:
    """A starting inverse Hessian that knows how levels go together.

    Parameters
    ----------
    factor : array (params, params)
        Lower Cholesky factor of the Hessian of all levels but the last, one level after the other.
    """

    factor: FloatArray
    scaled: bool = False

    def apply(self, gradient: FloatArray) -> FloatArray:
        """Multiply; the result sums to zero over levels, as a common shift changes nothing."""
        moved = np.zeros_like(gradient)
        moved[:-1] = cho_solve((self.factor, True), gradient[:-1].ravel()).reshape(len(gradient) - 1, -1)
        return np.asarray(moved - moved.mean(axis=0))


def whole_pays(problem: MultinomialProblem, rows_each: float = ROWS_EACH) -> bool:
    """Whether the matrix costs less than the rounds over all rows that it saves."""
    size = problem.cells.shape[0] * problem.free.size
    return bool(size <= min(LARGEST, problem.n / rows_each))


def far_from(problem: MultinomialProblem) -> Callable[[FloatArray], BoolArray]:
    """Say which rows a sample misjudges: one of their features lies far out.

    Parameters
    ----------
    problem : MultinomialProblem
        With the squares of all features.

    Returns
    -------
    callable (X) -> array of bool (rows,)

    Examples
    --------
    >>> gram = np.array([[4.0, 2.0], [2.0, 4.0]])
    >>> problem = MultinomialProblem(np.ones((2, 2)), gram, np.zeros((2, 2)), np.arange(2))
    >>> far_from(problem)(np.array([[1.0, 1.0], [1.0, -11.0]])).tolist()
    [False, True]
    """
    free = problem.free[1:]
    reach = np.sqrt(FAR * problem.gram.diagonal()[free] / problem.n)

    def far(X: FloatArray) -> BoolArray:
        found = np.zeros(len(X), dtype=np.bool_)
        for place, most in zip(free, reach, strict=True):
            column = X[:, place]
            found |= column > most
            found |= column < -most
        return found

    return far


def whole_terms(beta: FloatArray, free: IntArray, kept: Callable[[FloatArray], BoolArray]) -> RowTerms:
    """Sum over some rows of p_k (1{k = l} - p_l) x x', for all levels k and l but the last.

    Parameters
    ----------
    beta : array (levels, features)
        Where.
    free : array of int
        Features that are estimated.
    kept : callable (X) -> array of bool (rows,)
        Which rows.

    Returns
    -------
    callable (X, y, w=None) -> (array (params, params),)
    """

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        rows = np.flatnonzero(kept(X))
        return (_whole(beta, X[rows], free, None if w is None else w[rows]),)

    return block


def _whole(beta: FloatArray, X: FloatArray, free: IntArray, w: FloatArray | None) -> FloatArray:
    """Add the matrix over rows: blocks of each level less products of all."""
    size = (len(beta) - 1) * free.size
    made = np.zeros((size, size))
    for start in range(0, len(X), CHUNK):
        rows = slice(start, start + CHUNK)
        _add_chunk(made, beta, X[rows], free, None if w is None else w[rows])
    return made


def _add_chunk(
    made: FloatArray, beta: FloatArray, X: FloatArray, free: IntArray, w: FloatArray | None
) -> None:
    """Add some rows to the matrix."""
    eta = beta @ X.T
    eta -= eta.max(axis=0)
    share = np.exp(eta)
    share /= share.sum(axis=0)
    Z, root = X.T[free], np.sqrt(weighted(np.ones(len(X)), w))
    levels, width = len(beta) - 1, free.size
    spread = ((share[:-1] * root)[:, None, :] * Z).reshape(levels * width, len(X))
    made -= spread @ spread.T
    for level in range(levels):
        own = slice(level * width, (level + 1) * width)
        scaled = Z * (np.sqrt(share[level]) * root)
        made[own, own] += scaled @ scaled.T


def whole_curvature(problem: MultinomialProblem, information: FloatArray) -> WholeCurvature:
    """Add the prior and factor.

    Parameters
    ----------
    problem : MultinomialProblem
        With its precisions.
    information : array (params, params)
        As :func:`whole_terms` adds it.
    """
    levels, width = len(problem.cells) - 1, problem.free.size
    matrix = information.copy()
    tensor = matrix.reshape(levels, width, levels, width)
    at = np.arange(width)
    tensor[:, at, :, at] += prior_coupling(problem)[problem.free, :levels, :levels]
    matrix.flat[:: len(matrix) + 1] += LIFT * matrix.diagonal()
    return WholeCurvature(lower_factor(matrix))
