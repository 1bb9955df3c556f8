"""An exact audit of released parameters, alone and on one account: worst neighbours through the public verbs.

What two neighbouring tables release has laws that are read off the code (``audit_parameters``). The
divergence of all releases together is set against the guarantee that they state: never larger, and nearly all
of it somewhere. There is no sampling error: a planted bug is found always or never.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from audit_bugs import changed, halved, one_row_of_a_unit, unclamped_cells
from audit_parameters import COPIES, EPSILON, RELEASES, audited

import pysynthdp as sdp
from pysynthdp.parameters import mean, shares, spending
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.mechanisms import gaussian, parameters
from pysynthdp.privacy.prices import categorical
from pysynthdp.privacy.statements import statement as statements

pytestmark = pytest.mark.statistical
Patch = pytest.MonkeyPatch
ROUNDING = 1e-9
OF_ONE_ROW = ("two shares", "three shares")  # priced for one row a unit
GAUSSIAN = ("mean", "mean with a prior")
PURE = ("noisy mean", "noisy mean with a prior", "two noisy shares", "three noisy shares")
SUMS: dict[str, tuple[tuple[str, ...], float]] = {
    # Of a pure loss beside another kind the curve is randomised response's, which is above Laplace's.
    "Gaussian": (GAUSSIAN, 0.999),
    "pure": (PURE, 0.999),
    "Gaussian and pure": (("mean", "noisy mean", "three noisy shares"), 0.999),
    "Gaussian and shares": ((*GAUSSIAN, "two shares"), 0.999),
    "two kinds of shares": (OF_ONE_ROW, 0.999),
    "pure and shares": (("noisy mean", "three shares"), 0.9),
    "three kinds": (("mean", "noisy mean", "two shares"), 0.9),
    "all": (tuple(RELEASES), 0.9),
}
SYSTEMS: dict[str, tuple[tuple[str, ...], int, float]] = (
    {name: ((name,), 1, 0.999) for name in RELEASES}
    | {f"{name}, three rows": ((name,), 3, 0.999) for name in (*GAUSSIAN, *PURE)}
    | {name: (names, 1, least) for name, (names, least) in SUMS.items()}
    | {
        f"{name}, three rows": (names, 3, least)
        for name, (names, least) in SUMS.items()
        if not set(names) & set(OF_ONE_ROW)
    }
)


def spent(patch: Patch, system: str) -> float:
    names, rows, _ = SYSTEMS[system]
    return float(audited(patch, names, rows).spent().max())


@pytest.mark.parametrize("system", SYSTEMS)
def test_worst_neighbours_lose_nearly_all_of_the_claim_and_no_more(system, monkeypatch):
    assert SYSTEMS[system][2] < spent(monkeypatch, system) <= 1 + ROUNDING


@pytest.mark.parametrize("system", SYSTEMS)
def test_delta_at_every_quoted_epsilon_is_no_larger_than_quoted(system, monkeypatch):
    names, rows, _ = SYSTEMS[system]
    found = audited(monkeypatch, names, rows)
    for delta, epsilon in found.statement.points:
        share = found.delta(epsilon) / delta
        assert share <= 1
        assert share > 0.98 or found.statement.guarantee.name != "gdp"  # exact but for the grid of losses


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_unit_gets_the_epsilon_that_was_asked_for(name, rows, monkeypatch):
    stated = audited(monkeypatch, (name,), rows).statement.guarantee.eps
    assert stated == pytest.approx(COPIES * EPSILON, rel=1e-12)


@pytest.mark.parametrize("name", OF_ONE_ROW)
def test_posterior_shares_of_several_rows_are_refused(name, monkeypatch):
    with pytest.raises(sdp.PrivacyError, match="priced for one row a unit only"):
        audited(monkeypatch, (name,), 3)


def named(name: str, plant: Callable[[Patch], None]) -> Callable[[Patch], None]:
    plant.__name__ = name
    return plant


def one_copy_alone(patch: Patch) -> None:
    real = spending.price_of
    patch.setattr(
        spending, "price_of", lambda priced, draw, *, unit: real(priced, replace(draw, copies=1), unit=unit)
    )


def one_record_more_in_each_end(patch: Patch) -> None:
    real = parameters.parameter_renyi

    def curve(n: int, first: float, second: float, *, orders: Any) -> Any:
        return real(n, first + 1, second + 1, orders=orders)

    patch.setattr(parameters, "parameter_renyi", curve)


def one_record_more_in_each_cell(patch: Patch) -> None:
    weights = categorical.CellWeights

    class Heavier:
        @staticmethod
        def of(prior: Sequence[float]) -> Any:
            return weights.of([weight + 1 for weight in prior])

    patch.setattr(parameters, "CellWeights", Heavier)


def noise_for_one_row(module: Any) -> Callable[[Patch], None]:
    """The price is for the unit, the noise for one of its rows."""
    real = module._noisy

    def noisy(asked: spending.Asked, *known: Any) -> Any:
        return real(replace(asked, terms=replace(asked.terms, unit=sdp.PrivacyUnit())), *known)

    return named("noise for one row of a unit", lambda patch: patch.setattr(module, "_noisy", noisy))


def narrow_draws(patch: Patch) -> None:
    """The posterior's spread by sigma/2 without a prior, where only the spread knows sigma."""
    real = mean._drawn
    patch.setattr(
        mean, "_drawn", lambda asked, known, mode: real(asked, replace(known, sigma=known.sigma / 2), mode)
    )


