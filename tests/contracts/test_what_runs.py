"""What the papers say about what runs where, on which versions, is what is run."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
(OWN,) = (Requirement(line) for line in EXTRAS["test"] if line.startswith(PROJECT["name"]))
CI = re.findall(r"^make ([\w-]+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.fixture(scope="module")
def oldest():
    spec = importlib.util.spec_from_file_location("oldest", ROOT / "tests" / "oldest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recipe(target: str) -> str:
    """What make runs for a target, its variables in place, as in an empty clone."""
    command = ["make", "--no-print-directory", "--dry-run", "--always-make", target]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=ROOT, env=outside, capture_output=True, text=True, check=True).stdout


def row(command: str) -> str:
    """The line about a command in the table of CONTRIBUTING.md."""
    return re.search(rf"^\| `{re.escape(command)}` \|.*$", CONTRIBUTING, flags=re.MULTILINE)[0]


def test_every_bound_that_users_meet_is_the_version_tested():
    printed = subprocess.run(
        [sys.executable, ROOT / "tests" / "oldest.py"], capture_output=True, text=True, check=True
    )
    lines = [Requirement(line) for line in printed.stdout.splitlines()]
    pinned = {line.name: str(line.specifier)[2:] for line in lines if str(line.specifier).startswith("==")}
    asked = [
        Requirement(line)
        for group in (PROJECT["dependencies"], *(EXTRAS[extra] for extra in OWN.extras))
        for line in group
    ]
    assert pinned == {each.name: min(str(one)[2:] for one in each.specifier) for each in asked}
    assert all(each.specifier.contains(Version(pinned[each.name])) for each in asked)


def test_a_package_without_a_lower_bound_is_refused(oldest):
    assert oldest.oldest("numpy >= 2.0, < 3") == "numpy==2.0"
    for line in ("numpy", "numpy<3", "numpy==2.0"):
        with pytest.raises(SystemExit, match="no lower bound"):
            oldest.oldest(line)


def test_every_tool_of_the_oldest_run_is_one_of_the_tests(oldest):
    assert {Requirement(line).name for line in EXTRAS["test"]} >= oldest.TOOLS


def test_continuous_integration_runs_what_is_said_and_the_whole_suite_last():
    assert CI == ["demo", "test-oldest", "test"]
    assert re.findall(r"`make ([\w-]+)`", row(".ci/run")) == CI
    assert "never in continuous integration" in row("make bench")


def test_the_oldest_run_has_an_environment_of_its_own_with_the_pins_in_it():
    commands = recipe("test-oldest")
    assert "tests/oldest.py > .venv-oldest/requirements.txt" in commands
    assert "--requirement .venv-oldest/requirements.txt --editable ." in commands
    assert not re.search(r"\.venv/", commands)


def test_the_oldest_run_has_the_unit_tests_and_leaves_out_only_contracts_that_exist():
    command = recipe("test-oldest").replace("\\\n", " ").strip().splitlines()[-1].split()
    assert command[-3:] == ["tests/unit", "tests/cli", "tests/contracts"]
    left_out = [word.removeprefix("--ignore=") for word in command if word.startswith("--ignore=")]
    assert left_out
    assert all((ROOT / path).is_file() for path in left_out)


def test_no_test_of_the_oldest_run_starts_r():
    starts_r = re.compile(r"R\s?script|R\sCMD|import\srpy2|which\(.R.\)")
    found = [
        path.name
        for folder in ("unit", "cli", "contracts")
        for path in (ROOT / "tests" / folder).rglob("*.py")
        if starts_r.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_help_names_every_command():
    targets = re.search(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)[1].split()
    assert re.findall(r'@echo "make ([\w-]+)', MAKEFILE) == [name for name in targets if name != "help"]


def test_classifiers_name_the_versions_of_python_that_ran():
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert named == re.findall(r"^Python (3\.\d+) is the only version", CONTRIBUTING, flags=re.MULTILINE)
    assert PROJECT["requires-python"] == f">={named[0]}"
