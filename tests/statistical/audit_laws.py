"""Laws of what is released, read off the code that draws, and their exact Renyi divergences.

A probe stands in for the random source of a model's own ``redraw`` and ``draw``: it hands out chosen variates
and keeps what it was asked for. So a law here is that of the code, not of its documentation, and is computed
from elementary formulas alone: Gaussian integrals, finite sums, whole-number urns. Whether the real random
sources have the laws that the probe took down is the matter of ``test_sampler_audit.py``.

Every law has ``renyi(other, k, orders)``, the divergence of one copy of k records from the other law's. Of
copies that were drawn it gives ``log_density``, and ``scores``, which are independent standard normals if the
law is true: each record's probability below it given those before it in its copy, spread evenly over ties.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import gammaln, logsumexp, ndtr, ndtri
from scipy.stats import betabinom

Array = np.ndarray
INF = math.inf


@dataclass
class Probe:
    """A sampler, and a generator, that hand out chosen variates and keep what they were asked for."""

    exact: bool = False
    given: Any = None
    asked: dict[str, Any] = field(default_factory=dict)

    @property
    def generator(self) -> Probe:
        return self

    def normal(self, mean: Array, sd: float) -> Array:
        self.asked["normal"] = (np.array(mean), sd)
        return np.array(mean)

    def uniform(self, size: int) -> Array:
        return np.broadcast_to(np.asarray(self.given, dtype=float), size).copy()

    def standard_normal(self, size: Any) -> Array:
        return np.broadcast_to(np.asarray(self.given, dtype=float), size).copy()

    def standard_gamma(self, shape: Array) -> Array:
        self.asked["gamma"] = np.array(shape)
        return np.array(shape)

    def discrete_gaussian(self, centre: int, scale: float, size: int) -> Array:
        self.asked["grid"] = (centre, scale)
        return np.full(size, centre)

    def integer_weights(self, weights: Array, size: int) -> Array:
        self.asked["weights"] = np.array(weights)
        return np.zeros(size, dtype=np.int64)

    def urn(self, balls: Array, added: int, size: int) -> Array:
        self.asked["urn"] = np.array(balls) / added
        return np.zeros(size, dtype=np.int64)


def gaussian_renyi(first: tuple[Array, Array], second: tuple[Array, Array], order: float) -> float:
    """Divergence of N(m1, S1) from N(m2, S2) by the Gaussian integral; infinite where that diverges."""
    (m1, s1), (m2, s2) = first, second
    if order == INF:
        return 0.0 if np.array_equal(m1, m2) and np.array_equal(s1, s2) else INF
    mixed = (1 - order) * s1 + order * s2
    if np.linalg.eigvalsh(mixed)[0] <= 0:
        return INF
    gap = m1 - m2
    logs = [np.linalg.slogdet(matrix)[1] for matrix in (mixed, s1, s2)]
    bend = logs[0] - (1 - order) * logs[1] - order * logs[2]
    return float(order / 2 * gap @ np.linalg.solve(mixed, gap) - bend / (2 * (order - 1)))


def finite_renyi(first: Array, second: Array, order: float) -> float:
    """Divergence of log probabilities over one finite set of outcomes."""
    with np.errstate(invalid="ignore"):
        ratio = np.where(first > -INF, first - second, -INF)
    if order == INF:
        return float(ratio.max())
    return float(logsumexp(np.where(first > -INF, first + (order - 1) * ratio, -INF)) / (order - 1))


@dataclass(frozen=True)
class Normal:
    """Records N(mean, covariance), their mean moved by N(0, shared) once a copy."""

    mean: Array
    covariance: Array
    shared: float = 0.0

    def renyi(self, other: Normal, k: int, orders: Array) -> Array:
        if not self.shared:
            pair = ((self.mean, self.covariance), (other.mean, other.covariance))
            return np.array([k * gaussian_renyi(*pair, order) for order in orders])
        return np.array([gaussian_renyi(self.copy(k), other.copy(k), order) for order in orders])

    def copy(self, k: int) -> tuple[Array, Array]:
        """Mean and covariance of all records of one copy."""
        return np.tile(self.mean, k), np.kron(np.eye(k), self.covariance) + self.shared

    def scores(self, records: Array, _rng: Any = None) -> Array:
        """Along the axes of the covariance; the last one is the mean of a copy, so a shared mean shows."""
        flat = records.reshape(len(records), -1)
        mean, covariance = self.copy(flat.shape[1] // len(self.mean))
        values, axes = np.linalg.eigh(covariance)
        return ((flat - mean) @ axes) / np.sqrt(values)

    def log_density(self, records: Array) -> Array:
        z = self.scores(records)
        covariance = self.copy(z.shape[1] // len(self.mean))[1]
        return -(z**2).sum(axis=1) / 2 - np.linalg.slogdet(covariance)[1] / 2


@dataclass(frozen=True)
class OnGrid:
    """Discrete Gaussian records around a place that moves by whole steps once a copy."""

    place: int
    scale: float
    shared: float = 0.0
    lower: float = 0.0
    step: float = 1.0

    def renyi(self, other: OnGrid, k: int, orders: Array) -> Array:
        if self.shared:
            around = k * self.place + np.arange(-400, 401)
            pair = [law.totals(k, around) for law in (self, other)]
            return np.array([finite_renyi(*pair, order) for order in orders])
        steps = np.arange(-400, 401)
        pair = [law.one(steps - law.place) for law in (self, other)]
        return np.array([INF if order == INF else k * finite_renyi(*pair, order) for order in orders])

    def one(self, steps: Array) -> Array:
        weights = -(steps.astype(float) ** 2) / (2 * self.scale**2)
        return weights - logsumexp(-(np.arange(-2000, 2001) ** 2) / (2 * self.scale**2))

    def scores(self, records: Array, rng: Any) -> Array:
        """One score a copy, of the sum of its records."""
        totals = self.steps(records)
        reach = np.arange(totals.min() - 1, totals.max() + 1)
        at = totals - reach[0]
        mass = np.exp(self.totals(records.shape[1], reach))
        below = np.concatenate([[0.0], np.cumsum(mass)])
        return ndtri(below[at] + rng.random(len(at)) * mass[at])[:, None]

    def log_density(self, records: Array) -> Array:
        return self.totals(records.shape[1], self.steps(records))

    def steps(self, records: Array) -> Array:
        """Sum of each copy's records in whole steps."""
        return np.rint((records - self.lower) / self.step).sum(axis=1).astype(int)

    def totals(self, k: int, totals: Array) -> Array:
        """Log probability of the sum of a copy's records, which is sufficient for the place."""
        shifts, wide = np.arange(-60, 61), np.arange(-300, 301)
        moves = np.diff(ndtr((np.arange(-60, 62) - 0.5) / (self.shared or 1e-9)))
        mass = np.log(np.maximum(moves, 1e-300))
        far = k * (self.place + shifts)
        reach = np.arange(totals.min() - far.max(), totals.max() - far.min() + 1)
        summed = self.one(reach)
        for _ in range(k - 1):
            around = np.arange(reach[0] - 300, reach[-1] + 301)
            longer = self.one(around) if _ == 0 else np.interp(around, reach, summed)
            summed = logsumexp(sliding_window_view(longer, len(wide)) + self.one(wide), axis=1)
        moved = np.subtract.outer(totals, far) - reach[0]
        return logsumexp(summed[moved] + mass, axis=1)


