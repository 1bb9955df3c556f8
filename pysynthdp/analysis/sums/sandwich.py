"""Robust covariances from sums of scores: by row (HC0 to HC3), or by cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.sums.design import Design
from pysynthdp.analysis.sums.request import Robust
from pysynthdp.base.arrays import FloatArray, IntArray

__all__ = ["Clusters", "clusters_of", "robust_covariance"]

Rows = tuple[FloatArray, FloatArray, Any]
"""Columns (p, n), what each row's score is a multiple of them (n,), and its cluster's cells."""
Clusters = pd.Index


def clusters_of(design: Design, robust: Robust | None) -> Clusters[Any] | None:
    """Give the levels of the column of clusters; none where it is not asked for, or a cell is missing.

    Parameters
    ----------
    design : Design
        The copy.
    robust : Robust or None
        What is asked for.

    Notes
    -----
    Privacy: reads synthetic copies.
    """
    if robust is None or robust.groups is None:
        return pd.Index([])
    column = design.frame[robust.groups]
    return None if column.isna().any() else pd.Index(column.unique())


def robust_covariance(
    robust: Robust,
    rows: Iterable[Rows],
    inverse: FloatArray,
    clusters: Clusters[Any],
    *,
    linear: bool,
    n: int,
) -> FloatArray:
    """Covariance (p, p): bread, sums of scores, bread.

    Parameters
    ----------
    robust : Robust
        Which one.
    rows : iterable
        Blocks of columns (p, n), score factors (n,), cells of the clusters' column.
    inverse : array (p, p)
        Of the cross-products.
    clusters : Index
        Levels of the clusters' column.
    linear : bool
        Of least squares; statsmodels takes HC1 to HC3 of any other model for HC0.
    n : int
        Rows.

    Notes
    -----
    Privacy: post-processing of synthetic copies. MacKinnon and White (1985); the correction for G clusters is
    G/(G - 1) (n - 1)/(n - p), as in statsmodels.
    """
    if robust.kind == "cluster":
        sums, many = _by_cluster(rows, clusters, len(inverse))
        meat = sums.T @ sums
        factor = many / (many - 1.0) * (n - 1.0) / (n - len(inverse)) if robust.corrected else 1.0
    else:
        meat = _by_row(rows, inverse, robust.kind if linear else "HC0")
        factor = n / (n - len(inverse)) if linear and robust.kind == "HC1" else 1.0
    return np.asarray(factor * (inverse @ meat @ inverse))


def _by_row(rows: Iterable[Rows], inverse: FloatArray, kind: str) -> FloatArray:
    """Sum the squares of scores, each divided by what is left of its row by its leverage."""
    meat = np.zeros_like(inverse)
    power = {"HC2": 0.5, "HC3": 1.0}.get(kind)
    left: Any = 1.0
    for X, u, _ in rows:
        if power is not None:
            left = (1.0 - np.einsum("in,in->n", X, inverse @ X)) ** power
        scores = X * (u / left)
        meat += scores @ scores.T
    return meat


def _by_cluster(rows: Iterable[Rows], clusters: Clusters[Any], p: int) -> tuple[FloatArray, int]:
    """Sum the scores (G, p) of each cluster, and count the clusters that have rows."""
    sums, count = np.zeros((len(clusters), p)), np.zeros(len(clusters), dtype=np.int64)
    for X, u, cells in rows:
        codes: IntArray = clusters.get_indexer(pd.Index(cells))
        count += np.bincount(codes, minlength=len(clusters))
        for j in range(p):
            sums[:, j] += np.bincount(codes, weights=X[j] * u, minlength=len(clusters))
    return sums, int(np.count_nonzero(count))
