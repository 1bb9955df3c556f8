"""Propensity scores: how well a row's origin is told from its cells, beside a fresh sample's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from pysynthdp.base.arrays import AnyArray, FloatArray
from pysynthdp.evaluate.sides.cells import Cells, coded, cut
from pysynthdp.evaluate.sides.columns import numbers_of
from pysynthdp.evaluate.utility.origin_design import design_of
from pysynthdp.evaluate.utility.origin_logit import Origin, fit_logit
from pysynthdp.evaluate.utility.origin_tree import Growth, leaf_shares

__all__ = ["Propensity", "TreeBins", "propensity_of", "rank_statistics", "spaced_note", "tree_ratio"]

PERMUTED: Final = 5
"""Permutations of the marks that make the null of trees."""
SAMPLE: Final = 20_000
"""Rows of a side on which trees are grown; of longer tables, evenly spaced ones."""
_BINS: Final = 60  # of a number
_HEADS: Final = ("copy", "method", "pMSE", "null", "ratio", "null.sd", "SPECKS", "note")


@dataclass(frozen=True, slots=True, repr=False)
class Propensity:
    """Scores of each copy, by both methods.

    Parameters
    ----------
    frame : DataFrame
        One row a copy and method: pMSE, its expectation for a fresh sample, their ratio, and by how much the
        ratio of fresh samples varies.
    edges, real, copy : array
        A histogram of the logit's scores, over all copies.
    missing : tuple of str
        What was not computed, and why.
    """

    frame: pd.DataFrame
    edges: FloatArray
    real: FloatArray
    copy: FloatArray
    missing: tuple[str, ...]

    def ratio(self, method: str) -> float:
        """Give the mean ratio over the copies; NaN where there is none."""
        found = self.frame.loc[self.frame["method"] == method, "ratio"].dropna()
        return float(found.mean()) if len(found) else float("nan")

    def spread(self, method: str) -> float:
        """Give the standard deviation of a fresh sample's ratio."""
        found = self.frame.loc[self.frame["method"] == method, "null.sd"].dropna()
        return float(found.mean()) if len(found) else float("nan")


def propensity_of(real: pd.DataFrame, copies: Any, cells: Sequence[Cells], *, seed: int = 0) -> Propensity:
    """Score copies against the confidential table.

    Parameters
    ----------
    real : DataFrame
        The confidential table.
    copies : iterable of DataFrame
        The copies.
    cells : sequence of Cells
        Of the columns.
    seed : int
        Of the permutations.

    Returns
    -------
    Propensity

    Notes
    -----
    Privacy: reads real rows.
    Two samples of one population expect a pMSE of K c (1 - c)/N from a logit with K slopes, twice what is
    expected where the confidential table is taken as fixed and c is a half (Snoke and others 2018); the ratio
    varies by sqrt(2/K) about. The null of trees is the mean over permuted marks.
    """
    rows: list[tuple[Any, ...]] = []
    edges = np.linspace(0, 1, 51)
    histograms, null = np.zeros((2, 50)), None
    missing: dict[str, None] = {}
    for number, copy in enumerate(copies, start=1):
        found = fit_logit(design_of(real, copy, cells))
        if isinstance(found, str):
            missing[f"propensity by logit: {found}"] = None
        else:
            rows.append((number, "logit", *_of_logit(found)))
            histograms += [np.histogram(found.real, edges)[0], np.histogram(found.copy, edges)[0]]
        bins = TreeBins.of(real, copy, cells)
        null = null if null is not None else bins.null(seed)
        *scores, note = bins.score(null)
        cut = spaced_note(len(real), len(copy))
        rows.append((number, "tree", *scores, "; ".join(part for part in (note, cut) if part)))
    frame = pd.DataFrame(rows, columns=list(_HEADS))
    return Propensity(frame, edges, _shares(histograms[0]), _shares(histograms[1]), tuple(missing))


def _shares(counts: FloatArray) -> FloatArray:
    """Write counts as shares."""
    return np.asarray(counts / max(counts.sum(), 1.0))


def _of_logit(found: Origin) -> tuple[Any, ...]:
    """Give pMSE, null, ratio, its spread, SPECKS and a note."""
    rows = found.real.size + found.copy.size
    share = found.copy.size / rows
    mean = _pmse(found, share)
    mean = mean if mean > 1e-20 else 0.0  # what rounding leaves of equal sides
    null = found.free * share * (1 - share) / rows
    note = "" if found.converged else "the two sides are told apart without fail"
    ratio, spread = (mean / null, np.sqrt(2 / found.free)) if found.free else (np.nan, np.nan)
    return mean, null, ratio, spread, rank_statistics(found)[0], note


