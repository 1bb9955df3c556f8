"""Exact noise has the law that the price assumes; each test states its two error rates."""

import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.noise import protective as noise
from pysynthdp.privacy.prices.binary import binary_delta
from pysynthdp.privacy.prices.grids import discrete_gaussian_renyi, round_half_up


def fits(draws, log_weights, reach):
    """p value of a chi-square test of whole draws against weights on -reach..reach, the rest pooled."""
    k = np.arange(-reach, reach + 1)
    p = np.exp(log_weights(k))
    wide = np.exp(log_weights(np.arange(-400, 401))).sum()
    expected = np.append(p / wide, max(1e-12, 1 - p.sum() / wide)) * draws.size
    seen = np.array([np.sum(draws == value) for value in k])
    return stats.chisquare(np.append(seen, draws.size - seen.sum()), expected).pvalue


@pytest.mark.statistical
def test_discrete_gaussian_law():
    # truth passes with probability 1 - 1e-9; a scale off by 20 % gives p < 1e-9 at this size
    draws = noise.add_discrete_gaussian(np.full(20_000, 5, dtype=np.int64), 2.5) - 5
    assert fits(draws, lambda k: -(k**2) / (2 * 2.5**2), 7) > 1e-9
    assert fits(draws, lambda k: -(k**2) / (2 * 3.0**2), 7) < 1e-9


@pytest.mark.statistical
def test_discrete_laplace_law():
    draws = noise.add_discrete_laplace(np.zeros(20_000, dtype=np.int64), 2.5)
    assert fits(draws, lambda k: -np.abs(k) / 2.5, 10) > 1e-9
    assert fits(draws, lambda k: -np.abs(k) / 3.0, 10) < 1e-9


@pytest.mark.statistical
def test_categories_law():
    draws = noise.draw_categories(np.array([3, 0, 5, 8]), 40_000)
    seen = np.bincount(draws, minlength=4)
    assert seen[1] == 0
    assert stats.chisquare(seen[[0, 2, 3]], np.array([3, 5, 8]) / 16 * 40_000).pvalue > 1e-9
    assert stats.chisquare(seen[[0, 2, 3]], np.array([3.6, 4.4, 8]) / 16 * 40_000).pvalue < 1e-9


def test_categories_of_a_huge_total_stay_in_range():
    weights = np.array([2**61, 1, 2**61 - 1])
    draws = noise.draw_categories(weights, 1000)
    assert set(np.unique(draws)) <= {0, 2}


def urns(weights, added, size, runs):
    """Draws of many urns, (runs, size)."""
    return np.array([noise.draw_urn(np.array(weights), added, size) for _ in range(runs)])


@pytest.mark.statistical
def test_urn_law_is_that_of_one_parameter_a_copy():
    """Ones in ten draws are beta-binomial, p > 1e-9; independent draws of the same mean give p < 1e-9."""
    drawn = urns([15, 25], 10, 10, 8000)  # prior and counts 1.5 and 2.5
    seen = np.bincount((drawn == 0).sum(axis=1), minlength=11)
    k = np.arange(11)
    assert stats.chisquare(seen, 8000 * stats.betabinom(10, 1.5, 2.5).pmf(k)).pvalue > 1e-9
    assert stats.chisquare(seen, 8000 * stats.binom(10, 0.375).pmf(k), sum_check=False).pvalue < 1e-9
    last = np.bincount(drawn[:, -1], minlength=2)  # exchangeable: the last is like the first
    assert stats.chisquare(last, [3000, 5000]).pvalue > 1e-9


@pytest.mark.statistical
def test_urn_pairs_have_the_law_of_the_urn():
    """P(c then d) = w_c (w_d + [c = d] added) / (T (T + added)): a wrong number of balls gives p < 1e-9."""
    drawn, weights = urns([1, 2, 4], 3, 2, 20_000), np.array([1, 2, 4])
    seen = np.bincount(3 * drawn[:, 0] + drawn[:, 1], minlength=9)

    def expected(added):
        joint = weights[:, None] * (weights + added * np.eye(3)) / (7 * (7 + added))
        return 20_000 * joint.ravel()

    assert stats.chisquare(seen, expected(3)).pvalue > 1e-9
    assert stats.chisquare(seen, expected(2)).pvalue < 1e-9


def test_an_urn_asks_once_for_a_million_balls_and_refuses_too_many(monkeypatch):
    asked, real = [], noise._uniform_below_each
    monkeypatch.setattr(noise, "_uniform_below_each", lambda ends: asked.append(ends.size) or real(ends))
    assert noise.draw_urn(np.array([10**6, 3 * 10**6]), 10**6, 10**6).size == 10**6
    assert asked == [10**6]
    for weights, added in (([0], 1), ([2**62], 1), ([-1], 1), ([1], 0)):
        with pytest.raises(PrivacyError):
            noise.draw_urn(np.array(weights), added, 2)


