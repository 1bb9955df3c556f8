"""The features' distribution under the fitted models: weighted cells of levels, normal numbers in each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pysynthdp.base.arrays import BoolArray, FloatArray, IntArray

__all__ = ["MOST_CELLS", "Cells", "thinned"]

MOST_CELLS = 30_000
FEWEST = 5_000
MOST_ENTRIES = 1_000_000  # of X: a table of very many levels gets fewer cells
_SEED = (
    20_240_229  # of the thinning alone: the same for every copy, so that copies differ by their moments only
)


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """Cells of levels with their probabilities, and a normal law of the numbers in each.

    Parameters
    ----------
    X : array (cells, 1 + dummies)
        Intercept and dummies.
    codes : array (cells, categorical parts)
        Level codes.
    weights : array (cells,)
        Probabilities.
    means : array (cells, numbers)
        Of the numbers, 0 where one is absent.
    pattern : array (cells,)
        Which of ``spreads`` a cell has: one for each pattern of absent numbers.
    spreads : array (patterns, numbers, numbers)
        Covariances.
    """

    X: FloatArray
    codes: IntArray
    weights: FloatArray
    means: FloatArray
    pattern: IntArray
    spreads: FloatArray

    @classmethod
    def start(cls) -> Self:
        """One cell: the intercept."""
        none = np.zeros(1, dtype=np.int64)
        return cls(
            np.ones((1, 1)),
            np.zeros((1, 0), dtype=np.int64),
            np.ones(1),
            np.zeros((1, 0)),
            none,
            np.zeros((1, 0, 0)),
        )

    def split(self, shares: FloatArray, dummies: FloatArray | None = None) -> Self:
        """Split every cell by the levels of one more part.

        Parameters
        ----------
        shares : array (cells, levels)
            Of each level in each cell.
        dummies : array (levels, features), optional
            Features of each level, behind the dummies of all levels but the first.
        """
        levels = shares.shape[1]
        weights = (self.weights[:, None] * shares).ravel()
        most = max(FEWEST, min(MOST_CELLS, MOST_ENTRIES // self.X.shape[1]))
        kept, weights = thinned(weights, most)
        cell, level = np.divmod(kept, levels)
        more = np.zeros((levels, 0)) if dummies is None else dummies
        own = np.hstack([np.eye(levels)[:, 1:], more])[level]
        return replace(
            self,
            X=np.hstack([self.X[cell], own]),
            codes=np.hstack([self.codes[cell], level[:, None]]),
            weights=weights,
            means=np.zeros((len(kept), 0)),
            pattern=np.zeros(len(kept), dtype=np.int64),
        )

    def products(self, dummies: IntArray, numbers: IntArray, present: BoolArray) -> FloatArray:
        """Take expected cross-products of some dummies and numbers, over the cells where ``present``."""
        weights = np.where(present, self.weights, 0.0)
        X = np.hstack([self.X[:, dummies], self.means[:, numbers]])
        gram = (X.T * weights) @ X
        within = np.bincount(self.pattern, weights, len(self.spreads))
        spread = np.tensordot(within, self.spreads[:, numbers[:, None], numbers], axes=1)
        at = slice(len(dummies), None)
        gram[at, at] += spread
        return np.asarray(gram)

    def with_number(
        self, dummies: IntArray, numbers: IntArray, beta: FloatArray, sigma: float, present: BoolArray
    ) -> Self:
        """Add a number that is normal around a linear function of others, and zero where it is absent."""
        slopes, before = beta[len(dummies) :], self.means.shape[1]
        mean = self.X[:, dummies] @ beta[: len(dummies)] + self.means[:, numbers] @ slopes
        keys, pattern = np.unique(2 * self.pattern + present, return_inverse=True)
        pairs = np.divmod(keys, 2)
        spreads = np.zeros((len(keys), before + 1, before + 1))
        old = self.spreads[pairs[0]]
        spreads[:, :before, :before] = old
        crossed = np.where(pairs[1][:, None] == 1, old[:, :, numbers] @ slopes, 0.0)
        spreads[:, before, :before] = spreads[:, :before, before] = crossed
        spreads[:, before, before] = np.where(pairs[1] == 1, crossed[:, numbers] @ slopes + sigma**2, 0.0)
        means = np.column_stack([self.means, np.where(present, mean, 0.0)])
        return replace(self, means=means, pattern=pattern, spreads=spreads)


def thinned(weights: FloatArray, most: int) -> tuple[IntArray, FloatArray]:
    """Keep at most ``most`` cells; heavy ones as they are, light ones drawn so that expectations stay.

    Parameters
    ----------
    weights : array (cells,)
        Probabilities.
    most : int
        Cells to keep.

    Returns
    -------
    array (kept,), array (kept,)
        Positions, and new weights with the same sum.

    Notes
    -----
    Privacy: post-processing. A cell of weight w is kept with probability min(w/c, 1) and then weighs
    max(w, c), with c such that ``most`` are expected; light ones by systematic sampling (Fearnhead and
    Clifford 2003).

    Examples
    --------
    >>> thinned(np.array([0.5, 0.0, 0.5]), 5)[0].tolist()
    [0, 2]
    """
    some = np.flatnonzero(weights > 0)
    if some.size <= most:
        return some, weights[some] * (weights.sum() / weights[some].sum())
    ordered = np.sort(weights[some])[::-1]
    tail = ordered[::-1].cumsum()[::-1]
    heavy = np.arange(most)
    limits = tail[:most] / (most - heavy)
    first = int(np.argmax(ordered[:most] <= limits))
    limit = limits[first]
    light = some[weights[some] <= limit]
    offset = np.random.default_rng(_SEED).random()
    crossed = np.floor(np.cumsum(weights[light]) / limit + offset)
    taken = light[np.diff(crossed, prepend=np.floor(offset)) > 0]
    kept = np.sort(np.concatenate([some[weights[some] > limit], taken]))
    return kept, np.maximum(weights[kept], limit)
