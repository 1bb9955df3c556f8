"""What people are told holds nothing of one language outside the parts that each reader gets in their own.

A literal is dialect where it shows something to type. In a ``Said``, ``Setting`` or ``Facts`` it is worded
anew at the edge.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pysynthdp

HOME = Path(pysynthdp.__file__).parent
WORDED = {"Said", "Setting", "Facts", "cast"}  # what is said anew for each reader, or is a type
DIALECT = re.compile(
    r"\w=[\[{(]|=(True|False|None)\b|\bDataFrame\b|\bpandas\b|(?<!\{)\bdtype\b|\b(pd|np)\.|\bdf\["
    r"|\bSchema\(|Column\("
)
NOT_YET = {  # to be emptied, never to grow
    "analysis/doors.py",
    "analysis/effects.py",
    "analysis/failures.py",
    "bridge/columns_to_r.py",
    "bridge/frames.py",
    "infer/identifiers.py",
    "io/csv_learned.py",
    "io/folder_files.py",
    "io/other_files.py",
    "io/plain_values.py",
    "overview/hints.py",
}
PROGRAMS = "snippets"  # what is written there is code of another language
FILES = [
    path
    for path in sorted(HOME.rglob("*.py"))
    if path.relative_to(HOME).as_posix() not in NOT_YET and PROGRAMS not in path.parts
]


def called(node: ast.Call) -> str:
    """The name that is called."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def told(node: ast.AST) -> Iterator[ast.Constant]:
    """The literals of several words, but for docstrings and those in parts that are worded anew."""
    if isinstance(node, ast.Call) and called(node) in WORDED:
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
        yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from told(child)


def dialect(source: str) -> list[str]:
    """The texts of a file that tell people something in Python."""
    return [
        f"line {text.lineno}: {text.value}" for text in told(ast.parse(source)) if DIALECT.search(text.value)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOME)))
def test_nothing_is_told_in_python_alone(path):
    assert not dialect(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_what_is_done_leaves_the_list(name):
    assert dialect((HOME / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'leave it out with drop=[...]'", True),
        ("f'leave it out with drop=[{name!r}]'", True),
        ("'say proper=True to have it'", True),
        ("'give a pandas DataFrame'", True),
        ("'plain words, and = in a formula'", False),
        ("Said('pd.to_numeric(x, ...)', 'a file', 'as.numeric(x)')", False),
        ("Words('{name} holds {dtype} in rows')", False),
    ],
)
def test_dialect_is_found_and_plain_words_are_not(text, found):
    assert bool(dialect(f"raise SchemaError({text})")) == found
