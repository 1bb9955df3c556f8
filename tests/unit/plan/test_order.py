"""The order of drawing: by kind where anything may be learned, as in the table under a guarantee."""

from __future__ import annotations

import numpy as np
import pandas as pd

import pysynthdp as sdp
from pysynthdp import CategoricalColumn, NumericColumn, Schema
from pysynthdp.plan import make_plan
from pysynthdp.plan.order import Behind
from pysynthdp.plan.protection import protection_of

NONE = protection_of(None)
SCHEMA = Schema(
    [
        NumericColumn("rent", may_be_missing=False, lower=0, upper=9, fallback=0),
        CategoricalColumn("town", [f"t{i}" for i in range(9)], may_be_missing=False, other="t0"),
        NumericColumn("rooms", may_be_missing=False, lower=0, upper=9, fallback=0),
        CategoricalColumn("owner", ["no", "yes"], may_be_missing=False, other="no"),
        CategoricalColumn("heating", ["gas", "oil", "none"], may_be_missing=False, other="none"),
    ]
)


def visited(**wishes) -> tuple[str, ...]:
    return make_plan(SCHEMA, NONE, **wishes).visit_sequence


def test_short_categories_then_long_ones_then_numbers_as_in_the_table():
    assert visited() == ("owner", "heating", "town", "rent", "rooms")
    card = " ".join(str(make_plan(SCHEMA, NONE)).split())
    assert "order: by kind: categories, those of few levels first, then numbers" in card


def test_the_wish_wins():
    asked = ("rooms", "town", "rent", "owner", "heating")
    assert visited(visit_sequence=asked) == asked
    assert make_plan(SCHEMA, NONE, visit_sequence=asked).order == "as asked"


def test_a_function_comes_right_after_its_arguments():
    behind = Behind(directly={"owner": ["rent", "town"]})
    assert visited(behind=behind) == ("heating", "town", "rent", "owner", "rooms")


def test_what_is_skipped_comes_after_what_skips_it_but_not_sooner_than_its_kind():
    behind = Behind(somewhere={"rooms": ["owner"], "owner": ["heating"]})
    assert visited(behind=behind) == ("heating", "owner", "town", "rent", "rooms")


def test_chains_of_functions_stand_together():
    behind = Behind(directly={"rent": ["owner"], "rooms": ["rent"]})
    assert visited(behind=behind) == ("owner", "rent", "rooms", "heating", "town")


def test_under_a_guarantee_the_order_is_that_of_the_table():
    plan = make_plan(SCHEMA, protection_of(sdp.ZCDP(rho=1)))
    assert plan.visit_sequence == SCHEMA.names
    assert plan.order == "as in the table"


def test_copies_have_the_columns_as_the_table_has_them():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"rent": rng.normal(size=80), "owner": rng.choice(["no", "yes"], 80)})
    fitted = sdp.Synthesizer(progress=False).fit(table)
    assert fitted.plan.visit_sequence == ("owner", "rent")
    assert list(fitted.draw(m=1, rng=1)[0].columns) == ["rent", "owner"]


def test_under_a_guarantee_neither_order_nor_model_hangs_on_the_rows():
    schema = Schema(
        [
            NumericColumn("pay", may_be_missing=False, lower=0, upper=9, fallback=0),
            CategoricalColumn("sex", ["f", "m"], may_be_missing=False, other="f"),
            CategoricalColumn("trust", list("abcd"), ordered=True, may_be_missing=False, other="a"),
        ]
    )
    rng = np.random.default_rng(1)
    sex, codes = rng.integers(0, 2, 600), rng.integers(0, 4, 600)
    said = set()
    for ends in (codes, np.where(sex == 1, codes, codes % 2 + 1)):  # any slopes, and slopes far from parallel
        table = pd.DataFrame(
            {"pay": 1.0, "sex": np.array(["f", "m"])[sex], "trust": np.array(list("abcd"))[ends]}
        )
        made = sdp.Synthesizer(schema=schema, guarantee=sdp.ZCDP(rho=5), progress=False)
        fitted = made.fit(table)
        assert fitted.remarks == ()
        text = " ".join(str(fitted.plan).split())
        assert "which of two models" not in str(fitted.draw(m=2).privacy)
        said.add((text, tuple(fitted.plan.methods.items()), fitted.plan.visit_sequence))
    assert len(said) == 1
