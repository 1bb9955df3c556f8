"""Who imports whom in the package, read from the source: at run time, for types, and lazily by name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.house.floors import NAME, PACKAGE, module_of


@dataclass(frozen=True)
class Import:
    """One name that one module takes from another.

    Parameters
    ----------
    giver : str
        Module that is imported, or imported from.
    name : str
        What is taken from it; empty for the module itself.
    line : int
        Where.
    typing : bool
        Whether it stands under ``if TYPE_CHECKING``.
    """

    giver: str
    name: str
    line: int
    typing: bool


@dataclass(frozen=True)
class Module:
    """One file of the package.

    Parameters
    ----------
    path : Path
        The file.
    lines : tuple of str
        All of it.
    tree : ast.Module
        The same, parsed.
    """

    path: Path
    lines: tuple[str, ...]
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        """Whether it is the door of a folder."""
        return self.path.name == "__init__.py"

    @property
    def public(self) -> tuple[str, ...] | None:
        """Names in ``__all__``; None where there is none."""
        for node in self.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                return tuple(text.value for text in ast.walk(node) if isinstance(text, ast.Constant))
        return None


@cache
def modules() -> Mapping[str, Module]:
    """Read all modules, by dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found[module_of(path)] = Module(path, tuple(text.splitlines()), ast.parse(text))
    return found


@cache
def imports(module: str) -> tuple[Import, ...]:
    """List what a module imports from the package, wherever the import stands."""
    here = modules()[module]
    typing = {
        id(inner)
        for node in ast.walk(here.tree)
        if isinstance(node, ast.If)
        and "TYPE_CHECKING" in ast.unparse(node.test)
        and "not" not in ast.unparse(node.test)
        for part in node.body
        for inner in ast.walk(part)
    }
    found = []
    for node in ast.walk(here.tree):
        for giver, name in _taken(node, module, here.is_package):
            found.append(Import(giver, name, getattr(node, "lineno", 0), id(node) in typing))
    return tuple(found)


def _taken(node: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """Read one import statement."""
    if isinstance(node, ast.Import):
        yield from ((item.name, "") for item in node.names if item.name in modules())
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = module.split(".")[: len(module.split(".")) - node.level + is_package]
            base = ".".join([*above, *([base] if base else [])])
        for item in node.names:
            if f"{base}.{item.name}" in modules():
                yield f"{base}.{item.name}", ""
            elif base in modules():
                yield base, item.name


def lazily(module: str) -> set[str]:
    """Find modules that a package's door names in texts, to load them when they are asked for."""
    here = modules()[module]
    if not here.is_package:
        return set()
    texts = {
        node.value
        for node in ast.walk(here.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    named = {f"{module}.{text}" for text in texts} | {text for text in texts if text.startswith(f"{NAME}.")}
    return named & set(modules())


@cache
def graph(*, typing: bool = True) -> Mapping[str, frozenset[str]]:
    """Draw who imports whom; ``typing`` counts imports for types alone."""
    return {
        module: frozenset(each.giver for each in imports(module) if typing or not each.typing) - {module}
        for module in modules()
    }


@cache
def reached(module: str) -> frozenset[str]:
    """Find all that a module imports at run time, by however many steps."""
    found: set[str] = set()
    todo = [module]
    while todo:
        new = graph(typing=False)[todo.pop()] - found
        found |= new
        todo += new
    return frozenset(found)


def circles(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Find the strongly connected sets of more than one module (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in edges[node]:
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            circle = [stack.pop()]
            while circle[-1] != node:
                circle.append(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in edges:
        if node not in number:
            visit(node)
    return sorted(found)
