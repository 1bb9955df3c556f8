"""Two-way tables that noise made negative, brought to the nearest that rows could have."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.design.encode import Layout, n_features

__all__ = ["feasible_cross"]

ROUNDS = 30
LEAST = 0.05  # rows in a cell: none, but a logit of it exists


def feasible_cross(cross: FloatArray, at: IntArray, layout: Layout, mean: FloatArray) -> FloatArray:
    """Cut every table of a target with an earlier part at zero and fit it to both margins.

    Parameters
    ----------
    cross : array (features, levels)
        Noisy sums of each feature over the rows of each level.
    at : array (features,)
        Positions of the features in the layout, intercept first.
    layout : Layout
        Which of them belong together.
    mean : array (features,)
        Sums of the features over all rows, under the models of the earlier columns.

    Returns
    -------
    array (features, levels)
        Without negative cells; unchanged where no cell was negative and the margins agree.

    Notes
    -----
    Privacy: post-processing. Without this a cell of, say, minus a hundred rows would pull its logit as far as
    the prior lets it go; at zero it goes as far as an empty cell does. Margins by iterative proportional
    fitting (Deming and Stephan 1940).
    """
    n = float(mean[0])
    shares = np.maximum(cross[0], LEAST)
    result = cross.copy()
    result[0] = margin = shares * (n / shares.sum())
    place = {int(position): index for index, position in enumerate(at)}
    for part in layout.parts:
        first, size = layout.starts[part.key], n_features(part)
        if part.numeric or not size or first not in place:
            continue
        rows = slice(place[first], place[first] + size)
        table = np.vstack([cross[0] - cross[rows].sum(axis=0), cross[rows]])
        wanted = np.concatenate([[n - mean[rows].sum()], mean[rows]])
        result[rows] = _fitted(np.maximum(table, LEAST), np.maximum(wanted, LEAST), margin)[1:]
    return result


def _fitted(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Scale rows and columns in turn until both margins agree."""
    for _ in range(ROUNDS):
        table = table * (rows / table.sum(axis=1))[:, None]
        table = table * (columns / table.sum(axis=0))
        if np.allclose(table.sum(axis=1), rows, rtol=1e-9, atol=1e-9):
            break
    return table
