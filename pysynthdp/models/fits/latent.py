"""A latent index plus a standard normal residual on a grid: its law, and expectations over the residual."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.models.fits.quantile_table import QuantileTable, table_values
from pysynthdp.models.fits.weighting import weighted

__all__ = ["REACH", "SPACING", "few_together", "index_mass", "latent_cdf", "smoothed"]

SPACING = 0.125
REACH = 6.0


def index_mass(index: FloatArray, low: float, points: int, w: FloatArray | None = None) -> FloatArray:
    """Spread every row's mass over the two grid points beside its index.

    Parameters
    ----------
    index : array (rows,)
        x'gamma, between ``low`` and the last grid point.
    low : float
        First grid point.
    points : int
        Grid points, ``SPACING`` apart.
    w : array (rows,), optional
        Weights of the rows.

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
    mass = np.bincount(at, weighted(1.0 - rest, w), points) + np.bincount(at + 1, weighted(rest, w), points)
    return np.asarray(mass, dtype=np.float64)


def few_together(mass: FloatArray, smallest: int, records: FloatArray | None = None) -> FloatArray:
    """Spread rows that are few at their grid point evenly about the means of as many as ``smallest``.

    Parameters
    ----------
    mass : array (points,)
        Rows at each grid point.
    smallest : int
        Rows that no average may have less of; fewer beside larger masses go to the nearest of them.
    records : array (points,), optional
        Rows at each grid point, where ``mass`` is what they weigh: groups are by their number all the same.

    Notes
    -----
    Privacy: the law of index plus known residual gives that of the index, and where a row is alone, its own.
    Means and the total stay.

    Examples
    --------
    >>> few_together(np.array([1.0, 1.0, 9.0, 0.0, 0.0, 3.0, 0.0, 0.0]), 5).tolist()
    [0.0, 0.0, 9.0, 5.0, 0.0, 0.0, 0.0, 0.0]
    >>> few_together(np.array([1.0, 1.0, 9.0]), 5).tolist()
    [0.0, 0.0, 11.0]
    """
    weighed = records is not None and not np.array_equal(mass, records)
    number = mass if records is None else records
    few = np.flatnonzero((number > 0) & (number < smallest))
    if not few.size:
        return mass
    kept, rows = mass.copy(), mass[few]
    kept[few] = 0.0
    groups = int(number[few].sum() // smallest)
    if groups == 0:
        return _to_nearest(kept, few, rows)
    upto = np.concatenate([[0.0], np.cumsum(number[few])])
    bounds = np.linspace(0.0, upto[-1], groups + 1)
    moment = np.concatenate([[0.0], np.cumsum(rows * few)])
    means = np.diff(np.interp(bounds, upto, moment)) * groups / upto[-1]
    if weighed:
        bounds = np.interp(bounds, upto, np.concatenate([[0.0], np.cumsum(rows)]))
        means = np.diff(np.interp(bounds, np.append(0.0, np.cumsum(rows)), moment)) / np.diff(bounds)
    gaps = np.diff(means) / 2
    reach = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps)) if groups > 1 else np.zeros(1)
    ends = np.stack([means - reach, means + reach], axis=1).ravel()
    shares = np.stack([bounds[:-1], bounds[1:]], axis=1).ravel()
    return np.asarray(kept + np.diff(np.interp(np.arange(len(mass) + 1) - 0.5, ends, shares)))


def _to_nearest(kept: FloatArray, few: IntArray, rows: FloatArray) -> FloatArray:
    """Put a few rows at the nearest point that has enough, if there is one."""
    large = np.flatnonzero(kept)
    if not large.size:
        kept[few] = rows
        return kept
    np.add.at(kept, large[np.argmin(np.abs(large - few[:, None]), axis=1)], rows)
    return kept


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
