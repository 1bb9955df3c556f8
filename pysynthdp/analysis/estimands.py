"""Means, shares, quantiles and the Gini index with their variances, by subgroup: pooled, or for ``apply``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, overload

import numpy as np
import pandas as pd

from pysynthdp.analysis.asked import Asked, Factor, Term
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.analysis.expressions import Call, Expression, Name
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.wrappers import apply
from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.errors import FitError
from pysynthdp.tags import AnalysableRelease

__all__ = ["gini_of", "mean_of", "quantile_of", "share_of"]

Pair = tuple[float, float]
Estimand: TypeAlias = Callable[[pd.DataFrame], Estimates]


@overload
def mean_of(
    column: str, release: AnalysableRelease, *, by: str | None = ..., **options: Any
) -> PooledResults: ...
@overload
def mean_of(column: str, release: None = ..., *, by: str | None = ...) -> Estimand: ...
def mean_of(
    column: str, release: AnalysableRelease | None = None, *, by: str | None = None, **options: Any
) -> PooledResults | Estimand:
    """Pool the mean of a column over the copies, missing values left out.

    Parameters
    ----------
    column : str
        A numeric column.
    release : release, optional
        The copies and their tags.
    by : str, optional
        A column of subgroups.
    **options
        As in :func:`pysynthdp.analysis.apply`: ``rule``, ``n_org``, ``noise_var``, ``codes``.

    Returns
    -------
    PooledResults or callable
        Means with intervals and tests, one a subgroup; without a release a function from a copy to Estimates,
        for ``apply``. A subgroup with fewer than two values is NaN.

    Notes
    -----
    Privacy: post-processing. The variance is s^2/n.
    """
    return _pooled(_by_group(f"mean({column})", column, by, _mean), release, options)


@overload
def share_of(
    column: str, level: Any, release: AnalysableRelease, *, by: str | None = ..., **options: Any
) -> PooledResults: ...
@overload
def share_of(column: str, level: Any, release: None = ..., *, by: str | None = ...) -> Estimand: ...
def share_of(
    column: str,
    level: Any,
    release: AnalysableRelease | None = None,
    *,
    by: str | None = None,
    **options: Any,
) -> PooledResults | Estimand:
    """Pool the share of a level among the values that are not missing.

    Parameters
    ----------
    column : str
        Any column.
    level : value
        The level counted.
    release : release, optional
        The copies and their tags.
    by : str, optional
        A column of subgroups.
    **options
        As in :func:`pysynthdp.analysis.apply`: ``rule``, ``n_org``, ``noise_var``, ``codes``.

    Returns
    -------
    PooledResults or callable
        Estimates with intervals and tests, one a subgroup; without a release a function from a copy to
        Estimates, for ``apply``.

    Notes
    -----
    Privacy: post-processing. The variance is p(1 - p)/(n - 1).
    """

    def hits(values: pd.Series[Any]) -> FloatArray:
        return np.asarray((values == level).astype("float64"))

    counted = _by_group(f"share({column} = {level})", column, by, _mean, hits)
    counted.__dict__["level"] = (column, level)  # by which apply() sees that a code is asked for
    return _pooled(counted, release, options)


@overload
def quantile_of(
    column: str, p: float, release: AnalysableRelease, *, by: str | None = ..., **options: Any
) -> PooledResults: ...
@overload
def quantile_of(column: str, p: float, release: None = ..., *, by: str | None = ...) -> Estimand: ...
def quantile_of(
    column: str, p: float, release: AnalysableRelease | None = None, *, by: str | None = None, **options: Any
) -> PooledResults | Estimand:
    """Pool a quantile of a column over the copies.

    Parameters
    ----------
    column : str
        A numeric column.
    p : float
        Between 0 and 1.
    release : release, optional
        The copies and their tags.
    by : str, optional
        A column of subgroups.
    **options
        As in :func:`pysynthdp.analysis.apply`: ``rule``, ``n_org``, ``noise_var``, ``codes``.

    Returns
    -------
    PooledResults or callable
        Estimates with intervals and tests, one a subgroup; without a release a function from a copy to
        Estimates, for ``apply``.

    Raises
    ------
    FitError
        When p is not inside (0, 1).

    Notes
    -----
    Privacy: post-processing. The standard error is half of Woodruff's (1952) 95% interval over 1.96.
    """
    if not 0 < p < 1:
        raise FitError("p must lie between 0 and 1", kind="estimand")
    made = _by_group(f"quantile({column}, {p:g})", column, by, lambda x: _quantile(x, p), shape="quantile")
    return _pooled(made, release, options)


@overload
def gini_of(
    column: str, release: AnalysableRelease, *, by: str | None = ..., **options: Any
) -> PooledResults: ...
@overload
def gini_of(column: str, release: None = ..., *, by: str | None = ...) -> Estimand: ...
def gini_of(
    column: str, release: AnalysableRelease | None = None, *, by: str | None = None, **options: Any
) -> PooledResults | Estimand:
    """Pool the Gini index of a column over the copies.

    Parameters
    ----------
    column : str
        A numeric column with a positive mean.
    release : release, optional
        The copies and their tags.
    by : str, optional
        A column of subgroups.
    **options
        As in :func:`pysynthdp.analysis.apply`: ``rule``, ``n_org``, ``noise_var``, ``codes``.

    Returns
    -------
    PooledResults or callable
        Estimates with intervals and tests, one a subgroup; without a release a function from a copy to
        Estimates, for ``apply``.

    Notes
    -----
    Privacy: post-processing. The variance is that of the linearised index: with F the distribution function,
    (2/mu)(x F(x) + mean of y above x - 2A) - ((G + 1)/mu)(x - mu), A = E[x F(x)] = mu (G + 1)/2.
    """
    return _pooled(_by_group(f"gini({column})", column, by, _gini, shape="Gini index"), release, options)


def _pooled(
    function: Estimand, release: AnalysableRelease | None, options: Mapping[str, Any]
) -> PooledResults | Estimand:
    """Pool an estimand over the copies, where they are given."""
    if release is None:
        if options:
            what = f"{next(iter(options))} is a setting of pooling, and no release is given"
            raise FitError(what, kind="call", remedy="give the release after the column")
        return function
    return apply(function, release, **options)


def _by_group(
    label: str,
    column: str,
    by: str | None,
    estimate: Callable[[FloatArray], Pair],
    prepare: Callable[[pd.Series[Any]], FloatArray] | None = None,
    *,
    shape: str = "",
) -> Callable[[pd.DataFrame], Estimates]:
    """Apply an estimator to every subgroup; subgroups are independent.

    What it asks of the copies is its attribute ``asked``, by which the pooled table is flagged.
    """

    def function(frame: pd.DataFrame) -> Estimates:
        missing = [name for name in (column, by) if name is not None and name not in frame.columns]
        if missing:
            raise FitError(f"there is no column {missing[0]!r} in the copies", kind="estimand")
        rows = frame[frame[column].notna()]
        groups = [("", rows)] if by is None else list(rows.groupby(by, observed=False))
        terms = tuple(label if by is None else f"{label}[{by}={name}]" for name, _ in groups)
        parts = [_numbers(group[column], prepare) for _, group in groups]
        pairs = [estimate(part) if part.size > 1 else (np.nan, np.nan) for part in parts]
        values, variances = np.array(pairs).T
        return Estimates(terms, values, np.diag(variances), nobs=len(rows), model=label)

    function.__dict__["columns"] = tuple(name for name in (column, by) if name is not None)
    function.asked = _asked(column, by, shape, cut=prepare is not None)  # type: ignore[attr-defined]
    return function


def _asked(column: str, by: str | None, shape: str, *, cut: bool) -> Asked:
    """Say what an estimand asks: a column, or whether it has a level, by the levels of another."""
    own: Expression = Call("compare", (Name(column), "")) if cut else Name(column)
    terms = () if by is None else (Term((Factor(by, Call("C", (Name(by),))),)),)
    text = f"share of a value of {column}" if cut else column
    return Asked(response=Factor(text, own), terms=terms, shape=shape, canonical=True, straight=not shape)


def _numbers(values: pd.Series[Any], prepare: Callable[[pd.Series[Any]], FloatArray] | None) -> FloatArray:
    """Values of a subgroup as floats."""
    if prepare is not None:
        return prepare(values)
    return np.asarray(values.to_numpy(dtype=np.float64))


def _mean(x: FloatArray) -> Pair:
    """Mean and its variance."""
    return float(x.mean()), float(x.var(ddof=1) / x.size)


def _quantile(x: FloatArray, p: float) -> Pair:
    """Quantile and Woodruff's variance."""
    spread = 1.959963984540054 * np.sqrt(p * (1 - p) / x.size)
    low, high = np.quantile(x, np.clip([p - spread, p + spread], 0, 1))
    return float(np.quantile(x, p)), float(((high - low) / (2 * 1.959963984540054)) ** 2)


def _gini(x: FloatArray) -> Pair:
    """Gini index and the variance of its linearised form."""
    x = np.sort(x)
    n, mean = x.size, x.mean()
    if mean <= 0:
        raise FitError("the Gini index needs a positive mean", kind="estimand")
    F = (np.arange(1, n + 1) - 0.5) / n
    A = float(np.mean(x * F))
    gini = 2 * A / mean - 1
    above = (x.sum() - np.cumsum(x) + x / 2) / n
    influence = 2 / mean * (x * F + above - 2 * A) - (gini + 1) / mean * (x - mean)
    return float(gini), float(influence.var(ddof=1) / n)
