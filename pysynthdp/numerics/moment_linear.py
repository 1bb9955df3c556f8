"""Normal linear regression from cross-products that are noisy, hence perhaps not those of any rows."""

from __future__ import annotations

import numpy as np

from pysynthdp.numerics.linear import LinearFit
from pysynthdp.queries import StepMoments

__all__ = ["linear_from_moments"]

SMALLEST = 1e-9  # of the largest eigenvalue: below, a direction of the features has no spread
NO_SPREAD = 1e-12


def linear_from_moments(given: StepMoments) -> LinearFit:
    """Solve the normal equations; directions without spread get no slope.

    Parameters
    ----------
    given : StepMoments
        X'X, X'y and y'y.

    Returns
    -------
    LinearFit
        ``sigma`` is 0 where the moments leave no residual variance: they are then those of no rows, and
        ``df`` is 0 to say so.

    Notes
    -----
    Privacy: post-processing of noised answers.
    beta = (X'X)^-1 X'y, sigma^2 = (y'y - beta'X'y)/n: the sweep of one column.

    Examples
    --------
    >>> X = np.column_stack([np.ones(4), np.arange(4.0)])
    >>> y = np.array([0.0, 1.0, 4.0, 5.0])
    >>> given = StepMoments(X, np.ones(4), X.T @ X, (X.T @ y)[:, None], float(y @ y), 4.0)
    >>> linear_from_moments(given).beta.round(3).tolist()
    [-0.2, 1.8]
    """
    spread = np.sqrt(np.maximum(given.gram.diagonal(), NO_SPREAD))
    values, vectors = np.linalg.eigh(given.gram / np.outer(spread, spread))
    strength = np.where(values > SMALLEST * values[-1], 1 / np.maximum(values, NO_SPREAD), 0.0)
    cross = given.cross[:, 0]
    beta = (vectors * strength) @ (vectors.T @ (cross / spread)) / spread
    rest = (given.square - float(beta @ cross)) / max(given.n, 1.0)
    feasible = rest > 0.0
    sigma = float(np.sqrt(rest)) if feasible else 0.0
    return LinearFit(beta, sigma, float(given.n) if feasible else 0.0, np.zeros((beta.size, 0)), ())
