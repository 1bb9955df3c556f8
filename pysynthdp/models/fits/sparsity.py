"""When maximum likelihood needs help: sparse cells and few rows."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray

__all__ = ["SLOPE_SD", "SPREAD_SD", "TOO_FEW", "empty_cells", "rows_tell", "spread_of_predictor"]

# The widest prior on slopes. It only keeps separated slopes finite: 2.5 (as in Gelman et al. 2008, AOAS 2,
# 1360, for features of unit variance) pulls the many real ones of a table with an empty cell inwards by up to
# three standard errors, 10 those of seven ordered codes on the levels of seven columns by .8 (800 rows of
# statsmodels' fair) where 25 leaves .4.
SLOPE_SD = 25.0
# Where an empty cell leaves a slope open, the log likelihood is flat on one side and steep on the other. The
# normal law at the mode would go as far to the steep side, where the data are impossible. Redraws therefore
# spread no further than under this prior; a slope with ten rows behind it does not notice.
SPREAD_SD = 1.0
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


def rows_tell(spread: FloatArray, gram: FloatArray) -> bool:
    """Whether rows tell of every slope more than the widest prior does, for features of unit variance.

    Parameters
    ----------
    spread : array (features,) or (levels, features)
        Standard errors of the coefficients, intercept first.
    gram : array (features, features)
        X'X.

    Returns
    -------
    bool

    Examples
    --------
    >>> gram = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> rows_tell(np.array([9.0, 1.0]), gram), rows_tell(np.array([9.0, 90.0]), gram)
    (True, False)
    """
    scale = np.sqrt(np.maximum(spread_of_predictor(gram).diagonal(), 0.0))
    return bool(np.all(spread * scale < SLOPE_SD))


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
