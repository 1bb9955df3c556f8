"""The one public grid of Renyi orders on which losses of different kinds are added."""

from __future__ import annotations

from typing import Final

import numpy as np

from pysynthdp.base.arrays import FloatArray

__all__ = ["GRID_NAME", "ORDERS"]

GRID_NAME: Final = "orders-1"
"""Name of the grid in saved statements; another grid gets another name."""


def _grid() -> FloatArray:
    """Two hundred orders, evenly spaced in log(order - 1), and infinity, the order of pure epsilon."""
    grid = np.concatenate([1 + np.geomspace(1e-2, 1e5, 200), [np.inf]])
    grid.flags.writeable = False
    return grid


ORDERS: Final[FloatArray] = _grid()
"""Orders, increasing, shape (201,); neighbouring orders less one differ by 8.4 %, so that converting on the
grid costs at most 0.1 % of epsilon against the best order."""
