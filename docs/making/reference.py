"""The API reference: a page for every public name, grouped by the room that it comes from."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Protocol

import pysynthdp
import pysynthdp.analysis
import pysynthdp.evaluate
import pysynthdp.models
import pysynthdp.privacy
import pysynthdp.testing

__all__ = ["PUBLIC", "aliases", "groups", "index", "menu", "stubs"]

HEADINGS = {
    "synthesizer": "Synthesis",
    "plan": "Plans",
    "release": "Releases",
    "analysis": "Pooled analyses",
    "evaluate": "Judging the copies",
    "io": "Reading, comparing and verifying",
    "schema": "What columns are",
    "design": "What columns are",
    "units": "Households and weights",
    "protection": "Guarantees and statements",
    "privacy": "Guarantees and statements",
    "parameters": "Parameters instead of records",
    "jobs": "Jobs and ledgers",
    "base": "Errors and warnings",
}
MODULES = {
    pysynthdp.analysis: "More on pooled analyses: `pysynthdp.analysis`",
    pysynthdp.evaluate: "More on judging the copies: `pysynthdp.evaluate`",
    pysynthdp.privacy: "Arithmetic of privacy: `pysynthdp.privacy`",
    pysynthdp.models: "Column models: `pysynthdp.models`",
    pysynthdp.testing: "For those who extend it: `pysynthdp.testing`",
}
INNER = "Printable, Settings"  # whose members are parameters, or for doors
PUBLIC = (pysynthdp, *MODULES)


def names_of(module: ModuleType) -> list[str]:
    """List the public names of a module that have a page: all but those of the package itself."""
    names = getattr(module, "__all__", dir(module))
    entries = {name: getattr(module, name) for name in names}
    own = {name for name, entry in entries.items() if inspect.isclass(entry) or inspect.isfunction(entry)}
    return sorted(own if module is pysynthdp else own - set(pysynthdp.__all__), key=str.lower)


def groups() -> Mapping[str, list[str]]:
    """Full names by heading; a room without a heading of its own comes last, none is left out."""
    found: dict[str, list[str]] = {heading: [] for heading in HEADINGS.values()}
    for name in names_of(pysynthdp):
        room = getattr(pysynthdp, name).__module__.split(".")[1]
        found.setdefault(HEADINGS.get(room, "More"), []).append(f"pysynthdp.{name}")
    for module, heading in MODULES.items():
        found[heading] = [f"{module.__name__}.{name}" for name in names_of(module)]
    return {heading: names for heading, names in found.items() if names}


def index(_: str) -> str:
    """Write the tables of the reference, with a line on each name; the menu has a page a group."""
    found = {slug(heading): (heading, names) for heading, names in groups().items()}
    tables = (f"## [{top}](api/{page}.rst)\n\n{_table(names)}" for page, (top, names) in found.items())
    return "\n\n".join([*tables, menu(f"api/{page}" for page in found)])


def slug(heading: str) -> str:
    """Name the page of a group."""
    return re.sub(r"\W+", "-", heading.lower()).strip("-")


def _table(names: list[str]) -> str:
    """List the names of a group, with the first line of each docstring."""
    return f"```{{eval-rst}}\n{_summary(names)}\n```"


def _summary(names: list[str]) -> str:
    """List them in the markup of docstrings."""
    rows = "\n".join(f"   {name.rpartition('.')[2]}" for name in names)
    module = names[0].rpartition(".")[0]
    return f".. currentmodule:: {module}\n\n.. autosummary::\n   :nosignatures:\n\n{rows}"


def menu(pages: Iterable[str]) -> str:
    """Say what the menu shows below a page."""
    listed = "\n".join(pages)
    return f"```{{toctree}}\n:hidden:\n\n{listed}\n```"


def stubs() -> Iterator[tuple[str, str]]:
    """Write the page of every group and of every name, in the markup of docstrings."""
    for heading, names in groups().items():
        title = heading.replace("`", "``")
        menu = "\n".join(f"   {name.rpartition('.')[2]} <{name}>" for name in names)
        parts = [title, "=" * len(title), _summary(names), f".. toctree::\n   :hidden:\n\n{menu}"]
        yield slug(heading), "\n\n".join(parts).replace("\n\n=", "\n=", 1) + "\n"
        yield from ((name, _stub(name)) for name in names)


def _stub(full: str) -> str:
    """Write the page of one name."""
    module, _, name = full.rpartition(".")
    entry = getattr(next(each for each in PUBLIC if each.__name__ == module), name)
    lines = [name, "=" * len(name), ""]
    if inspect.isclass(entry) and issubclass(entry, BaseException):
        return "\n".join([*lines, f".. autoexception:: {full}", *_inherited(entry), "", _bases(entry), ""])
    if inspect.isfunction(entry):
        return "\n".join([*lines, f".. autofunction:: {full}", ""])
    inherited = [] if Protocol in entry.__mro__ else [f"   :inherited-members: {INNER}"]
    return "\n".join([*lines, f".. autoclass:: {full}", "   :members:", *inherited, ""])


def _inherited(error: type) -> list[str]:
    """Tell what errors have in common with the first of them."""
    first = not any(base.__name__ in pysynthdp.__all__ for base in error.__mro__[1:])
    return ["   :members:", "   :inherited-members: Exception"] if first else []


def _bases(error: type) -> str:
    """Say as what else an error can be caught."""
    names = [base.__name__ for base in error.__bases__]
    kinds = {name: f":class:`{name}`" for name in names if name in pysynthdp.__all__}
    kinds |= {name: f"``{name}``" for name in names if hasattr(builtins, name)}
    return f"Caught as {' and as '.join(kinds.values())} too." if kinds else ""


def aliases() -> dict[str, str]:
    """Types in docstrings that have a page."""
    return {name.rpartition(".")[2]: name for names in reversed(list(groups().values())) for name in names}
