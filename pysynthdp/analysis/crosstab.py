"""A cross table of two columns, pooled: shares with intervals, and a test that the columns go together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pysynthdp.analysis.doors import check_release
from pysynthdp.analysis.estimates import Estimates
from pysynthdp.analysis.f_tests import FTest
from pysynthdp.analysis.results import PooledResults
from pysynthdp.analysis.stored import in_frames
from pysynthdp.analysis.wrappers import apply
from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.base.display import Cell, Printable, PValue, Table
from pysynthdp.base.errors import CombiningRuleError, FitError
from pysynthdp.tags import AnalysableRelease

__all__ = ["Crosstab", "crosstab_of"]

_TERM = "{row}={r}, {column}={c}"


@dataclass(frozen=True, slots=True, repr=False)
class Crosstab(Printable):
    """A pooled cross table.

    Parameters
    ----------
    row, column : str
        The columns.
    rows, columns : tuple
        Their levels.
    shares : PooledResults
        Share of each cell, with its interval.
    test : FTest or None
        Of independence, by the form that goes with the rule.
    reason : str
        Why there is no test; empty where there is one.

    Notes
    -----
    Privacy: post-processing of synthetic copies.
    """

    row: str
    column: str
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    shares: PooledResults
    test: FTest | None
    reason: str

    def to_frame(self) -> pd.DataFrame:
        """Shares of the cells, rows by columns."""
        values = self.shares.params.to_numpy().reshape(len(self.rows), len(self.columns))
        index = pd.Index(self.rows, name=self.row)
        return pd.DataFrame(values, index=index, columns=pd.Index(self.columns, name=self.column))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Limits of the share of each cell."""
        return self.shares.conf_int(alpha)

    def to_table(self) -> Table:
        """Build the table that is printed."""
        limits = self.conf_int().to_numpy(dtype=np.float64)
        names = [(r, c) for r in self.rows for c in self.columns]
        rows: list[tuple[Cell, ...]] = [
            (str(r), str(c), float(share), float(low), float(high))
            for (r, c), share, (low, high) in zip(names, self.shares.params, limits, strict=True)
        ]
        facts: list[tuple[str, Cell]] = [("copies", self.shares.m), ("rule", self.shares.rule)]
        if self.test is None:
            facts.append(("test of independence", f"none: {self.reason}"))
        else:
            facts += [
                ("independence, F", self.test.stat),
                ("independence, df", f"{self.test.df1:g}, {self.test.df2:.4g}"),
                ("independence, p", PValue(self.test.pvalue)),
            ]
        heads = (self.row, self.column, "share", "low", "high")
        title = f"Shares of {self.row} by {self.column}, pooled"
        return Table(title, heads, tuple(rows), tuple(facts), tuple(self.shares.notes))


def crosstab_of(row: str, column: str, release: AnalysableRelease, **options: Any) -> Crosstab:
    """Pool the cross table of two columns over the copies.

    Parameters
    ----------
    row, column : str
        Columns of few levels; rows in which one is missing are left out.
    release : release
        The copies and their tags.
    **options
        As in :func:`pysynthdp.analysis.apply`: ``rule``, ``n_org``, ``noise_var``, ``codes``.

    Returns
    -------
    Crosstab
        Shares of the cells with intervals, and a test of independence.

    Raises
    ------
    FitError
        If there is no such column, or it has too many levels.
    CombiningRuleError
        When no rule is valid.

    Notes
    -----
    Privacy: post-processing of synthetic copies; reads no real row and spends no budget.
    Shares p have the covariance (diag(p) - p p')/n in a copy, or that of sums over units where rows belong to
    some. Independence is tested by the departures
    p_rc - p_r p_c of all but the last row and column, linearised, jointly by the Wald test of the combining
    rule.

    Examples
    --------
    >>> import pysynthdp as sdp
    >>> table = pd.DataFrame({"sex": ["F", "M"] * 60, "smokes": ["no", "no", "yes"] * 40})
    >>> found = crosstab_of("sex", "smokes", sdp.synthesize(table, m=3, rng=1))
    >>> float(found.to_frame().to_numpy().sum().round(6))
    1.0
    """
    check_release(release, "crosstab_of(row, column, release)")
    held = in_frames(release, {row, column, *([release.tags.unit] if release.tags.unit else [])})
    levels = [_levels(held.copies, name) for name in (row, column)]
    shares = apply(_estimator(row, column, levels, _shares), held, **options)
    test, reason = _independence(row, column, levels, held, options)
    return Crosstab(row, column, tuple(levels[0]), tuple(levels[1]), shares, test, reason)


