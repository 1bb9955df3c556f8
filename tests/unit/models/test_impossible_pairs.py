"""Pairs of levels that never occur among many records are never drawn; rare ones are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.models.fits.impossible import never_together

N = 3000


def drawn(table: pd.DataFrame, **settings) -> pd.DataFrame:
    release = sdp.Synthesizer(progress=False, **settings).fit(table).draw(m=10, rng=1)
    return pd.concat(release, ignore_index=True)


@pytest.mark.parametrize("proper", [False, True])
def test_nested_patterns_of_missing_values_stay_nested(proper):
    # who refuses the wage refuses the bonus too, and who refuses both may give the hours
    rng = np.random.default_rng(3)
    wage, bonus, hours = rng.normal(20, 5, N).round(2), rng.normal(3, 1, N).round(2), rng.normal(38, 6, N)
    some = rng.random(N) < 0.1
    wage[some], bonus[some | (rng.random(N) < 0.1)] = np.nan, np.nan
    hours[some & (rng.random(N) < 0.5)] = np.nan
    table = pd.DataFrame({"wage": wage, "bonus": bonus, "hours": hours.round(1)})
    copies = drawn(table, proper=proper)
    assert copies.bonus[copies.wage.isna()].isna().all()
    assert copies.wage[copies.hours.isna()].isna().all()
    # 300 real rows without a wage: their share has a standard error of .006, a posterior draw's the same
    assert abs(copies.wage.isna().mean() - table.wage.isna().mean()) < 6 * 0.006 / np.sqrt(10)
    assert abs(copies.hours.isna().mean() - table.hours.isna().mean()) < 6 * 0.006 / np.sqrt(10)


@pytest.mark.parametrize("order", [["sector", "tenure"], ["tenure", "sector"]])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_first_level_has_its_impossible_pairs_too(order, ordered):
    # no civil servant (the first level) is hired by the day or the month
    rng = np.random.default_rng(4)
    sector = rng.choice(["civil", "firm", "self"], N, p=[0.3, 0.5, 0.2])
    tenure = np.where(sector == "civil", rng.choice(["life", "year"], N), rng.choice(list("dmly"), N))
    tenure = pd.Series(tenure).map(
        {"d": "day", "m": "month", "l": "life", "y": "year", "life": "life", "year": "year"}
    )
    levels = ["day", "month", "year", "life"]
    table = pd.DataFrame({"sector": sector, "tenure": pd.Categorical(tenure, levels, ordered=ordered)})
    copies = drawn(table, visit_sequence=order)
    real = pd.crosstab(table.sector, table.tenure)
    assert (pd.crosstab(copies.sector, copies.tenure).to_numpy()[real == 0] == 0).all()
    # 3,000 records and ten copies: a cell's share has a standard error of at most .0025 in the copies
    gap = pd.crosstab(copies.sector, copies.tenure, normalize=True) - real / N
    assert np.abs(gap).to_numpy().max() < 6 * 0.004


def test_a_number_has_values_where_they_never_are_taken_out():
    # pupils earn nothing above 300; a fit of all alone would draw some above
    rng = np.random.default_rng(5)
    pupil = rng.random(N) < 0.3
    wage = np.where(pupil, rng.integers(0, 30, N) * 10.0, rng.integers(50, 400, N) * 10.0)
    copies = drawn(pd.DataFrame({"pupil": np.where(pupil, "yes", "no"), "wage": wage}))
    assert (copies.wage[copies.pupil == "yes"] < 600).all()
    assert (copies.wage[copies.pupil == "no"] > 200).all()


def test_one_record_makes_a_pair_possible():
    cells = np.array([[500.0, 1.0], [500.0, 299.0]])
    assert not never_together(cells, np.array([False, True]), [[1]]).any()


def test_nothing_is_impossible_where_few_were_expected():
    cells = np.array([[9.0, 0.0], [991.0, 500.0]])  # 4.5 expected
    assert not never_together(cells, np.array([False, True]), [[1]]).any()


def test_a_number_is_no_sign_of_anything():
    cells = np.array([[500.0, 0.0], [500.0, 300.0]])
    assert not never_together(cells, np.array([False, False]), []).any()


def test_levels_that_are_least_often_impossible_are_left():
    # level 0 never with the first dummy, level 1 never with the second: with both, one of them must come
    cells = np.array([[100.0, 0.0, 50.0], [100.0, 50.0, 0.0], [20.0, 10.0, 10.0]])
    moved = never_together(cells, np.array([False, True, True]), [[1], [2]])
    both = moved @ np.array([1.0, 1.0, 1.0])
    assert both[2] == both.max()
    assert both[0] == both[1] == both[2] - 40
