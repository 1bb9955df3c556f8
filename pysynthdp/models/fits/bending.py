"""Bend a normal regression to a given margin without bending its regression on the features.

A draw is Q(F(s + e)) with s = x'gamma, e standard normal, F the distribution of s + e over the rows and Q
the quantile function of the margin. Whatever gamma is, the margin is Q's. Gamma is chosen so that the
least-squares regression of the draw on the features is the given one: E[x Q(F(s + e))] = E[x x'beta]. Rank
regressions choose it by the correlation of ranks instead, and then bend straight relations.

The rows are confidential, or stand in for a table that is: the search asks for sums over them.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.latent import REACH, SPACING, few_together, index_mass, latent_cdf, smoothed
from pysynthdp.models.fits.linear import LinearFit
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.quantile_table import QuantileTable, quantile_table
from pysynthdp.models.fits.rank import independent_features
from pysynthdp.models.fits.scales import Transform
from pysynthdp.models.fits.weighting import counts_records, weighted

__all__ = [
    "FARTHEST",
    "Bent",
    "ask_bent",
    "ask_explained",
    "ask_latent",
    "bend",
    "centred_index",
    "inverse_of_free",
]

ROUNDS = 20
CLOSE = 1e-3  # of the residual spread, in the regression on the features: far below a standard error
FARTHEST = 30.0  # spread of s over that of e; a number that is nearly a function of others goes no further
LEAST_SLOPE = 1e-3
LONGEST = 8 * FARTHEST  # indices further out count as there: eight spreads
POINTS = 2 * int((LONGEST + REACH) / SPACING) + 1
LOW = -SPACING * (POINTS // 2)
GRID = LOW + SPACING * np.arange(POINTS, dtype=np.float64)
TRIM = 1e-12


@dataclass(frozen=True, slots=True)
class Bent:
    """A latent regression.

    Parameters
    ----------
    gamma : array (features,)
        Latent coefficients; the latent residual has unit spread.
    slope : float
        Change of a draw for one latent unit, on average.
    grid, cdf : array (points,)
        Distribution of the latent draws over the rows.
    """

    gamma: FloatArray
    slope: float
    grid: FloatArray
    cdf: FloatArray


def ask_explained(scale: Transform, n: int) -> Generator[RowSum, Answer, tuple[float, FloatArray]]:
    """Ask how much of the target the features explain on a scale.

    Parameters
    ----------
    scale : callable y -> z
        To be explained by a straight line; values of about unit size.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.

    Returns
    -------
    float, array (features, features)
        R squared, and X'X over the rows that answered.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    """

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        z = scale(y)
        return (X.T @ weighted(X, w), X.T @ weighted(z, w), np.asarray(z @ weighted(z, w)))

    gram, cross, square = (yield RowSum(block, stride(n))).value
    known = float(cross[0] ** 2 / gram[0, 0])
    total = float(square) - known
    if total <= 0:
        return 0.0, gram
    return float(np.clip((cross @ inverse_of_free(gram) @ cross - known) / total, 0.0, 1.0)), gram


def ask_bent(
    fit: LinearFit,
    table: QuantileTable,
    gram: FloatArray,
    n: int,
    start: FloatArray | None = None,
    *,
    smallest: int = FEWEST,
) -> Generator[RowSum, Answer, Bent]:
    """Find the latent regression whose draws have a margin and a least-squares regression.

    Parameters
    ----------
    fit : LinearFit
        The regression on the features, on the table's scale.
    table : QuantileTable
        The margin.
    gram : array (features, features)
        X'X over the rows that answer.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.
    start : array (features,), optional
        Latent coefficients of a nearby problem.
    smallest : int
        Rows that the distribution of the index tells of together; 0 where the rows only stand in.

    Returns
    -------
    Bent

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    Expectations over e are convolutions on a grid, so only the rows of X are random. Newton steps with one
    slope, E[h'(s)] for h(s) = E[Q(F(s + e))]: exact for normal s, by Stein's lemma. Steps move only features
    that are neither aliased in the fit nor combinations of others in the rows that answer: what the rows
    leave open the rows drawn need not, and there a wandering coefficient shows.
    """
    inverse, centred = inverse_of_free(gram, fit.aliased), gram - np.outer(gram[0], gram[0]) / gram[0, 0]
    wanted = gram @ fit.beta
    spread = float(np.sqrt(max(fit.beta @ centred @ fit.beta / gram[0, 0], 0.0)))
    sigma = max(fit.sigma, spread / FARTHEST, _least_spread(fit.beta))
    gamma = _within_reach(centred_index(fit.beta / sigma if start is None else start, gram), centred, gram)
    for left in reversed(range(ROUNDS)):
        mass, records = (yield RowSum(_mass(gamma), stride(n))).value
        cdf = latent_cdf(few_together(mass, smallest, records))
        expected, slopes = smoothed(table, cdf)
        cross, total = (yield RowSum(_expected(gamma, expected, slopes), stride(n))).value
        missing = inverse @ (wanted - cross)
        slope = max(float(total) / gram[0, 0], LEAST_SLOPE * sigma)
        far = np.sqrt(max(missing @ centred @ missing / gram[0, 0], 0.0)) >= CLOSE * sigma
        if not (far and left):
            break  # gamma and cdf belong together
        gamma = _within_reach(centred_index(gamma + missing / slope, gram), centred, gram)
    return Bent(gamma, slope, *_inside(cdf))


