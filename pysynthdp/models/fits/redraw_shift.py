"""The shift of a redrawn intercept that keeps the expected total: what the normal approximation misses."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.models.ask import Answer, RowSum, RowTerms, Sums
from pysynthdp.models.fits.glm import AnyCoefficients, Coefficients
from pysynthdp.models.fits.newton import LONG
from pysynthdp.models.fits.weighting import weighted

__all__ = ["with_shift"]

NODES = 21
SETTLED = 1e-6
Elementwise = Callable[[FloatArray], FloatArray]


def with_shift(
    fit: AnyCoefficients, mean: Elementwise, link: Elementwise, *, total: float, n: int
) -> Generator[RowSum, Answer, AnyCoefficients]:
    """Find the shift with which redrawn coefficients keep the observed total on average.

    Parameters
    ----------
    fit : Coefficients
        Mode and root of a canonical model.
    mean, link : callable
        Inverse link, and the link, elementwise.
    total : float
        Observed sum of the target.
    n : int
        Rows; above 50,000 the shift is negligible and left at 0.

    Returns
    -------
    Coefficients, or the subclass given

    Notes
    -----
    Privacy: asks for sums over rows; sees no row.
    With a flat prior on the intercept, the posterior density's derivative in the intercept integrates to 0,
    hence E[sum mu_i | data] = sum y_i exactly. A normal about the mode breaks this by about half the variance
    of the linear predictor, which for a rare level with many predictors multiplies its share. The shift
    solves the identity with Gauss-Hermite quadrature over each row's predictor.
    """
    if n > LONG or fit.root.size == 0:
        return fit
    shift, goal = 0.0, link(np.asarray(total / n))
    for _ in range(12):
        answer = yield RowSum(_expected_terms(fit, mean, shift))
        miss = float(link(answer.value[0] / n) - goal)
        shift += miss
        if abs(miss) < SETTLED:
            break
    return replace(fit, shift=shift)


def _expected_terms(fit: Coefficients, mean: Elementwise, shift: float) -> RowTerms:
    """Sum over rows of the mean's expectation over redraws."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()

    def block(X: FloatArray, y: FloatArray, w: FloatArray | None = None) -> Sums:  # noqa: ARG001
        centre = X @ fit.beta - shift
        spread = np.sqrt(np.sum((X @ fit.root) ** 2, axis=1))
        parts = [
            weight * np.sum(weighted(mean(centre + node * spread), w))
            for node, weight in zip(nodes, weights, strict=True)
        ]
        return (np.asarray(np.sum(parts)),)

    return block