@dataclass(frozen=True)
class Levels:
    """Independent records with fixed shares, of levels or of small intervals."""

    shares: Array

    def renyi(self, other: Levels, k: int, orders: Array) -> Array:
        with np.errstate(divide="ignore"):
            pair = np.log(self.shares), np.log(other.shares)
        return np.array([k * finite_renyi(*pair, order) for order in orders])

    def codes(self, records: Array) -> Array:
        return records.astype(int)

    def scores(self, records: Array, rng: Any) -> Array:
        codes = self.codes(records)
        below = np.cumsum(self.shares) - self.shares
        return ndtri(below[codes] + rng.random(codes.shape) * self.shares[codes])

    def log_density(self, records: Array) -> Array:
        return np.log(np.maximum(self.shares, 1e-300))[self.codes(records)].sum(axis=1)


@dataclass(frozen=True)
class Intervals(Levels):
    """The same for a continuous law cut into intervals, of which those that hardly occur count as one."""

    ends: Array = field(default_factory=lambda: np.zeros(0))

    def codes(self, records: Array) -> Array:
        return np.searchsorted(self.ends, records)

    def renyi(self, other: Levels, k: int, orders: Array) -> Array:
        rare = np.minimum(self.shares, other.shares) < 1e-9
        pooled = [np.append(law.shares[~rare], law.shares[rare].sum()) for law in (self, other)]
        seen = min(pooled[0][-1], pooled[1][-1]) > 0
        first, second = (Levels(shares if seen else shares[:-1]) for shares in pooled)
        return first.renyi(second, k, orders)


