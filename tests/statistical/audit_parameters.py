"""Laws of released parameters, read off ``release_mean`` and ``release_shares``, and their exact divergences.

Chosen variates in place of the random ones tell the law of a posterior draw; what discrete Laplace noise
hides, and its scale, are taken down where the noise is asked for. Every law has ``renyi(other, order)`` of
all copies, and ``below(other, ends)``: one loss's distribution function, and how many such losses add up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_laws import Array, gaussian_renyi
from audit_systems import AUDITED
from scipy.signal import fftconvolve
from scipy.special import expit, gammaln, logsumexp, ndtr
from scipy.stats import beta

import pysynthdp as sdp
from pysynthdp.base.entropy import SystemEntropy
from pysynthdp.parameters import mean, shares

Patch = pytest.MonkeyPatch
Make = Callable[..., sdp.ParameterRelease]
SIZE, COPIES, EPSILON = 6, 2, 0.7
NUMBER = sdp.NumericColumn("x", lower=-20, upper=20, may_be_missing=False, fallback=0)


@dataclass(frozen=True)
class Normals:
    """Independent copies N(place, sd^2)."""

    place: float
    sd: float
    copies: int

    @classmethod
    def read(cls, release: sdp.ParameterRelease, _asked: Sequence[Any]) -> Normals:
        """Copy j had the variate j."""
        at = release.estimates
        assert np.diff(at) == pytest.approx(at[1] - at[0])
        return cls(float(at[0]), float(at[1] - at[0]), len(at))

    def renyi(self, other: Normals, order: float) -> float:
        pair = [(np.array([law.place]), np.array([[law.sd**2]])) for law in (self, other)]
        return self.copies * gaussian_renyi(*pair, order)

    def below(self, other: Normals, ends: Array) -> tuple[Array, int]:
        assert self.sd == pytest.approx(other.sd)
        mu = self.copies**0.5 * abs(self.place - other.place) / self.sd
        return ndtr(ends / mu - mu / 2), 1


@dataclass(frozen=True)
class Laplaces:
    """Whole numbers with independent discrete Laplace noise."""

    exact: Array
    scale: float

    @classmethod
    def read(cls, _release: sdp.ParameterRelease, asked: Sequence[Any]) -> Laplaces:
        ((values, scale),) = asked
        return cls(values, scale)

    def moves(self, other: Laplaces) -> Array:
        assert self.scale == other.scale
        moved = np.abs(self.exact - other.exact).astype(float)
        return moved[moved > 0]

    def renyi(self, other: Laplaces, order: float) -> float:
        moves = self.moves(other)
        if order == np.inf:
            return float(moves.sum() / self.scale)
        return float(sum(self._one(move, order) for move in moves))

    def _one(self, move: float, order: float) -> float:
        """Sums of geometric series below, between and above the two centres."""
        step, turn = 1 / self.scale, (2 * order - 1) / self.scale
        one = np.log(-np.expm1(-step))
        logs = [(order - 1) * move * step - one, -order * move * step - one]
        if move > 1:
            between = np.log(-np.expm1(-turn * (move - 1))) - np.log(-np.expm1(-turn))
            logs.append((order - 1) * move * step - turn + between)
        return float((logsumexp(logs) + one - np.log1p(np.exp(-step))) / (order - 1))

    def below(self, other: Laplaces, ends: Array) -> tuple[Array, int]:
        """Of noise x the loss is (|x - move| - |x|)/scale, which falls as x rises."""
        (move, *others) = moves = self.moves(other)
        assert set(others) <= {move}
        least = np.ceil((move - ends * self.scale) / 2)
        tail = np.exp(-least / self.scale) / (1 + np.exp(-1 / self.scale))
        bound = move / self.scale
        inside = np.where(ends < bound, tail, 1.0)
        return np.where(ends < -bound, 0.0, inside), len(moves)


@dataclass(frozen=True)
class Dirichlets:
    """Independent copies of shares with one Dirichlet law."""

    weights: Array
    copies: int

    @classmethod
    def read(cls, _release: sdp.ParameterRelease, asked: Sequence[Any]) -> Dirichlets:
        (weights,) = asked
        assert np.array_equal(weights, np.tile(weights[:1], (len(weights), 1)))
        return cls(weights[0], len(weights))

    def renyi(self, other: Dirichlets, order: float) -> float:
        """By Dirichlet's integral."""
        if order == np.inf:
            return 0.0 if np.array_equal(self.weights, other.weights) else np.inf
        mixed = order * self.weights + (1 - order) * other.weights
        if mixed.min() <= 0:
            return np.inf
        logs = log_beta(mixed) - order * log_beta(self.weights) - (1 - order) * log_beta(other.weights)
        return self.copies * logs / (order - 1)

    def below(self, other: Dirichlets, ends: Array) -> tuple[Array, int]:
        """One record moved, so the loss is the log odds of the two levels, of which the first gained it."""
        gap = self.weights - other.weights
        gained, lost = int(np.argmax(gap)), int(np.argmin(gap))
        assert sorted(gap[gap != 0]) == [-1, 1]
        rest = log_beta(other.weights) - log_beta(self.weights)
        odds = beta(self.weights[gained], self.weights[lost])
        return odds.cdf(expit(ends - rest)), self.copies


Law = Normals | Laplaces | Dirichlets


