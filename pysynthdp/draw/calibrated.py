"""Weights of a copy, moved to public totals: by one factor, or by raking to the totals of several columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.errors import PlanError
from pysynthdp.base.words import Words
from pysynthdp.schema import Design
from pysynthdp.schema.survey_design import by_level

__all__ = ["calibrated", "raked"]

NEAR: Final = 1e-9  # of each total
ROUNDS: Final = 500
LEAST: Final = 1e-3  # of the mean weight: what a weight that was drawn as zero or below becomes


def calibrated(copy: pd.DataFrame, design: Design | None, number: int) -> pd.DataFrame:
    """Move the drawn weights of a copy to the totals that the design declares.

    Parameters
    ----------
    copy : DataFrame
        A whole copy.
    design : Design, optional
        Of the sample; weights that were not drawn stay as they are.
    number : int
        Of the copy, from 1, for messages.

    Raises
    ------
    PlanError
        Where a copy has no row in a level with a total, or totals cannot all be met.

    Notes
    -----
    Privacy: post-processing of drawn rows and declared numbers.
    """
    if design is None or design.how != "synthesise" or design.weight is None or design.totals is None:
        return copy
    drawn = copy[design.weight].to_numpy(dtype=np.float64, na_value=np.nan)
    w = _above_zero(drawn)
    if isinstance(design.totals, int | float):
        return copy.assign(**{design.weight: w * (design.totals / w.sum())})
    groups = [_margin(copy, str(name), totals, number) for name, totals in design.totals.items()]
    return copy.assign(**{design.weight: raked(w, groups, number)})


def _above_zero(drawn: FloatArray) -> FloatArray:
    """Give what was drawn as missing, zero or below a small weight."""
    there = np.isfinite(drawn) & (drawn > 0)
    least = LEAST * float(drawn[there].mean()) if there.any() else 1.0
    return np.where(there, np.maximum(drawn, least), least)


def _margin(
    copy: pd.DataFrame, name: str, totals: Mapping[Any, float], number: int
) -> tuple[IntArray, FloatArray]:
    """Give each row the number of its level, and the levels' totals."""
    codes, levels = pd.factorize(copy[name])
    known = by_level(totals, levels)
    if (codes < 0).any() or len(known) < len(levels):
        raise PlanError(
            Words("copy {number} has rows that no total of {name} is declared for", number=number, name=name),
            column=name,
            kind="design",
            remedy="declare a total of each level, in a column without missing values",
        )
    if len(levels) < len(totals):
        raise PlanError(
            Words(
                "copy {number} has no row in {few} of the levels of {name} that have a total",
                number=number,
                few=len(totals) - len(levels),
                name=name,
            ),
            column=name,
            kind="design",
            remedy="draw more rows, or put small levels together, in the table and in the totals",
        )
    return np.asarray(codes, dtype=np.int64), np.array([known[level] for level in levels], dtype=np.float64)


def raked(w: FloatArray, margins: Sequence[tuple[IntArray, FloatArray]], number: int = 1) -> FloatArray:
    """Rake weights until they have all totals.

    Parameters
    ----------
    w : array (n,)
        Positive weights.
    margins : sequence of (codes (n,), totals (levels,))
        Of each column.
    number : int
        Of the copy, for the message.

    Returns
    -------
    array (n,)

    Raises
    ------
    PlanError
        Where no weights have all of them.

    Notes
    -----
    Privacy: post-processing. Iterative proportional fitting (Deming and Stephan 1940).

    Examples
    --------
    >>> raked(np.ones(3), [(np.array([0, 0, 1]), np.array([8.0, 2.0]))]).tolist()
    [4.0, 4.0, 2.0]
    """
    for _ in range(ROUNDS):
        for codes, totals in margins:
            w = w * (totals / np.bincount(codes, weights=w, minlength=len(totals)))[codes]
        off = max(
            float(np.max(np.abs(np.bincount(codes, weights=w, minlength=len(totals)) / totals - 1)))
            for codes, totals in margins
        )
        if off < NEAR:
            return w
    raise PlanError(
        Words("no weights of copy {number} add up to all declared totals at once", number=number),
        kind="design",
        remedy="declare totals of fewer columns, or put small levels together",
    )
