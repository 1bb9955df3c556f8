"""Membership inference by shadow fits: fits with and without the most exposed records, told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray
from pysynthdp.evaluate.risk.coding import Files, numbers_of
from pysynthdp.evaluate.risk.intervals import wilson
from pysynthdp.evaluate.sealed import sealed_copies
from pysynthdp.synthesizer import Synthesizer

__all__ = ["Membership", "exposed_records", "membership"]

_NEIGHBOURS: Final = 5  # nearest others by whose distance a record is exposed
_QUERIES: Final = 12  # of few columns each
_TOGETHER: Final = 3  # columns in a query
_FALSE: Final = 0.01
_FAR: Final = 3.0  # standard deviations that count as far away
_BLOCK: Final = 16_384  # rows of the copies at a time
_RIDGE: Final = 0.1
_ALL: Final = 100.0


@dataclass(frozen=True, slots=True)
class Membership:
    """How well copies tell whether exposed records were among those fitted.

    Parameters
    ----------
    records, fits : int
        Exposed records that were attacked, and shadow fits.
    scores : array (fits, records)
        The attack's score, each from a rule that was learned from other fits.
    inside : array (fits, records) of bool
        Whether the record took part in the fit.
    """

    records: int
    fits: int
    scores: FloatArray
    inside: BoolArray

    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Give false and true positives while the threshold falls, over all records and fits."""
        order = np.argsort(-self.scores, axis=None, kind="stable")
        inside, scores = self.inside.ravel()[order], self.scores.ravel()[order]
        last = np.append(scores[1:] != scores[:-1], True)  # tied scores fall together
        true = np.cumsum(inside)[last] / max(int(inside.sum()), 1)
        false = np.cumsum(~inside)[last] / max(int((~inside).sum()), 1)
        return np.insert(false, 0, 0.0), np.insert(true, 0, 0.0)

    def to_frame(self) -> pd.DataFrame:
        """Give true positives at 1 % and 10 % false ones with 95 % limits, and the area under the curve."""
        false, true = self.rates()
        inside = int(self.inside.sum())
        rows = []
        for rate in (_FALSE, 0.1):
            hit = float(true[false <= rate].max())
            low, high = wilson(hit * inside, inside)
            shares = [_ALL * each for each in (hit, low, high, rate)]
            rows.append((f"true positives at {_ALL * rate:g} % false ones", *shares))
        area = float(np.trapezoid(true, false))
        rows.append(("area under the curve", _ALL * area, np.nan, np.nan, 50.0))
        return pd.DataFrame(rows, columns=["what", "value", "low", "high", "blind"])


def exposed_records(table: pd.DataFrame, names: Sequence[str], many: int) -> IntArray:
    """Choose the records that stand farthest from their five nearest others (Meeus and others 2023).

    Parameters
    ----------
    table : DataFrame
        The rows.
    names : sequence of str
        Columns.
    many : int
        Number of records.

    Returns
    -------
    array
        Their places.
    """
    space = np.hstack(_axes_of(Files(table, (table,)), names)[0])
    tree = KDTree(space)
    apart = np.asarray(tree.query(space, k=min(_NEIGHBOURS + 1, len(space)))[0])
    return np.argsort(-apart.reshape(len(space), -1)[:, 1:].mean(axis=1), kind="stable")[:many].astype(
        np.int64
    )


def _axes_of(files: Files, names: Sequence[str]) -> list[list[FloatArray]]:
    """Give each file's columns as numbers: by standard deviation, or a level by how rare it is."""
    out: list[list[FloatArray]] = [[] for _ in range(len(files.copies) + 2)]
    for name in names:
        values = numbers_of(name, files.columns(name))
        if values is not None:
            middle, scale = np.nanmean(values[0]), np.nanstd(values[0]) or 1.0
            parts = [np.nan_to_num((each - middle) / scale)[:, None] for each in values]
        else:
            coded = files.coded(name)
            share = np.bincount(coded.table, minlength=coded.size) / max(coded.table.size, 1)
            rare = -np.log(np.maximum(share, 1 / max(coded.table.size, 1)))
            parts = [rare[each][:, None] for each in coded.files]
        for mine, part in zip(out, parts, strict=True):
            mine.append(part)
    return out


