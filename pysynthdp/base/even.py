"""Even draws: uniforms that are low-discrepancy along an order in which neighbouring rows are alike.

Row i of the order gets u_i = frac(U + i a) with a an irrational step and U new for each (copy, step, block).
Given all columns drawn before, u_i is uniform, so each row by itself has exactly its law, and so has each row
of a whole copy, column after column; only the rows are no longer independent of each other. Over every run of
neighbours the points are evenly spread (discrepancy about log(n)/n instead of n^-1/2), so that counts and
sums over rows lie near what the fitted models expect.

*The order.* A k-d order: axes in turn (main components of the probabilities or means, and of the step's
standardised features), split at medians down to about four rows, directions alternating so that neighbours in
the order are neighbours in space. Ties are in random order: in a fixed one, two columns that are drawn
without each other would share their points up to a constant.

*Several calls in one step* use steps of different irrationals, 1, a_1, a_2, ... linearly independent over the
rationals, each with its own U. With one step for all, u_i - u'_i would be the same in all rows: each row has
its law even then, but a copy would be full of one kind of row, and functions of both would vary between
copies as if there were one row. With independent steps the pairs are a Kronecker sequence, which is even over
the square. Calls beyond the list are independent draws.

*Blocks.* Rows are ordered and points spread within a block of rows; each block has its own U. So memory does
not grow with the copy, and a longer copy begins, by whole blocks, like a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import gammaincinv, ndtri, pdtr

from pysynthdp.base.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pysynthdp.base.streams import NumpySampler, level_and_place

__all__ = ["EvenSampler", "Evenness", "kd_order", "main_axes", "poisson_quantile"]

Evenness: TypeAlias = Literal["even", "independent"]
_STEPS = (5**0.5 / 2 - 0.5, 2**0.5 - 1, 3**0.5 - 1, 7**0.5 - 2)
_LEAF = 4
_AXES = 3
_LOOKED_AT = 1024
_ROUNDS = 6
_SPREADS = 4.0
_LEAST = 2.0**-54
_COUNTABLE = (1e-6, 1e6)


@dataclass(frozen=True, slots=True)
class EvenSampler(NumpySampler):
    """Draw evenly along the rows of a step's features; see the module.

    Parameters
    ----------
    generator : Generator
        Of one (copy, step, block).
    X : array (rows, features), optional
        Of the rows to draw for; without them draws are independent.
    """

    X: FloatArray | None = None
    _turns: Iterator[float] = field(default_factory=lambda: iter(_STEPS), repr=False, compare=False)

    def along(self, X: FloatArray) -> EvenSampler:
        """Draw along these rows."""
        return EvenSampler(self.generator, X)

    def normal(self, mean: FloatArray, sd: FloatArray | float) -> FloatArray:
        """Draw normals by their quantiles."""
        points = self._points(len(mean), mean)
        return np.asarray(mean + sd * ndtri(np.maximum(points, _LEAST)))

    def uniform(self, size: int) -> FloatArray:
        """Draw uniforms on [0, 1)."""
        return self._points(size)

    def categorical(self, probabilities: FloatArray) -> IntArray:
        """Draw one level a row."""
        return self.placed(probabilities)[0]

    def placed(self, probabilities: FloatArray) -> tuple[IntArray, FloatArray]:
        """Draw one level a row, and say where inside the level the point fell."""
        return level_and_place(probabilities, self._points(len(probabilities), probabilities))

    def event(self, probability: FloatArray) -> BoolArray:
        """Draw one event for each entry."""
        return np.asarray(self._points(len(probability), probability) < probability)

    def poisson(self, mean: FloatArray) -> FloatArray:
        """Draw Poisson counts by their quantiles; independent where a mean is too large or small for that."""
        counts = np.asarray(self.generator.poisson(mean), dtype=np.float64)
        points = self._points(len(mean), mean)
        able = (mean >= _COUNTABLE[0]) & (mean <= _COUNTABLE[1])
        counts[able] = poisson_quantile(points[able], mean[able])
        return counts

    def gamma(self, shape: float, scale: FloatArray) -> FloatArray:
        """Draw gammas by their quantiles."""
        points = self._points(len(scale), scale)
        return np.asarray(gammaincinv(shape, np.maximum(points, _LEAST)) * scale)

    def _points(self, size: int, keys: FloatArray | None = None) -> FloatArray:
        """Spread points over the rows in their order; independent ones where there is no order."""
        step = None if self.X is None or len(self.X) != size else next(self._turns, None)
        if self.X is None or step is None:
            return self.generator.random(size)
        order = kd_order(_in_turn(keys, self.X), self.generator.permutation(size))
        points = np.empty(size)
        points[order] = (self.generator.random() + step * np.arange(size)) % 1.0
        return points


def _in_turn(keys: FloatArray | None, X: FloatArray) -> list[FloatArray]:
    """List the axes: one of the keys, one of the features, and so on."""
    own = [] if keys is None else main_axes(keys.reshape(len(X), -1), standardised=False)
    features = main_axes(X, standardised=True)
    longest = max(len(own), len(features))
    return [
        axis for place in range(longest) for axis in (*own[place : place + 1], *features[place : place + 1])
    ]


def main_axes(Z: FloatArray, *, standardised: bool) -> list[FloatArray]:
    """Give the scores of the rows on the main components of some of them.

    Parameters
    ----------
    Z : array (rows, columns)
    standardised : bool
        Divide the columns by their standard deviations.

    Returns
    -------
    list of array (rows,)
        Up to three, of mean about 0 and standard deviation about 1; none where all rows are the same.
    """
    seen = Z[:: max(len(Z) // _LOOKED_AT, 1)]
    if not np.isfinite(seen).all():
        return []
    spread = seen.std(axis=0)
    varying = np.flatnonzero(spread > 1e-9 * max(float(np.abs(seen).max(initial=0.0)), 1e-300))
    if not varying.size:
        return []
    width = spread[varying] if standardised else np.full(varying.size, spread.max())
    centred = (seen[:, varying] - seen[:, varying].mean(axis=0)) / width
    axes = _components(centred, min(_AXES, varying.size))
    scores = centred @ axes
    sizes = scores.std(axis=0)
    used = sizes > 1e-3 * sizes.max()
    turn = np.zeros((Z.shape[1], int(used.sum())))
    turn[varying] = axes[:, used] / sizes[used] / width[:, None]
    return list((Z @ turn - seen.mean(axis=0) @ turn).T)


def _components(centred: FloatArray, count: int) -> FloatArray:
    """Give directions (columns, count) near the main components: a few rounds suffice to order rows."""
    columns = centred.shape[1]
    if columns <= 64:
        _, vectors = np.linalg.eigh(centred.T @ centred)
        return np.asarray(vectors[:, ::-1][:, :count])
    axes = np.cos(np.outer(np.arange(1, columns + 1), np.arange(1, count + 1)))
    for _ in range(_ROUNDS):
        axes, _ = np.linalg.qr(centred.T @ (centred @ axes))
    return np.asarray(axes)


def kd_order(axes: list[FloatArray], shuffled: IntArray) -> IntArray:
    """Order rows so that neighbours in the order are near each other on the axes.

    Parameters
    ----------
    axes : list of array (rows,)
        In the order in which they are split; of spread about 1.
    shuffled : array of int (rows,)
        The rows in random order, which settles ties.

    Returns
    -------
    array of int (rows,)
    """
    n = len(shuffled)
    if not axes or n < 2:
        return shuffled
    levels = max(int(np.log2(n / _LEAF)), 0)
    size = -(-n // 2**levels) * 2**levels
    scores = [_whole(axis[shuffled], size) for axis in axes]
    found = np.arange(size)
    for level in range(levels):
        keys = scores[level % len(axes)][found].reshape(2**level, -1)
        half = keys.shape[1] // 2
        parted = np.partition(keys, half - 1, axis=1).reshape(-1, 2, half)
        found = _turned(parted, size)
    leaves = scores[levels % len(axes)][found].reshape(2**levels, -1)
    found = _turned(np.sort(leaves, axis=1), size)
    return np.asarray(shuffled[found[found < n]])


def _turned(keys: AnyArray, size: int) -> IntArray:
    """Reverse every second group, so that neighbouring groups meet; give the rows that the keys name."""
    keys[1::2] = keys[1::2, ::-1].copy()
    return np.asarray(keys.ravel() & (2 ** size.bit_length() - 1))


def _whole(axis: FloatArray, size: int) -> IntArray:
    """Write scores as whole numbers with the row's place in the last bits, so that no two are the same.

    Rows that only fill the groups up lie above all others.
    """
    bits = size.bit_length()
    kind = np.int32 if bits <= 15 else np.int64
    top = 2 ** min(np.iinfo(kind).bits - 1 - bits, 30) - 2
    places: AnyArray = np.arange(size, dtype=kind)
    whole: AnyArray = np.full(size, top + 1, dtype=kind)
    cut = np.clip(np.nan_to_num(axis), -_SPREADS, _SPREADS) + _SPREADS
    whole[: len(axis)] = cut * (top / (2 * _SPREADS))
    return np.asarray((whole << bits) | places)


def poisson_quantile(points: FloatArray, mean: FloatArray) -> FloatArray:
    """Give the smallest count whose cumulated probability is at least the point.

    Examples
    --------
    >>> poisson_quantile(np.array([0.3, 0.9, 0.99999]), np.array([1.0, 1.0, 0.001]))
    array([0., 2., 1.])
    """
    z = ndtri(np.clip(points, _LEAST, 1 - _LEAST))
    counts = np.maximum(np.floor(mean + z * np.sqrt(mean) + (z * z - 1) / 6), 0.0)
    low = np.flatnonzero(pdtr(counts, mean) < points)
    while low.size:
        counts[low] += 1.0
        low = low[pdtr(counts[low], mean[low]) < points[low]]
    high = np.flatnonzero((counts > 0) & (pdtr(np.maximum(counts - 1.0, 0.0), mean) >= points))
    while high.size:
        counts[high] -= 1.0
        before = np.maximum(counts[high] - 1.0, 0.0)
        high = high[(counts[high] > 0) & (pdtr(before, mean[high]) >= points[high])]
    return np.asarray(counts)
