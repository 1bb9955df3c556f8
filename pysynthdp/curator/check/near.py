"""Numbers that are nearly a linear function of other columns, whatever a few records say.

A least squares fit that is refitted to the nine tenths of the records nearest to it does not see typing
errors. How far nine tenths of the records lie off it, at most, is then compared between real and drawn rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pysynthdp.base.arrays import FloatArray
from pysynthdp.base.remarks import FEWEST
from pysynthdp.curator.check.features import CheckedFeatures
from pysynthdp.curator.check.sums import CheckSums
from pysynthdp.curator.encoded import Block, EncodedRows
from pysynthdp.models.ask import Sums

__all__ = ["WIDER", "NearFunctions", "near_functions"]

MOST_LEVELS = 150  # plain features, above which near-functions are sought among numbers alone
ROWS_A_FEATURE, LEAST_NEAR = 3, 20  # rows a feature and beside, below which no near-function is sought
CANDIDATE = 0.2  # of its variance: what others leave of a number that is tried
NEAR = 0.1  # of its spread: how far nine tenths of the records of a near-function are off it at most
MATTERS = 0.05  # of its spread: what a column adds that is named
WIDER = 2.0  # times as far off are drawn rows that are told of
DRAWN = 0.8  # of drawn rows are compared with nine tenths of real ones: a share at its edge is no finding
_ROUNDS = 5
_EDGES = np.linspace(-7.0, 2.0, 181)  # of log10 of a distance over the number's spread


@dataclass(frozen=True, slots=True, repr=False)
class NearFunctions:
    """Near-functions, as combinations of centred features that are near zero.

    Parameters
    ----------
    columns : array (features, near)
        Combinations, in units of each number's spread.
    names : tuple of str
        The number of each.
    others : tuple of tuple of str
        The columns that it is nearly a function of.
    width : array (near,)
        How far nine tenths of the real records are off it, at most.
    by_few : tuple of bool
        Whether a handful of records lie off it much farther than all others.
    """

    columns: FloatArray
    names: tuple[str, ...] = ()
    others: tuple[tuple[str, ...], ...] = ()
    width: FloatArray = field(default_factory=lambda: np.zeros(0))
    by_few: tuple[bool, ...] = ()

    def counts(self, centred: FloatArray) -> FloatArray:
        """Count some rows by their distance: (near, ranges)."""
        return _counts(np.abs(centred @ self.columns))

    def wider(self, counts: FloatArray) -> dict[str, float]:
        """Say how many times as far off drawn rows are, where that is told of."""
        times = _quantile(counts, DRAWN) / np.maximum(self.width, 10.0 ** _EDGES[0])
        return {name: float(each) for name, each in zip(self.names, times, strict=True) if each > WIDER}


def near_functions(
    features: CheckedFeatures, rows: EncodedRows, centre: FloatArray, real: CheckSums, every: int
) -> NearFunctions:
    """Find them.

    Parameters
    ----------
    features : CheckedFeatures
        What is compared.
    rows : EncodedRows
        The real table.
    centre : array (features,)
        Means.
    real : CheckSums
        With cross-products of all rows.
    every : int
        Every s-th row is read.

    Notes
    -----
    Privacy: reads real rows, by sums over blocks.
    """
    spread = np.sqrt(np.maximum(real.variances, 0.0))
    tried = dict(_plain(features, real, spread))
    if not tried:
        return NearFunctions(np.zeros((len(features.all), 0)))
    places, columns = list(tried), np.stack(list(tried.values()), axis=1)
    for _ in range(_ROUNDS):
        width = _quantile(_distances(features, rows, centre, columns, every)[0])
        columns = _refitted(features, rows, centre, columns, width, places, spread, every)
    counts, second, fourth = _distances(features, rows, centre, columns, every)
    width, few = _quantile(counts), second**2 < FEWEST * fourth
    kept = np.flatnonzero(width < NEAR)
    owners = [each.column for each in features.all]
    names = tuple(owners[places[at]] for at in kept)
    weights = np.abs(columns[:, kept]) * spread[:, None]
    others = tuple(
        tuple(dict.fromkeys(owners[at] for at in np.flatnonzero(weight > MATTERS) if owners[at] != name))
        for name, weight in zip(names, weights.T, strict=True)
    )
    return NearFunctions(columns[:, kept], names, others, width[kept], tuple(bool(few[at]) for at in kept))


def _plain(
    features: CheckedFeatures, real: CheckSums, spread: FloatArray
) -> Iterator[tuple[int, FloatArray]]:
    """Give least squares combinations of the numbers of which others leave little."""
    seen = [at for at in range(len(features.plain)) if spread[at] > 1e-9]
    numbers = [at for at in seen if features.plain[at].form == "number"]
    kinds = [at for at in seen if features.plain[at].form != "level"]
    choices = [seen] if len(seen) <= MOST_LEVELS else []
    used = next((own for own in (*choices, kinds, numbers) if _enough(real.n, len(own))), [])
    covariance = real.covariance if used else np.zeros((0, 0))  # once: of a wide table it is large
    for at in numbers if used else ():
        others = np.setdiff1d(used, at)
        column = _combination(covariance, at, others, spread)
        if column @ covariance @ column < CANDIDATE:
            yield at, column


def _enough(n: float, features: int) -> bool:
    """Whether there are rows enough to tell a near-function from too close a fit."""
    return n >= ROWS_A_FEATURE * features + LEAST_NEAR


def _combination(products: FloatArray, at: int, others: FloatArray, spread: FloatArray) -> FloatArray:
    """Take others out of a number, by cross-products: a combination of all features."""
    column = np.zeros(len(spread))
    if len(others):
        inside = products[np.ix_(others, others)]
        scale = np.sqrt(np.maximum(inside.diagonal(), 1e-300))
        inverse = np.linalg.pinv(inside / np.outer(scale, scale), rcond=1e-10, hermitian=True)
        column[others] = -(inverse @ (products[others, at] / scale)) / scale
    column[at] = 1.0
    return np.asarray(column / spread[at])


def _distances(
    features: CheckedFeatures, rows: EncodedRows, centre: FloatArray, columns: FloatArray, every: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count records by distance, and add its square and fourth power."""

    def of_block(block: Block) -> Sums:
        off = np.abs((features.of(block.X) - centre) @ columns)
        return _counts(off), (off**2).sum(axis=0), (off**4).sum(axis=0)

    counts, second, fourth = rows.fold(of_block, every=every)
    return counts, second, fourth


