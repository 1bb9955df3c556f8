"""A logistic regression of where a row comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.evaluate.utility.origin_design import Block, OriginDesign
from pysynthdp.models.fits.rank import independent_features

__all__ = ["Origin", "fit_logit"]

MOST: Final = 2_000
"""Predictors of a regression that is fitted."""
_STEPS: Final = 40
_NEAR: Final = 1e-9  # of the Newton decrement over the rows: the step that follows squares what is left
_KEPT: Final = 25_000_000  # numbers of a design that are kept between steps


@dataclass(frozen=True, slots=True)
class Origin:
    """How well the origin of rows is told.

    Parameters
    ----------
    real, copy : array (rows,)
        Chance to be a copy's row, of the rows of either side.
    free : int
        Coefficients besides the constant; 0 where the null is not theirs.
    converged : bool
        False where the two sides are told apart without fail, so that coefficients have no end.
    """

    real: FloatArray
    copy: FloatArray
    free: int
    converged: bool


def fit_logit(design: OriginDesign) -> Origin | str:
    """Fit by Newton's method on sums over blocks of rows.

    Parameters
    ----------
    design : OriginDesign
        Both sides.

    Returns
    -------
    Origin or str
        Or why there is none.

    Notes
    -----
    Privacy: of real rows.
    """
    first = next(design.blocks())[0]
    if first.shape[1] > MOST:
        return f"{first.shape[1]:,} predictors are more than the {MOST:,} of which a regression is fitted"
    blocks = _again(design, first.shape[1])
    gram = sum(X.T @ X for X, _ in blocks())
    free = independent_features(np.asarray(gram))
    beta, converged = _newton(blocks, free, design)
    chance = [expit(X[:, free] @ beta) for X, _ in blocks()]
    whole = np.concatenate(chance)
    cut = len(design.frames[0])
    return Origin(whole[:cut], whole[cut:], free.size - 1, converged)


def _again(design: OriginDesign, width: int) -> Callable[[], Iterable[Block]]:
    """Give the blocks as often as they are asked for; small designs are made once."""
    if design.rows * width > _KEPT:
        return design.blocks
    made = list(design.blocks())
    return lambda: made


def _newton(
    blocks: Callable[[], Iterable[Block]], free: IntArray, design: OriginDesign
) -> tuple[FloatArray, bool]:
    """Maximise the likelihood, with half steps where it would fall."""
    rows, share = design.rows, design.share
    beta = np.zeros(free.size)
    beta[0] = np.log(share / (1 - share))
    value, slope, curve = _sums(blocks(), free, beta)
    for _ in range(_STEPS):
        ridge = 1e-12 * np.diag(np.diag(curve)) + 1e-300 * np.eye(free.size)
        step = cho_solve(cho_factor(curve + ridge), slope)
        gain = float(slope @ step)
        for half in range(12):
            tried = _sums(blocks(), free, beta + step / 2**half)
            if tried[0] >= value - 1e-9 * abs(value):
                break
        beta = beta + step / 2**half
        value, slope, curve = tried
        if gain < _NEAR * rows:
            return beta, True
        if np.abs(beta[1:]).max(initial=0.0) > 60:
            return beta, False
    return beta, False


def _sums(blocks: Iterable[Block], free: IntArray, beta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Log-likelihood, its gradient and minus its Hessian."""
    value, slope, curve = 0.0, np.zeros(free.size), np.zeros((free.size, free.size))
    for whole, y in blocks:
        X = whole[:, free]
        eta = X @ beta
        chance = expit(eta)
        value += float(y @ eta - np.logaddexp(0, eta).sum())
        slope += X.T @ (y - chance)
        curve += X.T @ (X * np.maximum(chance * (1 - chance), 1e-12)[:, None])
    return value, slope, curve
