"""Conversions against Google's dp-accounting, which shares no code or formula text with ours."""

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld import privacy_loss_mechanism as plm
from dp_accounting.rdp import rdp_privacy_accountant as rdp

from pysynthdp.privacy.composition import compose, repeat
from pysynthdp.privacy.conversion.gdp import gdp_delta, gdp_epsilon, gdp_mu
from pysynthdp.privacy.conversion.orders import ORDERS
from pysynthdp.privacy.conversion.pure import pure_zcdp
from pysynthdp.privacy.conversion.rdp import rdp_delta, rdp_epsilon
from pysynthdp.privacy.guarantees.gdp import GDP
from pysynthdp.privacy.guarantees.pure import PureDP
from pysynthdp.privacy.guarantees.rdp import RDP
from pysynthdp.privacy.guarantees.zcdp import ZCDP

MUS = [0.01, 0.1, 0.3, 1.0, 2.5, 6.0]


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.5, 1.0, 4.0])
def test_gaussian_delta(mu, epsilon):
    other = plm.GaussianPrivacyLoss(1 / mu).get_delta_for_epsilon(epsilon)
    # the other side subtracts two tails: its own rounding is about 1e-16
    assert gdp_delta(mu, epsilon) == pytest.approx(other, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_gaussian_epsilon_inverts(mu, delta):
    epsilon = gdp_epsilon(mu, delta)
    other = plm.GaussianPrivacyLoss(1 / mu)
    assert other.get_delta_for_epsilon(epsilon) <= delta * (1 + 1e-9) + 1e-16
    if epsilon > 0:
        assert other.get_delta_for_epsilon(epsilon * 0.999) > delta


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_gaussian_mu_inverts(epsilon):
    mu = gdp_mu(epsilon, 1e-6)
    assert plm.GaussianPrivacyLoss(1 / mu).get_delta_for_epsilon(epsilon) == pytest.approx(1e-6, rel=1e-8)


@pytest.mark.parametrize("delta", [1e-4, 1e-8])
def test_renyi_conversion(delta):
    orders = np.geomspace(1.05, 500, 60)
    taus = 0.3 * orders + 0.01 * orders**2
    assert rdp_epsilon(orders, taus, delta) == pytest.approx(rdp.compute_epsilon(orders, taus, delta)[0])
    assert rdp_delta(orders, taus, 6.0) <= rdp.compute_delta(orders, taus, 6.0)[0] * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_pure_covers_laplace_in_every_order(epsilon):
    orders = np.geomspace(1.1, 400, 40)
    ours = PureDP(epsilon).renyi(orders)
    laplace = [
        (math.log(a / (2 * a - 1)) + (a - 1) * epsilon) / (a - 1)
        + math.log1p((a - 1) / a * math.exp(-(2 * a - 1) * epsilon)) / (a - 1)
        for a in orders
    ]
    assert np.all(ours >= np.array(laplace) * (1 - 1e-12))


@pytest.mark.parametrize("at", [0.0, 0.3, 0.9])
def test_pure_delta_covers_laplace(at):
    assert PureDP(1.0).delta(at) >= plm.LaplacePrivacyLoss(1.0).get_delta_for_epsilon(at) * (1 - 1e-12)


def test_gaussians_compose_as_their_loss_distributions():
    ours = GDP.compose([GDP(0.3), GDP(0.4), GDP(1.2)]).epsilon(1e-6)
    other = pld.from_gaussian_mechanism(1 / math.sqrt(0.09 + 0.16 + 1.44), value_discretization_interval=1e-3)
    assert ours == pytest.approx(other.get_epsilon_for_delta(1e-6), rel=2e-3)
    assert ours <= other.get_epsilon_for_delta(1e-6)


def test_hundred_pure_releases():
    total = RDP.compose([RDP.of(PureDP(0.1))] * 100)
    exact = pld.from_randomized_response(2 / (1 + math.exp(0.1)), 2).self_compose(100)
    assert (
        exact.get_epsilon_for_delta(1e-6) <= total.epsilon(1e-6) <= ZCDP(100 * pure_zcdp(0.1)).epsilon(1e-6)
    )
    assert ZCDP(100 * pure_zcdp(0.1)).epsilon(1e-6) == pytest.approx(5.219, abs=5e-4)  # A6 of the reference


def test_mixed_kinds_cover_their_loss_distribution():
    total = compose([GDP(0.5), PureDP(0.3), ZCDP(0.02)])
    exact = (
        pld.from_gaussian_mechanism(2.0, value_discretization_interval=1e-3)
        .compose(pld.from_laplace_mechanism(1 / 0.3, value_discretization_interval=1e-3))
        .compose(pld.from_gaussian_mechanism(5.0, value_discretization_interval=1e-3))
    )
    assert total.epsilon(1e-5) >= exact.get_epsilon_for_delta(1e-5)


def test_grid_costs_little_against_the_best_order():
    for rho in (1e-5, 1e-3, 0.05, 0.5, 5.0):
        fine, grid = ZCDP(rho).epsilon(1e-6), RDP.of(ZCDP(rho)).epsilon(1e-6)
        assert fine <= grid <= 1.002 * fine


def test_repeat_equals_composing_copies():
    for part in (PureDP(0.1), ZCDP(0.2), GDP(0.3), RDP.of(PureDP(0.4))):
        one, many = repeat(part, 7), compose([part] * 7)
        assert one.epsilon(1e-6) == pytest.approx(many.epsilon(1e-6), rel=1e-12)
    assert ORDERS[-1] == math.inf
