"""``gaussian``: the laws of its draws, its exact sums, and the grid of its exact sampler."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import pysynthdp as sdp
from pysynthdp.models.gaussian import Gaussian
from pysynthdp.privacy.mechanism import mechanism_from_dict
from pysynthdp.testing import fitted, sampler, task_for

N, LEAST = 200, 1e-9
RNG = np.random.default_rng(5)
AGE = np.clip(RNG.normal(44, 9, N), 20, 70)


def fit(model, y=AGE, **more):
    return fitted(model, None, y, task=task_for(len(y), lower=20.0, upper=70.0, **more)).params


def exact_mean(y):
    """Mean of the numbers as rationals."""
    return sum((Fraction(float(value)) for value in y), Fraction(0)) / len(y)


def law(model, params, size=20_000):
    return model.draw(params, np.ones((size, 1)), sampler(1))


def test_records_are_normal_around_the_mean_with_the_public_spread():
    model = Gaussian(sigma=9.0)
    drawn = law(model, fit(model))
    # at the truth p > 1e-9; a spread 20 % off has p < 1e-9
    assert stats.kstest(drawn, stats.norm(AGE.mean(), 9.0).cdf).pvalue > LEAST
    assert stats.kstest(drawn, stats.norm(AGE.mean(), 9.0 * 1.2).cdf).pvalue < LEAST


def test_one_parameter_a_record_widens_the_spread_by_the_posterior():
    model = Gaussian(sigma=9.0, posterior="many")
    y = AGE[:2]
    drawn = law(model, fit(model, y))
    assert stats.kstest(drawn, stats.norm(y.mean(), 9.0 * math.sqrt(1.5)).cdf).pvalue > LEAST
    assert stats.kstest(drawn, stats.norm(y.mean(), 9.0).cdf).pvalue < LEAST


def test_a_redrawn_mean_has_its_posterior():
    model = Gaussian(sigma=9.0, prior_mean=30.0, prior_sd=0.5)
    params = fit(model, proper=True)
    weight = 0.25 / (81 / N + 0.25)
    posterior = stats.norm(weight * AGE.mean() + (1 - weight) * 30.0, math.sqrt(weight * 81 / N))
    rng = np.random.default_rng(2)
    means = [model.redraw(params, rng).mean for _ in range(5000)]
    assert stats.kstest(means, posterior.cdf).pvalue > LEAST
    assert stats.kstest(means, stats.norm(AGE.mean(), posterior.std()).cdf).pvalue < LEAST


def test_conditioned_records_have_the_truncated_law():
    model = Gaussian(sigma=30.0, truncate=True)
    drawn = law(model, fit(model))
    low, high = (20 - AGE.mean()) / 30, (70 - AGE.mean()) / 30
    assert stats.kstest(drawn, stats.truncnorm(low, high, AGE.mean(), 30.0).cdf).pvalue > LEAST
    assert stats.kstest(drawn, stats.uniform(20, 50).cdf).pvalue < LEAST


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(20, 70), min_size=2, max_size=40), st.randoms(use_true_random=False))
def test_the_mean_is_exact_in_any_order_of_the_rows(values, random):
    shuffled = random.sample(values, len(values))
    one, two = (fit(Gaussian(sigma=9.0), np.array(rows)) for rows in (values, shuffled))
    assert one == two
    assert one.mean == pytest.approx(float(exact_mean(np.array(values))), abs=50 * 2**-39)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(20, 70), min_size=1, max_size=30), st.floats(20, 70), st.floats(20, 70))
def test_replacing_a_record_moves_the_place_by_at_most_one_step(common, old, new):
    model = Gaussian(sigma=9.0, prior_sd=11.0)
    one, two = (fit(model, np.array([*common, end])).place for end in (old, new))
    assert abs(one - two) <= 1


def test_moving_through_the_whole_range_moves_the_place_by_exactly_one_step():
    """The grid (upper - lower)/n costs nothing because the sensitivity is one step."""
    ends = [fit(Gaussian(sigma=9.0), np.array([*AGE[1:], end])).place for end in (20.0, 70.0)]
    assert ends[1] - ends[0] == 1


def test_exact_records_lie_on_the_grid_with_discrete_gaussian_noise():
    model = Gaussian(sigma=0.6)
    params = fit(model, exact=True)
    step = 50.0 / N
    drawn = model.draw(params, np.ones((20_000, 1)), sampler(exact=True))
    places = (drawn - 20.0) / step
    np.testing.assert_allclose(places, np.round(places), atol=1e-9)
    assert abs(params.place * step + 20.0 - AGE.mean()) <= step / 2
    k = np.arange(-15, 16)
    for scale, verdict in ((0.6 / step, True), (1.2 * 0.6 / step, False)):
        chance = np.exp(-(k**2) / (2 * scale**2))
        seen = np.array([(np.round(places) == params.place + j).sum() for j in k])
        used = chance / chance.sum() * seen.sum() > 5
        expected = chance[used] / chance[used].sum() * seen[used].sum()
        assert (stats.chisquare(seen[used], expected).pvalue > LEAST) == verdict


def test_an_exact_synthesis_is_priced_on_the_grid():
    task = task_for(N, lower=20.0, upper=70.0, exact=True)
    mechanism = mechanism_from_dict(*Gaussian(sigma=9.0).mechanism(task))
    assert mechanism.exact
    assert mechanism.price(n_syn=10, copies=2).rho == pytest.approx(20 * 50**2 / (2 * N**2 * 81))
    many = mechanism_from_dict(*Gaussian(sigma=9.0, posterior="many").mechanism(task))
    assert many.price(n_syn=10, copies=2).rho == pytest.approx(20 * 50**2 / (2 * N**2 * 81 * (1 + 1 / N)))


def test_an_exact_copy_moves_its_centre_by_whole_steps_that_no_record_touches():
    model = Gaussian(sigma=9.0)
    params = fit(model, proper=True, exact=True)
    other = replace(params, place=params.place + 7)
    shifts = {model.redraw(p, np.random.default_rng(3)).place - p.place for p in (params, other)}
    assert len(shifts) == 1
    assert isinstance(shifts.pop(), int)


def test_a_float_draw_tells_neighbours_apart_and_an_exact_one_does_not():
    """Some doubles mean + sigma z cannot occur under the neighbour's mean (Mironov 2012); grid points can."""
    model = Gaussian(sigma=1.0)
    y = np.zeros(1000)
    task = task_for(1000, lower=-4.0, upper=4.0)
    fits = [fitted(model, None, np.array([*y[1:], end]), task=task).params for end in (-4.0, 4.0)]
    drawn = model.draw(fits[0], np.ones((2000, 1)), sampler(4))
    # a double x is reachable from centre c if some z near (x - c)/sigma gives back x exactly
    reachable = [_reachable(drawn, params.mean) for params in fits]
    assert reachable[0].all()
    assert (~reachable[1]).sum() > 0  # these records name their table for certain
    exact_task = task_for(1000, lower=-4.0, upper=4.0, exact=True)
    steps = [fitted(model, None, np.array([*y[1:], end]), task=exact_task).params for end in (-4.0, 4.0)]
    grid = (model.draw(steps[0], np.ones((2000, 1)), sampler(exact=True)) + 4.0) / 0.008
    whole = np.round(grid)
    np.testing.assert_allclose(grid, whole, atol=1e-8)  # both tables reach every whole step
    assert steps[0].step == steps[1].step
    assert steps[0].lower == steps[1].lower


def _reachable(x: np.ndarray, centre: float) -> np.ndarray:
    """Whether centre + z = x in doubles for a double z."""
    z = x - centre
    around = [z]
    for _ in range(4):
        around = [np.nextafter(around[0], -np.inf), *around, np.nextafter(around[-1], np.inf)]
    return np.any([centre + near == x for near in around], axis=0)


def test_a_column_without_declared_bounds_is_refused_by_name():
    frame = pd.DataFrame({"age": AGE})
    with pytest.raises(sdp.PrivacyError, match=r"age: .* lower="):
        sdp.Synthesizer(method={"age": Gaussian(sigma=1.0)}).fit(frame)
