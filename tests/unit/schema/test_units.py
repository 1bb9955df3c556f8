"""Which rows belong together: settings of units, their forms, and what they do not go with."""

from __future__ import annotations

import pytest

import pysynthdp as sdp
from pysynthdp.base.errors import PlanError, PrivacyError
from pysynthdp.io.plans.plan_file import read_plan, write_plan
from pysynthdp.schema.units import unit_setting


def test_an_order_has_a_column_and_a_direction_or_its_values_are_places():
    aged = sdp.Units(id="hid", order="age desc")
    assert (aged.by, aged.direction, aged.panel) == ("age", "desc", False)
    waved = sdp.Units(id="pid", order="survey wave")
    assert (waved.by, waved.direction, waved.panel) == ("survey wave", None, True)
    assert not sdp.Units(id="hid").panel


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"id": ""}, "id"),
        ({"id": "hid", "shared": "region"}, "shared"),
        ({"id": "hid", "max_size": 0}, "max_size"),
        ({"id": "hid", "own_models": True}, "own_models"),
        ({"id": "hid", "larger": "keep"}, "larger"),
        ({"id": "hid", "size": "hid"}, "hid twice"),
        ({"id": "hid", "shared": ["age"], "order": "age desc"}, "age twice"),
    ],
)
def test_what_has_not_its_form_is_refused_by_name(settings, said):
    with pytest.raises(PlanError, match=said):
        sdp.Units(**settings)


def test_a_plan_file_says_units_and_reads_them_again(tmp_path):
    units = sdp.Units(id="hid", size="hsize", shared=["region"], order="age desc", larger="drop", max_size=8)
    write_plan({"units": units}, tmp_path / "plan.toml")
    assert read_plan(tmp_path / "plan.toml")["units"] == units
    (tmp_path / "short.toml").write_text('units = "hid"\n', encoding="utf-8")
    assert read_plan(tmp_path / "short.toml")["units"] == sdp.Units(id="hid")
    (tmp_path / "slip.toml").write_text('[units]\nid = "hid"\nsizes = "n"\n', encoding="utf-8")
    with pytest.raises(PlanError, match="size"):
        read_plan(tmp_path / "slip.toml")


def test_what_does_not_go_with_units_is_refused_by_name():
    units = sdp.Units(id="hid", size="hsize")
    with pytest.raises(PlanError, match="which rows belong together"):
        sdp.Synthesizer(units="hid")
    with pytest.raises(PlanError, match="keep names hid, of which units themselves are made"):
        sdp.Synthesizer(units=units, keep=["hid"])
    with pytest.raises(PrivacyError, match="protects no whole units"):
        sdp.Synthesizer(units=units, guarantee=sdp.BySampling())
    with pytest.raises(PlanError, match="hid, which drop leaves out"):
        sdp.Synthesizer(units=units, drop=["hid"])
    with pytest.raises(PlanError, match="hsize is made of the units"):
        sdp.Synthesizer(units=units, method={"hsize": "norm"})
    with pytest.raises(PlanError, match="keep does not go with units under a guarantee"):
        sdp.Synthesizer(units=units, keep=["region"], guarantee=sdp.ZCDP(0.5))


def test_a_mend_writes_units_as_they_are_given():
    with pytest.raises(PlanError, match=r"write units=Units\(id='hid', size='hsize'") as caught:
        unit_setting({"id": "hid"})
    assert 'units = list(id = "hid"' in caught.value.said("r")
