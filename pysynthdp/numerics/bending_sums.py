"""The same bending where rows are confidential: by sums over rows, so that nobody sees one."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pysynthdp._typing import FloatArray
from pysynthdp.numerics.bending import CLOSE, FARTHEST, LEAST_SLOPE, ROUNDS
from pysynthdp.numerics.latent import REACH, SPACING, index_mass, latent_cdf, smoothed
from pysynthdp.numerics.linear import LinearFit
from pysynthdp.numerics.newton import stride
from pysynthdp.numerics.quantile_table import QuantileTable
from pysynthdp.queries import Answer, RowSum, Sums

__all__ = ["AskedBend", "Transform", "ask_bent", "ask_explained"]

LONGEST = 8 * FARTHEST  # indices further out count as there: eight spreads
POINTS = 2 * int((LONGEST + REACH) / SPACING) + 1
LOW = -SPACING * (POINTS // 2)
GRID = LOW + SPACING * np.arange(POINTS, dtype=np.float64)
TRIM = 1e-12

Transform: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class AskedBend:
    """A latent regression found by sums.

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


def ask_explained(
    scales: tuple[Transform, ...], n: int
) -> Generator[RowSum, Answer, tuple[FloatArray, FloatArray]]:
    """Ask how much of the target the features explain on some scales.

    Parameters
    ----------
    scales : tuple of callables y -> z
        Each to be explained by a straight line; values of about unit size.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.

    Returns
    -------
    array (scales,), array (features, features)
        R squared on each scale, and X'X over the rows that answered.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    """

    def block(X: FloatArray, y: FloatArray) -> Sums:
        Z = np.column_stack([scale(y) for scale in scales])
        return (X.T @ X, X.T @ Z, (Z**2).sum(axis=0))

    gram, cross, square = (yield RowSum(block, stride(n))).value
    rows = gram[0, 0]
    total = square - cross[0] ** 2 / rows
    explained = (cross * (_inverse(gram) @ cross)).sum(axis=0) - cross[0] ** 2 / rows
    share = np.where(total > 0, explained / np.where(total > 0, total, 1.0), 0.0)
    return np.clip(share, 0.0, 1.0), gram


def ask_bent(
    fit: LinearFit, table: QuantileTable, gram: FloatArray, n: int
) -> Generator[RowSum, Answer, AskedBend]:
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

    Returns
    -------
    AskedBend

    Notes
    -----
    Privacy: asks for sums over rows; sees no row. See :func:`pysynthdp.numerics.bending.bend`.
    """
    inverse, centred = _inverse(gram), gram - np.outer(gram[0], gram[0]) / gram[0, 0]
    spread = float(np.sqrt(max(fit.beta @ centred @ fit.beta / gram[0, 0], 0.0)))
    sigma = max(fit.sigma, spread / FARTHEST, np.finfo(float).tiny)
    gamma = _centred(fit.beta / sigma, gram)
    for _ in range(ROUNDS):
        gamma = _within_reach(gamma, centred, gram)
        cdf = latent_cdf((yield RowSum(_mass(gamma), stride(n))).value[0])
        expected, slopes = smoothed(table, cdf)
        answer = yield RowSum(_expected(gamma, expected, slopes), stride(n))
        cross, slope = answer.value
        missing = fit.beta - inverse @ cross
        slope = max(float(slope) / gram[0, 0], LEAST_SLOPE * sigma)
        if np.sqrt(max(missing @ centred @ missing / gram[0, 0], 0.0)) < CLOSE * sigma:
            break
        gamma = _centred(gamma + missing / slope, gram)
    inside = (cdf > TRIM) & (cdf < 1 - TRIM)
    first, last = max(int(np.argmax(inside)) - 1, 0), POINTS - max(int(np.argmax(inside[::-1])) - 1, 0)
    return AskedBend(gamma, slope, GRID[first:last], cdf[first:last])


def _mass(gamma: FloatArray) -> Callable[[FloatArray, FloatArray], Sums]:
    """Rows at each point of the grid."""

    def block(X: FloatArray, y: FloatArray) -> Sums:  # noqa: ARG001
        return (index_mass(np.clip(X @ gamma, -LONGEST, LONGEST), LOW, POINTS),)

    return block


def _expected(
    gamma: FloatArray, expected: FloatArray, slopes: FloatArray
) -> Callable[[FloatArray, FloatArray], Sums]:
    """Cross-products of the features with the expected draw, and the sum of its slopes."""

    def block(X: FloatArray, y: FloatArray) -> Sums:  # noqa: ARG001
        index = np.clip(X @ gamma, -LONGEST, LONGEST)
        slope = np.interp(index, GRID, slopes).sum()
        return (X.T @ np.interp(index, GRID, expected), np.asarray(slope))

    return block


def _inverse(gram: FloatArray) -> FloatArray:
    """Inverse on the features that vary, each scaled to unit length first."""
    length = np.sqrt(np.maximum(gram.diagonal(), np.finfo(float).tiny))
    scale = np.outer(length, length)
    return np.asarray(np.linalg.pinv(gram / scale, rcond=1e-10, hermitian=True) / scale)


def _centred(gamma: FloatArray, gram: FloatArray) -> FloatArray:
    """Move the intercept so that the mean index is 0: the latent scale has no place of its own."""
    mean = float(gram[0] @ gamma) / gram[0, 0]
    return np.concatenate([[gamma[0] - mean], gamma[1:]])


def _within_reach(gamma: FloatArray, centred: FloatArray, gram: FloatArray) -> FloatArray:
    """Shrink latent coefficients whose index would leave nothing to the residual."""
    spread = float(np.sqrt(max(gamma @ centred @ gamma / gram[0, 0], 0.0)))
    return gamma if spread <= FARTHEST else gamma * (FARTHEST / spread)
