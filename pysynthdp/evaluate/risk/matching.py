"""Match risk of partly synthetic files: whether records are found again by keys (Reiter and Mitra 2009)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.evaluate.risk.asked import Asked
from pysynthdp.evaluate.risk.coding import Coded, Files

__all__ = ["match_table", "why_no_matches"]

_ALL: Final = 100.0
_COLUMNS: Final = ("keys", "expected", "expected_share", "true", "false", "unique")


def why_no_matches(files: Files, kept: Collection[str]) -> str | None:
    """Say why records of the table and of the copies cannot be matched one to one; None if they can.

    Parameters
    ----------
    files : Files
        Table and copies.
    kept : collection of str
        Columns released as they are.

    Returns
    -------
    str or None
        One sentence.
    """
    if not kept:
        return "no column is kept real, so no record of a copy belongs to a record of the table"
    if any(len(copy) != len(files.table) for copy in files.copies):
        return "the copies have another number of rows than the table"
    for name in kept:
        if name in files.names:
            column = files.coded(name)
            if not all(np.array_equal(copy, column.table) for copy in column.copies):
                return f"{name} is said to be kept real, and differs from the table row by row"
    return None


def match_table(asked: Asked, files: Files, codes: dict[str, Coded]) -> pd.DataFrame:
    """Match every record of the table with the copies by each key set.

    Parameters
    ----------
    asked : Asked
        Key sets.
    files, codes
        Table, copies whose row i stands for record i, and their columns as codes.

    Returns
    -------
    DataFrame
        Per key set: ``expected`` number of right matches if an intruder chooses at random among the records
        that fit best over all copies, its per cent of all (``expected_share``); per cent of all records that
        are matched alone and rightly (``true``); per cent of the single matches that are wrong (``false``);
        and single matches in per cent of all (``unique``).

    Notes
    -----
    Privacy: reads real rows. A record j fits record i with the mean over copies of 1 / N, where N rows have
    the keys of i; 0 in a copy where row j has not.
    """
    n = len(files.table)
    rows = []
    for name in asked.keys:
        best, right = _best(asked.key(codes, name))
        alone = best == 1
        single = int(alone.sum())
        expected = float(np.divide(right, best, out=np.zeros(n), where=best > 0).sum())
        wrong = float(_ALL * (alone & ~right).sum() / single) if single else np.nan
        true = float(_ALL * (alone & right).sum() / n)
        rows.append((name, expected, _ALL * expected / n, true, wrong, _ALL * single / n))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _best(key: Coded) -> tuple[IntArray, BoolArray]:
    """Count for each record the rows that fit best (0: none fits), and tell whether its own is among them."""
    pairs, weights = _weights(key)
    rows = key.table.size
    owner = pairs // rows
    top: FloatArray = np.zeros(key.size)
    np.maximum.at(top, owner, weights)
    at_top = weights >= top[owner] * (1 - 1e-12)
    many = np.bincount(owner[at_top], minlength=key.size)
    own = key.table * rows + np.arange(rows)
    right = np.isin(own, pairs[at_top])
    return many[key.table].astype(np.int64), right


def _weights(key: Coded) -> tuple[IntArray, FloatArray]:
    """Give pairs (key combination of the table, row of the copies) and how well they fit."""
    wanted = np.zeros(key.size, dtype=bool)
    wanted[key.table] = True
    rows = key.table.size
    parts, weights = [], []
    for copy in key.copies:
        here = np.flatnonzero(wanted[copy])
        many = np.bincount(copy, minlength=key.size)
        parts.append(copy[here] * rows + here)
        weights.append(1.0 / (many[copy[here]] * len(key.copies)))
    pairs, place = np.unique(np.concatenate(parts), return_inverse=True)
    summed = np.bincount(place, np.concatenate(weights), minlength=pairs.size).astype(np.float64)
    return pairs, summed
