"""Bugs to plant, each in the function where the code decides it, and the systems whose audit must find it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pysynthdp.models.dirichlet import Dirichlet
from pysynthdp.models.gaussian import Gaussian
from pysynthdp.privacy import account, mechanism
from pysynthdp.privacy.account import Account
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.mechanisms import gaussian as gaussian_mechanisms
from pysynthdp.privacy.prices import (
    categorical,
    cells_curves,
    gaussian_floored,
    gaussian_known,
    gaussian_truncated,
    grids,
    multivariate_normal,
    regression,
)
from pysynthdp.privacy.prices.beta_curves import beta_renyi
from pysynthdp.privacy.prices.binary_curves import bernoulli_renyi

Patch = pytest.MonkeyPatch
SAMPLING = "pysynthdp.privacy.prices"


@dataclass(frozen=True)
class Bug:
    """What is planted, and the systems that must find it."""

    name: str
    plant: Callable[[Patch], None]
    systems: tuple[str, ...]


def changed(module: Any, name: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """A function whose result is changed."""
    real = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *given, **named: change(real(*given, **named)))


def asked(
    module: Any, name: str, change: Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]
) -> Callable[[Patch], None]:
    """A function whose arguments are changed."""
    real = getattr(module, name)

    def instead(*given: Any, **named: Any) -> Any:
        given, named = change(*given, **named)
        return real(*given, **named)

    return lambda patch: patch.setattr(module, name, instead)


def halved(value: Any) -> Any:
    return GDP(value.mu / 2) if isinstance(value, GDP) else value / 2


def half_the_variance_weight(patch: Patch) -> None:
    """Eta is g reach^2/floor^2."""
    real = gaussian_floored.floored_curve

    def curve(n: int, d: float, least: float, reach: float, g: float, **named: Any) -> Any:
        return real(n, d, least, reach, g / 2, **named)

    patch.setattr(gaussian_floored, "floored_curve", curve)


def only_the_mean_moves(patch: Patch) -> None:
    """The printed erratum: s^2 in place of sigma^2 (C3)."""

    def curve(n: int, d: float, least: float, _reach: float, _g: float, *, orders: Any, n_draws: int) -> Any:
        return n_draws * orders * (2 * d / n) ** 2 / (2 * least)

    patch.setattr(gaussian_floored, "floored_curve", curve)


def no_steering_of_predictions(patch: Patch) -> None:
    """H2 without what the other records may add to a residual."""

    def shift(_n: int, *, row_norm: float, response: float, ridge: float) -> float:
        kappa = row_norm**2 / ridge
        return 2 * response * kappa / (1 + kappa)

    patch.setattr(regression, "ridge_shift", shift)


def half_a_step(patch: Patch) -> None:
    patch.setattr(grids, "bounds", lambda lower, upper: (upper - lower) / 2)


def largest_weights(patch: Patch) -> None:
    real = categorical.CellWeights

    def of(weights: Any) -> Any:
        *_, second, first = sorted(weights)
        return real(first, second, math.fsum(weights))

    patch.setattr(cells_curves, "CellWeights", SimpleNamespace(of=of))


def one_end_of_a_binary_table(patch: Patch) -> None:
    """F7 at the table without ones alone."""

    def curve(n: int, n_draws: int, weights: tuple[float, float], *, orders: Any) -> Any:
        a, b = weights
        pair = (n + a) / (n + a + b), (n - 1 + a) / (n + a + b)
        return np.maximum(
            bernoulli_renyi(*pair, orders=orders, n_draws=n_draws),
            bernoulli_renyi(*pair[::-1], orders=orders, n_draws=n_draws),
        )

    patch.setattr(cells_curves, "binary_renyi", curve)


def larger_weight_of_a_binary_posterior(patch: Patch) -> None:
    """F8 at the end where the larger weight stands alone."""

    def curve(n: int, alpha: float, beta: float, *, orders: Any) -> Any:
        large, small = max(alpha, beta), min(alpha, beta)
        rest = n - 1 + small
        return np.maximum(beta_renyi(large, rest, orders=orders), beta_renyi(rest, large, orders=orders))

    patch.setattr(cells_curves, "parameter_renyi", curve)


def last_draw_alone(patch: Patch) -> None:
    patch.setattr(account, "paid_draws", lambda _mechanism, draws: draws[-1:])


def dearest_column_alone(patch: Patch) -> None:
    def price(self: Account, draws: Any) -> Any:
        return max(
            (self._price_step(step, draws) for step in self.priced), key=lambda cost: cost.epsilon(1e-6)
        )

    patch.setattr(Account, "_price", price)


def one_copy_alone(patch: Patch) -> None:
    real = mechanism.price_of
    patch.setattr(
        account, "price_of", lambda priced, draw, *, unit: real(priced, replace(draw, copies=1), unit=unit)
    )


def one_row_of_a_unit(patch: Patch) -> None:
    patch.setattr(mechanism, "group_privacy", lambda cost, _rows: cost)


def narrow_draws(patch: Patch) -> None:
    real = Gaussian._law
    patch.setattr(
        Gaussian, "_law", lambda self, task: replace(law := real(self, task), spread=law.spread / 2)
    )


def one_mean_for_all_copies(patch: Patch) -> None:
    patch.setattr(Gaussian, "redraw", lambda _self, params, _rng: params)


def half_of_the_posterior(patch: Patch) -> None:
    real = Gaussian.redraw

    def redraw(self: Gaussian, params: Any, rng: Any) -> Any:
        return real(self, replace(params, mean_sd=params.mean_sd / 2), rng)

    patch.setattr(Gaussian, "redraw", redraw)


def unclamped_cells(patch: Patch) -> None:
    """A cell beyond the bounds goes into the sum as it is."""
    patch.setattr(
        "pysynthdp.design.coerce._bounded",
        lambda numbers, _column: (numbers, np.zeros(len(numbers), dtype=bool)),
    )
    namespace = {name: getattr(np, name) for name in ("rint", "asarray", "int64")}
    wide = SimpleNamespace(**namespace, clip=lambda values, *_: np.clip(values, -100.0, 100.0))
    patch.setattr("pysynthdp.models.fits.clamped_sum.np", wide)


def half_to_even(patch: Patch) -> None:
    """Rounding of the exact sampler's place by Python's round: a step may become two (H1)."""
    half = SimpleNamespace(sqrt=math.sqrt, nextafter=math.nextafter, floor=lambda x: round(x - type(x)(1, 2)))
    patch.setattr("pysynthdp.models.gaussian.math", half)


def counts_without_prior(patch: Patch) -> None:
    real = Dirichlet.fit

    def fit(self: Dirichlet, task: Any) -> Any:
        params = yield from real(self, task)
        prior = np.asarray(self._prior(task))
        weights = params.weights - prior + 0.05
        whole = (
            params.whole - np.rint(params.unit * prior).astype(int) + 1 if params.whole.size else params.whole
        )
        return replace(params, weights=weights, shares=weights / weights.sum(), whole=whole)

    patch.setattr(Dirichlet, "fit", fit)


def floor_forgotten(patch: Patch) -> None:
    patch.setattr("pysynthdp.models.gaussian_floor.max", lambda first, _least: first, raising=False)


def clipped_instead_of_conditioned(patch: Patch) -> None:
    from scipy.special import ndtri

    def moved(u: Any, *, centre: float, spread: float, lower: float, upper: float) -> Any:
        return np.clip(centre + spread * ndtri(u), lower, upper)

    patch.setattr("pysynthdp.models.gaussian._truncated_normal", moved)


def weak_penalty(where: str) -> Callable[[Patch], None]:
    """A fourth of the penalty that is priced."""

    def plant(patch: Patch) -> None:
        from pysynthdp.models.fits import penalised, ridge_logistic

        if where == "logridge":
            real = ridge_logistic.ask_ridge_logistic
            patch.setattr(
                "pysynthdp.models.logridge.ask_ridge_logistic",
                lambda features, *, penalty, **named: real(features, penalty=penalty / 4, **named),
            )
            return
        name = {"ridge": "solve_penalised", "joint.multivariate_normal": "penalised_root"}[where]
        function = getattr(penalised, name)
        patch.setattr(f"pysynthdp.models.{where}.{name}", lambda *given: function(*given[:-1], given[-1] / 4))

    return plant


def drawn_rows_unclipped(patch: Patch) -> None:
    """Rows are clipped at the fit alone, which happens outside ``draw``."""
    from pysynthdp.models.ridge import Ridge

    def draw(_self: Ridge, params: Any, X: Any, sampler: Any) -> Any:
        return sampler.normal(params.middle + X @ params.beta, params.sigma)

    patch.setattr(Ridge, "draw", draw)


MEANS = ("plug-in", "one mean a copy", "one mean a record", "prior, plug-in", "prior, copy")
LONG = ("several columns and draws", "plug-in", "truncated", "urn", "three levels")
BUGS = [
    Bug(
        "sensitivity of the plug-in mean over sqrt 2",
        changed(gaussian_known, "mean_sensitivity", lambda shift: shift / math.sqrt(2)),
        MEANS[:3],
    ),
    Bug("half the shift of a ridge", changed(regression, "ridge_shift", halved), ("ridge", "ridge, clipped")),
    Bug("half of eta under the floor", half_the_variance_weight, ("floor",)),
    Bug("half the logit shift", changed(regression, "_logit_shift", halved), ("logridge",)),
    Bug(
        "half the shift of one mean a copy",
        changed(gaussian_mechanisms, "mean_per_copy", halved),
        ("one mean a copy",),
    ),
    Bug("the last draw alone is priced", last_draw_alone, LONG),
    Bug(
        "half the leverage under a ridge", changed(multivariate_normal, "ridge_leverage", halved), ("joint",)
    ),
    Bug(
        "half the shift of a mean with a prior",
        changed(gaussian_mechanisms, "mean_with_prior", halved),
        MEANS[3:],
    ),
    Bug(
        "half the shift of one mean a record",
        changed(gaussian_mechanisms, "mean_per_record", halved),
        MEANS[2:3],
    ),
    Bug("the variance does not move", only_the_mean_moves, ("floor",)),
    Bug("nobody steers a ridge", no_steering_of_predictions, ("ridge, steered",)),
    Bug(
        "half the shift of a conditioned mean",
        changed(gaussian_truncated, "_law", lambda law: (law[0] / 2, law[1])),
        ("truncated", "truncated, record", "truncated, inner"),
    ),
    Bug("half a step of the grid", half_a_step, ("grid", "grid, copy")),
    Bug(
        "one more record in the smallest cell",
        asked(cells_curves, "cells_epsilon", lambda w, n, **named: ((w + 1, n), named)),
        (
            "two levels",
            "three levels",
            "mode",
            "whole weights",
            "two shares a copy",
            "three shares a copy",
            "urn",
        ),
    ),
    Bug("the largest weights are priced", largest_weights, ("three levels", "mode", "whole weights")),
    Bug("one end of a binary table", one_end_of_a_binary_table, ("two levels",)),
    Bug("the larger weight of a posterior", larger_weight_of_a_binary_posterior, ("two shares a long copy",)),
    Bug("the dearest column alone is priced", dearest_column_alone, LONG[:1]),
    Bug(
        "one copy alone is priced",
        one_copy_alone,
        (*LONG, "two shares a copy", "floor", "joint", "grid, copy"),
    ),
    Bug("one row of a unit is priced", one_row_of_a_unit, ("three rows a unit",)),
    Bug("draws narrower than priced", narrow_draws, MEANS),
    Bug("one mean for all copies, not drawn", one_mean_for_all_copies, ("one mean a copy", "prior, copy")),
    Bug("half of the posterior's spread", half_of_the_posterior, ("one mean a copy", "prior, copy")),
    Bug("cells beyond the bounds", unclamped_cells, ("plug-in", "one mean a copy")),
    Bug("the place rounded half to even", half_to_even, ("grid, at a tie",)),
    Bug(
        "the prior is not counted",
        counts_without_prior,
        ("two levels", "three levels", "whole weights", "two shares a copy", "three shares a copy", "urn"),
    ),
    Bug("the floor forgotten", floor_forgotten, ("floor, others alike",)),
    Bug("clipped instead of conditioned", clipped_instead_of_conditioned, ("truncated", "truncated, record")),
    Bug("a weaker penalty on a ridge", weak_penalty("ridge"), ("ridge",)),
    Bug("a weaker penalty on a logit", weak_penalty("logridge"), ("logridge",)),
    Bug("a weaker ridge on a covariance", weak_penalty("joint.multivariate_normal"), ("joint",)),
    Bug("drawn rows are not clipped", drawn_rows_unclipped, ("ridge, clipped",)),
]