@dataclass(frozen=True)
class Urn:
    """Records given shares that are drawn once a copy from a Dirichlet law of these weights."""

    weights: Array

    def renyi(self, other: Urn, k: int, orders: Array) -> Array:
        counts = np.array(list(compositions(k, len(self.weights))))
        pair = self.counts(counts), other.counts(counts)
        return np.array([finite_renyi(*pair, order) for order in orders])

    def predictive(self, records: Array) -> Iterator[tuple[Array, Array]]:
        """Each record of the copies, and the shares that those before it leave to it."""
        balls = np.tile(self.weights, (len(records), 1))
        for record in records.astype(int).T:
            yield record, balls / balls.sum(axis=1, keepdims=True)
            balls = balls + (record[:, None] == np.arange(len(self.weights)))

    def scores(self, records: Array, rng: Any) -> Array:
        """Of each record; for long copies of the count of each level, where shared shares show most."""
        found = []
        if records.shape[1] > 10:
            return self.count_scores(records, rng)
        for record, shares in self.predictive(records):
            own = shares[np.arange(len(record)), record]
            below = np.cumsum(shares, axis=1)[np.arange(len(record)), record] - own
            found.append(ndtri(below + rng.random(len(own)) * own))
        return np.stack(found, axis=1)

    def count_scores(self, records: Array, rng: Any) -> Array:
        """One score a level but the last: its count is beta-binomial given those before it."""
        found, left = [], np.full(len(records), records.shape[1])
        for level, weight in enumerate(self.weights[:-1]):
            count = (records == level).sum(axis=1)
            law = betabinom(left, weight, self.weights[level + 1 :].sum())
            found.append(ndtri(law.cdf(count - 1) + rng.random(len(count)) * law.pmf(count)))
            left = left - count
        return np.stack(found, axis=1)

    def log_density(self, records: Array) -> Array:
        return sum(np.log(shares[np.arange(len(r)), r]) for r, shares in self.predictive(records))

    def counts(self, counts: Array) -> Array:
        """Log probability of each vector of counts of a copy."""
        k, total = counts.sum(axis=1), self.weights.sum()
        ways = gammaln(k + 1) - gammaln(counts + 1).sum(axis=1)
        rising = (gammaln(self.weights + counts) - gammaln(self.weights)).sum(axis=1)
        return ways + rising - (gammaln(total + k) - gammaln(total))


Law = Normal | OnGrid | Levels | Urn


