"""The oldest packages that pyproject.toml allows: ``make test-oldest`` installs what this prints.

Nothing is written down twice: a floor that is raised there is the version that is tested.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,-]+)\])?(?P<bounds>.*)")
# what runs the tests, or checks ours by another way to the same number, may be new
TOOLS = {"pytest", "pytest-xdist", "hypothesis", "nbclient", "nbformat", "ipykernel", "dp-accounting"}


def parts(requirement: str) -> tuple[str, list[str], str]:
    """Name, extras and bounds of a requirement."""
    found = REQUIREMENT.fullmatch(requirement.replace(" ", ""))
    return found["name"], (found["extras"] or "").split(","), found["bounds"]


def oldest(requirement: str) -> str:
    """Pin a package to its lower bound; one without a bound would be a promise that nothing tests."""
    name, _, bounds = parts(requirement)
    floor = re.match(r">=([\w.]+)", bounds)
    if not floor:
        sys.exit(f"{requirement}: no lower bound in {PYPROJECT.name}")
    return f"{name}=={floor[1]}"


def requirements(project: dict) -> list[str]:
    """Pins of what users install, all extras that tests use included, and tools as the tests ask for them."""
    extras = project["optional-dependencies"]
    own = [extra for line in extras["test"] for extra in parts(line)[1] if parts(line)[0] == project["name"]]
    installed = project["dependencies"] + [line for extra in own for line in extras[extra]]
    return [*map(oldest, installed), *(line for line in extras["test"] if parts(line)[0] in TOOLS)]


if __name__ == "__main__":
    print("\n".join(requirements(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"])))  # noqa: T201
