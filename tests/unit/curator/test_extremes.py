"""What is fitted does not depend on the largest value; what it is replaced by keeps the mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp import ZCDP, Synthesizer, look
from pysynthdp.base.errors import PysynthdpWarning
from pysynthdp.curator.extremes import drawn_in
from pysynthdp.curator.table import PartTable
from pysynthdp.design.parts import Part
from pysynthdp.schema import NumericColumn, Schema

PART = Part("x", "value")


def drawn(values, **settings):
    """Values after the rule, and its remarks."""
    schema = Schema((NumericColumn("x", **settings),))
    table, remarks = drawn_in(PartTable(len(values), {PART.key: np.asarray(values, float)}), (PART,), schema)
    return table.parts[PART.key], remarks


LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "heavy": lambda rng, n: np.exp(1.5 * rng.normal(size=n)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [10, 30, 300, 5000])
@pytest.mark.parametrize("side", [1, -1])
def test_nothing_depends_on_the_extreme_value(law, n, side) -> None:
    rng = np.random.default_rng(n)
    values = side * LAWS[law](rng, n)
    at = np.argmax(side * values)
    others = np.delete(values, at)
    span = np.ptp(others)
    edge = others[np.argmax(side * others)]
    results = []
    for far in (0.2, 1.0, 30.0, 300.0):
        values[at] = edge + side * far * span
        results.append(drawn(values)[0])
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("law", LAWS)
def test_the_mean_is_kept_on_average(law) -> None:
    """Bias over 1,500 tables within 0.1 standard error; the second largest in its place would fail."""
    rng = np.random.default_rng(5)
    tables = [LAWS[law](rng, 300) for _ in range(1500)]
    errors = np.mean([table.std() for table in tables]) / np.sqrt(300)
    bias = np.mean([drawn(table)[0].mean() - table.mean() for table in tables]) / errors
    assert abs(bias) < 0.1
    if law == "heavy":
        clipped = np.mean([np.sort(table)[-2] - table.max() for table in tables]) / 300 / errors
        assert clipped < -0.2


@pytest.mark.parametrize("far", [30, 300])
def test_one_lone_record_is_drawn_in_and_said(far) -> None:
    values = np.random.default_rng(6).normal(3000.0, 500.0, 300)
    values[7] = 3000.0 * far
    moved, (remark,) = drawn(values)
    assert moved.max() < 8000
    assert (remark.column, remark.kind) == ("x", "extreme records")
    assert not any(letter.isdigit() for letter in remark.what.replace("0.5", ""))


@pytest.mark.parametrize("others", [np.full(10, 5.0), np.arange(5.0, 15.0), np.arange(3.0, 10.0)])
def test_a_lone_record_among_few_is_said_too(others) -> None:
    values = np.append(others, 90_000.0)
    moved, (remark,) = drawn(values)
    assert moved.max() < 50
    assert remark.kind == "extreme records"


def test_the_usual_end_of_a_few_values_is_not_said() -> None:
    rng = np.random.default_rng(2)
    said = [bool(drawn(np.exp(rng.normal(size=12)))[1]) for _ in range(200)]
    assert np.mean(said) <= 0.05  # 0.5 % expected; more than ten of 200 by chance in 1 of 10^8


def test_two_lone_records_may_not_dominate_five() -> None:
    values = np.random.default_rng(7).normal(3000.0, 500.0, 300)
    values[[3, 5]] = 1e6, 1.1e6
    away = np.sort(drawn(values)[0])[::-1][:5] - np.median(values)
    assert away[:2].sum() <= 0.851 * away.sum()
    assert away[2:].sum() >= 0.15 * away[0]


@pytest.mark.parametrize("others", [[2209.0], [442.0, 500.0], [50.0, 2209.0, 70.0, 9.0], [-8.0, 12.0]])
def test_fewer_than_five_beside_one_value_get_that_value(others) -> None:
    values = np.concatenate([np.zeros(300 - len(others)), others])
    moved, (remark,) = drawn(values)
    assert (moved == 0).all()
    assert remark.kind == "few records"
    assert "2209" not in str(remark)


def test_fewer_than_five_between_two_heaps_go_to_the_nearer() -> None:
    values = np.concatenate([np.repeat([0.0, 5.0], 100), [1.0, 3.0]])
    assert sorted(set(drawn(values)[0])) == [0.0, 5.0]


def test_dense_and_tied_ends_stay() -> None:
    rng = np.random.default_rng(8)
    for values in (rng.integers(20, 98, 3000), rng.integers(1, 21, 3000), rng.uniform(0, 1, 3000)):
        assert drawn(values)[0].tolist() == values.tolist()


def test_the_grid_bounds_and_sign_are_kept() -> None:
    rng = np.random.default_rng(9)
    counts = np.append(rng.poisson(3.0, 200), 400)
    moved, _ = drawn(counts, decimals=0)
    assert (moved == np.round(moved)).all()
    assert moved.min() >= 0
    wide = rng.normal(size=200)
    assert drawn(wide, lower=wide.min(), upper=wide.max())[0].max() <= wide.max()
    positive = np.exp(rng.normal(size=50))
    assert drawn(positive)[0].min() > 0
    assert drawn(-positive)[0].max() < 0


def test_absent_values_are_left_alone() -> None:
    values = np.append(np.random.default_rng(1).normal(3000.0, 500.0, 99), 1e6)
    kind = np.zeros(110, dtype=np.int16)
    kind[100:] = 1
    part = Part("x", "value", partial=True)
    table = PartTable(110, {part.key: np.append(values, np.full(10, 1e6)), ("x", "kind"): kind})
    moved = drawn_in(table, (part,), Schema((NumericColumn("x", may_be_missing=True),)))[0].parts[part.key]
    assert moved[:100].max() < 1e4
    assert (moved[100:] == 1e6).all()


def test_look_says_it_before_the_fit_and_the_statement_after() -> None:
    values = np.random.default_rng(6).normal(3000.0, 500.0, 300)
    frame = pd.DataFrame({"x": values, "g": ["a", "b"] * 150})
    assert "lie so far from all others" not in str(look(frame))
    frame.loc[7, "x"] = 90_000.0
    assert "lie so far from all others" in str(look(frame))
    with pytest.warns(PysynthdpWarning, match="x: the largest or smallest numbers lie so far"):
        fitted = Synthesizer(progress=False).fit(frame)
    release = fitted.draw(m=1, rng=1)
    assert release[0]["x"].max() < 10_000
    assert any("largest and smallest value" in fact for fact in release.privacy.to_dict()["learned"])


def test_nothing_is_replaced_under_a_guarantee_nor_where_real_values_are_asked_for() -> None:
    values = np.append(np.random.default_rng(6).normal(3000.0, 500.0, 299), 9_000.0)
    frame = pd.DataFrame({"x": values, "g": ["a", "b"] * 150})
    kept = Synthesizer(progress=False, keep=["x"]).fit(frame)
    assert kept.remarks == ()
    assert kept.draw(m=1, rng=1)[0]["x"].max() == 9_000.0
    column = NumericColumn("x", lower=0, upper=1e4, may_be_missing=False, fallback=0)
    guarded = Synthesizer(schema=Schema((column,)), guarantee=ZCDP(1.0), progress=False).fit(frame[["x"]])
    assert guarded.remarks == ()
