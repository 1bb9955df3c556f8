"""Functions of the rows of a unit are found where they hold in all units, and nowhere else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pysynthdp as sdp
from pysynthdp.schema import CategoricalColumn, NumericColumn, Schema
from pysynthdp.units import Placed, functions_over_units

OWN = ("age", "sex", "pay", "works")
SCHEMA = Schema(
    [
        NumericColumn("hsize", decimals=0, may_be_missing=False),
        NumericColumn("rent", decimals=2, may_be_missing=False),
        NumericColumn("eqSS", decimals=1, may_be_missing=False),
        NumericColumn("age", decimals=0, may_be_missing=False),
        CategoricalColumn("sex", ["f", "m"], may_be_missing=False),
        NumericColumn("pay", decimals=2, may_be_missing=True),
        CategoricalColumn("works", [False, True], may_be_missing=False),
    ]
)


def people(n=600, seed=1):
    """Make rows of households, in order, and where they stand."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 6, n)
    unit = np.repeat(np.arange(n), size)
    place = np.arange(len(unit)) - np.repeat(np.cumsum(size) - size, size)
    age = rng.integers(0, 90, len(unit))
    frame = pd.DataFrame({"hsize": size[unit], "rent": rng.gamma(3, 150, n).round(2)[unit], "age": age})
    frame["sex"] = rng.choice(["f", "m"], len(unit))
    frame["pay"] = np.where(age < 16, np.nan, rng.gamma(4, 400, len(unit)).round(2))
    frame["works"] = rng.random(len(unit)) < 0.4
    old = (frame.age >= 14).groupby(unit).transform("sum")
    frame["eqSS"] = 1 + 0.5 * (old - 1) + 0.3 * (frame.hsize - old)
    return frame, Placed(np.arange(len(unit)), unit, place)


@pytest.fixture(scope="module")
def table():
    return people()


def offered(table, **made):
    """Give what is offered of columns of units, made of the rows of each."""
    frame, placed = table
    by = frame.groupby(placed.unit)
    heads = pd.DataFrame({name: make(by) for name, make in made.items()})
    columns = [NumericColumn(name, may_be_missing=False) for name in heads if name not in SCHEMA]
    schema = Schema([*SCHEMA, *columns])
    long = frame.assign(**{name: heads[name].to_numpy()[placed.unit] for name in heads})
    found = functions_over_units(heads, long, placed, schema, own=OWN)
    return {remark.column: dict(remark.remedy.parts["derive"].value)[remark.column] for remark in found}


def test_functions_that_hold_in_all_units_are_found(table):
    found = offered(
        table,
        members=lambda by: by.age.size(),
        kids=lambda by: by.age.agg(lambda age: (age < 18).sum()),
        women=lambda by: by.sex.agg(lambda sex: (sex == "f").sum()),
        working=lambda by: by.works.sum(),
        scale=lambda by: by.eqSS.first(),
        oldest=lambda by: by.age.max(),
        total=lambda by: by.pay.sum(),
        income=lambda by: (by.pay.sum() - by.rent.first()) / by.eqSS.first(),
        head=lambda by: by.age.sum() / by.hsize.first(),
        rent=lambda by: by.rent.first(),
    )
    assert found == {
        "members": "count()",
        "kids": "count(age < 18)",
        "women": "count(sex == 'f')",
        "working": "count(works)",
        "scale": "0.5 + 0.5 * count(age >= 14) + 0.3 * count(age < 14)",
        "oldest": "most(age)",
        "total": "sum(pay)",
        "income": "(sum(pay) - rent) / eqSS",
        "head": "mean(age)",
    }


def test_a_sum_of_several_numbers_is_found_over_what_divides_it(table):
    found = offered(
        table,
        income=lambda by: (by.pay.sum() + by.age.sum() - by.rent.first()) / by.eqSS.first(),
        rent=lambda by: by.rent.first(),
    )
    assert found == {"income": "(sum(age) + sum(pay) - rent) / eqSS"}


def test_what_does_not_hold_in_one_unit_is_not_offered():
    """Two thousand units propose, and the eighteenth of four thousand is not among them."""

    def off(values):
        return values + (np.arange(len(values)) == 17)

    found = offered(
        people(4000),
        kids=lambda by: off(by.age.agg(lambda age: (age < 18).sum())),
        total=lambda by: off(by.pay.sum()),
        scale=lambda by: off(by.eqSS.first()),
    )
    assert found == {}


def test_what_rests_on_fewer_than_five_records_is_not_offered(table):
    """Babies count twice; four rows are babies, or have another pay than all others."""
    frame, placed = table

    def asked(rows):
        some = np.arange(len(frame)) < rows
        pay = np.where(some, 3.0 + np.arange(len(frame)) % 7, 0.0)
        own = frame.assign(age=np.where(some, 0, np.maximum(frame.age, 1)), pay=pay)
        made = {
            "twice": lambda by: by.hsize.first() + by.age.agg(lambda age: (age < 1).sum()),
            "total": lambda by: by.pay.sum(),
        }
        return offered((own, placed), **made)

    assert asked(4) == {}
    assert asked(40) == {"twice": "count(age >= 1) + 2 * count(age < 1)", "total": "sum(pay)"}


def test_a_table_of_few_units_offers_nothing():
    few = people(40)
    assert offered(few, kids=lambda by: by.age.agg(lambda age: (age < 18).sum())) == {}


def test_a_fit_offers_what_can_be_typed(table):
    """What is offered is taken by the same Synthesizer, and exact in the copy then."""
    frame, placed = table
    frame = frame.drop(columns="eqSS").assign(hid=placed.unit)
    frame["kids"] = (frame.age < 18).groupby(frame.hid).transform("sum")
    asked = {"units": sdp.Units(id="hid", size="hsize", order="age desc"), "terms": "main", "progress": False}
    with pytest.warns(sdp.PysynthdpWarning) as said:
        sdp.Synthesizer(**asked).fit(frame)
    texts = [str(each.message) for each in said]
    assert any("kids: in all units it is count(age < 18)" in text for text in texts)
    release = sdp.Synthesizer(**asked, derive={"kids": "count(age < 18)"}).fit(frame).draw(m=1, rng=1)
    copy = release[0]
    assert ((copy.age < 18).groupby(copy.hid).transform("sum") == copy.kids).all()
