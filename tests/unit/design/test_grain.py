from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import Synthesizer
from pysynthdp.design.grain import date_grain, decimals_of


@pytest.mark.parametrize("digits", range(10))
@pytest.mark.parametrize("size", [1.0, 1e3])
def test_rounded_numbers_show_their_digits(digits, size) -> None:
    values = np.round(np.random.default_rng(1).normal(0, size, 500), digits)
    assert decimals_of(values, np.dtype("float64")) == digits


@pytest.mark.parametrize(("centre", "sd"), [(0, 1), (1e9, 1), (1e12, 1e12), (0, 1e-12), (1e-140, 1e-141)])
def test_continuous_numbers_have_none(centre, sd) -> None:
    values = np.random.default_rng(1).normal(centre, sd, 500)
    assert decimals_of(values, np.dtype("float64")) is None


def test_narrow_floats_are_judged_by_their_own_precision() -> None:
    values = np.round(np.random.default_rng(1).normal(0, 10, 500), 1).astype("float32")
    assert decimals_of(values.astype(float), np.dtype("float32")) == 1
    assert decimals_of(values.astype(float), pd.Float32Dtype()) == 1
    assert decimals_of(np.array([1e7, 2e7, 3e7]), np.dtype("float32")) == 0


def test_midnights_of_a_zone_are_days() -> None:
    days = pd.Series(pd.date_range("2020-03-20", periods=30, tz="Europe/Warsaw"))
    assert date_grain(days) == ("day", 0)
    assert date_grain(days.dt.tz_convert("UTC")) == ("hour", 0)


@pytest.mark.parametrize(
    ("step", "grain"), [("7h", ("hour", 0)), ("25min", ("minute", 0)), ("61s", ("second", 0))]
)
def test_times_and_durations_have_the_longest_unit_that_counts_them(step, grain) -> None:
    times = pd.Series(pd.date_range("2020-03-20 05:00", periods=30, freq=step))
    assert date_grain(times) == grain
    assert date_grain(times - times[0]) == grain


@pytest.mark.parametrize("unit", ["hour", "minute"])
def test_drawn_times_are_whole_in_that_unit(unit) -> None:
    hours = np.random.default_rng(1).integers(0, 500, 300)
    kinds = {"when": pd.Timestamp("2020-01-01"), "spent": pd.Timedelta(0)}
    steps = pd.to_timedelta(hours, unit="h" if unit == "hour" else "min")
    copy = Synthesizer(progress=False).fit(pd.DataFrame({k: v + steps for k, v in kinds.items()})).draw(1)[0]
    size = pd.Timedelta(1, unit="h" if unit == "hour" else "min")
    assert ((copy.when - kinds["when"]) % size == pd.Timedelta(0)).all()
    assert (copy.spent % size == pd.Timedelta(0)).all()
