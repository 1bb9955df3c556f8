"""Least squares on what noisy cross-products must satisfy: margins of all tables agree, totals are n.

The noise is independent with one variance off the diagonal and twice it on the diagonal, so the weighted
least-squares projection has closed forms: block by block, without any large matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.curator.noised.integers import Frame

__all__ = ["consistent_levels", "consistent_numbers", "total_rows", "weights_of"]


def total_rows(frame: Frame, levels: FloatArray, count: float, weight: float) -> float:
    """Estimate the number of rows from a noisy count and every table of levels.

    Parameters
    ----------
    frame : Frame
        Where features lie.
    levels : array (levels, levels)
        Noisy cross-products of the levels.
    count : float
        Noisy number of rows.
    weight : float
        Noise variance of a cross-product over that of the count.

    Returns
    -------
    float

    Notes
    -----
    Privacy: post-processing. With the margins eliminated, the weighted sum of squares is quadratic in n:
    sum_j W_j (n - sum a_j)^2/L_j - sum_{j<l} (n - r_jl)^2/(L_j L_l) + weight (n - count)^2.
    """
    means, precision = _margins(frame, levels)
    top, bottom = weight * count, weight
    for mean, size, each in zip(means, frame.blocks, precision, strict=True):
        top, bottom = top + each * float(mean.sum()) / size, bottom + each / size
    for j, rows in enumerate(_slices(frame)):
        for columns in _slices(frame)[j + 1 :]:
            table = levels[rows, columns]
            top, bottom = top - float(table.sum()) / table.size, bottom - 1 / table.size
    return top / bottom


def consistent_levels(frame: Frame, levels: FloatArray, n: float) -> FloatArray:
    """Move noisy two-way tables onto common margins that sum to n.

    Parameters
    ----------
    frame : Frame
        Where features lie.
    levels : array (levels, levels)
        Noisy cross-products of the levels.
    n : float
        Number of rows.

    Returns
    -------
    array (levels, levels)
        Every table's margins are the diagonals.

    Notes
    -----
    Privacy: post-processing. The margins m_j minimise |m_j - diag|^2/2 + sum_l |m_j - rows of table l|^2/L_l
    subject to their sum; each table then moves by a_i/L_l + b_k/L_j - c/(L_j L_l).
    """
    means, _ = _margins(frame, levels)
    margins = [mean + (n - mean.sum()) / mean.size for mean in means]
    result = np.zeros_like(levels)
    slices = _slices(frame)
    for j, rows in enumerate(slices):
        result[rows, rows] = np.diag(margins[j])
        for k in range(j + 1, len(slices)):
            table = levels[rows, slices[k]]
            moved = _with_margins(table, margins[j], margins[k])
            result[rows, slices[k]], result[slices[k], rows] = moved, moved.T
    return result


def _slices(frame: Frame) -> list[slice]:
    """Levels of each block."""
    return [slice(start, start + size) for start, size in zip(frame.starts, frame.blocks, strict=True)]


def _margins(frame: Frame, levels: FloatArray) -> tuple[list[FloatArray], list[float]]:
    """Precision-weighted mean of every measurement of each block's margin, and its precision."""
    means, precisions = [], []
    slices = _slices(frame)
    for j, rows in enumerate(slices):
        total, precision = levels[rows, rows].diagonal() / 2, 0.5
        for k, columns in enumerate(slices):
            if k != j:
                total = total + levels[rows, columns].sum(axis=1) / frame.blocks[k]
                precision += 1 / frame.blocks[k]
        means.append(np.asarray(total / precision))
        precisions.append(precision)
    return means, precisions


def _with_margins(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Nearest table with given margins, which have the same sum."""
    a, b = rows - table.sum(axis=1), columns - table.sum(axis=0)
    height, width = table.shape
    return np.asarray(table + a[:, None] / width + b / height - a.sum() / table.size)


def consistent_numbers(frame: Frame, sums: FloatArray) -> FloatArray:
    """Move noisy sums of numbers within levels so that every block gives the same total.

    Parameters
    ----------
    frame : Frame
        Where features lie.
    sums : array (levels, p)
        Noisy sums of each number over the rows of each level.

    Returns
    -------
    array (levels, p)

    Notes
    -----
    Privacy: post-processing. The common total is the mean of the blocks' totals weighted by 1/L; each block
    moves by the rest over its levels.

    Examples
    --------
    >>> frame = Frame((2, 2), 1)
    >>> consistent_numbers(frame, np.array([[1.0], [2.0], [3.0], [4.0]])).ravel().tolist()
    [2.0, 3.0, 2.0, 3.0]
    """
    totals = np.stack([sums[rows].sum(axis=0) for rows in _slices(frame)])
    weights = 1 / np.asarray(frame.blocks, dtype=np.float64)
    common = weights @ totals / weights.sum()
    moved = [sums[rows] + (common - totals[j]) / frame.blocks[j] for j, rows in enumerate(_slices(frame))]
    return np.concatenate(moved)


def weights_of(variances: Sequence[float]) -> FloatArray:
    """Inverse variances, scaled to sum to one."""
    precision = 1 / np.asarray(variances, dtype=np.float64)
    return np.asarray(precision / precision.sum())
