"""A design says which columns hold what; what it cannot be is refused by name."""

from __future__ import annotations

import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError

WRONG = {
    "no column": ({}, "names no column"),
    "a list": ({"weight": ["pw"]}, "weight of design must name one column"),
    "twice": ({"weight": "pw", "strata": "pw"}, "names pw twice"),
    "one text": ({"replicate_weights": "rw1"}, "replicate_weights of design must be a list"),
    "no way": ({"weight": "pw", "how": "synthesize"}, "how of design must be one of"),
    "no share": ({"weight": "pw", "accept": 5}, "accept of design must be a share"),
    "no totals": ({"weight": "pw", "how": "synthesise"}, "no"),
    "totals below 0": ({"weight": "pw", "totals": -1}, "totals of design"),
    "uneven totals": (
        {"weight": "pw", "how": "synthesise", "totals": {"a": {"x": 10}, "b": {"y": 20}}},
        "a, b have different sums",
    ),
    "no weight": ({"strata": "s", "how": "population"}, "needs a weight"),
    "recoded": ({"weight": "pw", "recode": ["weight"]}, "recode of design"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_no_design_can_be_is_refused_by_name(case):
    given, says = WRONG[case]
    with pytest.raises(PlanError, match=says):
        sdp.Design(**given)


def test_several_faults_are_said_at_once():
    with pytest.raises(PlanError, match=r"(?s)accept.*odd_weights|odd_weights.*accept"):
        sdp.Design(weight="pw", accept=7, odd_weights="keep")


def test_what_stays_real_and_gets_new_names():
    design = sdp.Design(weight="pw", strata="region", psu="town", fpc="size", recode=("psu",))
    assert design.real == ("pw", "region", "town", "size")
    assert design.renamed == ("town",)
    drawn = sdp.Design(weight="pw", strata="region", how="synthesise", totals=1000)
    assert drawn.real == drawn.renamed == ()


@pytest.mark.parametrize("how", ["keep", "population"])
def test_a_guarantee_refuses_real_columns(how):
    schema = sdp.Schema((sdp.NumericColumn("pw", 1, 9), sdp.CategoricalColumn("region", ["a", "b"])))
    design = sdp.Design(weight="pw", strata="region", how=how)
    with pytest.raises(PrivacyError, match="formal guarantee"):
        sdp.Synthesizer(schema=schema, design=design, guarantee=sdp.ZCDP(0.5))


def test_replicate_weights_are_refused_and_a_way_out_is_said():
    with pytest.raises(PlanError, match=r"noise.*'drop'"):
        sdp.Synthesizer(design=sdp.Design(weight="pw", replicate_weights=["rw1", "rw2"]))


@pytest.mark.parametrize("setting", [{"drop": ["pw"]}, {"method": {"pw": "norm"}}])
def test_a_column_of_the_design_is_nothing_else(setting):
    with pytest.raises(PlanError, match="pw is a column of the design"):
        sdp.Synthesizer(design=sdp.Design(weight="pw"), **setting)
