"""A latent index plus a standard normal residual on a grid: its law, and expectations over the residual."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from pysynthdp._typing import FloatArray
from pysynthdp.numerics.quantile_table import QuantileTable, table_values

__all__ = ["REACH", "SPACING", "index_mass", "latent_cdf", "smoothed"]

SPACING = 0.125
REACH = 6.0


def index_mass(index: FloatArray, low: float, points: int) -> FloatArray:
    """Spread every row's mass over the two grid points beside its index.

    Parameters
    ----------
    index : array (rows,)
        x'gamma, between ``low`` and the last grid point.
    low : float
        First grid point.
    points : int
        Grid points, ``SPACING`` apart.

    Returns
    -------
    array (points,)
        Rows at each grid point.

    Examples
    --------
    >>> index_mass(np.array([0.125, 0.15625]), 0.0, 3).tolist()
    [0.0, 1.75, 0.25]
    """
    place = (index - low) / SPACING
    at = np.clip(place.astype(np.int64), 0, points - 2)
    rest = place - at
    mass = np.bincount(at, 1.0 - rest, points) + np.bincount(at + 1, rest, points)
    return np.asarray(mass, dtype=np.float64)


def latent_cdf(mass: FloatArray) -> FloatArray:
    """Distribution function of index plus residual at the grid points; 0 and 1 at the ends."""
    density = np.convolve(mass, _kernel(), mode="same")
    middle = np.cumsum(density) - density / 2
    cdf = np.clip(middle / density.sum(), 0.0, 1.0).astype(np.float64)
    cdf[0], cdf[-1] = 0.0, 1.0
    return np.asarray(cdf, dtype=np.float64)


def smoothed(table: QuantileTable, cdf: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take E[Q(F(s + e))] over the residual e at every grid point s, and its slope."""
    kernel = _kernel()
    wide = np.pad(table_values(table, cdf), len(kernel) // 2, mode="edge")
    expected = np.convolve(wide, kernel, mode="valid")
    return expected, np.gradient(expected, SPACING)


def _kernel() -> FloatArray:
    """Mass of a standard normal in grid cells."""
    half = int(REACH / SPACING)
    edges = SPACING * (np.arange(-half, half + 2) - 0.5)
    mass = np.diff(ndtr(edges))
    return np.asarray(mass / mass.sum())