def _levels(copies: Sequence[Any], name: str) -> list[Any]:
    """Give the levels of a column that some copy has, in order."""
    if any(name not in copy.columns for copy in copies):
        raise FitError(f"there is no column {name!r} in the copies", kind="estimand")
    first = copies[0][name]
    found = dict.fromkeys(value for copy in copies for value in pd.unique(copy[name].dropna()))
    if isinstance(first.dtype, pd.CategoricalDtype):
        return [level for level in first.cat.categories if level in found]
    if len(found) > 50:
        what = f"{name} has {len(found):,} values"
        raise FitError(what, column=name, kind="estimand", remedy="cut it into groups first")
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=str)


Pair = tuple[FloatArray, FloatArray]


def _estimator(
    row: str,
    column: str,
    levels: Sequence[Sequence[Any]],
    of_counts: Callable[[AnyArray, FloatArray | None], Pair],
    unit: str | None = None,
) -> Callable[[pd.DataFrame], Estimates]:
    """Make the function that is computed in every copy; with units, its variance is of these."""
    cut = of_counts is not _shares
    rows, columns = (each[:-1] if cut else each for each in levels)
    terms = tuple(_TERM.format(row=row, r=r, column=column, c=c) for r in rows for c in columns)

    def function(frame: pd.DataFrame) -> Estimates:
        one, other = (
            pd.Categorical(frame[name], categories=list(each)).codes.astype(np.int64)
            for name, each in zip((row, column), levels, strict=True)
        )
        known = (one >= 0) & (other >= 0)
        size = len(levels[0]), len(levels[1])
        flat = np.bincount(one[known] * size[1] + other[known], minlength=size[0] * size[1])
        counts = flat.reshape(size).astype(np.float64)
        cells = one[known] * size[1] + other[known]
        shared = None if unit is None else _over_units(cells, counts, frame[unit][known])
        values, cov = of_counts(counts, shared)
        return Estimates(terms, values, cov, nobs=int(counts.sum()), model=f"{row} by {column}")

    function.__dict__["columns"] = (row, column)
    function.__dict__["over_units"] = lambda name: _estimator(row, column, levels, of_counts, name)
    return function


def _over_units(cells: AnyArray, counts: AnyArray, units: pd.Series[Any]) -> FloatArray:
    """Covariance of shares from what the rows of a unit add to them together."""
    unit = pd.factorize(units)[0]
    many, width = int(unit.max(initial=-1)) + 1, counts.size
    held = np.bincount(unit * width + cells, minlength=many * width).reshape(many, width).astype(np.float64)
    scores = (held - held.sum(axis=1, keepdims=True) * (counts.ravel() / counts.sum())) / counts.sum()
    return np.asarray(scores.T @ scores * (many / max(many - 1, 1)))


def _shares(counts: AnyArray, cov: FloatArray | None = None) -> Pair:
    """Shares of the cells and their covariance."""
    n = counts.sum()
    p = (counts / n).ravel()
    return p, (np.diag(p) - np.outer(p, p)) / n if cov is None else cov


def _departures(counts: AnyArray, cov: FloatArray | None = None) -> Pair:
    """Departures of cells from independence, and their covariance by linearisation."""
    p, cov = _shares(counts, cov)
    table = p.reshape(counts.shape)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    values = (table - np.outer(rows, columns))[:-1, :-1]
    slopes = []
    for r in range(len(rows) - 1):
        for c in range(len(columns) - 1):
            slope = np.zeros_like(table)
            slope[r, c] += 1
            slope[r, :] -= columns[c]
            slope[:, c] -= rows[r]
            slopes.append(slope.ravel())
    jacobian = np.array(slopes)
    return values.ravel(), jacobian @ cov @ jacobian.T


def _independence(
    row: str,
    column: str,
    levels: Sequence[Sequence[Any]],
    held: AnalysableRelease,
    options: Mapping[str, Any],
) -> tuple[FTest | None, str]:
    """Test that the two columns are independent."""
    if min(map(len, levels)) < 2:
        return None, "a column has one level only"
    try:
        pooled = apply(_estimator(row, column, levels, _departures), held, **options)
        return pooled.wald_test(np.eye(len(pooled.terms))), ""
    except CombiningRuleError as error:
        return None, str(error)