def log_beta(weights: Array) -> float:
    return float(gammaln(weights).sum() - gammaln(weights.sum()))


def read(patch: Patch, make: Callable[[], sdp.ParameterRelease]) -> tuple[sdp.ParameterRelease, Law]:
    """Release once, and tell the law of all copies."""
    asked: list[Any] = []
    kinds: list[type[Law]] = []

    def normals(_: SystemEntropy, size: int) -> Array:
        kinds.append(Normals)
        return np.arange(float(size))

    def gammas(_: SystemEntropy, shape: Array) -> Array:
        kinds.append(Dirichlets)
        asked.append(np.array(shape))
        return shape

    def noise(values: Array, scale: float) -> Array:
        kinds.append(Laplaces)
        asked.append((values.copy(), scale))
        return values

    with patch.context() as tapped:
        tapped.setattr(SystemEntropy, "standard_normal", normals)
        tapped.setattr(SystemEntropy, "standard_gamma", gammas)
        for module in (mean, shares):
            tapped.setattr(module, "add_discrete_laplace", noise)
        release = make()
    (kind,) = kinds
    return release, kind.read(release, asked)


def levels(count: int) -> sdp.CategoricalColumn:
    names = list("uvw")[:count]
    return sdp.CategoricalColumn(f"c{count}", names, other="u", may_be_missing=False)


def neighbours(rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All rows of one unit move, in every column: from end to end, or between levels of their own.

    Of two levels the others are in the second.
    """
    still = SIZE - rows

    def table(x: float, level: str) -> pd.DataFrame:
        cells = {"x": [x] * rows + [-20.0] * still}
        cells |= {f"c{count}": [level] * rows + ["uvw"[count - 1]] * still for count in (2, 3)}
        return pd.DataFrame(cells)

    return table(1e9, "u"), table(-20.0, "v")


def means(**settings: Any) -> Make:
    return lambda table, **shared: sdp.release_mean(table, NUMBER, copies=COPIES, **settings, **shared)


def of_levels(count: int, **settings: Any) -> Make:
    prior = (3.0, 5.0, 9.0)[:count]
    return lambda table, **shared: sdp.release_shares(
        table, levels(count), prior=prior, copies=COPIES, **settings, **shared
    )


NOISE: dict[str, Any] = {"how": "laplace", "epsilon": EPSILON}
PRIOR = {"sigma": 20.0, "prior_sd": 10.0}
RELEASES: dict[str, Make] = {
    "mean": means(sigma=20.0),
    "mean with a prior": means(**PRIOR),
    "noisy mean": means(**NOISE),
    "noisy mean with a prior": means(**NOISE, **PRIOR),
    "two shares": of_levels(2),
    "three shares": of_levels(3),
    "two noisy shares": of_levels(2, **NOISE),
    "three noisy shares": of_levels(3, **NOISE),
}


def mechanisms() -> set[str]:
    """Names of the mechanisms that these releases are priced by."""
    table = neighbours(1)[0]
    return {make(table).privacy.columns[0].mechanism for make in RELEASES.values()}


@dataclass(frozen=True)
class Audited:
    """What one or several releases state, and the laws of each on two neighbours."""

    statement: sdp.PrivacyStatement
    laws: tuple[tuple[Law, Law], ...]

    def spent(self) -> Array:
        """Share of the stated curve that is lost by all together, at each audited order."""
        stated = self.statement.guarantee.renyi(AUDITED)
        lost = np.max(
            [
                [sum(pair[way].renyi(pair[1 - way], order) for pair in self.laws) for order in AUDITED]
                for way in (0, 1)
            ],
            axis=0,
        )
        free = np.isinf(stated)
        return np.where(free, 0.0, lost / np.where(free, 1.0, stated))

    def delta(self, epsilon: float) -> float:
        """Bound delta from below: every loss is rounded down to a grid, and losses beyond it are left out."""
        return max(self._delta(epsilon, way) for way in (0, 1))

    def _delta(self, epsilon: float, way: int, *, step: float = 2e-3, reach: int = 20_000) -> float:
        ends = step * np.arange(-reach, reach + 1)
        total, start = np.ones(1), 0.0
        for pair in self.laws:
            below, times = pair[way].below(pair[1 - way], ends)
            for _ in range(times):
                total, start = fftconvolve(total, np.diff(below)), start + ends[0]
        losses = start + step * np.arange(len(total))
        over = losses > epsilon
        return float(np.sum(total[over] * -np.expm1(epsilon - losses[over])))


def audited(patch: Patch, names: Sequence[str], rows: int = 1) -> Audited:
    """Release from both neighbours; several on one account, which then states their sum."""
    unit, found = sdp.PrivacyUnit(rows_per_unit=rows), []
    for table in neighbours(rows):
        account = sdp.PrivacyAccount(unit=unit, deltas=(1e-3, 1e-6))
        shared = {"account": account} if len(names) > 1 else {"unit": unit}
        makes = [functools.partial(RELEASES[name], table, **shared) for name in names]
        read_off = [read(patch, make) for make in makes]
        last = read_off[-1][0]
        statement = last.privacy if last.together is None else last.together
        found.append((statement, [law for _, law in read_off]))
    (near, first), (far, second) = found
    assert near.to_dict() == far.to_dict()  # no word of it depends on a record
    return Audited(near, tuple(zip(first, second, strict=True)))
