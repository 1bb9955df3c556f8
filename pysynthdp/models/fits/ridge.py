"""Ridge regression whose penalty maximises the marginal likelihood, from cross-products alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from pysynthdp.base.arrays import FloatArray

__all__ = ["RidgeFit", "marginal_ridge"]

LOG_RANGE = (-9.0, 12.0)


@dataclass(frozen=True, slots=True)
class RidgeFit:
    """The posterior of slopes with prior N(0, sigma^2 / penalty).

    Parameters
    ----------
    beta : array (slopes,)
        Posterior mean.
    root : array (slopes, slopes)
        root root' sigma^2 is the posterior covariance.
    quadratic : float
        z'(I + XX' / penalty)^-1 z, which is chi-squared times sigma^2.
    penalty : float
        The penalty chosen.
    """

    beta: FloatArray
    root: FloatArray
    quadratic: float
    penalty: float


def marginal_ridge(products: FloatArray, cross: FloatArray, total: float, *, n: float) -> RidgeFit:
    """Choose the penalty by marginal likelihood and return the posterior of the slopes.

    Parameters
    ----------
    products : array (slopes, slopes)
        Cross-products about the means of features scaled to unit variance (diagonal n).
    cross : array (slopes,)
        Their cross-products with the target.
    total : float
        The target's sum of squares about its mean.
    n : float
        Rows.

    Returns
    -------
    RidgeFit

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    With p(sigma^2) = 1 / sigma^2 and a flat intercept, log p(z | penalty) =
    - sum log(1 + d_i / penalty) / 2 - (n - 1) / 2 log Q(penalty), d the eigenvalues of the cross-products
    (MacKay 1992, "Bayesian interpolation"; Bishop, PRML, 3.5).

    Examples
    --------
    >>> marginal_ridge(np.array([[4.0]]), np.array([4.0]), 4.0, n=4).beta.round(2).tolist()
    [1.0]
    """
    values, vectors = np.linalg.eigh(products)
    values = np.maximum(values, 0.0)
    rotated = vectors.T @ cross
    floor = 1e-12 * total

    def quadratic(penalty: float) -> float:
        return max(total - float(np.sum(rotated**2 / (values + penalty))), floor)

    def loss(log_penalty: float) -> float:
        penalty = float(np.exp(log_penalty))
        return float(np.sum(np.log1p(values / penalty)) + (n - 1) * np.log(quadratic(penalty)))

    penalty = float(np.exp(_lowest(loss, np.log(n) + np.linspace(*LOG_RANGE, 43))))
    root = vectors / np.sqrt(values + penalty)
    return RidgeFit(root @ (root.T @ cross), root, quadratic(penalty), penalty)


def _lowest(loss: Callable[[float], float], grid: FloatArray) -> float:
    """Find the best point of a grid, refined between its neighbours: the loss may have two dips."""
    best = int(np.argmin([loss(point) for point in grid]))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
    return float(scipy.optimize.minimize_scalar(loss, bounds=bounds, method="bounded").x)
