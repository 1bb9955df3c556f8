"""The distribution of X beta + sigma e over the rows: what turns a normal draw into a uniform one."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.linear import LinearFit
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.weighting import n_rows, weighted

__all__ = ["MixtureTable", "ask_mixture"]

REACH = 5.5
POINTS = (101, 401)
SMALLEST_SIGMA = 0.02


@dataclass(frozen=True, slots=True)
class MixtureTable:
    """A distribution function on a grid.

    Parameters
    ----------
    grid : array (points,)
        Increasing.
    cdf : array (points,)
        The distribution function there; 0 and 1 at the ends.
    """

    grid: FloatArray
    cdf: FloatArray


def ask_mixture(fit: LinearFit, n: int) -> Generator[RowSum, Answer, MixtureTable]:
    """Ask for the mean over rows of Phi((v - x'beta) / sigma) on a grid of v.

    Parameters
    ----------
    fit : LinearFit
        A fit of normal scores, which have mean near 0 and standard deviation near 1.
    n : int
        Rows; above 50,000 a systematic subsample of at most 20,000 answers.

    Returns
    -------
    MixtureTable

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    F(v) = sum_i Phi((v - x_i'beta) / sigma) / n. A draw v of the model has F(v) uniform, tied scores or not,
    so mapping it through the target's quantile function keeps the margin.
    """
    sigma = max(fit.sigma, SMALLEST_SIGMA)
    points = int(np.clip(np.ceil(4 * REACH / sigma), *POINTS))
    grid = np.linspace(-REACH, REACH, points)
    answer = yield RowSum(_mixture_terms(fit.beta, sigma, grid), stride(n))
    rows, total = answer.value
    cdf = total / rows
    cdf[0], cdf[-1] = 0.0, 1.0
    return MixtureTable(grid, cdf)


def _mixture_terms(beta: FloatArray, sigma: float, grid: FloatArray) -> RowTerms:
    """Count rows and sum normal distribution functions over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        reach = (grid[:, None] - X @ beta) / sigma
        return (np.asarray(n_rows(y, w)), weighted(ndtr(reach), w, axis=1).sum(axis=1))

    return block
