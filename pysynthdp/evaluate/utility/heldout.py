"""Copies beside a half of the table that no model saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.errors import SchemaError
from pysynthdp.evaluate.sides.cells import Cells, coded
from pysynthdp.evaluate.utility.propensity import tree_ratio
from pysynthdp.evaluate.utility.tables import one_way, three_way, two_way

__all__ = ["halves", "held_out"]


def halves(table: pd.DataFrame, *, rng: int | np.random.Generator = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split a table into a half to fit and a half that is held out.

    Parameters
    ----------
    table : DataFrame
        The confidential table.
    rng : int or Generator
        Which rows go where.

    Returns
    -------
    (DataFrame, DataFrame)
        To fit, and for ``compare(fit, release, holdout=held)``; each in the order of the table.

    Notes
    -----
    Privacy: both hold real rows.

    Examples
    --------
    >>> [len(half) for half in halves(pd.DataFrame({"x": range(5)}))]
    [3, 2]
    """
    first = np.zeros(len(table), dtype=bool)
    first[np.random.default_rng(rng).permutation(len(table))[: (len(table) + 1) // 2]] = True
    return table[first].reset_index(drop=True), table[~first].reset_index(drop=True)


def held_out(
    holdout: Any, cells: Sequence[Cells], sides: Sequence[AnyArray], frames: tuple[pd.DataFrame, pd.DataFrame]
) -> pd.DataFrame:
    """Measure how far copies and table lie from rows that no model saw.

    Parameters
    ----------
    holdout : DataFrame
        Rows of the same population, with the columns that are compared.
    cells : sequence of Cells
        Of the columns.
    sides : sequence of array of int (columns, rows)
        Cells of the confidential table, then of each copy.
    frames : (DataFrame, DataFrame)
        The table and the first copy, for trees.

    Returns
    -------
    DataFrame
        Mean share of rows moved over all tables of one to three columns, of the copies and of the table, and
        their ratio: 1 where copies are as near as the table itself, which is a fresh sample to the held-out
        rows. The last line has the ratio of trees for both.

    Raises
    ------
    SchemaError
        If a column is lacking.

    Notes
    -----
    Privacy: of real rows.
    """
    lacking = [each.facts.name for each in cells if each.facts.name not in holdout.columns]
    if lacking:
        what = f"the held-out rows have no column {lacking[0]}"
        raise SchemaError(what, column=lacking[0], kind="columns", remedy="give rows of the same table")
    sizes = np.array([each.size for each in cells])
    other = coded(holdout, cells)
    pairs = two_way([other, *sides], sizes).tables
    measured: dict[str, Callable[[Sequence[AnyArray]], FloatArray]] = {
        "one-way tables": lambda those: one_way(those, sizes).scored,
        "two-way tables": lambda those: two_way(those, sizes).tables.scored,
        "three-way tables": lambda those: three_way(those, sizes, pairs).scored,
    }
    rows: list[tuple[str, str, float, float, float]] = []
    for name, score in measured.items():
        found = [score([other, *those])[:, 1] for those in (sides[1:], sides[:1])]
        if found[0].size:
            copies, table = (float(np.nanmean(each)) for each in found)
            rows.append((name, "share moved", copies, table, copies / table if table else np.nan))
    trees = [tree_ratio(holdout, frame, cells) for frame in (frames[1], frames[0])]
    rows.append(("propensity by tree", "ratio", trees[0], trees[1], trees[0] / trees[1]))
    return pd.DataFrame(rows, columns=["measure", "of", "copies", "table", "ratio"])