def membership(
    table: pd.DataFrame,
    refit: Synthesizer,
    *,
    names: Sequence[str],
    records: int,
    fits: int,
    m: int,
    k: int | None,
    replaced: bool,
    rng: np.random.Generator,
) -> Membership:
    """Fit with and without the most exposed records, again and again, and tell the copies apart.

    Parameters
    ----------
    table : DataFrame
        The rows.
    refit : Synthesizer
        Settings of the release.
    names : sequence of str
        Columns that the attack looks at.
    records, fits : int
        Records that are attacked; shadow fits, in each of which every one of them is with probability 1/2.
    m, k : int
        Copies that are drawn, and rows of each.
    replaced : bool
        Whether a record that is out is replaced by another, so that the number of rows stays.
    rng : Generator
        Deals records and chooses queries.

    Returns
    -------
    Membership
        Scores of all fits.

    Notes
    -----
    Privacy: reads real rows in every fit; nothing that is drawn is kept. For each record the attack counts
    the rows of the copies that are near it, in all columns and in some of three (a query-based attack,
    Houssiau and others 2022), and learns from half of the fits a linear rule for the others.
    """
    targets = exposed_records(table, names, records)
    queries = _queries(len(names), rng)
    inside = rng.random((fits, targets.size)) < 0.5
    features = np.empty((fits, targets.size, len(queries) + 1))
    for at in range(fits):
        rows = _dealt(len(table), targets, inside[at], replaced=replaced, rng=rng)
        copies = sealed_copies(refit, table.iloc[rows].reset_index(drop=True), m=m, k=k, rng=rng)
        features[at] = _features(table, copies, targets, names, queries)
    scores = np.column_stack([_scores(features[:, at], inside[:, at]) for at in range(targets.size)])
    return Membership(targets.size, fits, scores, inside)


def _queries(columns: int, rng: np.random.Generator) -> list[IntArray]:
    """Choose columns for each query; the first has all."""
    few = min(_TOGETHER, columns)
    return [np.arange(columns), *(rng.permutation(columns)[:few] for _ in range(_QUERIES))]


def _dealt(
    n: int, targets: IntArray, inside: BoolArray, *, replaced: bool, rng: np.random.Generator
) -> IntArray:
    """Give the rows of one shadow fit."""
    rows = np.arange(n)
    out = targets[~inside]
    if not replaced:
        return np.delete(rows, out)
    others = np.delete(rows, targets)
    rows[out] = rng.choice(others, out.size)
    return rows


def _features(
    table: pd.DataFrame,
    copies: Sequence[pd.DataFrame],
    targets: IntArray,
    names: Sequence[str],
    queries: Sequence[IntArray],
) -> FloatArray:
    """Measure how near the copies come to each target, in each query; rows a block at a time."""
    columns = [_gaps(Files(table, tuple(copies)), name, targets) for name in names]
    rows = columns[0][1].size
    near, closest = np.zeros((len(queries), targets.size)), np.full(targets.size, np.inf)
    for start in range(0, rows, _BLOCK):
        gaps = np.stack(
            [_apart(own, theirs[start : start + _BLOCK], scale) for own, theirs, scale in columns]
        )
        near += np.stack([np.exp(-gaps[query].sum(axis=0)).sum(axis=1) for query in queries])
        closest = np.minimum(closest, gaps.sum(axis=0).min(axis=1))
    return np.column_stack([near.T / rows, -closest])


def _gaps(files: Files, name: str, targets: IntArray) -> tuple[FloatArray, FloatArray, float]:
    """Give a column of the targets and of all copies, and its scale; 0 for levels, which agree or not."""
    values = numbers_of(name, files.columns(name))
    if values is not None:
        return values[0][targets], np.concatenate(values[1:-1]), float(np.nanstd(values[0])) or 1.0
    coded = files.coded(name)
    return coded.table[targets].astype(np.float64), np.concatenate(coded.copies).astype(np.float64), 0.0


def _apart(own: FloatArray, theirs: FloatArray, scale: float) -> FloatArray:
    """Distance of each target from each row in one column; at most three, as to a missing value."""
    if not scale:
        return np.asarray(own[:, None] != theirs[None, :], dtype=np.float64)
    gap = np.minimum(np.nan_to_num(np.abs(own[:, None] - theirs[None, :]) / scale, nan=_FAR), _FAR)
    return np.asarray(np.where(np.isnan(own)[:, None] & np.isnan(theirs)[None, :], 0.0, gap))


def _scores(features: FloatArray, inside: BoolArray) -> FloatArray:
    """Score each fit by a linear rule that the other half of the fits taught."""
    out = np.zeros(len(features))
    halves = np.arange(len(features)) % 2 == 0
    for test in (halves, ~halves):
        out[test] = _discriminant(features[~test], inside[~test], features[test])
    return out


def _discriminant(known: FloatArray, inside: BoolArray, asked: FloatArray) -> FloatArray:
    """Give the linear discriminant, ridged, on a scale with spread one in either group; 0 if one is empty."""
    if inside.all() or not inside.any():
        return np.zeros(len(asked))
    middle, scale = known.mean(axis=0), known.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    x, new = (known - middle) / scale, (asked - middle) / scale
    gap = x[inside].mean(axis=0) - x[~inside].mean(axis=0)
    centred = np.vstack([x[inside] - x[inside].mean(axis=0), x[~inside] - x[~inside].mean(axis=0)])
    spread = centred.T @ centred / max(len(x) - 2, 1) + _RIDGE * np.eye(x.shape[1])
    rule = np.linalg.solve(spread, gap)
    half = (x[inside].mean(axis=0) + x[~inside].mean(axis=0)) / 2
    return np.asarray((new - half) @ rule / (np.sqrt(rule @ spread @ rule) or 1.0))
