from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import NumericColumn, Schema, SchemaError, Synthesizer, look
from pysynthdp.design.grain import date_grain, decimals_of, step_of
from pysynthdp.design.parts import settle
from pysynthdp.schema import plain as schema_file


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


@pytest.mark.parametrize("most", [900, 3_000, 50_000])
def test_prices_in_single_precision_keep_their_cents(most):
    prices = np.random.default_rng(1).uniform(1, most, 2_000)
    cents = np.unique(prices.round(2).astype("float32").astype(float))
    assert decimals_of(cents, np.dtype("float32")) == 2
    assert decimals_of(np.unique(prices.astype("float32").astype(float)), np.dtype("float32")) is None


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


STEPS = [0.05, 0.25, 0.5, 2.5, 5, 10, 25, 50, 100, 500, 1000, 2500, 5000]


@pytest.mark.parametrize(
    ("step", "dtype"), [(step, "float64") for step in STEPS] + [(step, "int64") for step in STEPS[4::3]]
)
def test_copies_lie_on_the_steps_of_the_column(step, dtype) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal(400)
    y = (step * np.rint(40 * np.exp(0.3 * x + 0.4 * rng.standard_normal(400)))).round(2)
    table = pd.DataFrame({"x": x, "y": y.astype(dtype)})
    copies = pd.concat(Synthesizer(progress=False).fit(table).draw(m=3, rng=1).copies).y
    assert np.abs(copies / step - np.rint(copies / step)).max() < 1e-9
    assert copies.nunique() > 20
    assert (copies == copies.round(2)).all()  # no digits of a product
    assert copies.mean() == pytest.approx(y.mean(), rel=0.05)


@pytest.mark.parametrize(("step", "offset"), [(5, 2.5), (1, 0.5), (100, 99), (0.5, 0.25), (10, 7)], ids=str)
@pytest.mark.parametrize("method", ["cells", "norm", "normrank"])
def test_copies_lie_on_shifted_steps(step, offset, method) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal(600)
    y = offset + step * np.rint(20 + 6 * x + 4 * rng.standard_normal(600))
    table = pd.DataFrame({"x": x, "y": y})
    fit = Synthesizer(progress=False, method={"y": method}).fit(table)
    column = fit.plan.schema["y"]
    assert (column.step, column.offset) == (step, offset)
    for said in (str(fit.plan.schema), str(look(table))):
        assert f"steps of {step:g} from {offset:g}" in said
    copies = fit.draw(m=1, rng=1)[0].y
    assert ((copies - offset) / step % 1 == 0).all()
    assert schema_file.from_plain(schema_file.to_plain(fit.plan.schema))["y"].offset == offset


def test_bounds_move_onto_shifted_steps(tmp_path) -> None:
    column = NumericColumn("age", lower=15, upper=40, decimals=1, step=5, offset=2.5)
    assert settle(np.array([0.0, 19.0, 21.0, 90.0]), column).tolist() == [17.5, 17.5, 22.5, 37.5]
    path = tmp_path / "codebook.toml"
    path.write_text("[columns.age]\nkind = 'numeric'\nlower = 0\nupper = 90\nstep = 5\noffset = 2.5\n")
    assert Schema.from_codebook(path)["age"].offset == 2.5
    with pytest.raises(SchemaError, match="offset"):
        NumericColumn("age", offset=2.5)


@pytest.mark.parametrize(
    "values",
    [
        np.append(100 * np.arange(200), 5 * [5050]),  # five records off the grid of hundreds
        100 * np.arange(30),  # too few records
        np.repeat(100 * np.arange(5), 40),  # too few values
        np.arange(1, 400),
        12 * np.arange(200),  # dozens are no step that people round to
    ],
)
def test_no_step_is_taken_from_few_records_or_against_one(values) -> None:
    distinct, counts = np.unique(values.astype(float), return_counts=True)
    digits, step, _ = step_of(distinct, decimals_of(distinct, np.dtype("float64"), counts), counts)
    assert (digits, step) in {(0, None), (0, 50.0)}  # of 5,050 and hundreds, fifty is the step


def test_fewer_than_five_records_do_not_tell_by_the_step_that_they_are_there() -> None:
    for odd in ([], [5050], [5051, 5052, 5053, 7]):
        distinct, counts = np.unique(np.append(100.0 * np.arange(200), odd), return_counts=True)
        assert step_of(distinct, 0, counts) == (-2, None, 0.0)


def test_a_step_off_which_few_values_lie_is_said_by_look() -> None:
    rng = np.random.default_rng(4)
    income = 100 * rng.integers(5, 300, 2000)
    income[:6] += 17
    seen = str(look(pd.DataFrame({"income": income})))
    assert "multiples of 100" in seen
    assert "decimals={'income': -2}" in seen


def test_look_and_the_schema_show_steps() -> None:
    table = pd.DataFrame({"rent": 5 * np.random.default_rng(5).integers(20, 300, 500)})
    seen = look(table)
    assert seen.columns[0].step == 5.0
    assert "steps of 5" in str(seen)
    plan = Synthesizer(progress=False).fit(table).plan
    assert plan.schema["rent"].step == 5.0
    assert "steps of 5" in str(plan.schema)
    assert schema_file.from_plain(schema_file.to_plain(plan.schema))["rent"].step == 5.0


def test_declared_decimals_win_over_a_step() -> None:
    table = pd.DataFrame({"rent": 5 * np.random.default_rng(5).integers(20, 300, 500)})
    column = Synthesizer(progress=False, decimals={"rent": 0}).fit(table).plan.schema["rent"]
    assert (column.decimals, column.step) == (0, None)


def test_a_declared_step_keeps_within_bounds(tmp_path) -> None:
    column = NumericColumn("rent", lower=12, upper=98.9, decimals=1, step=2.5)
    drawn = settle(np.array([-5.0, 12.4, 13.0, 50.1, 99.0]), column)
    assert drawn.tolist() == [12.5, 12.5, 12.5, 50.0, 97.5]
    path = tmp_path / "codebook.toml"
    path.write_text("[columns.rent]\nkind = 'numeric'\nlower = 0\nupper = 90\nstep = 2.5\n")
    assert Schema.from_codebook(path)["rent"].step == 2.5
    for wrong in (0, -5, "5", float("nan"), True):
        with pytest.raises(SchemaError, match="step"):
            NumericColumn("rent", step=wrong)
