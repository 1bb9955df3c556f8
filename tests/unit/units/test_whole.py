"""Whole units that were drawn beside the real ones: what is off is found, and chance is of units."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pysynthdp.units import WHOLE, far_as_wholes, far_remarks

UNIT = np.repeat(np.arange(60), 10)


def rows(seed, shift=0.0, wide=1.0, well=0.5):
    """Make sixty units of ten rows that are nearly alike in one unit."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, wide, 60)
    mood = np.where(rng.random(60) < well, "well", "ill")
    numbers = np.repeat(level, 10) + rng.normal(0, 0.1, 600) + shift
    return pd.DataFrame({"x": numbers, "mood": np.repeat(mood, 10)})


def found(copies, real=None):
    """Compare with one table."""
    return far_as_wholes(rows(0) if real is None else real, UNIT, copies, ["x", "mood"])


def test_what_is_off_in_whole_units_is_found_and_said_once_a_column():
    for change, what in (({"shift": 1.0}, "mean"), ({"wide": 4.0}, "spread"), ({"well": 0.05}, "share")):
        off = found([rows(seed, **change) for seed in (1, 2)])
        assert what in {each.what for each in off}
        assert {each.rows for each in off} == {WHOLE}
        said = list(far_remarks(off))
        assert len({each.column for each in said}) == len(said)
        assert "whole units at a time" in str(said[0].what)


def test_chance_is_of_units_and_not_of_their_rows():
    alarms = sum(bool(found([rows(3 * seed + 1), rows(3 * seed + 2)], rows(3 * seed))) for seed in range(200))
    assert alarms <= 30  # 5 % of 200 are 10; with errors of rows nearly all would alarm


def test_nothing_is_compared_that_hardly_any_unit_has():
    real = rows(0).assign(x=lambda t: t.x.where(UNIT < 8), mood=np.where(UNIT < 3, "well", "ill"))
    assert not found([rows(seed, shift=9.0, well=1.0) for seed in (1, 2)], real)
