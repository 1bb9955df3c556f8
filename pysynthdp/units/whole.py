"""Rows drawn as whole units beside the real ones: errors that pass from place to place show here alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import FloatArray, IntArray
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Setting, Words
from pysynthdp.plan.checked import Finding

__all__ = ["WHOLE", "far_as_wholes", "far_remarks"]

WHOLE: Final = "whole units, all their rows"
_CHANCE: Final = 0.05  # of any finding, where all is well
_LEAST_UNITS: Final = 10  # with a value, or on either side of a share
_MATTERS: Final = 0.1  # of a standard deviation: less is no finding of this look


def far_as_wholes(
    real: pd.DataFrame, unit: IntArray, copies: Sequence[pd.DataFrame], columns: Sequence[str]
) -> tuple[Finding, ...]:
    """Compare means and spreads of numbers, and shares of levels, over all rows of real and drawn units.

    Parameters
    ----------
    real : DataFrame
        The confidential rows.
    unit : array of int (rows,)
        Unit of each.
    copies : sequence of DataFrame
        Rows of units that were drawn from the fit.
    columns : sequence of str
        Columns of rows, to be compared.

    Returns
    -------
    tuple of Finding
        Beyond chance and by a tenth of a standard deviation, the strongest first.

    Notes
    -----
    Privacy: reads real rows; INTERNAL. Errors are of units; nothing is compared that fewer than ten have.
    """
    drawn = pd.concat([copy[list(columns)] for copy in copies], ignore_index=True)
    asked = [each for name in columns for each in _asked(name, real[name], drawn[name], unit)]
    limit = NormalDist().inv_cdf(1 - _CHANCE / 2 / max(len(asked), 1))
    found = []
    for name, what, level, y, z in asked:
        there = ~np.isnan(y)
        mean, apart = float(y[there].mean()), float(np.nanmean(z) - y[there].mean())
        sums = np.bincount(unit[there], y[there] - mean)
        error = float(np.sqrt((sums**2).sum() * (1 + 1 / len(copies)))) / int(there.sum())
        size = abs(apart) / max(error, 1e-300)
        if size > limit and abs(apart) > _MATTERS * float(y[there].std()):
            found.append(Finding(name, what, level, size, limit, _remedy(name), WHOLE))
    return tuple(sorted(found, key=lambda each: -each.strength))


def _asked(
    name: str, real: pd.Series[Any], drawn: pd.Series[Any], unit: IntArray
) -> Iterator[tuple[str, str, tuple[str, ...], FloatArray, FloatArray]]:
    """Write what is compared of a column as numbers: what, beside which level, real, drawn."""
    if pd.api.types.is_numeric_dtype(real.dtype) and not pd.api.types.is_bool_dtype(real.dtype):
        y, z = (each.to_numpy(dtype=np.float64, na_value=np.nan) for each in (real, drawn))
        if len(np.unique(unit[~np.isnan(y)])) >= _LEAST_UNITS and np.isfinite(z).any():
            yield name, "mean", (), y, z
            yield name, "spread", (), np.square(y - np.nanmean(y)), np.square(z - np.nanmean(y))
        return
    for level in pd.unique(real.dropna()):
        y, z = ((each == level).to_numpy(dtype=np.float64, na_value=0.0) for each in (real, drawn))
        if min(len(np.unique(unit[y == side])) for side in (0.0, 1.0)) >= _LEAST_UNITS:
            yield name, "share", (str(level),), y, z


def _remedy(name: str) -> Words:
    """Say what holds a column that drifts."""
    return Words(
        "errors pass from row to row: give it fewer predictors, as by {formulas}, or another model, {method}",
        formulas=Setting("formulas", [f"{name} ~ ..."]),
        method=Setting("method", {name: "norm"}),
    )


def far_remarks(findings: Sequence[Finding]) -> Iterator[Remark]:
    """Say of each column once that its rows drift away."""
    told: set[str] = set()
    for each in findings:
        if each.column not in told:
            told.add(each.column)
            what = Words(
                "its {what} over all rows is off by more than chance in rows drawn from the fit, whole units "
                "at a time",
                what=each.what,
            )
            yield Remark(each.column, "drift", what, each.remedy)
