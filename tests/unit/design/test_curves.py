"""Curves of a number: right columns, safe beyond the places, zero where the number is absent."""

import numpy as np
import pytest
from patsy import bs

from pysynthdp.curator.curves import learned_curves
from pysynthdp.curator.table import PartTable
from pysynthdp.design.curves import CURVES, Curve, curve_at
from pysynthdp.plan import Factor

KEY = ("age", "value")


def uniform(shares):
    return 20 + 60 * shares


def written(curve: Curve, values, absent=None):
    out = np.full((len(values), curve.width), np.nan)
    curve.write(out, np.asarray(values, dtype=float), absent)
    return out


def test_b_splines_are_those_of_patsy():
    x = np.linspace(20, 80, 101)
    ours = written(curve_at(KEY, "bs", (6,), uniform), x)
    theirs = bs(x, knots=[35, 50, 65], degree=3, lower_bound=20, upper_bound=80)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_a_natural_spline_with_its_line_is_straight_outside_and_cubic_inside():
    curve = curve_at(KEY, "cr", (4,), uniform)
    x = np.linspace(0, 120, 1201)
    basis = np.column_stack([np.ones_like(x), x, written(curve, x)])
    assert curve.width == 3
    second = np.diff(written(curve, x), 2, axis=0)[:, :]
    outside = (x[1:-1] < 20 - 0.2) | (x[1:-1] > 80 + 0.2)
    assert np.abs(second[outside]).max() < 1e-12 < np.abs(second[~outside]).max()
    target = CubicNatural([20, 35, 50, 65, 80], [0.0, 3.0, -1.0, 2.0, 5.0])(x)
    fitted = basis @ np.linalg.lstsq(basis, target, rcond=None)[0]
    np.testing.assert_allclose(fitted, target, atol=1e-8)


class CubicNatural:
    """The natural interpolating spline, by scipy, straight beyond its ends."""

    def __init__(self, at, values) -> None:
        from scipy.interpolate import CubicSpline

        self.spline, self.at = CubicSpline(at, values, bc_type="natural"), at

    def __call__(self, x):
        low, high = self.at[0], self.at[-1]
        inside = self.spline(np.clip(x, low, high))
        slopes = self.spline(low, 1) * np.minimum(x - low, 0) + self.spline(high, 1) * np.maximum(x - high, 0)
        return inside + slopes


@pytest.mark.parametrize("form", list(CURVES))
def test_every_curve_is_finite_anywhere_and_zero_where_absent(form):
    at = {"log": (), "hinge": (2, 4), "step": (3, 19)}.get(form, (5,))
    curve = curve_at(KEY, form, at, uniform)
    values = np.array([-1e300, -5.0, 0.0, 20.0, 50.0, 80.0, 1e9])
    out = written(curve, values, np.array([False] * 6 + [True]))
    assert np.isfinite(out[1:6]).all()
    assert (out[6] == 0).all()
    assert len(curve.names) == curve.width > 0


def test_between_declared_bounds_no_row_of_a_curve_is_longer_than_one():
    values = np.linspace(20, 80, 997)
    for form, at in [("log", ()), ("bs", (7,)), ("cut", (4,)), ("hinge", (1, 4)), ("step", (3, 19))]:
        out = written(curve_at(KEY, form, at, uniform), values)
        assert (out**2).sum(axis=1).max() <= 1 + 1e-12, form


def test_places_are_averages_of_five_records_or_values_that_five_share():
    values = np.sort(np.random.default_rng(3).normal(size=60))
    table = PartTable(60, {KEY: values})
    (cut,) = learned_curves([Factor("age", "cut", (4,))], table)
    assert not np.isin(cut.knots, values).any()
    shared = PartTable(60, {KEY: np.repeat(np.arange(6.0), 10)})
    (step,) = learned_curves([Factor("age", "step", (10, 19))], shared)
    assert step.knots[0] in range(6)


def test_a_logarithm_has_a_floor_above_zero_that_is_no_record():
    values = np.concatenate([[-3.0, 0.0], np.random.default_rng(3).lognormal(size=300)])
    (log,) = learned_curves([Factor("age", "log", ())], PartTable(302, {KEY: values}))
    assert log.knots[0] > 0
    assert not np.isin(log.knots, values).any()
