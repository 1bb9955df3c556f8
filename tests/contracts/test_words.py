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
from pysynthdp.base import errors

HOME = Path(pysynthdp.__file__).parent
WORDED = {"Said", "Setting", "Facts", "cast"}  # what is said anew for each reader, or is a type
DIALECT = re.compile(
    r"\w=[\[{(]|=(True|False|None)\b|\bDataFrame\b|\bpandas\b|(?<!\{)\bdtype\b|\b(pd|np)\.|\bdf\["
    r"|\bSchema\(|Column\(|(?<![\w.])[a-z_]+=(?![\w=\"'])"
)
ERRORS = {name for name in errors.__all__ if name.endswith("Error")}
EXEMPT = {  # why a text in it names one language
    "bridge/frames.py": "tells somebody at Python's side how a column from R is held there",
    "curator/infer/written.py": "holds code that reads a column, a template a language, to fill a Said",
    "io/csv/learned.py": "names the programs that may have written the file, each with its own option",
    "io/folder/files.py": "says what pandas, as a reader of Parquet, would be shown",
    "schema/plain_values.py": "is no text for people: a pattern of Arrow's names of types",
    "io/folder/text.py": "holds how each language reads the copies, named by it",
}
PROGRAMS = {"snippets", "testing"}  # code, named by its language; what an author of Python code reads
FILES = [
    path
    for path in sorted(HOME.rglob("*.py"))
    if path.relative_to(HOME).as_posix() not in EXEMPT and not PROGRAMS & set(path.parts)
]


def called(node: ast.Call) -> str:
    """The name that is called."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def told(node: ast.AST) -> Iterator[ast.Constant]:
    """The literals of several words, but for docstrings and those in parts that are worded anew."""
    if isinstance(node, ast.Call) and called(node) in WORDED:
        return
    if isinstance(node, ast.JoinedStr):  # as one text: what shows a setting may stand beside a space only
        pieces = [piece.value if isinstance(piece, ast.Constant) else "..." for piece in node.values]
        node = ast.copy_location(ast.Constant("".join(map(str, pieces))), node)
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


@pytest.mark.parametrize("name", sorted(EXEMPT))
def test_what_needs_no_exemption_has_none(name):
    assert dialect((HOME / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'leave it out with drop=[...]'", True),
        ("f'leave it out with drop=[{name!r}]'", True),
        ("'say proper=True to have it'", True),
        ("'give a pandas DataFrame'", True),
        ("'give the rows as data= or a schema'", True),
        ("f'give it as {name}='", False),
        ("'plain words, and = in a formula'", False),
        ("Said('pd.to_numeric(x, ...)', 'a file', 'as.numeric(x)')", False),
        ("Words('{name} holds {dtype} in rows')", False),
    ],
)
def test_dialect_is_found_and_plain_words_are_not(text, found):
    assert bool(dialect(f"raise SchemaError({text})")) == found


ROOMS = sorted(path.name for path in HOME.iterdir() if path.suffix == ".py" or any(path.glob("*.py")))


@pytest.mark.parametrize("room", ROOMS)
def test_every_error_says_what_kind_it_is(room):
    paths = [HOME / room] if room.endswith(".py") else sorted((HOME / room).rglob("*.py"))
    bare = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and called(node) in ERRORS:
                named = {keyword.arg for keyword in node.keywords}
                bare += [] if "kind" in named or not node.args else [f"{path.name}:{node.lineno}"]
    assert not bare
