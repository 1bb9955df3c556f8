"""Gaussian plug-in with estimated variance, for one given table: entry C4, never publishable.

The numbers are statistics of the confidential data. They come wrapped in a :class:`LocalDiagnostic`, which
refuses every way of being written down.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.domain import checked_orders, count, order, positive, real
from pysynthdp.privacy.prices.gaussian_floored import Ddof, floored_curve, variance_weight

__all__ = ["LocalDiagnostic", "local_bound", "local_from_data", "local_from_summary"]


class LocalDiagnostic:
    """A number that is true of one table only, and is itself a statistic of the confidential data.

    Parameters
    ----------
    values : array
        Renyi divergences.

    Raises
    ------
    PrivacyError
        When pickled, copied, formatted or turned into a plain number; use :meth:`reveal` where the
        confidential table may be seen, and nowhere else.

    Notes
    -----
    Privacy: data-dependent, not publishable, not composable with published numbers (J4). Under B1's form the
    number would reveal s^2 exactly.

    Examples
    --------
    >>> local_bound(500, 4, mean=0.05, variance=1, orders=2.0, n_draws=500)
    <LocalDiagnostic: depends on the confidential data, not publishable>
    """

    __slots__ = ("_values",)
    publishable = False

    def __init__(self, values: FloatArray) -> None:
        self._values = np.array(values, dtype=np.float64)

    def reveal(self) -> FloatArray:
        """Give the values to the person who holds the data; they must not leave that room."""
        return self._values.copy()

    def __repr__(self) -> str:
        return "<LocalDiagnostic: depends on the confidential data, not publishable>"

    def _refuse(self) -> NoReturn:
        """Refuse to be written down."""
        raise PrivacyError(
            "a local diagnostic is a statistic of the confidential data and cannot be saved or published",
            kind="mechanism",
            remedy="use floored_variance with a public floor for a number that can",
        )

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self._refuse()

    def __copy__(self) -> NoReturn:
        self._refuse()

    def __deepcopy__(self, memo: object) -> NoReturn:
        self._refuse()

    def __float__(self) -> NoReturn:
        self._refuse()

    def __iter__(self) -> NoReturn:
        self._refuse()

    def __array__(self, *_: object, **__: object) -> NoReturn:
        self._refuse()


def _divergence(shift: FloatArray, first: FloatArray, second: FloatArray, alpha: float) -> FloatArray:
    """Renyi divergence of one record between normals, elementwise (C1)."""
    mixed = second + (1 - alpha) * (first - second)
    known = (mixed > 0) & (first > 0) & (second > 0)
    safe, top = np.where(known, mixed, 1.0), np.where(known, first, 1.0)
    change = np.where(known, second - first, 0.0)
    value = alpha * shift**2 / (2 * safe) + np.log1p(change / top) / 2
    value = value + np.log1p((1 - alpha) * change / safe) / (2 * (alpha - 1))
    return np.asarray(np.where(known, np.maximum(value, 0.0), np.inf), dtype=np.float64)


def local_bound(
    n: int,
    half_width: float,
    *,
    mean: float,
    variance: float,
    orders: FloatArray | float,
    n_draws: int,
    ddof: Ddof = 1,
) -> LocalDiagnostic:
    """Bound the local Renyi divergence of a plug-in from the table's size, mean and variance.

    Parameters
    ----------
    n : int
        Number of records, at least two.
    half_width : float
        d: values lie in [-d, d].
    mean, variance : float
        Of the confidential table.
    orders : array (k,) or float
        Orders above one.
    n_draws : int
        Records drawn.
    ddof : {0, 1}
        The variance divides by n - ddof.

    Returns
    -------
    LocalDiagnostic
        ``inf`` at orders that are not bounded, and everywhere if a neighbour may have no variance.

    Raises
    ------
    PrivacyError
        Outside the domain; the mean lies in [-d, d].

    Notes
    -----
    Privacy: data-dependent, not publishable. C4: C3's expression with f^2 := s^2 - g u^2 and
    u = ``min(2d, d + (n |mean| + d)/(n - 1))``.

    Examples
    --------
    >>> round(float(local_bound(500, 4, mean=0.05, variance=1, orders=2.0, n_draws=500).reveal()), 5)
    0.42719
    """
    d, grid, g = positive("half_width", half_width), checked_orders(orders), variance_weight(n, ddof)
    centre = abs(real("mean", mean))
    if centre > d:
        raise PrivacyError(
            "mean must lie in the range", kind="mechanism", remedy="clamp the values before any statistic"
        )
    reach = min(2 * d, d + (n * centre + d) / (n - 1))
    least = positive("variance", variance) - g * reach * reach
    if least <= 0:
        return LocalDiagnostic(np.full(grid.shape, np.inf))
    return LocalDiagnostic(floored_curve(n, d, least, reach, g, orders=grid, n_draws=n_draws))


def local_from_data(
    values: FloatArray, half_width: float, *, alpha: float, n_draws: int = 1, ddof: Ddof = 1
) -> LocalDiagnostic:
    """Compute the exact local Renyi divergence over all neighbours of a given table.

    Parameters
    ----------
    values : array (n,)
        The confidential column, clamped to [-d, d].
    half_width : float
        d.
    alpha : float
        Order above one.
    n_draws : int
        Records drawn.
    ddof : {0, 1}
        The variance divides by n - ddof.

    Returns
    -------
    LocalDiagnostic
        One value: the largest over the record replaced, its new value (a fine grid, refined once) and both
        orders of the pair.

    Raises
    ------
    PrivacyError
        Outside the domain; clamp the values first.

    Notes
    -----
    Privacy: reads real rows; data-dependent, not publishable. C4: the worst replaced record is often not an
    extreme one, so all are tried.

    Examples
    --------
    >>> local_from_data(np.linspace(-1, 1, 20), 1.0, alpha=2.0).publishable
    False
    """
    d, alpha = positive("half_width", half_width), order(alpha)
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not bool(np.all(np.abs(x) <= d)):
        raise PrivacyError(
            "values must be one column within [-half_width, half_width]",
            kind="mechanism",
            remedy="clamp them first",
        )
    g, total = variance_weight(x.size, ddof), float(x.var(ddof=ddof))
    records = count("n_draws", n_draws)
    worst = max(_worst_new(old, x.mean(), total, d, alpha, g, x.size) for old in np.unique(x))
    return LocalDiagnostic(np.asarray(records * worst))


def _worst_new(old: float, mean: float, variance: float, d: float, alpha: float, g: float, n: int) -> float:
    """Largest divergence over the new value of one replaced record."""
    rest = mean - (old - mean) / (n - 1)
    common = variance - g * (old - rest) ** 2

    def at(new: FloatArray) -> FloatArray:
        other = common + g * (new - rest) ** 2
        here, shift = np.full_like(other, variance), (old - new) / n
        return np.maximum(_divergence(shift, here, other, alpha), _divergence(shift, other, here, alpha))

    new = np.linspace(-d, d, 801)
    index = int(np.argmax(found := at(new)))
    near = np.linspace(new[max(index - 1, 0)], new[min(index + 1, 800)], 201)
    return max(float(found[index]), float(at(near).max()))


def local_from_summary(
    n: int,
    half_width: float,
    *,
    mean: float,
    variance: float,
    alpha: float,
    n_draws: int = 1,
    ddof: Ddof = 1,
) -> LocalDiagnostic:
    """Compute the local Renyi divergence over all tables with the given size, mean and variance.

    Parameters
    ----------
    n : int
        Number of records, at least two.
    half_width : float
        d: values lie in [-d, d].
    mean, variance : float
        Of the confidential table.
    alpha : float
        Order above one.
    n_draws : int
        Records drawn.
    ddof : {0, 1}
        The variance divides by n - ddof.

    Returns
    -------
    LocalDiagnostic
        One value, the largest on a grid of 401 by 401 feasible replacements; at most :func:`local_bound`.

    Raises
    ------
    PrivacyError
        Outside the domain; the variance is positive.

    Notes
    -----
    Privacy: data-dependent, not publishable. C4.

    Examples
    --------
    >>> local_from_summary(50, 1.0, mean=0.0, variance=0.2, alpha=2.0).publishable
    False
    """
    d, alpha, total = positive("half_width", half_width), order(alpha), positive("variance", variance)
    g, centre = variance_weight(n, ddof), real("mean", mean)
    old = np.linspace(-d, d, 401)[:, None]
    rest = centre - (old - centre) / (n - 1)
    u = old - rest
    common = total - g * u * u
    fits = (np.abs(rest) <= d) & (common >= -1e-15)
    fits &= common <= (1 if ddof == 1 else (n - 1) / n) * (d * d - rest * rest) + 1e-12
    v = (-d - rest) + 2 * d * np.linspace(0, 1, 401)[None, :]
    other = common + g * v * v
    here, shift = np.full_like(other, total), (u - v) / n
    found = np.maximum(_divergence(shift, here, other, alpha), _divergence(shift, other, here, alpha))
    return LocalDiagnostic(np.asarray(count("n_draws", n_draws) * float(np.where(fits, found, 0.0).max())))