def noise_for_a_smaller_weight(patch: Patch) -> None:
    """The data count twice in the mode as much as in the scale."""
    real = mean._noisy

    def noisy(asked: spending.Asked, known: Any, mode: Any) -> Any:
        return real(asked, known, 2 * mode)

    patch.setattr(mean, "_noisy", noisy)


def prior_not_counted(patch: Patch) -> None:
    real = shares._drawn

    def drawn(asked: spending.Asked, counts: Any, weights: tuple[float, ...]) -> Any:
        return real(asked, counts, tuple(weight - 1 for weight in weights))

    patch.setattr(shares, "_drawn", drawn)


BUGS = [
    ("mean", named("half the shift", changed(parameters, "mean_release", halved))),
    ("mean with a prior", named("half the shift", changed(gaussian, "mean_with_prior", halved))),
    *((name, one_copy_alone) for name in RELEASES),
    ("two shares", one_record_more_in_each_end),
    ("three shares", one_record_more_in_each_cell),
    ("noisy mean", named("half the scale", changed(mean, "upward", halved))),
    ("noisy mean with a prior", named("half the scale", changed(mean, "upward", halved))),
    ("noisy mean with a prior", noise_for_a_smaller_weight),
    ("two noisy shares", named("half the scale", changed(shares, "upward", halved))),
    ("three noisy shares", named("half the scale", changed(shares, "upward", halved))),
    ("three noisy shares", named("one count moves", changed(shares, "_moved", lambda _: 1))),
    ("mean", narrow_draws),
    ("two shares", prior_not_counted),
    ("three shares", prior_not_counted),
    ("mean", unclamped_cells),
    ("noisy mean", unclamped_cells),
    *((f"{name}, three rows", one_row_of_a_unit) for name in (*GAUSSIAN, *PURE)),
    *((f"{name}, three rows", noise_for_one_row(mean)) for name in PURE[:2]),
    *((f"{name}, three rows", noise_for_one_row(shares)) for name in PURE[2:]),
]


def last_release_alone(patch: Patch) -> None:
    real = sdp.PrivacyAccount._sum
    patch.setattr(sdp.PrivacyAccount, "_sum", lambda self, charged: real(self, charged[-1:]))


def dearest_release_alone(patch: Patch) -> None:
    patch.setattr(statements, "compose", lambda parts: max(parts, key=lambda part: part.epsilon(1e-6)))


def each_kind_once(patch: Patch) -> None:
    """Of releases that cost alike only one is counted."""
    real = statements.compose
    patch.setattr(
        statements, "compose", lambda parts: real(list({type(part): part for part in parts}.values()))
    )


def half_the_curve(kind: type) -> Callable[[Patch], None]:
    """A kind that goes into a sum of curves by half of its own."""
    real = kind.renyi
    return named(
        f"half the curve of {kind.name}",
        lambda patch: patch.setattr(kind, "renyi", lambda self, orders: np.asarray(real(self, orders)) / 2),
    )


ACCOUNT_BUGS = [
    *((name, last_release_alone) for name in SUMS),
    *((name, dearest_release_alone) for name in SUMS),
    *(
        (name, each_kind_once)
        for name in ("Gaussian", "pure", "Gaussian and pure", "two kinds of shares", "all")
    ),
    *((name, half_the_curve(GDP)) for name in ("Gaussian and pure", "Gaussian and shares", "three kinds")),
    *((name, half_the_curve(PureDP)) for name in ("Gaussian and pure", "pure and shares", "three kinds")),
    ("Gaussian, three rows", one_row_of_a_unit),
    ("pure, three rows", one_row_of_a_unit),
    ("Gaussian and pure, three rows", one_row_of_a_unit),
]


@pytest.mark.parametrize(
    ("system", "plant"), BUGS + ACCOUNT_BUGS, ids=lambda part: getattr(part, "__name__", part)
)
def test_audit_finds_planted_bug(system, plant, monkeypatch):
    plant(monkeypatch)
    assert spent(monkeypatch, system) > 1.01
