"""Sentences are worded for their reader, and errors carry their pieces."""

from __future__ import annotations

import pickle
import tomllib

import pytest

from pysynthdp.base.errors import PlanError, PysynthdpError, SchemaError, together
from pysynthdp.base.remarks import Remark
from pysynthdp.base.words import Said, Setting, Words, nearest

SETTINGS = [
    Setting("bounds", {"my age": (None, 120)}),
    Setting("missing", {"wage": {-8: "refused", -9: "don't know"}}),
    Setting("levels", {"sex": ["f", "m"], "if": ["a"]}),
    Setting("method", {"wage": "sample"}),
    Setting("keep", ["a", "b"]),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_a_setting_is_valid_python_and_toml(setting: Setting) -> None:
    assert eval(f"dict({setting.said('python')})") == {setting.name: setting.value}  # noqa: S307
    read = tomllib.loads(setting.said("shell").removesuffix(" in the plan"))
    assert list(read) == [setting.name]
    if isinstance(setting.value, dict):
        assert list(read[setting.name]) == list(setting.value)


def test_a_column_name_with_braces_breaks_no_sentence() -> None:
    drop = Setting("drop", ["{a}"])
    text = Words("{column} is odd; {drop}", column="{a}", drop=drop)
    assert text == "{a} is odd; drop=['{a}']"
    assert Words("{inner}!", inner=text).said("shell") == "{a} is odd; --drop '{a}'!"


def test_an_error_survives_a_pickle_with_its_pieces() -> None:
    what = Words("give {frame}", frame=Said("a DataFrame", "a file", "a data frame"))
    error = SchemaError(what, column="x", kind="type")
    back = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (back.column, back.kind, back.said("r")) == ("x", "type", "give a data frame")


def test_several_faults_are_one_error() -> None:
    faults: list[PysynthdpError] = [
        SchemaError("{a} is empty", column="{a}"),
        SchemaError("b is odd", column="b"),
    ]
    error = together(faults)
    assert [fault.column for fault in error.faults] == ["{a}", "b"]
    assert str(error) == "2 faults:\n- {a} is empty\n- b is odd"
    assert together(faults[:1]) is faults[0]
    assert faults[0].faults == (faults[0],)


def test_a_remark_is_said_in_every_dialect() -> None:
    remark = Remark(
        "town",
        "few records",
        "3 levels are rare",
        Words("{merge} merges them", merge=Setting("rare", "merge")),
    )
    assert remark.warning().said("shell") == "town: 3 levels are rare; --rare merge merges them"
    assert str(remark) == "town: 3 levels are rare; rare='merge' merges them"


def test_the_nearest_name() -> None:
    assert nearest("Bound", ["bounds", "method"]) == "bounds"
    assert nearest("zzz", ["bounds"]) is None


def test_names_with_line_breaks_stay_in_one_line() -> None:
    name = "net\nincome\x1b[31m\u2028€"
    remark = Remark(name, "few records", Words("{name} is odd", name=name), "leave it out")
    grouped_one = str(remark.warning())
    plain = str(PlanError(f"{name} is odd", column=name))
    both = str(together([PlanError(f"{name} is odd"), PlanError("other")]))
    assert grouped_one.count("\n") == plain.count("\n") == 0
    assert r"net\nincome\x1b[31m\u2028€ is odd" in plain
    assert both.count("\n") == 2  # the list of faults has a line each