def compositions(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    """All vectors of counts with a sum."""
    for bars in itertools.combinations(range(total + cells - 1), cells - 1):
        edges = (-1, *bars, total + cells - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def laws(step: Any, *, proper: bool, exact: bool, rows: Array) -> list[Law]:
    """Law of a step's records for each row of features, as its own code draws them."""
    readers = {
        "gaussian": gaussian_law,
        "gaussian_floor": normal_law,
        "ridge": normal_law,
        "multivariate_normal": joint_law,
        "dirichlet": cell_law,
        "logridge": level_law,
    }
    read = readers[step.model.name]
    return [read(step.model, step.params, row[None, :], proper, exact) for row in rows]


def normal_law(model: Any, params: Any, row: Array, *_: bool) -> Normal:
    probe = Probe()
    model.draw(params, row, probe)
    mean, sd = probe.asked["normal"]
    return Normal(np.atleast_1d(mean), np.array([[float(sd) ** 2]]))


def gaussian_law(model: Any, params: Any, row: Array, proper: bool, exact: bool) -> Law:
    if model.truncate:
        return truncated_law(model, params, row)
    if exact:
        return grid_law(model, params, row, proper)
    centre = normal_law(model, model.redraw(params, Probe(given=0.0)) if proper else params, row)
    moved = normal_law(model, model.redraw(params, Probe(given=1.0)), row) if proper else centre
    return Normal(centre.mean, centre.covariance, float(moved.mean[0] - centre.mean[0]) ** 2)


def grid_law(model: Any, params: Any, row: Array, proper: bool) -> OnGrid:
    """Place and scale in steps; the posterior draw's standard deviation from a long move."""
    places = []
    for variate in (0.0, 1e6) if proper else (None, None):
        probe = Probe(exact=True, given=variate)
        here = params if variate is None else model.redraw(params, probe)
        model.draw(here, row, probe)
        places.append(probe.asked["grid"])
    (place, scale), (far, _) = places
    return OnGrid(place, scale, (far - place) / 1e6, params.lower, params.step)


def truncated_law(model: Any, params: Any, row: Array) -> Intervals:
    """Probabilities of small intervals, from the quantile function that the code draws by."""
    ends = np.linspace(params.lower, params.upper, 801)[1:-1]
    low, high = np.zeros_like(ends), np.ones_like(ends)
    rows = np.repeat(row, len(ends), axis=0)
    for _ in range(60):
        middle = (low + high) / 2
        below = model.draw(params, rows, Probe(given=middle)) <= ends
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return Intervals(np.diff(np.concatenate([[0.0], low, [1.0]])), ends)


def joint_law(model: Any, params: Any, row: Array, *_: bool) -> Normal:
    size = len(model.draw(params, row, Probe(given=0.0))[0])
    rows = np.repeat(row, size, axis=0)
    mean = model.draw(params, rows, Probe(given=np.zeros((size, size))))[0]
    root = (model.draw(params, rows, Probe(given=np.eye(size))) - mean).T
    return Normal(mean, root @ root.T)


def cell_law(model: Any, params: Any, row: Array, proper: bool, exact: bool) -> Law:
    probe = Probe(exact=exact)
    if proper:
        here = model.redraw(params, probe)
        model.draw(here, row, Probe(exact=exact, given=0.5, asked=probe.asked))
        return Urn(probe.asked["urn"] if exact else probe.asked["gamma"])
    if exact:
        model.draw(params, row, probe)
        return Levels(probe.asked["weights"] / probe.asked["weights"].sum())
    return level_law(model, params, row)


def level_law(model: Any, params: Any, row: Array, *_: bool) -> Levels:
    """Shares of levels, from where the uniform variate's image changes."""
    u, width = np.linspace(0.0, 1.0, 4001), 1 / 4000

    def level(points: Array) -> Array:
        return model.draw(params, np.repeat(row, len(points), axis=0), Probe(given=points)).astype(int)

    image = level(u)
    jumps = np.flatnonzero(np.diff(image))
    low, high = u[jumps], u[jumps] + width
    for _ in range(60 if len(jumps) else 0):
        middle = (low + high) / 2
        before = level(middle) == image[jumps]
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    edges = np.concatenate([[0.0], low, [1.0]])
    seen = image[np.concatenate([jumps, [len(u) - 1]])]
    return Levels(np.bincount(seen, np.diff(edges)))


def total_renyi(
    near: Sequence[Sequence[Law]],
    far: Sequence[Sequence[Law]],
    draws: Sequence[tuple[int, int]],
    orders: Array,
) -> Array:
    """Loss of all copies of all draws: for each step at the row of features that loses most, added up."""
    total = np.zeros(len(orders))
    for pair in zip(near, far, strict=True):
        for k, copies in draws:
            found = [
                law.renyi(other, k, orders)
                for a, b in zip(*pair, strict=True)
                for law, other in ((a, b), (b, a))
            ]
            total += copies * np.max(found, axis=0)
    return total
