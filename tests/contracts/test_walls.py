"""Walls between modules, read from the source, whether an import is for types, in a function or at the top.

No module reaches itself by imports; no name is taken that its module does not list in ``__all__``; and
nothing is imported within a function but what is named here, with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pysynthdp

ROOT = Path(pysynthdp.__file__).parent
OPTIONAL = {
    "adbc_driver_postgresql", "cloudpickle", "cryptography", "distributed", "docx", "matplotlib",
    "opendp", "pyreadstat", "sqlalchemy",
}  # fmt: skip
SLOW_AND_SELDOM_NEEDED = {
    "formulaic": "half a second to load; plans with formulas alone need it",
    "scipy.optimize": "a second to load; outcomes that separate need a linear programme",
    "scipy.stats": "a second to load; p-values need it, no synthesis does",
}
OURS_IN_FUNCTIONS = {
    ("pysynthdp.release.copies", "pysynthdp.analysis.wrappers"): "who draws and saves loads no model library",
    ("pysynthdp.cli", "pysynthdp.io"): "help and slips are answered without the libraries of numbers",
    ("pysynthdp.cli", "pysynthdp.parameters"): "as for io",
    ("pysynthdp.cli", "pysynthdp.plan"): "as for io",
    ("pysynthdp.cli", "pysynthdp.schema"): "as for io",
    ("pysynthdp.cli", "pysynthdp.synthesizer"): "as for io",
}


@dataclass(frozen=True)
class Import:
    """A name taken from a module, or the whole module where the name is empty."""

    giver: str
    name: str
    within: str


class House:
    """Modules by dotted name, parsed; packages are named in ``doors``."""

    def __init__(self, sources: Mapping[str, str], doors: frozenset[str]) -> None:
        self.trees = {name: ast.parse(text) for name, text in sources.items()}
        self.doors = doors
        self.imports = {module: tuple(self._imports(module)) for module in self.trees}
        self.public = {module: self._public(module) for module in self.trees}

    @classmethod
    def read(cls) -> House:
        files = {path: path.relative_to(ROOT.parent).with_suffix("").parts for path in ROOT.rglob("*.py")}
        names = {path: ".".join(p for p in parts if p != "__init__") for path, parts in files.items()}
        doors = frozenset(name for path, name in names.items() if path.stem == "__init__")
        return cls({name: path.read_text("utf-8") for path, name in names.items()}, doors)

    def _imports(self, module: str) -> Iterator[Import]:
        """Everything that a module imports, wherever the statement stands."""
        kinds = ast.FunctionDef | ast.AsyncFunctionDef
        functions = [node for node in ast.walk(self.trees[module]) if isinstance(node, kinds)]
        inner = {id(node): each.name for each in functions for node in ast.walk(each)}
        for node in ast.walk(self.trees[module]):
            within = inner.get(id(node), "")
            if isinstance(node, ast.Import):
                yield from (Import(item.name, "", within) for item in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from self._from(module, node, within)

    def _from(self, module: str, node: ast.ImportFrom, within: str) -> Iterator[Import]:
        above = module.split(".")[: len(module.split(".")) - node.level + (module in self.doors)]
        giver = ".".join([*(above if node.level else []), *([node.module] if node.module else [])])
        for item in node.names:
            whole = f"{giver}.{item.name}"
            yield Import(whole, "", within) if whole in self.trees else Import(giver, item.name, within)

    def circle(self) -> list[str]:
        """One circle of modules; empty where there is none.

        A name from a package is taken from its door, which may hand it on from any room behind it.
        """
        edges = {
            module: {each.giver for each in self.imports[module] if each.giver in self.trees} - {module}
            for module in self.trees
        }
        try:
            TopologicalSorter(edges).prepare()
        except CycleError as error:
            return list(error.args[1])
        return []

    def _public(self, module: str) -> set[str] | None:
        """Names in ``__all__``; None where there is no such list."""
        for node in self.trees[module].body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                return {text.value for text in ast.walk(node) if isinstance(text, ast.Constant)}
        return None

    def past_all(self) -> list[str]:
        """Names that are taken from a module, or off it, and that it does not give."""
        return [
            f"{module} takes {giver}.{name}"
            for module in self.trees
            for giver, name in {*self._named(module), *self._dotted(module)}
            if not (name.startswith("__") and name.endswith("__"))
            and f"{giver}.{name}" not in self.trees
            and not self._gives(giver, name)
        ]

    def _gives(self, giver: str, name: str) -> bool:
        public = self.public[giver]
        if name == "*":  # takes what is listed, where something is
            return public is not None
        return not name.startswith("_") if public is None else name in public

    def _named(self, module: str) -> Iterator[tuple[str, str]]:
        taken = self.imports[module]
        yield from ((each.giver, each.name) for each in taken if each.name and each.giver in self.trees)

    def _dotted(self, module: str) -> Iterator[tuple[str, str]]:
        known = {}
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.ImportFrom) and not node.level:
                whole = {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
                known |= {name: giver for name, giver in whole.items() if giver in self.trees}
        for node in ast.walk(self.trees[module]):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in known
            ):
                yield known[node.value.id], node.attr


@pytest.fixture(scope="module")
def house() -> House:
    return House.read()


def test_no_module_reaches_itself_by_imports(house):
    assert len(house.trees) > 300
    assert not house.circle(), " > ".join(house.circle())


def test_no_name_is_taken_past_all(house):
    assert not house.past_all()


def test_nothing_is_imported_within_functions_but_what_is_named_here(house):
    inner = [(module, each) for module in house.trees for each in house.imports[module] if each.within]
    ours = {(f"{module}.", f"{each.giver}.") for module, each in inner if each.giver in house.trees}
    others = {("", f"{each.giver}.{each.name}.") for _, each in inner if each.giver not in house.trees}
    libraries = {("", f"{one}.") for one in (*OPTIONAL, *SLOW_AND_SELDOM_NEEDED)}
    for found, named in (ours, {(f"{a}.", f"{b}.") for a, b in OURS_IN_FUNCTIONS}), (others, libraries):
        assert not [one for one in found if not any(all(map(str.startswith, one, room)) for room in named)]
        assert not [room for room in named if not any(all(map(str.startswith, one, room)) for one in found)]


@pytest.mark.parametrize(
    "upper",
    [
        "from p.low import f",
        "if TYPE_CHECKING:\n    from p.low import f",
        "def g():\n    from p.low import f",
        "from .low import f",
        "import p.low",
        "from p import f",  # the door has it from the room
        "from p import low",
    ],
)
def test_every_kind_of_circle_would_be_seen(upper):
    sources = {
        "p": "from p.low import f",
        "p.low": "import numpy\nfrom p.up import g\nf = g",
        "p.up": "g = 1\n",
    }
    assert not House(sources, frozenset({"p"})).circle()
    assert House({**sources, "p.up": upper}, frozenset({"p"})).circle()


@pytest.mark.parametrize(
    "upper", ["from p.low import h", "from p import low\nx = low.h", "from p import low\nlow._i()"]
)
def test_every_name_past_all_would_be_seen(upper):
    sources = {
        "p": "",
        "p.low": "__all__ = ['f']\nf = h = 1\n",
        "p.up": "from p.low import f\nfrom p import low\nlow.f",
    }
    assert not House(sources, frozenset({"p"})).past_all()
    assert not House({**sources, "p.up": "from p.low import *"}, frozenset({"p"})).past_all()
    assert House({"p": "", "p.low": "f = 1", "p.up": "from p.low import *"}, frozenset({"p"})).past_all()
    assert len(House({**sources, "p.up": upper}, frozenset({"p"})).past_all()) == 1