def _pmse(found: Origin, share: float) -> float:
    """Mean square of the scores about the share of copies' rows."""
    return float((((found.real - share) ** 2).sum() + ((found.copy - share) ** 2).sum())
                 / (found.real.size + found.copy.size))  # fmt: skip


def rank_statistics(found: Origin) -> tuple[float, float]:
    """Give the Kolmogorov-Smirnov distance of the scores and the Mann-Whitney count with ties as halves."""
    scores = np.round(np.concatenate([found.real, found.copy]), 9)
    _, place = np.unique(scores, return_inverse=True)
    n1 = found.real.size
    real, copy = (np.bincount(part, minlength=place.max() + 1) for part in (place[:n1], place[n1:]))
    below = np.cumsum(real)
    apart = np.abs(np.cumsum(copy) / max(copy.sum(), 1) - below / max(n1, 1)).max()
    return float(apart), float((copy * (below - real / 2)).sum())


@dataclass(frozen=True, slots=True, repr=False)
class TreeBins:
    """Rows of both sides as bins, for trees.

    Parameters
    ----------
    bins : array of int16 (columns, rows)
        Of a number: why it is absent, then up to sixty groups.
    sizes, ordered : array (columns,)
        Bins of each column, and whether their order counts.
    marks : array of int8 (rows,)
        1 for a copy's.
    """

    bins: AnyArray
    sizes: AnyArray
    ordered: AnyArray
    marks: AnyArray

    @classmethod
    def of(cls, real: pd.DataFrame, copy: pd.DataFrame, cells: Sequence[Cells]) -> TreeBins:
        """Bin both sides, of long tables evenly spaced rows."""
        sides = [_spaced(real), _spaced(copy)]
        bins = np.stack([_binned([side[each.facts.name] for side in sides], each) for each in cells])
        marks = np.repeat(np.array([0, 1], dtype=np.int8), [len(side) for side in sides])
        numeric = np.array([each.facts.numeric for each in cells])
        return cls(bins, bins.max(axis=1).astype(np.int64) + 1, numeric, marks)

    def pmse(self, marks: AnyArray) -> float:
        """Grow a tree for some marks and give its pMSE."""
        growth = Growth(
            leaf=max(10, int((marks == 0).sum()) // 50), node=2 * max(10, int((marks == 0).sum()) // 50)
        )
        found = leaf_shares(self.bins, self.sizes, self.ordered, marks, growth)
        return float(((found - marks.mean()) ** 2).mean())

    def null(self, seed: int) -> FloatArray:
        """Give the pMSE of permuted marks, several times."""
        rng = np.random.default_rng(seed)
        return np.array([self.pmse(rng.permutation(self.marks)) for _ in range(PERMUTED)])

    def score(self, null: FloatArray) -> tuple[Any, ...]:
        """Give pMSE, null, ratio, its spread, no SPECKS and a note."""
        mean, expected = self.pmse(self.marks), float(null.mean())
        if expected == 0:
            return mean, expected, np.nan, np.nan, np.nan, "too few rows or values for a tree"
        return mean, expected, mean / expected, float(null.std(ddof=1)) / expected, np.nan, ""


def tree_ratio(real: pd.DataFrame, copy: pd.DataFrame, cells: Sequence[Cells], *, seed: int = 0) -> float:
    """Ratio of a tree's pMSE to the mean over permuted marks."""
    bins = TreeBins.of(real, copy, cells)
    return float(bins.score(bins.null(seed))[2])


def spaced_note(*rows: int) -> str:
    """Say that trees see a part of long tables; nothing where they see all.

    Examples
    --------
    >>> spaced_note(5_000, 30_000), spaced_note(5_000, 5_000)
    ('trees see 20,000 evenly spaced rows of a side', '')
    """
    return f"trees see {SAMPLE:,} evenly spaced rows of a side" if max(rows) > SAMPLE else ""


def _spaced(frame: pd.DataFrame) -> pd.DataFrame:
    """Take evenly spaced rows of a long table."""
    if len(frame) <= SAMPLE:
        return frame
    return frame.iloc[np.linspace(0, len(frame) - 1, SAMPLE).astype(np.int64)]


def _binned(sides: Sequence[pd.Series[Any]], cells: Cells) -> AnyArray:
    """Bin a column over both sides."""
    if not cells.facts.numeric:
        return np.concatenate([coded(side.to_frame(), [cells])[0] for side in sides]).astype(np.int16)
    parts = [numbers_of(side, cells.facts) for side in sides]
    values, kinds = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
    found = np.unique(values[np.isfinite(values)])
    edges = found[:-1] if found.size <= _BINS else cut(values, _BINS)
    first = len(cells.facts.kinds)
    return np.where(kinds > 0, kinds - 1, first + np.searchsorted(edges, values)).astype(np.int16)
