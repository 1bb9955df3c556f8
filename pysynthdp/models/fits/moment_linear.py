"""Normal linear regression from cross-products that are noisy, hence perhaps not those of any rows."""

from __future__ import annotations

import numpy as np

from pysynthdp.models.ask import StepMoments
from pysynthdp.models.fits.linear import LinearFit

__all__ = ["linear_from_moments"]

SMALLEST = 1e-9  # of the largest eigenvalue: below, a direction of the features has no spread


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
    beta = (X'X)^-1 X'y, sigma^2 = |y - X beta|^2/n: the sweep of one column. Eigenvalues v of X'X count with
    v/(v^2 + blur^2) instead of 1/v: the mean of a normal prior on the slope, given noise in X'y.

    Examples
    --------
    >>> X = np.column_stack([np.ones(4), np.arange(4.0)])
    >>> y = np.array([0.0, 1.0, 4.0, 5.0])
    >>> given = StepMoments(X, np.ones(4), X.T @ X, (X.T @ y)[:, None], float(y @ y), 4.0)
    >>> linear_from_moments(given).beta.round(3).tolist()
    [-0.2, 1.8]
    """
    values, vectors = np.linalg.eigh(given.gram)
    seen = values > SMALLEST * values[-1]
    strength = np.where(seen, values / np.where(seen, values**2 + given.blur**2, 1.0), 0.0)
    cross = given.cross[:, 0]
    beta = (vectors * strength) @ (vectors.T @ cross)
    rest = (given.square - float(beta @ (2 * cross - given.gram @ beta))) / max(given.n, 1.0)
    feasible = rest > 0.0
    sigma = float(np.sqrt(rest)) if feasible else 0.0
    return LinearFit(beta, sigma, float(given.n) if feasible else 0.0, np.zeros((beta.size, 0)), ())