def _least_spread(beta: FloatArray) -> float:
    """Give what coefficients can still be divided by, where the target never varies."""
    return max(float(np.finfo(float).eps * np.abs(beta).max(initial=0.0)), float(np.finfo(float).tiny))


def ask_latent(
    gamma: FloatArray, n: int, *, smallest: int = FEWEST
) -> Generator[RowSum, Answer, tuple[FloatArray, FloatArray]]:
    """Ask for the distribution of x'gamma + e over the rows, e standard normal.

    Parameters
    ----------
    gamma : array (features,)
        Latent coefficients.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.
    smallest : int
        Rows that the distribution tells of together.

    Returns
    -------
    array (points,), array (points,)
        A grid, and the distribution function there.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    """
    mass, records = (yield RowSum(_mass(gamma), stride(n))).value
    return _inside(latent_cdf(few_together(mass, smallest, records)))


def _inside(cdf: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Cut the grid where nothing lies beyond."""
    inside = (cdf > TRIM) & (cdf < 1 - TRIM)
    first, last = max(int(np.argmax(inside)) - 1, 0), POINTS - max(int(np.argmax(inside[::-1])) - 1, 0)
    return GRID[first:last], cdf[first:last]


def bend(
    fit: LinearFit, X: FloatArray, knots: FloatArray, *, start: FloatArray | None = None
) -> tuple[Bent, FloatArray]:
    """Find the latent regression whose draws have a margin and a least-squares regression.

    Parameters
    ----------
    fit : LinearFit
        The regression on the features: coefficients and residual spread, above zero.
    X : array (rows, features)
        Rows that stand for the distribution of the features, intercept first.
    knots : array (2, knots)
        Probabilities at the middle of equal groups, and values: the shape of the margin. It is moved and
        stretched to the mean and spread that the regression implies.
    start : array (features,), optional
        Latent coefficients of a nearby problem.

    Returns
    -------
    Bent, array (2, knots)
        And the margin, moved.

    Notes
    -----
    Privacy: post-processing of its arguments.
    :func:`ask_bent` with sums over the rows of X.

    Examples
    --------
    >>> X = np.column_stack([np.ones(2_000), np.random.default_rng(1).standard_normal(2_000)])
    >>> fit = LinearFit(np.array([1.0, 0.5]), 1.0, 1_998.0, np.zeros((2, 0)), ())
    >>> u = (np.arange(200) + 0.5) / 200
    >>> bent, _ = bend(fit, X, np.stack([u, -np.log1p(-u)]))
    >>> bool(bent.gamma[1] > 0.5)
    True
    """
    wanted = X @ fit.beta
    spread = float(np.sqrt(wanted.var() + fit.sigma**2))
    values = knots[1] - knots[1].mean()
    moved = np.stack([knots[0], wanted.mean() + values * (spread / max(float(values.std()), 1e-12))])
    asking = ask_bent(fit, quantile_table(moved), X.T @ X, len(X), start, smallest=0)
    try:
        query = next(asking)
        while True:
            query = asking.send(Answer(query.of(X, wanted)))
    except StopIteration as stop:
        bent: Bent = stop.value
    return bent, moved


def _mass(gamma: FloatArray) -> RowTerms:
    """Rows at each point of the grid by their weights, and by their number."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        index = np.clip(X @ gamma, -LONGEST, LONGEST)
        mass = index_mass(index, LOW, POINTS, w)
        return mass, (mass if w is None else index_mass(index, LOW, POINTS, np.where(w > 0, 1.0, 0.0)))

    return counts_records(block, 1)


def _expected(gamma: FloatArray, expected: FloatArray, slopes: FloatArray) -> RowTerms:
    """Cross-products of the features with the expected draw, and the sum of its slopes."""
    rises, bends = np.diff(expected, append=expected[-1]), np.diff(slopes, append=slopes[-1])

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        place = (np.clip(X @ gamma, -LONGEST, LONGEST) - LOW) / SPACING
        at = place.astype(np.int64)  # the grid is even, so that nothing need be searched
        rest = place - at
        value = expected[at] + rest * rises[at]
        return (X.T @ weighted(value, w), np.asarray(np.sum(weighted(slopes[at] + rest * bends[at], w))))

    return block


def inverse_of_free(gram: FloatArray, aliased: tuple[int, ...] = ()) -> FloatArray:
    """Inverse on the features that vary by themselves, 0 elsewhere."""
    free = np.setdiff1d(independent_features(gram), aliased)
    length = np.sqrt(gram.diagonal()[free])
    within = np.linalg.pinv(gram[np.ix_(free, free)] / np.outer(length, length), rcond=1e-10, hermitian=True)
    inverse = np.zeros_like(gram)
    inverse[np.ix_(free, free)] = within / np.outer(length, length)
    return inverse


def centred_index(gamma: FloatArray, gram: FloatArray) -> FloatArray:
    """Move the intercept so that the mean index is 0: the latent scale has no place of its own."""
    mean = float(gram[0] @ gamma) / gram[0, 0]
    return np.concatenate([[gamma[0] - mean], gamma[1:]])


def _within_reach(gamma: FloatArray, centred: FloatArray, gram: FloatArray) -> FloatArray:
    """Shrink latent coefficients whose index would leave nothing to the residual."""
    spread = float(np.sqrt(max(gamma @ centred @ gamma / gram[0, 0], 0.0)))
    return gamma if spread <= FARTHEST else gamma * (FARTHEST / spread)
