"""When maximum likelihood needs help: sparse cells, few rows, and the weak prior that mends them."""

from __future__ import annotations

import numpy as np

from pysynthdp._typing import BoolArray, FloatArray

__all__ = ["SLOPE_SD", "empty_cells", "slope_precision", "spread_of_predictor"]

SLOPE_SD = 2.5
ROWS_PER_PARAMETER = 2


def slope_precision(size: int, *, sparse: bool) -> FloatArray:
    """Prior precision of each coefficient: 0 for the intercept, 1 / 2.5^2 for slopes where data are sparse.

    Notes
    -----
    Privacy: a constant.
    A normal prior with standard deviation 2.5 on slopes of standardised features (scale as in Gelman et al.
    2008, Annals of Applied Statistics 2, 1360). The intercept has none, so its score equation holds and a
    rare level keeps its observed share.

    Examples
    --------
    >>> slope_precision(3, sparse=True).tolist()
    [0.0, 0.16, 0.16]
    """
    precision = np.full(size, 1 / SLOPE_SD**2 if sparse else 0.0)
    precision[0] = 0.0
    return precision


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
