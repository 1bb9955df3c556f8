"""The API reference builds from the docstrings and has every public name."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pysynthdp
import pysynthdp.privacy.prices
import pysynthdp.testing
from pysynthdp.models.base import COLUMN_MODELS, Priced

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs" / "build.py"
ENTRIES = {
    name: entry
    for name in pysynthdp.__all__
    if not (inspect.isclass(entry := getattr(pysynthdp, name)) and issubclass(entry, Exception))
}


def test_the_reference_builds_and_has_every_public_name(tmp_path):
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "pysynthdp.html").read_text("utf-8")
    assert not [name for name in pysynthdp.__all__ if not re.search(rf'id="{name}"', page)]
    for room in (pysynthdp.testing, pysynthdp.privacy.prices):
        page = (tmp_path / f"{room.__name__.replace('.', '/')}.html").read_text("utf-8")
        assert not [name for name in room.__all__ if not re.search(rf'id="{name}"', page)]


SUITE = [name for name in pysynthdp.testing.__all__ if inspect.isfunction(getattr(pysynthdp.testing, name))]


@pytest.mark.parametrize("name", SUITE)
def test_every_function_of_the_contract_suite_is_documented_with_an_example(name):
    text = inspect.getdoc(getattr(pysynthdp.testing, name))
    assert "Parameters\n------" in text
    assert ">>> " in text


@pytest.mark.parametrize("name", ENTRIES)
def test_every_public_name_says_what_it_takes_and_what_it_means_for_privacy(name):
    text = inspect.getdoc(ENTRIES[name])
    assert "Parameters\n------" in text
    assert re.match(r"[A-Zm][^\n]*\.\n", text), "the first line is one sentence"


def is_documentable(entry: object) -> bool:
    """Whether a class attribute is a method or a property."""
    return isinstance(entry, classmethod | staticmethod | property) or callable(entry)


METHODS = {
    f"{name}.{method}": entry
    for name, owner in ENTRIES.items()
    if inspect.isclass(owner)
    for method, entry in vars(owner).items()
    if not method.startswith("_") and is_documentable(entry)
}


@pytest.mark.parametrize("method", METHODS)
def test_every_public_method_is_documented(method):
    assert inspect.getdoc(METHODS[method])


@pytest.mark.parametrize(
    ("place", "read"),
    [
        ("Synthesizer", lambda: inspect.getdoc(pysynthdp.Synthesizer)),
        ("synthesise.R", lambda: (ROOT / "r-bridge/R/synthesise.R").read_text("utf-8")),
        ("synthesise.Rd", lambda: (ROOT / "r-bridge/man/synthesise.Rd").read_text("utf-8")),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_lists_of_models_name_every_model(place, read):
    # those that a guarantee alone can use are listed in docs/guarantees.md
    plain = [name for name in COLUMN_MODELS if not issubclass(COLUMN_MODELS[name], Priced)]
    text = read()
    missing = [name for name in plain if not re.search(rf"\b{name}\b", text)]
    assert not missing, f"{place} lacks {missing}"
