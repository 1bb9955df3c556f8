"""What is no number is refused by name wherever a loss or a public constant is given."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import pysynthdp as sdp
from pysynthdp.base.checks import positive_setting
from pysynthdp.privacy import gdp_delta, gdp_epsilon, mean_release, plug_in_mean
from pysynthdp.privacy.domain import real

NO_NUMBERS = ["1", True, np.True_, None, 1j, [1.0], b"1", np.array([1.0])]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (sdp.ZCDP, "rho"),
        (lambda value: sdp.ZCDP(rho=value), "rho"),
        (sdp.PureDP, "eps"),
        (sdp.GDP, "mu"),
        (lambda value: sdp.ApproxDP(value, 1e-6), "eps"),
        (lambda value: sdp.ApproxDP(1.0, value), "at_delta"),
        (lambda value: sdp.ZCDP(0.5).epsilon(value), "delta"),
        (lambda value: gdp_epsilon(value, 1e-6), "mu"),
        (lambda value: mean_release(value, 0, 1, sigma=1.0), "n"),
        (lambda value: plug_in_mean(10, 0, 1, sigma=value, n_syn=10), "sigma"),
        (lambda value: plug_in_mean(10, 0, 1, sigma=1.0, n_syn=value), "n_syn"),
        (lambda value: positive_setting("gaussian", "sigma", value), "sigma"),
    ],
)
def test_a_text_or_a_truth_value_is_no_number(make, name, value):
    with pytest.raises(sdp.PrivacyError, match=rf"\b{name}\b"):
        make(value)


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), Fraction(1)], ids=repr)
def test_numbers_of_every_kind_are_taken(value):
    assert real("x", value) == positive_setting("gaussian", "x", value) == 1.0


@pytest.mark.parametrize("value", [10**400, float("inf"), float("nan"), -(10**400)], ids=str)
def test_what_no_float_can_hold_is_refused(value):
    with pytest.raises(sdp.PrivacyError):
        real("x", value)
    with pytest.raises(sdp.PrivacyError):
        positive_setting("gaussian", "x", value)


@pytest.mark.parametrize("mu", [9e4, 1.1e5, 1e9, 5e27, 5e47, 1e150])
def test_a_shift_of_any_length_has_an_epsilon_between_its_two_bounds(mu):
    """Far out epsilon is mu^2 / 2 + mu z up to rounding, z the upper delta quantile of a normal."""
    least, found = mu * mu / 2 * (1 - 1e-12), gdp_epsilon(mu, 1e-6)
    assert least <= found <= mu * mu / 2 * (1 + 1e-12) + 5.3 * mu
    assert gdp_delta(mu, mu * mu / 2 * (1 - 1e-3)) >= 0.5
