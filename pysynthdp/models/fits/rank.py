"""Which features carry information of their own: a rank check that no change of scale can move."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import FEWEST

__all__ = ["centred_products", "independent_features", "pivot_shares", "resting_on_few"]

COLLINEAR = 1e-9
CONSTANT = 1e-12


def centred_products(gram: FloatArray) -> FloatArray:
    """Cross-products of the features about their means.

    Parameters
    ----------
    gram : array (features, features)
        X'X with the intercept first.

    Returns
    -------
    array (features - 1, features - 1)

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.

    Examples
    --------
    >>> centred_products(np.array([[2.0, 4.0], [4.0, 10.0]]))
    array([[2.]])
    """
    mean = gram[0, 1:] / gram[0, 0]
    return gram[1:, 1:] - np.outer(gram[0, 1:], mean)


def independent_features(gram: FloatArray) -> IntArray:
    """Positions of the features that are neither constant nor a combination of earlier ones.

    Parameters
    ----------
    gram : array (features, features)
        X'X with the intercept first; the intercept is always kept.

    Returns
    -------
    array of int, increasing, starting with 0

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    A feature is kept where its squared partial correlation complement, the pivot of a Cholesky
    factorisation of the correlation matrix in feature order, exceeds 1e-9.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 0.0, 3.0], [1.0, 1.0, 2.0, 3.0], [1.0, 5.0, 10.0, 3.0]])
    >>> independent_features(X.T @ X).tolist()
    [0, 1]
    """
    products = centred_products(gram)
    spread = products.diagonal()
    varying = np.flatnonzero(spread > CONSTANT * gram.diagonal()[1:])
    if varying.size == 0:
        return np.zeros(1, dtype=np.int64)
    scale = np.sqrt(spread[varying])
    correlation = products[np.ix_(varying, varying)] / np.outer(scale, scale)
    kept = varying[pivot_shares(correlation, np.full(varying.size, COLLINEAR)) > COLLINEAR]
    return np.concatenate([[0], kept + 1]).astype(np.int64)


def resting_on_few(gram: FloatArray) -> IntArray:
    """Positions of the dummies that differ in fewer than five records from what the dummies before them say.

    Parameters
    ----------
    gram : array (features, features)
        X'X of the intercept and of 0/1 features.

    Returns
    -------
    array of int, increasing
        Not those without any such record: they are constant, or combinations, and have no coefficient anyway.

    Notes
    -----
    Privacy: arithmetic on sums over rows; reads no row.
    A dummy's coefficient is that of its residual r on the features before it, r'y / r'r: one record moves it
    by at most max|r| / r'r of its own response. A dummy of c records alone has r'r = c (1 - c / n); it is
    left out where its r'r is at most that of four records.

    Examples
    --------
    >>> X = np.zeros((40, 3))
    >>> X[:, 0], X[:9, 1], X[:10, 2] = 1.0, 1.0, 1.0  # one record has the second dummy without the first
    >>> resting_on_few(X.T @ X).tolist()
    [2]
    """
    size = float(gram[0, 0])
    few = FEWEST - 1
    if size <= few:
        return np.arange(1, len(gram))
    products = centred_products(gram)
    spread = products.diagonal()
    varying = np.flatnonzero(spread > CONSTANT * gram.diagonal()[1:])
    if varying.size == 0:
        return varying
    scale = np.sqrt(spread[varying])
    correlation = products[np.ix_(varying, varying)] / np.outer(scale, scale)
    least = few * (1 - few / size) / scale**2 * (1 + COLLINEAR)
    pivots = pivot_shares(correlation, np.maximum(least, COLLINEAR))
    return np.asarray(varying[(pivots > COLLINEAR) & (pivots <= least)] + 1, dtype=np.int64)


def pivot_shares(correlation: FloatArray, needed: FloatArray) -> FloatArray:
    """Share of each feature's variance that the features kept before it leave unexplained."""
    try:
        pivots: FloatArray = np.linalg.cholesky(correlation).diagonal().astype(np.float64) ** 2
    except np.linalg.LinAlgError:
        return _swept_pivots(correlation, needed)
    return pivots if np.all(pivots > needed) else _swept_pivots(correlation, needed)


def _swept_pivots(correlation: FloatArray, needed: FloatArray) -> FloatArray:
    """Pivots one feature at a time; a feature without the pivot it needs is skipped instead of swept out."""
    left = correlation.copy()
    pivots = np.zeros(len(left))
    for j in range(len(left)):
        pivots[j] = left[j, j]
        if pivots[j] > needed[j]:
            left[j + 1 :, j + 1 :] -= np.outer(left[j + 1 :, j], left[j, j + 1 :] / pivots[j])
    return pivots
