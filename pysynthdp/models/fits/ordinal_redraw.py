"""Redraws of a proportional-odds regression that keep thresholds in order and expected shares in place."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from scipy.special import logit

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.newton import LONG
from pysynthdp.models.fits.ordinal import ordinal_probabilities
from pysynthdp.models.fits.weighting import weighted

__all__ = ["moved_thresholds", "threshold_shift"]

REPLICATES = 16
SETTLE = 8
LONGEST = 0.5

Block = RowTerms


def moved_thresholds(cuts: FloatArray, moved: FloatArray) -> FloatArray:
    """Add to the first threshold and to the logs of the gaps, so that the order stays.

    Parameters
    ----------
    cuts : array (levels - 1,)
        Increasing thresholds.
    moved : array (levels - 1,)
        To add to the first one, then to the log of each gap.

    Returns
    -------
    array (levels - 1,)

    Examples
    --------
    >>> moved_thresholds(np.array([0.0, 1.0]), np.array([2.0, np.log(3.0)])).round(9).tolist()
    [2.0, 5.0]
    """
    gaps = np.diff(cuts) * np.exp(np.clip(moved[1:], -50.0, 50.0))
    return np.cumsum(np.concatenate([cuts[:1] + moved[:1], gaps]))


def threshold_shift(
    beta: FloatArray, cuts: FloatArray, root: FloatArray, *, n: int
) -> Generator[RowSum, Answer, FloatArray]:
    """Find what to subtract from redrawn thresholds, so that expected shares are those of the mode.

    Parameters
    ----------
    beta : array (features,)
        Slopes at the mode.
    cuts : array (levels - 1,)
        Thresholds there.
    root : array (features + levels - 1, any)
        Root of the covariance of slopes, first threshold and log gaps.
    n : int
        Rows; above 50,000 the shift is negligible and left at 0.

    Returns
    -------
    array (levels - 1,)
        For the first threshold and the log gaps.

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    A normal law about the mode raises a rare level's expected share by about half the variance of its
    linear predictor. Newton steps on the logits of cumulative shares, over 32 antithetic draws.
    """
    shift = np.zeros(cuts.size)
    if n > LONG or root.size == 0:
        return shift
    noise = root @ np.random.default_rng(REPLICATES).standard_normal((root.shape[1], REPLICATES))
    noise = np.concatenate([noise, -noise], axis=1)  # quadrature points, the same for every fit
    answer = yield RowSum(_share_terms(beta, cuts, np.zeros((root.shape[0], 1)), shift))
    goal = logit(np.cumsum(answer.value[0])[:-1] / n)
    for _ in range(SETTLE):
        answer = yield RowSum(_share_terms(beta, cuts, noise, shift))
        miss = logit(np.cumsum(answer.value[0])[:-1] / (n * noise.shape[1])) - goal
        step = np.concatenate([miss[:1], np.diff(miss) / np.diff(moved_thresholds(cuts, -shift))])
        shift = shift + np.clip(step, -LONGEST, LONGEST)
    return shift


def _share_terms(beta: FloatArray, cuts: FloatArray, noise: FloatArray, shift: FloatArray) -> Block:
    """Sum over rows and redraws of the probability of each level."""
    size = beta.size

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        eta = X @ (beta[:, None] + noise[:size])
        moved = [moved_thresholds(cuts, one - shift) for one in noise[size:].T]
        pairs = zip(eta.T, moved, strict=True)
        shares = [weighted(ordinal_probabilities(*pair), w).sum(axis=0) for pair in pairs]
        return (np.sum(shares, axis=0),)

    return block
