"""Marks that stand where a method would are written once."""

import ast
from pathlib import Path

import pytest

import pysynthdp
from pysynthdp.base.marks import KEPT_REAL, SERIAL

ROOT = Path(pysynthdp.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if path.name != "marks.py")


def words_of_their_own(tree):
    """Find texts that happen to be spelled so: keys of a mapping, kinds of an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (id(key) for key in node.keys if key is not None)
        elif isinstance(node, ast.keyword) and node.arg == "kind":
            yield id(node.value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_spells_a_mark_out(path):
    tree = ast.parse(path.read_text("utf-8"))
    excused = set(words_of_their_own(tree))
    assert not [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in (KEPT_REAL, SERIAL) and id(node) not in excused
    ]
