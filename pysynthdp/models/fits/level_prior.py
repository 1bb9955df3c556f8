"""The prior on a multinomial regression's slopes where data are sparse: a precision for every level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.fits.evidence import Evidence, tuned_prior
from pysynthdp.models.fits.sparsity import SLOPE_SD, TOO_FEW

__all__ = ["MultinomialProblem", "penalty", "prior_coupling", "with_null_precision", "with_precision_at"]

# a deviation from a mean over levels has half the variance of a difference of two levels
WEAKEST = 2 / SLOPE_SD**2


@dataclass(frozen=True, slots=True)
class MultinomialProblem:
    """Minus the log likelihood of a multinomial model, and its prior.

    Parameters
    ----------
    cells : array (levels, features)
        For each level, which must occur, the sum of each feature over its rows.
    gram : array (features, features)
        X'X.
    precision : array (levels, features)
        Prior precision of a level's deviation from the mean over levels weighted by their shares; 0 for
        intercepts, and for maximum likelihood.
    free : array of int
        Features that are estimated, the intercept first.
    limit : float
        Standard deviation of a level's linear predictor beyond which the estimate is taken not to exist.
    weakest : float
        Precision of the widest prior on slopes.
    """

    cells: FloatArray
    gram: FloatArray
    precision: FloatArray
    free: IntArray
    limit: float = np.inf
    weakest: float = WEAKEST

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.gram[0, 0])

    @property
    def share(self) -> FloatArray:
        """Share of rows of every level, (levels,)."""
        return np.asarray(self.cells[:, 0] / self.gram[0, 0])


def penalty(problem: MultinomialProblem, beta: FloatArray) -> tuple[float, FloatArray]:
    """Give minus the log prior and its gradient.

    Parameters
    ----------
    problem : MultinomialProblem
        With shares w and precisions lambda.
    beta : array (levels, features)
        Coefficients.

    Returns
    -------
    value : float
    gradient : array (levels, features)

    Notes
    -----
    Privacy: arithmetic.
    sum_k lambda_k |b_k - sum_l w_l b_l|^2 / 2 over slopes: a level that is shrunk away keeps a constant
    share, whatever the others do, and the value does not depend on a baseline.

    Examples
    --------
    >>> gram = np.array([[4.0, 0.0], [0.0, 4.0]])
    >>> precision = np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> problem = MultinomialProblem(np.array([[2.0, 0.0], [2.0, 0.0]]), gram, precision, np.arange(2))
    >>> penalty(problem, np.array([[9.0, 1.0], [0.0, -1.0]]))[0]
    1.0
    """
    deviation = _deviation(problem, beta)
    pull = problem.precision * deviation
    return 0.5 * float(np.sum(pull * deviation)), pull - problem.share[:, None] * pull.sum(axis=0)


def prior_coupling(problem: MultinomialProblem) -> FloatArray:
    """Prior precision over levels, feature by feature: (I - w 1') diag(lambda) (I - 1 w').

    Returns
    -------
    array (features, levels, levels)

    Examples
    --------
    >>> gram = np.array([[4.0, 0.0], [0.0, 4.0]])
    >>> precision = np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> problem = MultinomialProblem(np.array([[2.0, 0.0], [2.0, 0.0]]), gram, precision, np.arange(2))
    >>> prior_coupling(problem)[1].tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    centring = np.eye(len(problem.cells)) - problem.share
    return np.asarray(centring.T @ (problem.precision.T[:, :, None] * centring))


def with_null_precision(problem: MultinomialProblem) -> MultinomialProblem:
    """Choose the precisions from what the model without slopes says.

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    There a level's information is share * (centred X'X), and its score what its cells deviate from shares.
    """
    slopes = problem.free[1:]
    total = problem.gram[0, slopes]
    centred = problem.gram[np.ix_(slopes, slopes)] - np.outer(total, total) / problem.n
    score = problem.cells[:, slopes] - problem.share[:, None] * total
    return _with(problem, Evidence(centred, score, problem.share), np.ones(1))


def with_precision_at(
    problem: MultinomialProblem, beta: FloatArray, *, gradient: FloatArray, blocks: FloatArray
) -> MultinomialProblem:
    """Choose the precisions anew from the Poisson information at ``beta``.

    Parameters
    ----------
    problem : MultinomialProblem
        With the precisions used so far.
    beta : array (levels, features)
        Near the mode.
    gradient : array (levels, free)
        Of minus the log posterior, at beta.
    blocks : array (levels, features, features)
        sum_i p_ik x_i x_i'.

    Returns
    -------
    MultinomialProblem

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    With coefficients that deviate from the mean weighted by shares the levels' information is block diagonal
    where the probabilities are near the shares, with these blocks.
    """
    slopes = problem.free[1:]
    across = blocks[:, 0, slopes]
    inner = blocks[:, :1, 0]
    profiled = across[:, :, None] * across[:, None, :] / inner[:, :, None]
    information = blocks[:, slopes[:, None], slopes] - profiled
    likelihood = gradient - penalty(problem, beta)[1][:, problem.free]
    score = np.einsum("kij,kj->ki", information, _deviation(problem, beta)[:, slopes])
    score -= likelihood[:, 1:] - across / inner * likelihood[:, :1]
    weight = problem.precision[:, slopes] / problem.precision[:, slopes].max(axis=1, keepdims=True)
    return _with(problem, Evidence(information, score), weight)


def _with(problem: MultinomialProblem, evidence: Evidence, weight: FloatArray) -> MultinomialProblem:
    """Put the precisions that the evidence gives in their places."""
    precision = np.zeros_like(problem.cells)
    if problem.free.size > 1:
        rare = problem.cells[:, :1] < TOO_FEW
        precision[:, problem.free[1:]] = problem.weakest
        if rare.any():
            prior = tuned_prior(evidence, weight, weakest=problem.weakest).precision(problem.weakest)
            precision[:, problem.free[1:]] = np.where(rare, prior, problem.weakest)
    return replace(problem, precision=precision)


def _deviation(problem: MultinomialProblem, beta: FloatArray) -> FloatArray:
    """Coefficients less their mean over levels weighted by shares."""
    return np.asarray(beta - problem.share @ beta)
