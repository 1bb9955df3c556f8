"""Whether one slope serves every threshold of an ordinal regression; said where it does not."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from scipy.special import expit

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.models.ask import Answer, Note, RowSum, RowTerms, Sums
from pysynthdp.models.fits.newton import stride
from pysynthdp.models.fits.weighting import weighted

__all__ = ["ask_proportional_odds"]

GAP = 0.05  # of a group's rows beyond a threshold
CERTAIN = 6.0  # standard errors


def ask_proportional_odds(
    column: str, beta: FloatArray, cuts: FloatArray, levels: IntArray, n: int
) -> Generator[RowSum | Note, Answer, None]:
    """Compare, for each feature and threshold, rows beyond it with those expected; note a clear failure.

    Parameters
    ----------
    column : str
        For the remark.
    beta : array (features,)
        Slopes.
    cuts : array (thresholds,)
        P(level <= k) = 1 / (1 + exp(x'beta - cuts[k])).
    levels : array of int (thresholds + 1,)
        Codes of the levels that occur.
    n : int
        Rows; above 50,000 a systematic subsample answers.

    Notes
    -----
    Privacy: asks for sums over rows; the remark tells a rough share.
    sum x (1{y > k} - p_k) is the score of a slope of threshold k's own, about normal with variance
    sum x^2 p_k (1 - p_k) or less where odds are proportional (Brant 1990, Biometrics 46, 1171, tests the same
    by separate fits).
    """
    score, variance, size = (yield RowSum(_terms(beta, cuts, levels), stride(n))).value
    certain = np.abs(score) > CERTAIN * np.sqrt(variance)
    gap = np.where(certain, np.abs(score) / np.maximum(size, 1.0)[:, None], 0.0).max(initial=0.0)
    if gap > GAP:
        what = (
            "'polr' moves all levels one way, and here some move against the others: shares given other "
            f"columns are off by up to {100 * gap:.0f} points"
        )
        mend = Words("{method} lets each level move", method=Setting("method", {column: "polyreg"}))
        yield Note(Remark(column, "shape", what, mend))


def _terms(beta: FloatArray, cuts: FloatArray, levels: IntArray) -> RowTerms:
    """Scores, their variances, and the size of each feature, over a block."""

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:
        beyond = np.searchsorted(levels, y)[:, None] > np.arange(cuts.size)
        share = expit((X @ beta)[:, None] - cuts)
        score, variance = beyond - share, share * (1 - share)
        return (
            X.T @ weighted(score, w),
            (X**2).T @ weighted(variance, w),
            weighted(np.abs(X), w).sum(axis=0),
        )

    return block
