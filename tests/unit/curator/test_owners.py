"""What rests on few counts units where several rows are of one: against counts one unit after another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp.curator.extremes import drawn_in
from pysynthdp.curator.few_records import without_few
from pysynthdp.curator.infer import settle_rare
from pysynthdp.curator.owners import fewest_rows, owners_with, rest_on_few_owners
from pysynthdp.curator.rows import OwnedRows, rows_of
from pysynthdp.curator.table import groups_of, split_rows
from pysynthdp.design.parts import parts_of
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema

WHOSE = np.repeat(np.arange(40), 5)
COLUMN = CategoricalColumn("kind", ["a", "b", "c"], may_be_missing=False, declared=False)
NUMBER = NumericColumn("x", decimals=1, missing={-9: "asleep"}, declared=False)


def table(kind, x=None):
    """Split a table of forty units of five rows."""
    frame = pd.DataFrame({"kind": kind, "x": np.arange(200.0) if x is None else x})
    return frame, split_rows(OwnedRows(rows_of(frame), WHOSE), Schema((COLUMN, NUMBER)))


def kinds(units):
    """Give all five rows of some units the level c, and the others two levels in turn."""
    return np.where(units > WHOSE, "c", np.where(np.arange(200) % 2 == 0, "a", "b"))


@pytest.mark.parametrize(("units", "rare"), [(1, True), (4, True), (5, False)])
def test_a_level_of_few_units_is_rare_however_many_rows_have_it(units, rare):
    frame, split = table(kinds(units))
    assert (frame.kind == "c").sum() == 5 * units
    (part,) = parts_of(COLUMN)
    assert (part.key in groups_of(split, (part,))) == rare
    settled = settle_rare(Schema((COLUMN, NUMBER)), (OwnedRows(rows_of(frame), WHOSE),), "merge")
    assert ("kind" in settled.merged) == rare
    by_rows = settle_rare(Schema((COLUMN, NUMBER)), (rows_of(frame),), "merge")
    assert not by_rows.merged


@pytest.mark.parametrize(("units", "gone"), [(4, True), (5, False)])
def test_a_code_of_few_units_goes_into_no_fit(units, gone):
    _, split = table(kinds(8), np.where(units > WHOSE, -9.0, np.arange(200.0)))
    after, remarks = without_few(split, Schema((COLUMN, NUMBER)))
    assert bool(remarks) == gone
    assert (after.parts["x", "kind"] == 0).all() == gone


def test_features_are_told_by_units_as_by_a_count_of_each():
    rng = np.random.default_rng(1)
    whose = np.repeat(np.arange(30), rng.integers(1, 6, 30))
    ones = (rng.random((len(whose), 12)) < rng.random(12) * 0.2).astype(float)
    ones[:, 1] = np.where(whose < 3, 1 - ones[:, 0], ones[:, 0])
    some = np.where(rng.random((len(whose), 4)) < 0.04, 2.5, 0.0)
    few, filled = rest_on_few_owners(ones, some, whose)

    def units(marked):
        return len(set(whose[marked]))

    every = np.column_stack([np.ones(len(whose)), ones])
    for place in range(1, 13):
        apart = [units(every[:, place] != every[:, other]) for other in range(place)]
        assert few[place - 1] == (
            0 < units(ones[:, place - 1] > 0) < 5 or any(0 < count < 5 for count in apart)
        )
    assert few[1]
    for place in range(4):
        assert filled[place] == (0 < units(some[:, place] != 0) < 5)


def test_the_largest_numbers_are_those_of_units():
    x = np.arange(200.0) % 50
    x[WHOSE == 7] = [900.0, 901, 902, 903, 904]  # each of these hides behind the others, and all are of one
    _, split = table(kinds(8), x)
    after, _ = drawn_in(split, parts_of(NUMBER), Schema((COLUMN, NUMBER)))
    assert after.parts["x", "value"].max() < 200
    assert np.array_equal(after.parts["x", "value"][WHOSE != 7], x[WHOSE != 7])


def test_rows_that_rest_on_five_units_whichever_they_are():
    assert fewest_rows(WHOSE) == 21
    assert table(kinds(8))[1].fewest == 21
    assert split_rows(rows_of(table(kinds(8))[0]), Schema((COLUMN, NUMBER))).fewest == 5
    assert owners_with(np.array([2, 2, 0]), 3, np.array([1, 1, 1])).tolist() == [1, 0, 1]
