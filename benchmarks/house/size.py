"""How large the house is, and where its walls leak.

Run: ``python -m benchmarks.house.size [--short]`` from the root of the repository; ``--short`` gives numbers
without lists.

Read from the source; nothing is run. Importers are other modules of the package, imports for types and those
that a package's door names in texts included. A circle is a set of modules each of which reaches every other
by imports, those for types and those within functions included. Past ``__all__`` goes an import of a name
that its module does not list there or, in a module without ``__all__``, of one with an underscore in front.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable

from benchmarks.house.floors import PACKAGE, ladders
from benchmarks.house.imports import Module, circles, graph, imports, lazily, modules

LONG = 300
SMALL = 80
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(module: Module) -> int:
    """Count lines of docstrings, and of texts that stand below what they describe."""
    texts = [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return sum((text.end_lineno or text.lineno) - text.lineno + 1 for text in texts)


def functions() -> list[int]:
    """Length of every function's body in lines, without its docstring."""
    found = []
    for module in modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                found.append((body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0)
    return found


def importers() -> dict[str, set[str]]:
    """Find who imports each module."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, others in graph().items():
        for other in (*others, *lazily(module)):
            found[other].add(module)
    return found


def lonely() -> list[tuple[str, int, str]]:
    """List small modules that have one importer: name, lines, importer."""
    found = importers()
    return sorted(
        (name, len(module.lines), *found[name])
        for name, module in modules().items()
        if len(found[name]) == 1 and len(module.lines) < SMALL and not module.is_package
    )


def past_all() -> list[str]:
    """List imports that go past ``__all__``."""
    found = []
    for name in modules():
        for each in imports(name):
            public = modules()[each.giver].public
            if each.name and (each.name.startswith("_") if public is None else each.name not in public):
                dunder = each.name.startswith("__") and each.name.endswith("__")
                found += [] if dunder else [f"{name}:{each.line} takes {each.giver}.{each.name}"]
    return found


def within_functions() -> list[str]:
    """List imports of the package's own modules that stand within functions."""
    return [
        f"{name}:{inner.lineno} {function.name}"
        for name, module in modules().items()
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(function)
        if isinstance(inner, ast.Import | ast.ImportFrom)
        and inner.lineno in {each.line for each in imports(name)}
    ]


def listed(title: str, items: Iterable[str], *, short: bool) -> None:
    """Print how many there are, and which."""
    items = list(items)
    print(f"{title:60} {len(items):>8,}")
    for item in [] if short else items:
        print(f"    {item}")


def main() -> None:
    """Print all measures."""
    short = "--short" in sys.argv
    all_modules = modules()
    lengths = sorted(len(module.lines) for module in all_modules.values())
    documented = sum(docstring_lines(module) for module in all_modules.values())
    folders = sorted({module.path.parent for module in all_modules.values()} - {PACKAGE})
    lengths_of_functions = functions()
    for what, number in (
        ("modules", len(lengths)),
        ("modules without doors of folders", sum(not module.is_package for module in all_modules.values())),
        ("lines", sum(lengths)),
        ("median lines of a module", round(statistics.median(lengths))),
        ("longest module", lengths[-1]),
        ("functions", len(lengths_of_functions)),
        ("median lines of a function", round(statistics.median(lengths_of_functions))),
        ("longest function", max(lengths_of_functions)),
    ):
        print(f"{what:60} {number:>8,}")
    print(f"{'docstrings, per cent of lines':60} {100 * documented / sum(lengths):>8.1f}")
    listed("rooms (folders)", (str(folder.relative_to(PACKAGE)) for folder in folders), short=short)
    top = [f.stem for f in sorted(PACKAGE.glob("*.py")) if f.stem != "__init__"]
    listed("loose files at the top", top, short=short)
    for ladder in ladders():
        where = f"floors of {ladder.within or PACKAGE.name}"
        print(f"{where:60} {len(set(ladder.floors.values())):>8,}")
    by_length = sorted(all_modules.items(), key=lambda item: -len(item[1].lines))
    long = (f"{len(module.lines):5} {name}" for name, module in by_length if len(module.lines) > LONG)
    listed(f"modules over {LONG} lines", long, short=short)
    one = sum(len(found) == 1 for found in importers().values())
    print(f"{'modules with one importer':60} {one:>8,}")
    small = (f"{lines:3} {name} <- {importer}" for name, lines, importer in lonely())
    listed(f"of these under {SMALL} lines", small, short=short)
    listed("import circles, for types included", map(" ".join, circles(graph())), short=short)
    listed(
        "import circles at run time, within functions included",
        map(" ".join, circles(graph(typing=False))),
        short=short,
    )
    listed("imports within functions", within_functions(), short=short)
    listed("imports past __all__", past_all(), short=short)


if __name__ == "__main__":
    main()
