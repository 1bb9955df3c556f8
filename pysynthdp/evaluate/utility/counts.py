"""Counts of tables of one to three columns, many tables in one pass over few rows at a time."""

from __future__ import annotations

import numpy as np

from pysynthdp.base.arrays import AnyArray, IntArray

__all__ = ["count_pairs", "count_single", "count_triples", "starts_of"]

_ROOM = 1_000_000  # keys that are made at a time


def starts_of(sizes: AnyArray) -> IntArray:
    """Give the place at which each of several tables begins."""
    return np.asarray(np.cumsum(sizes) - sizes, dtype=np.int64)


def count_single(cells: AnyArray, sizes: IntArray) -> IntArray:
    """Count the rows in each cell of each column, one column after the other."""
    return np.concatenate(
        [np.bincount(column, minlength=size) for column, size in zip(cells, sizes, strict=True)]
    )


def count_pairs(cells: AnyArray, sizes: IntArray, first: int, others: IntArray) -> IntArray:
    """Count the tables of one column by each of others: table after table, rows of the one column first.

    Parameters
    ----------
    cells : array of int (columns, rows)
        As :func:`coded` gives them.
    sizes : array of int (columns,)
        Cells of each column.
    first : int
        The column whose cells are the rows of each table.
    others : array of int
        The columns beside it.

    Returns
    -------
    array of int
    """
    return _counted(cells, sizes, (first,), others)


def count_triples(cells: AnyArray, sizes: IntArray, pair: tuple[int, int], others: IntArray) -> IntArray:
    """Count the tables of two columns by each of others, as :func:`count_pairs` does."""
    return _counted(cells, sizes, pair, others)


def _counted(cells: AnyArray, sizes: IntArray, heads: tuple[int, ...], others: IntArray) -> IntArray:
    """Count all tables of some columns by each of others, a block of rows at a time."""
    width = sizes[others][:, None]
    lengths = np.prod(sizes[list(heads)]) * sizes[others]
    offset, total = starts_of(lengths)[:, None], int(lengths.sum())
    found = np.zeros(total, dtype=np.int64)
    step = max(1, _ROOM // max(1, others.size))
    for start in range(0, cells.shape[1], step):
        block = slice(start, start + step)
        key = cells[heads[0], block].astype(np.int64)
        for head in heads[1:]:
            key = key * sizes[head] + cells[head, block]
        places = key[None, :] * width
        places += cells[others, block]
        places += offset
        found += np.bincount(places.ravel(), minlength=total)
    return found