def _counts(off: FloatArray) -> FloatArray:
    """Count distances in ranges."""
    logs = np.log10(np.maximum(off, 10.0 ** _EDGES[0]))
    place = np.clip(np.searchsorted(_EDGES, logs, side="left"), 0, len(_EDGES) - 1)
    found = np.zeros((place.shape[1], len(_EDGES)))
    for at, each in enumerate(place.T):
        found[at] = np.bincount(each, minlength=len(_EDGES))
    return found


def _quantile(counts: FloatArray, share: float = 0.9) -> FloatArray:
    """Distance that a share of the rows does not pass."""
    below = counts.cumsum(axis=1) / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(10.0 ** _EDGES[(below < share).sum(axis=1).clip(max=len(_EDGES) - 1)])


def _refitted(
    features: CheckedFeatures,
    rows: EncodedRows,
    centre: FloatArray,
    columns: FloatArray,
    width: FloatArray,
    places: list[int],
    spread: FloatArray,
    every: int,
) -> FloatArray:
    """Fit each combination again to the records that are within its width."""

    def of_block(block: Block) -> Sums:
        C = np.column_stack([np.ones(len(block.X)), features.of(block.X) - centre])
        near = np.abs(C[:, 1:] @ columns) <= width
        return tuple((C[own].T @ C[own]) for own in near.T)

    new = []
    for gram, at, old in zip(rows.fold(of_block, every=every), places, columns.T, strict=True):
        mean = gram[0, 1:] / max(gram[0, 0], 1.0)
        own = np.flatnonzero(old)
        inside = gram[1:, 1:] - gram[0, 0] * np.outer(mean, mean)
        new.append(_combination(inside, at, np.setdiff1d(own, at), spread))
    return np.stack(new, axis=1)
