"""An exact audit of released parameters: worst neighbours through ``release_mean`` and ``release_shares``.

Chosen variates in place of the random ones tell the law of what is released; what discrete Laplace noise
would have to hide, and its scale, are taken down where the noise is asked for. Their divergence is computed
from elementary formulas and set against the guarantee of the release: never larger, and all of it somewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_systems import AUDITED
from scipy.special import gammaln

import pysynthdp as sdp
from pysynthdp import parameters
from pysynthdp._entropy import SystemEntropy
from pysynthdp.privacy.sampling import categorical

pytestmark = pytest.mark.statistical
Patch = pytest.MonkeyPatch
NUMBER = sdp.NumericColumn("x", lower=-20, upper=20, may_be_missing=False, fallback=0)
MEANS = pd.DataFrame({"x": [1e9, -20.0, -20.0, -20.0]}), pd.DataFrame({"x": [-20.0] * 4})
COPIES = 2


def column(count: int) -> sdp.CategoricalColumn:
    return sdp.CategoricalColumn("c", list("uvwz")[:count], other="u", may_be_missing=False)


def shares(count: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The record that moves is alone in its levels; of two, the rest is in the second."""
    rest = ["uvwz"[count - 1]] * 5
    return pd.DataFrame({"c": ["u", *rest]}), pd.DataFrame({"c": ["v", *rest]})


def mean_spent(patch: Patch, **settings: Any) -> float:
    """Share of the stated curve that a posterior draw of a mean loses."""
    places = []
    for table in MEANS:
        for variate in (0.0, 1.0):
            patch.setattr(SystemEntropy, "standard_normal", lambda _, size, z=variate: np.full(size, z))
            release = parameters.release_mean(table, NUMBER, copies=COPIES, **settings)
            places.append(float(release.estimates[0]))
    (first, up), (second, also_up) = places[:2], places[2:]
    sd = up - first
    assert sd == pytest.approx(also_up - second)  # the same for both tables
    return COPIES * (first - second) ** 2 / (2 * sd**2) / release.guarantee.rho


def noise_spent(patch: Patch, release: Callable[[pd.DataFrame], Any], tables: Any) -> float:
    """Share of the stated epsilon that discrete Laplace noise lets through."""
    asked: list[tuple[np.ndarray, float]] = []

    def noise(values: np.ndarray, scale: float) -> np.ndarray:
        asked.append((values.copy(), scale))
        return values

    patch.setattr(parameters, "add_discrete_laplace", noise)
    stated = [release(table).guarantee.eps for table in tables]
    (first, scale), (second, again) = asked
    assert scale == again
    return float(np.abs(first - second).sum() / scale / stated[0])


def noisy_mean_spent(patch: Patch, **settings: Any) -> float:
    def release(table: pd.DataFrame) -> Any:
        return parameters.release_mean(table, NUMBER, how="laplace", epsilon=0.7, copies=COPIES, **settings)

    return noise_spent(patch, release, MEANS)


def noisy_shares_spent(patch: Patch, count: int) -> float:
    def release(table: pd.DataFrame) -> Any:
        return parameters.release_shares(
            table, column(count), prior=1.5, how="laplace", epsilon=0.7, copies=COPIES
        )

    return noise_spent(patch, release, shares(count))


def log_beta(weights: np.ndarray) -> float:
    return float(gammaln(weights).sum() - gammaln(weights.sum()))


def dirichlet_renyi(first: np.ndarray, second: np.ndarray, order: float) -> float:
    """Divergence of two Dirichlet laws by Dirichlet's integral."""
    mixed = order * first + (1 - order) * second
    if mixed.min() <= 0:
        return np.inf
    logs = log_beta(mixed) - order * log_beta(first) - (1 - order) * log_beta(second)
    return logs / (order - 1)


