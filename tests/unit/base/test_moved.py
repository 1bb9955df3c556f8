"""Old paths of modules: what our templates named before 0.2 is still found, and the new path is told."""

import importlib
import subprocess
import sys
from importlib.util import find_spec

import pytest

import pysynthdp
from pysynthdp.base import moved

NAMED = [
    ("_typing", "FloatArray"),
    ("errors", "FitError"),
    ("errors", "PlanError"),
    ("privacy.sampling_statement", "state_account"),
    ("privacy.statement", "PrivacyStatement"),
    ("queries", "Moments"),
    ("queries", "NoisyStatistics"),
    ("queries", "RowSum"),
    ("queries", "Sampler"),
    ("rows.frame", "FrameRows"),
]


@pytest.mark.parametrize(("old", "name"), NAMED)
def test_an_old_path_gives_the_same_object_and_tells_the_new_one(old, name):
    new = f"pysynthdp.{moved.MOVED[old]}"
    with pytest.warns(DeprecationWarning, match=f"write 'from {new} import {name}'") as heard:
        exec(f"from pysynthdp.{old} import {name} as found", room := {})  # noqa: S102
    assert room["found"] is getattr(importlib.import_module(new), name)
    assert [warning.filename for warning in heard] == ["<string>"]  # the line that is to be mended


def test_every_old_path_is_tried():
    assert {old for old, _ in NAMED} == set(moved.MOVED)


def test_an_old_path_is_reached_by_attribute_too():
    import pysynthdp.errors

    with pytest.warns(DeprecationWarning, match="pysynthdp.base.errors"):
        assert pysynthdp.errors.FitError is pysynthdp.FitError


def test_a_name_that_the_module_never_had_is_an_import_error():
    with pytest.raises(ImportError, match="Nothing"):
        from pysynthdp.errors import Nothing  # noqa: F401


@pytest.mark.parametrize("old", moved.MOVED)
def test_tools_that_look_through_modules_hear_no_warning(old):
    module = sys.modules[f"pysynthdp.{old}"]
    assert not hasattr(module, "__file__")
    assert not hasattr(module, "__warningregistry__")
    assert find_spec(module.__name__) is module.__spec__
    assert old not in dir(pysynthdp)


def test_nothing_is_loaded_for_an_old_path_that_nobody_uses():
    asked = "import sys, pysynthdp; print({'numpy', 'pysynthdp.base.errors'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "set()"