def test_records_on_a_grid_centre_on_the_rounded_mean():
    draws = noise.draw_on_grid(Fraction(7, 10), Fraction(1, 5), sigma=0.4, n_draws=4000)
    assert abs(draws.mean() - 4) < 6 * 2 / np.sqrt(4000)
    assert draws.dtype == np.int64


def test_half_up_never_moves_neighbours_two_steps():
    grid = Fraction(1)
    steps = [round_half_up(Fraction(k, 8), grid) for k in range(-40, 41)]
    assert all(b - a <= 1 for a, b in zip(steps, steps[8:], strict=False))
    assert round(1.5) - round(0.5) == 2  # half to even does


def test_discrete_gaussian_renyi_by_direct_sums():
    k = np.arange(-18, 19)
    p, q = (np.exp(-((k - c) ** 2) / (2 * 1.3)) for c in (2, 0))
    p, q = p / p.sum(), q / q.sum()
    for order in (1.3, 2.0, 3.7):
        direct = np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
        assert float(discrete_gaussian_renyi(2, 1.3, orders=order)) == pytest.approx(direct, rel=1e-10)


@pytest.mark.parametrize("bad", [np.array([1.0, 2.0]), np.array([[1]]), np.array([2**61])])
def test_floats_and_huge_numbers_are_refused(bad):
    with pytest.raises(PrivacyError):
        noise.add_discrete_gaussian(bad, 1.0)


@pytest.mark.parametrize("weights", [np.array([-1, 3]), np.array([0, 0]), np.array([0.5, 0.5])])
def test_bad_weights_are_refused(weights):
    with pytest.raises(PrivacyError):
        noise.draw_categories(weights, 3)


def test_float_sampling_tells_neighbours_apart_and_the_grid_does_not():
    # the set of doubles that mean + sigma z reaches differs between neighbouring means (Mironov 2012)
    rng = np.random.default_rng(1)
    first, second = 0.0, 0.008
    y = first + rng.standard_normal(4000)
    z = y - second
    cannot = [all(second + other != value for other in _near(back)) for value, back in zip(y, z, strict=True)]
    assert np.mean(cannot) > 0.01
    # on the grid both means are whole steps, and every whole step can occur under both
    steps = noise.draw_on_grid(Fraction(0), Fraction(8, 1000), sigma=1.0, n_draws=200)
    assert np.all((steps - 1) + 1 == steps)


def _near(value):
    """A float and its neighbours: no other double can round to the same sum."""
    return (np.nextafter(value, -np.inf), value, np.nextafter(value, np.inf))


def test_ten_million_records_have_a_delta():
    assert 0 < binary_delta(10**7, 10**7, (20, 20), epsilon=1.0) < 1e-5


@pytest.mark.statistical
def test_huge_totals_are_not_biased_by_the_last_stretch():
    # 3 * 2**60 does not divide 2**64: without rejection the first cell has 6/16, which gives p < 1e-9
    seen = np.bincount(noise.draw_categories(np.full(3, 2**60), 40_000), minlength=3)
    assert stats.chisquare(seen).pvalue > 1e-9
    assert stats.chisquare(seen, np.array([6, 5, 5]) / 16 * 40_000).pvalue < 1e-9


@pytest.mark.parametrize("found", ["0.12.0", "0.14.1", "0.9", "0.14.1.20260101001"])
def test_an_opendp_that_draws_another_law_is_refused_by_name(found, monkeypatch):
    monkeypatch.setattr(noise, "version", lambda _: found)
    noise._opendp.cache_clear()
    try:
        with pytest.raises(PrivacyError, match=rf"OpenDP {found} draws .*; install 0\.14\.2 or later"):
            noise.add_discrete_gaussian(np.zeros(1, dtype=np.int64), 1.0)
    finally:
        noise._opendp.cache_clear()


@pytest.mark.parametrize("found", ["0.14.2", "0.16.0.dev1", "1.0"])
def test_a_later_one_is_taken(found, monkeypatch):
    monkeypatch.setattr(noise, "version", lambda _: found)
    noise._opendp.cache_clear()
    assert noise.add_discrete_gaussian(np.zeros(1, dtype=np.int64), 1.0).size == 1
    noise._opendp.cache_clear()


def test_the_lower_bound_of_the_extra_is_the_first_exact_one():
    given = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    bound = f"opendp>={'.'.join(map(str, noise._EXACT_SINCE))}"
    assert given["project"]["optional-dependencies"]["dp"] == [bound]