def shares_spent(patch: Patch, count: int) -> float:
    """Largest share of the stated curve that posterior draws of shares lose."""
    prior, asked = (3.0, 5.0, 9.0)[:count], []

    def gammas(_: SystemEntropy, shape: np.ndarray) -> np.ndarray:
        asked.append(np.array(shape))
        return shape

    patch.setattr(SystemEntropy, "standard_gamma", gammas)
    for table in shares(count):
        release = parameters.release_shares(table, column(count), prior=prior, copies=COPIES)
    orders = AUDITED[np.isfinite(AUDITED)]
    stated = release.guarantee.renyi(orders)
    (first, *_), (second, *_) = asked
    lost = [
        COPIES * max(dirichlet_renyi(first, second, order), dirichlet_renyi(second, first, order))
        for order in orders
    ]
    bounded = np.isfinite(stated)
    return float(np.max(np.array(lost)[bounded] / stated[bounded]))


RELEASES: dict[str, Callable[[Patch], float]] = {
    "mean": lambda patch: mean_spent(patch, sigma=10.0),
    "mean with a prior": lambda patch: mean_spent(patch, sigma=10.0, prior_sd=5.0),
    "noisy mean": noisy_mean_spent,
    "noisy mean with a prior": lambda patch: noisy_mean_spent(patch, sigma=10.0, prior_sd=5.0),
    "two shares": lambda patch: shares_spent(patch, 2),
    "three shares": lambda patch: shares_spent(patch, 3),
    "two noisy shares": lambda patch: noisy_shares_spent(patch, 2),
    "three noisy shares": lambda patch: noisy_shares_spent(patch, 3),
}


@pytest.mark.parametrize("name", RELEASES)
def test_worst_neighbours_lose_all_of_the_claim_and_no_more(name, monkeypatch):
    assert 0.999 < RELEASES[name](monkeypatch) <= 1 + 1e-9


def half_the_scale(patch: Patch) -> None:
    real = parameters.upward
    patch.setattr(
        parameters, "upward", lambda value: real(value) / 2 if value > 1.5 * COPIES else real(value)
    )


def half_the_shift(name: str) -> Callable[[Patch], None]:
    def plant(patch: Patch) -> None:
        real = getattr(parameters, name)
        patch.setattr(parameters, name, lambda *given, **named: type(c := real(*given, **named))(c.mu / 2))

    plant.__name__ = f"half the shift of {name}"
    return plant


def one_copy_alone(patch: Patch) -> None:
    real = parameters.mean_release
    patch.setattr(parameters, "mean_release", lambda *given, **named: real(*given, **named | {"copies": 1}))


def more_prior(name: str) -> Callable[[Patch], None]:
    """The price of a prior one record heavier."""

    def plant(patch: Patch) -> None:
        if name == "parameter_renyi":
            real = parameters.parameter_renyi
            patch.setattr(
                parameters,
                name,
                lambda n, first, second, *, orders: real(n, first + 1, second + 1, orders=orders),
            )
            return
        weights = categorical.CellWeights

        class Heavier:
            @staticmethod
            def of(prior: Any) -> Any:
                return weights.of([weight + 1 for weight in prior])

        patch.setattr(parameters, "CellWeights", Heavier)

    plant.__name__ = f"more prior in {name}"
    return plant


def one_count_moves(patch: Patch) -> None:
    """The scale for two levels, whose counts mirror each other, for more."""
    patch.setattr(parameters, "upward", lambda value: min(value, 1 / 0.7))


BUGS = [
    ("mean", half_the_shift("mean_release")),
    ("mean", one_copy_alone),
    ("mean with a prior", half_the_shift("mean_with_prior")),
    ("noisy mean", half_the_scale),
    ("noisy mean with a prior", half_the_scale),
    ("two shares", more_prior("parameter_renyi")),
    ("three shares", more_prior("CellWeights")),
    ("three noisy shares", one_count_moves),
]


@pytest.mark.parametrize(("name", "plant"), BUGS, ids=lambda part: getattr(part, "__name__", part))
def test_audit_finds_planted_bug(name, plant, monkeypatch):
    plant(monkeypatch)
    assert RELEASES[name](monkeypatch) > 1.01
