"""Rows sorted into units and places, and what can be wrong with them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pysynthdp.base.errors import FitError, SchemaError
from pysynthdp.plan.unit_plan import PLACE, SINCE
from pysynthdp.schema import Units
from pysynthdp.units import numbering_of, place_frame, placed_rows, shared_columns


def homes(n=12):
    """Give households of one to three people, in an order of their own."""
    size = np.arange(n) % 3 + 1
    hid = np.repeat(np.arange(n) + 501, size)
    frame = pd.DataFrame(
        {"hid": hid, "n": np.repeat(size, size), "region": np.repeat((list("abcd") * 3)[:n], size)}
    )
    frame["age"] = (np.arange(len(frame)) * 37) % 80
    return frame.sample(frac=1, random_state=3).reset_index(drop=True)


def test_rows_go_by_unit_and_inside_by_what_orders_them():
    frame = homes()
    placed = placed_rows(frame, Units(id="hid", size="n", order="age desc"))
    rows = frame.iloc[placed.rows]
    assert list(rows.hid.drop_duplicates()) == list(frame.hid.drop_duplicates())
    for _, own in rows.groupby("hid"):
        assert own.age.is_monotonic_decreasing
    np.testing.assert_array_equal(np.bincount(placed.unit), rows.drop_duplicates("hid").n)
    assert placed.there.sum() == len(frame)


WRONG = {
    "no column": (lambda t: t.drop(columns="n"), {}, "size names 'n', which is no column"),
    "no unit": (
        lambda t: t.assign(hid=t.hid.where(t.hid != 501)),
        {},
        "hid is missing in fewer than ten rows",
    ),
    "sizes": (
        lambda t: t.assign(n=t.n + (t.hid == 502)),
        {},
        "n is not the number of rows in fewer than ten",
    ),
    "merged": (lambda t: t.assign(hid=t.hid.replace(502, 503)), {}, "joins or parts units"),
    "large": (lambda t: t, {"max_size": 2}, "more than 2 rows"),
    "places": (lambda t: t.assign(age=1), {"order": "age"}, "the same age"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_by_name_without_a_value(case):
    spoil, settings, said = WRONG[case]
    with pytest.raises(SchemaError, match=said) as caught:
        placed_rows(spoil(homes()), Units(**{"id": "hid", "size": "n", **settings}))
    assert caught.value.column is not None
    assert not {"501", "502", "503"} & set(str(caught.value).replace(",", " ").split())


def test_a_head_stands_first_and_two_heads_are_refused():
    frame = homes()
    frame["who"] = np.where(frame.groupby("hid").cumcount() == 0, "head", "other")
    placed = placed_rows(frame, Units(id="hid", order="age desc", head=("who", "head")))
    assert (frame.who.iloc[placed.rows[placed.first]] == "head").all()
    three = frame.iloc[placed.rows].groupby("hid").age.apply(list)
    assert all(ages[1:] == sorted(ages[1:], reverse=True) for ages in three)
    twice = frame.assign(who=frame.who.where(frame.hid != frame.hid[frame.n == 3].iloc[0], "head"))
    with pytest.raises(SchemaError, match="fewer than ten units have several"):
        placed_rows(twice, Units(id="hid", head=("who", "head")))
    with pytest.raises(SchemaError, match="fewer than ten units have none"):
        placed_rows(
            frame.assign(who=frame.who.where(frame.hid != 501, "x")), Units(id="hid", head=("who", "head"))
        )


def test_forty_members_of_one_id_are_refused_unless_they_may_be_left_out_or_cut():
    frame = pd.concat([homes(), pd.DataFrame({"hid": 9, "n": 40, "region": "a", "age": range(40)})])
    units = {"id": "hid", "size": "n", "max_size": 3}
    with pytest.raises(SchemaError, match="larger='drop'"):
        placed_rows(frame, Units(**units))
    dropped = placed_rows(frame, Units(**units, larger="drop"))
    assert dropped.left_out == 1
    assert dropped.n == 12
    cut = placed_rows(frame, Units(**units, larger="truncate"))
    assert cut.sizes.max() == 3
    assert cut.n == 13


def test_fewer_than_five_units_of_several_rows_are_no_units():
    with pytest.raises(FitError, match="two rows or more"):
        placed_rows(homes(3), Units(id="hid"))


def test_shared_columns_are_found_and_a_declared_one_is_held_to_it():
    frame = homes()
    units = Units(id="hid", size="n")
    placed = placed_rows(frame, units)
    assert shared_columns(frame, placed, units, ["region", "age"])[0] == ("region",)
    spoiled = frame.assign(region=frame.region.where(frame.index != frame.index[frame.n == 3][0], "z"))
    with pytest.raises(SchemaError, match="region is said to be shared"):
        shared_columns(spoiled, placed, Units(id="hid", shared=["region"]), [])
    found, odd = shared_columns(spoiled, placed, units, ["region", "age"])
    assert found == ()
    assert not odd  # one of eight units is more than a slip


def test_a_further_row_stands_beside_the_first_and_the_one_before():
    frame = homes()
    placed = placed_rows(frame, Units(id="hid", order="age desc"))
    third = place_frame(frame, placed, [2], shared=["region"], own=["age"])
    assert list(third) == ["region", "age (first)", "age (before)", "age"]
    assert (third["age (first)"] >= third["age (before)"]).all()
    assert (third["age (before)"] >= third["age"]).all()
    both = place_frame(frame, placed, [1, 2], shared=[], own=["age"])
    assert set(both[PLACE]) == {2, 3}
    assert SINCE not in both


def test_a_panel_says_how_far_the_row_before_is():
    frame = pd.DataFrame({"id": np.repeat(range(8), 2), "wave": [1, 3, 2, 3] * 4, "x": range(16)})
    placed = placed_rows(frame, Units(id="id", order="wave"))
    np.testing.assert_array_equal(placed.waves, [1, 2, 3])
    third = place_frame(frame, placed, [2], shared=[], own=["x"])
    assert sorted(third[SINCE].unique()) == [1, 2]


@pytest.mark.parametrize(
    ("member", "kind"),
    [
        (lambda t: t.hid * 100 + t.groupby("hid").cumcount() + 1, ("unit", 2)),
        (lambda t: t.groupby("hid").cumcount() + 1, ("place", 0)),
        (lambda t: t.index + 70_000, ("running", 0)),
    ],
)
def test_ids_of_rows_are_made_as_the_table_does(member, kind):
    frame = homes()
    frame["pid"] = member(frame)
    units = Units(id="hid", member="pid")
    found = numbering_of(frame, placed_rows(frame, units), units)
    assert (found.member, found.digits) == kind
    assert found.width == 3


def test_prefix_and_width_of_ids_are_kept():
    frame = homes()
    frame["hid"] = "DE-" + frame.hid.astype(str).str.zfill(6)
    found = numbering_of(frame, placed_rows(frame, Units(id="hid")), Units(id="hid"))
    assert (found.before, found.width, found.after) == ("DE-", 6, "")
