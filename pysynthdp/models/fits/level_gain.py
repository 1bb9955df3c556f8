"""How much better a model of levels foretells the rows than the levels' shares do."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.weighting import weighted

__all__ = ["ask_level_gain"]

_SMALLEST = 1e-300


def ask_level_gain(
    shares: Callable[[FloatArray], FloatArray], levels: IntArray, parameters: int
) -> Generator[RowSum, Answer, float]:
    """Ask for the log likelihood of the rows over that of the shares, less what parameters gain by chance.

    Parameters
    ----------
    shares : callable X -> array (rows, levels that occur)
        Probabilities under the model.
    levels : array of int (levels that occur,)
        Their codes, ascending.
    parameters : int
        Fitted beyond the shares.

    Returns
    -------
    float
        Minus infinity where there are no more rows than parameters.

    Notes
    -----
    Privacy: asks for sums over rows.
    Akaike's criterion, halved, with Hurvich and Tsai's (1989, Biometrika 76, 297) term for few rows: a
    parameter costs n / (n - parameters - 1). It weighs what new rows of the same law would say, which is what
    copies are to be like.
    """
    total, counts = (yield RowSum(_terms(shares, levels))).value
    n = float(counts.sum())
    if n <= parameters + 1:
        return -np.inf
    there = counts[counts > 0]
    margin = float(there @ np.log(there / n))
    return float(total) - margin - parameters * n / (n - parameters - 1)


def _terms(shares: Callable[[FloatArray], FloatArray], levels: IntArray) -> RowTerms:
    """Log likelihood, and rows of each level, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        place = np.searchsorted(levels, y)
        own = shares(X)[np.arange(len(y)), place]
        logs = weighted(np.log(np.maximum(own, _SMALLEST)), w)
        return np.asarray(logs.sum()), np.bincount(place, w, levels.size).astype(np.float64)

    return block
