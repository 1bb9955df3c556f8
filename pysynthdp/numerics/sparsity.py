"""When maximum likelihood needs help: sparse cells and few rows."""

from __future__ import annotations

import numpy as np

from pysynthdp._typing import BoolArray, FloatArray

__all__ = ["SLOPE_SD", "TOO_FEW", "empty_cells", "spread_of_predictor"]

SLOPE_SD = 2.5  # of features with unit variance: the widest prior (as in Gelman et al. 2008, AOAS 2, 1360)
ROWS_PER_PARAMETER = 2
# A level of fewer rows teaches no slopes: its prior is chosen by marginal likelihood, which shrinks noise
# away so that new rows keep its share. From here on that would also halve real effects spread over many
# dummies, and relations matter more: the widest prior then.
TOO_FEW = 10


def empty_cells(cells: FloatArray, dummies: BoolArray, parameters: int) -> bool:
    """Whether a dummy by level cell is empty, or a level has fewer than two rows per parameter.

    Parameters
    ----------
    cells : array (levels, features)
        For each level that occurs, the sum of each feature, intercept first (so column 0 counts rows).
    dummies : array of bool (features,)
        Which features are 0/1.
    parameters : int
        Features estimated.

    Returns
    -------
    bool

    Examples
    --------
    >>> empty_cells(np.array([[50.0, 20.0], [40.0, 0.0]]), np.array([False, True]), 2)
    True
    """
    count = cells[:, :1]
    if count.min() < ROWS_PER_PARAMETER * parameters:
        return True
    ones = cells[:, dummies]
    zeros = count - ones
    varies = (ones.sum(axis=0) > 0) & (zeros.sum(axis=0) > 0)
    return bool(np.any(((ones < 0.5) | (zeros < 0.5)) & varies))


def spread_of_predictor(gram: FloatArray) -> FloatArray:
    """Give the matrix S with beta'S beta = variance of X beta over the rows.

    Examples
    --------
    >>> spread_of_predictor(np.array([[2.0, 4.0], [4.0, 10.0]])).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    n = float(gram[0, 0])
    mean: FloatArray = gram[0] / n
    spread: FloatArray = gram / n - np.outer(mean, mean)
    return spread
