"""Multivariate normal under add/remove, exact: entries C7 and D4."""

from __future__ import annotations

import math

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.privacy.domain import checked_orders, count, nonnegative

__all__ = ["add_one_renyi", "addremove_renyi", "remove_one_renyi"]


def add_one_renyi(
    q: float, *, orders: FloatArray | float, n: int, columns: int, n_draws: int = 1
) -> FloatArray:
    """Compute the exact divergence of the fit of n records from that of n + 1.

    Parameters
    ----------
    q : float
        (x - mean)' S^-1 (x - mean) of the extra record, by the fit of the n records.
    orders : array (k,) or float
        Orders above one.
    n : int
        Records in the smaller table.
    columns : int
        d; one column is entry C7.
    n_draws : int
        Records drawn.

    Returns
    -------
    array (k,)
        Divergence; ``inf`` where it is not bounded.

    Raises
    ------
    PrivacyError
        Outside the domain; q >= 0.

    Notes
    -----
    Privacy: arithmetic on a pair of neighbours. D4 (add), C7 for d = 1: even q = 0 has a cost, since the
    variance is rescaled by n/(n+1).

    Examples
    --------
    >>> round(float(add_one_renyi(16, orders=4.0, n=1000, columns=1)), 9)
    0.000243527
    """
    q, d, size = nonnegative("q", q), count("columns", columns), count("n", n) + 1
    grid = checked_orders(orders)
    known = grid < size
    a = np.where(known, grid, (1 + size) / 2)
    lost = -a / size
    gained = a * n / size**2 * q
    known &= lost + gained > -1
    inner = np.where(known, lost + gained, 0.0)
    logs = (d - 1) * np.log1p(lost) + np.log1p(inner) + a * d * math.log1p(1 / n) - a * math.log1p(q / size)
    return _assembled(a, q, size, inner, logs, known, n_draws)


def remove_one_renyi(
    q: float, *, orders: FloatArray | float, n: int, columns: int, n_draws: int = 1
) -> FloatArray:
    """Compute the exact divergence of the fit of n + 1 records from that of n.

    Parameters
    ----------
    q : float
        (x - mean)' S^-1 (x - mean) of the extra record, by the fit of the n records.
    orders : array (k,) or float
        Orders above one.
    n : int
        Records in the smaller table.
    columns : int
        d; one column is entry C7.
    n_draws : int
        Records drawn.

    Returns
    -------
    array (k,)
        Divergence; ``inf`` where it is not bounded.

    Raises
    ------
    PrivacyError
        Outside the domain; q >= 0.

    Notes
    -----
    Privacy: arithmetic on a pair of neighbours. D4 (remove), C7 for d = 1.

    Examples
    --------
    >>> round(float(remove_one_renyi(16, orders=4.0, n=1000, columns=1)), 9)
    0.000262164
    """
    q, d, size = nonnegative("q", q), count("columns", columns), count("n", n) + 1
    grid = checked_orders(orders)
    known = np.isfinite(grid)
    a = np.where(known, grid, 2.0)
    gained = (a - 1) / size
    inner = gained - (a - 1) * n / size**2 * q
    known &= inner > -1
    inner = np.where(known, inner, 0.0)
    logs = (
        (d - 1) * np.log1p(gained)
        + np.log1p(inner)
        - (1 - a) * (-d * math.log1p(1 / n) + math.log1p(q / size))
    )
    return _assembled(a, q, size, inner, logs, known, n_draws)


def _assembled(
    a: FloatArray, q: float, size: int, inner: FloatArray, logs: FloatArray, known: BoolArray, n_draws: int
) -> FloatArray:
    """Mean part and determinant part of D4."""
    value = a / 2 * q / (size**2 * (1 + inner)) - logs / (2 * (a - 1))
    return np.asarray(
        np.where(known, count("n_draws", n_draws) * np.maximum(value, 0.0), np.inf), dtype=np.float64
    )


def addremove_renyi(
    q: float, *, orders: FloatArray | float, n: int, columns: int, n_draws: int = 1
) -> FloatArray:
    """Bound the divergence over add/remove neighbours of tables of n and n + 1 records, leverage at most q.

    Parameters
    ----------
    q : float
        Largest leverage; ``ridge_leverage`` gives it from a public ridge.
    orders : array (k,) or float
        Orders above one.
    n : int
        Records in the smaller table.
    columns : int
        d.
    n_draws : int
        Records drawn.

    Returns
    -------
    array (k,)
        The larger of both directions at both ends of the range of q.

    Raises
    ------
    PrivacyError
        Outside the domain; q >= 0.

    Notes
    -----
    Privacy: a function of n, so publishable only with a public bound on it. D4: both directions fall, then
    rise in q, so the ends suffice.

    Examples
    --------
    >>> round(float(addremove_renyi(60, orders=8.0, n=10000, columns=3)), 9)
    7.3831e-05
    """
    both = [
        of(at, orders=orders, n=n, columns=columns, n_draws=n_draws)
        for of in (add_one_renyi, remove_one_renyi)
        for at in (0.0, q)
    ]
    return np.asarray(np.max(both, axis=0) * (1 + 2.0**-48), dtype=np.float64)
