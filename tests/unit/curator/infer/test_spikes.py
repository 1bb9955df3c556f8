"""What counts as a spike: a mass of its own, not the heaps of a rounded law."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.curator.infer import infer_column

N = 4000


def spikes(values) -> tuple[float, ...]:
    """What is learned of a column."""
    return tuple(infer_column(pd.Series(values), "x").spikes)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.5, 0.95])
def test_whole_numbers_among_a_few_decimals_are_no_spikes(rng, share):
    y = 57 + 1.7 * rng.standard_normal(N)
    assert spikes(np.where(rng.random(N) < share, y.round(1), y.round())) == ()


@pytest.mark.parametrize("step", [100, 500, 2000])
def test_heaps_among_incomes_are_no_spikes(rng, step):
    income = rng.lognormal(8.5, 0.5, N)
    heaped = np.where(rng.random(N) < 0.7, (income / step).round() * step, income.round())
    assert spikes(heaped + 1) == ()


@pytest.mark.parametrize("share", [0.1, 0.14, 0.16, 0.45])
def test_a_mass_among_the_numbers_is_none_and_keeps_its_share(rng, share):
    hours = np.where(rng.random(N) < share, 40, np.clip(rng.normal(38, 12, N), 1, 90).round())
    assert spikes(hours) == ()
    table = pd.DataFrame({"x": rng.standard_normal(N), "hours": hours})
    copies = pd.concat(sdp.synthesize(table, m=5, rng=1, progress=False).copies)
    # five copies of 4,000 rows: the share is known to .004 and is .1 or more; without its cell it is lost
    assert (copies.hours == 40).mean() == pytest.approx((hours == 40).mean(), abs=0.03)


@pytest.mark.parametrize("share", [0.008, 0.02, 0.05, 0.14, 0.16, 0.6])
@pytest.mark.parametrize("digits", [0, 2])
def test_a_zero_apart_at_the_end_is_a_spike_whatever_its_share(rng, share, digits):
    income = np.round(np.where(rng.random(N) < share, 0, rng.lognormal(7, 0.6, N)), digits)
    assert spikes(income) == (0.0,)


def test_codes_and_zero_are_spikes_beside_each_other(rng):
    kind = rng.choice(4, N, p=[0.05, 0.03, 0.1, 0.82])
    income = np.choose(kind, [-8, -9, 0, rng.lognormal(7, 0.6, N).round()])
    assert spikes(income) == (-9.0, -8.0, 0.0)
    hours = np.choose(kind, [99, 98, 0, np.clip(rng.normal(20, 5, N), 1, 60).round()])
    assert spikes(hours) == (0.0, 98.0, 99.0)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.poisson(6, N),  # some zeros, fewer than ones
        lambda rng: rng.exponential(30, N).round(),  # falls from zero on
        lambda rng: rng.normal(0, 15, N).round(),  # zero in the middle
        lambda rng: np.minimum(rng.integers(0, 101, N), 99),  # 99 reached by counting
        lambda rng: rng.integers(-9, 30, N),  # degrees
    ],
)
def test_zeros_and_codes_that_belong_to_the_numbers_are_none(rng, draw):
    assert spikes(draw(rng)) == ()


def test_a_few_zeros_are_none(rng):
    income = rng.lognormal(7, 0.6, 500).round()
    income[:12] = 0
    assert spikes(income) == ()


def test_the_slope_of_a_heaped_number_is_kept():
    # 3,000 rows, five copies: the slope of the copies is known to .03; spikes at the heaps made it 0.72
    rng = np.random.default_rng(1)
    x = rng.standard_normal(3000)
    y = 57 + 1.2 * x + 1.2 * rng.standard_normal(3000)
    table = pd.DataFrame({"x": x, "y": np.where(rng.random(3000) < 0.05, y.round(1), y.round())})
    copies = pd.concat(sdp.synthesize(table, m=5, rng=1, progress=False).copies)
    assert np.polyfit(copies.x, copies.y, 1)[0] == pytest.approx(np.polyfit(table.x, table.y, 1)[0], abs=0.15)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.14, 0.16])
def test_log_slopes_hold_beside_a_mass_at_zero(share):
    rng = np.random.default_rng(2)
    x = rng.standard_normal(4000)
    income = np.where(rng.random(4000) < share, 0, np.exp(7 + 0.3 * x + 0.5 * rng.standard_normal(4000)))
    table = pd.DataFrame({"x": x, "income": income.round()})
    copies = pd.concat(sdp.synthesize(table, m=5, rng=1, progress=False).copies)

    def slope(frame):
        rows = frame[frame.income > 0]
        return np.polyfit(rows.x, np.log(rows.income), 1)[0]

    assert slope(copies) == pytest.approx(slope(table), abs=0.04)  # .05 to .1 too low without the spike
    assert (copies.income == 0).mean() == pytest.approx((table.income == 0).mean(), abs=0.012)


def test_look_says_the_same(rng):
    y = 57 + 1.7 * rng.standard_normal(N)
    seen = sdp.look(pd.DataFrame({"y": np.where(rng.random(N) < 0.05, y.round(1), y.round())}))
    assert "spikes=" not in str(seen)
    income = np.where(rng.random(N) < 0.03, 0, rng.lognormal(7, 0.6, N)).round()
    assert "are 0; kept apart" in str(sdp.look(pd.DataFrame({"income": income})))
