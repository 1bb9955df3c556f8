"""Totals, means, shares and ratios of a sample, for all rows or by domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.designs.sample import Lonely, Sample, variance
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.base.arrays import BoolArray, FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.base.words import meant

__all__ = ["Domain", "Measured", "check_names", "domains_of", "means", "measured", "ratios", "totals"]


@dataclass(frozen=True, slots=True, repr=False)
class Measured:
    """A number of each row: a column, or whether it has a level; NaN where it is missing."""

    label: str
    values: FloatArray


@dataclass(frozen=True, slots=True, repr=False)
class Domain:
    """Some of the rows, and how terms name them; the rows (n,) that are in it."""

    name: str
    rows: BoolArray


def measured(frame: pd.DataFrame, columns: Sequence[str], levels: Sequence[Sequence[Any]]) -> list[Measured]:
    """Read columns: numbers as they are, of others whether a row has each of their levels.

    Parameters
    ----------
    frame : DataFrame
        One copy.
    columns : sequence of str
        What is estimated.
    levels : sequence of sequences
        For each of them its levels over all copies; empty for a number.
    """
    found: list[Measured] = []
    for name, own in zip(columns, levels, strict=True):
        held = frame[name]
        if not len(own):
            numbers = held.to_numpy(dtype=np.float64, na_value=np.nan)
            found.append(Measured(name, np.asarray(numbers)))
            continue
        there = held.notna().to_numpy()
        for level in own:
            has = (held == level).to_numpy(dtype=np.bool_, na_value=False)
            found.append(Measured(f"{name}={level}", np.where(there, has.astype(np.float64), np.nan)))
    return found


def domains_of(frame: pd.DataFrame, by: str | None, levels: Sequence[Any]) -> list[Domain]:
    """Give the domains: the levels of a column, or all rows."""
    if by is None:
        return [Domain("", np.ones(len(frame), dtype=np.bool_))]
    held = frame[by]
    return [
        Domain(f"[{by}={level}]", (held == level).to_numpy(dtype=np.bool_, na_value=False))
        for level in levels
    ]


def totals(what: Sequence[Measured], domains: Sequence[Domain], sample: Sample, lonely: Lonely) -> Estimates:
    """Estimate totals: sum of w y; rows where y is missing are left out."""
    terms, values, z = [], [], []
    for domain in domains:
        for one in what:
            used = domain.rows & ~np.isnan(one.values)
            y = np.where(used, one.values, 0.0)
            terms.append(f"total({one.label}){domain.name}")
            values.append(float(sample.w @ y))
            z.append(sample.w * y)
    return _estimates("total", terms, values, z, sample, lonely)


def means(what: Sequence[Measured], domains: Sequence[Domain], sample: Sample, lonely: Lonely) -> Estimates:
    """Estimate means, sum of w y over sum of w; rows where any of the numbers is missing are left out."""
    known = ~np.any([np.isnan(one.values) for one in what], axis=0)
    terms, values, z = [], [], []
    for domain in domains:
        used = domain.rows & known
        for one in what:
            value, influence = _ratio(np.where(used, one.values, 0.0), used.astype(np.float64), sample)
            terms.append(f"mean({one.label}){domain.name}")
            values.append(value)
            z.append(influence)
    return _estimates("mean", terms, values, z, sample, lonely)


def ratios(
    over: Measured, under: Measured, domains: Sequence[Domain], sample: Sample, lonely: Lonely
) -> Estimates:
    """Estimate ratios, sum of w y over sum of w x; rows where y or x is missing are left out."""
    known = ~(np.isnan(over.values) | np.isnan(under.values))
    terms, values, z = [], [], []
    for domain in domains:
        used = domain.rows & known
        y, x = (np.where(used, one.values, 0.0) for one in (over, under))
        value, influence = _ratio(y, x, sample)
        terms.append(f"ratio({over.label}/{under.label}){domain.name}")
        values.append(value)
        z.append(influence)
    return _estimates("ratio", terms, values, z, sample, lonely)


def _ratio(y: FloatArray, x: FloatArray, sample: Sample) -> tuple[float, FloatArray]:
    """Ratio of two totals, and the weighted influence of each row; NaN where the lower one is zero."""
    below = float(sample.w @ x)
    if not below:
        return np.nan, np.full(len(x), np.nan)
    value = float(sample.w @ y) / below
    return value, sample.w * (y - value * x) / below


def _estimates(
    kind: str,
    terms: Sequence[str],
    values: Sequence[float],
    z: Sequence[FloatArray],
    sample: Sample,
    lonely: Lonely,
) -> Estimates:
    """Put estimates together with their covariance."""
    held = np.array([not np.isnan(each).any() for each in z])
    cov = np.full((len(terms), len(terms)), np.nan)
    if held.any():
        known = np.column_stack([each for each, there in zip(z, held, strict=True) if there])
        cov[np.ix_(held, held)] = variance(known, sample, lonely)
    return Estimates(
        tuple(terms),
        np.array(values),
        cov,
        df=_df(sample),
        nobs=len(sample.w),
        model=f"survey-weighted {kind}",
    )


def _df(sample: Sample) -> float:
    """Degrees of freedom of a design; at least one is needed.

    Raises
    ------
    FitError
        Where every stratum has one unit.
    """
    if sample.df < 1:
        raise FitError(
            "the design has no degrees of freedom: every stratum has one sampling unit",
            kind="design",
            remedy="merge strata",
        )
    return sample.df


def check_names(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse what is no column of the copies.

    Raises
    ------
    FitError
        Names the nearest.
    """
    for name in names:
        if name not in frame.columns:
            raise FitError(
                f"there is no column {name!r} in the copies",
                column=name,
                kind="estimand",
                remedy=meant(name, map(str, frame.columns), "give names of columns"),
            )
