"""Settings that R sends in a form that nobody foresaw are refused by name."""

from __future__ import annotations

import pytest

from pysynthdp.base.errors import PlanError
from pysynthdp.bridge.r_values import R
from pysynthdp.plan.settings_table import SETTINGS


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("joint", 3.0, "joint must be a list of steps"),
        ("joint", [3.0], "joint must be a list of steps"),
        ("missing", {"a": {"refused": {"b": 1.0}}}, "missing of a must be codes"),
        ("missing", {"a": [[1.0]]}, "missing of a must be codes"),
        ("nested", {"a": ["b", "c"]}, "nested of a must be one text"),
        ("strata", 3.0, "strata must be texts"),
    ],
)
def test_what_has_another_form_is_refused(name, value, says):
    with pytest.raises(PlanError, match=says):
        SETTINGS[name].form.take(value, R.at(name))


def test_what_is_meant_is_taken():
    step = {"columns": ["a", "b"], "method": "catall"}
    assert SETTINGS["joint"].form.take([step], R.at("joint")) == [(["a", "b"], "catall")]
    assert SETTINGS["missing"].form.take({"a": {"refused": -8.0}}, R.at("missing")) == {"a": {-8: "refused"}}
    assert SETTINGS["strata"].form.take("a", R.at("strata")) == ["a"]
