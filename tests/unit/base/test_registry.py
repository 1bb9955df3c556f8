from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from pysynthdp.base.errors import PlanError
from pysynthdp.base.registry import Registry

ENTRY = """
from shapes_for_the_registry import SHAPES
@SHAPES.register
class Shape:
    name = {name!r}
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a registry and two entries, and the folder in which a third may appear."""
    name = "shapes_for_the_registry"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from pysynthdp.base.registry import Registry\n"
        "from pysynthdp.base.errors import PlanError\n"
        f"SHAPES = Registry({name!r}, PlanError)\n"
    )
    (folder / "round.py").write_text(ENTRY.format(name="round"))
    (folder / "square.py").write_text(ENTRY.format(name="square"))
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        del sys.modules[module]


def shapes():
    from shapes_for_the_registry import SHAPES

    return SHAPES


def test_a_file_in_the_package_is_an_entry(package):
    (package / "oval.py").write_text(ENTRY.format(name="oval"))
    assert list(shapes()) == ["oval", "round", "square"]


@pytest.mark.usefixtures("package")
def test_an_entry_is_found_by_name_without_importing_its_file_first():
    assert shapes()["square"].name == "square"
    assert "round" in shapes()
    assert "cube" not in shapes()


@pytest.mark.usefixtures("package")
def test_an_unknown_name_is_an_error_of_the_registry_s_kind_that_lists_the_known():
    with pytest.raises(PlanError, match=r"no 'cube'; known are: round, square"):
        shapes()["cube"]


def test_two_files_cannot_share_a_name(package):
    (package / "second_round.py").write_text(ENTRY.format(name="round"))
    with pytest.raises(PlanError, match="'round' is already registered"):
        list(shapes())


def test_registering_the_same_class_twice_changes_nothing():
    registry = Registry("pysynthdp.models", PlanError)

    @registry.register
    @dataclass
    class Entry:
        name = "entry"

    assert registry.register(Entry) is Entry


class Announced:
    """An entry point, as far as a registry looks at it."""

    def __init__(self, name, entry):
        self.name, self.entry = name, entry

    def load(self):
        return self.entry


def made(name):
    return type("Made", (), {"name": name, "__module__": "other.shapes"})


@pytest.mark.usefixtures("package")
def test_an_announced_name_that_is_taken_stops_nobody_and_loses_no_later_entry(monkeypatch):
    points = [Announced("mine", made("round")), Announced("bare", object), Announced("cube", made("cube"))]
    monkeypatch.setattr("pysynthdp.base.registry.entry_points", lambda group: points)  # noqa: ARG005
    assert list(shapes()) == ["cube", "round", "square"]
    assert shapes()["round"].__module__ == "shapes_for_the_registry.round"
    with pytest.raises(PlanError, match=r"'mine' of other is announced but left out.*'round' is that of an"):
        shapes()["mine"]
    assert "AttributeError" in shapes().left_out("bare")
    assert shapes().left_out("oval") is None
